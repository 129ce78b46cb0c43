"""Decides what a value is compared as under `sound/1`: where a rule could only guess, it does not merge.

A canonical key opens with what the value was taken for (`number 12.5`, `date 2024-10-31`, `text acmeinc`), so that a
number never equals a text that looks like it. The rules, with what they had to choose, are in `docs/metric-values.md`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from decimal import Decimal

from docassay.extraction.values.addresses import ADDRESS_SIGN, as_written, is_address, is_path
from docassay.extraction.values.ends import EDGE_FOLDS, END_FOLDS
from docassay.extraction.values.identifiers import grouped_identifier
from docassay.extraction.values.letters import drop_format, fold_letters
from docassay.extraction.values.moments import read_moment
from docassay.extraction.values.numbers import from_json_number, number, read_code, read_number
from docassay.extraction.values.plain import EXACT, short_float
from docassay.extraction.values.quantities import read_quantity
from docassay.extraction.values.reading import Trace, apply_folds, note, routed
from docassay.extraction.values.sound_plain import quick_text
from docassay.extraction.values.text import fold_text

ABSENT = ""
"""The key of what states nothing."""
DASH = "dash"
"""The key of a text of dashes only."""


def states_nothing(raw: object) -> bool:
    """Whether the value has no address: null, or text of white space and format characters only."""
    if raw is None:
        return True
    if not isinstance(raw, str):
        return False
    text = raw.strip()
    if not text:
        return True
    return unicodedata.category(text[0]) == "Cf" and not drop_format(text).strip()


def canon(raw: object) -> str:
    """The canonical key of a JSON scalar; equal keys mean equal values.

    Plain ASCII text, integers, short decimals and ISO dates take a short cut that tests hold equal to `trace_canon`.
    """
    kind = type(raw)
    key: str | None = None
    if kind is str:
        key = quick_text(raw)  # type: ignore[arg-type]
    elif kind is int:
        key = "number " + str(raw) if -EXACT < raw < EXACT else None  # type: ignore[operator]
    elif kind is float and (short := short_float(raw)) is not None:  # type: ignore[arg-type]
        key = "number " + short
    return trace_canon(raw, None) if key is None else key


def trace_canon(raw: object, trace: Trace | None) -> str:
    """The key by every rule in full; the one implementation behind `canon` and `read`."""
    if states_nothing(raw) or raw == [] or raw == {}:
        return routed(trace, "absent", ABSENT)
    if isinstance(raw, str):
        return _read_text(raw, trace)
    if isinstance(raw, bool):
        return routed(trace, "boolean", "text true" if raw else "text false")
    if isinstance(raw, (int, float, Decimal)):
        return _read_json_number(raw, trace)
    return _read_text(str(raw), trace)


def _read_json_number(raw: int | float | Decimal, trace: Trace | None) -> str:
    if isinstance(raw, int) or (raw.is_finite() if isinstance(raw, Decimal) else math.isfinite(raw)):
        return routed(trace, "number", f"number {from_json_number(raw)}")
    sign = "-" if raw < 0 else ""
    return routed(trace, "text", f"text {sign}infinity" if math.isinf(raw) else "text nan")


# Text


def _read_text(raw: str, trace: Trace | None) -> str:
    text = apply_folds(raw, EDGE_FOLDS, trace)
    if ADDRESS_SIGN.search(text):
        written = as_written(text)
        if is_path(written) or (not _SPACE.search(written) and is_address(written)):
            note(
                trace, "written address", text, written, "A URL, e-mail address, domain or path is compared as written."
            )
            return routed(trace, "address", f"text <{written}>")
    plain = fold_letters(text, trace)
    if not text.isascii():
        plain = apply_folds(plain, END_FOLDS, trace)
    if _DIGIT.search(plain):
        return _read_digits(text, plain, trace)
    if not plain.strip("- "):
        return routed(trace, "dash", DASH)
    return routed(trace, "text", f"text {fold_text(text, plain, trace)}")


_SPACE = re.compile(r"\s")
_DIGIT = re.compile("[0-9]")


def _read_digits(text: str, plain: str, trace: Trace | None) -> str:
    moment = read_moment(plain)
    if moment is not None:
        note(trace, moment.kind, plain, moment.text, _MOMENT_SENTENCES[moment.kind])
        return routed(trace, "time" if moment.kind != "date" else "date", f"{moment.kind} {moment.text}")
    stated = read_number(plain)
    if stated is not None:
        note(trace, "number", plain, str(stated), "It is a number: groups, brackets, $ and % are notation.")
        return routed(trace, "number", f"number {stated}")
    code = read_code(plain)
    if code is not None:
        note(trace, "sign", plain, code, "It is a code with leading zeros: brackets and a minus are its sign.")
        return routed(trace, "text", f"text {code}")
    digits = grouped_identifier(plain)
    if digits is not None:
        note(trace, "identifier", plain, digits, "Nine or more digits in groups are an identifier: its digits.")
        return routed(
            trace, "identifier", f"text {digits}" if digits[0] == "0" else f"number {number(digits, 0, False)}"
        )
    quantity = read_quantity(plain)
    if quantity is not None:
        note(trace, "quantity", plain, quantity, "One number with a currency or unit: the sign stands at the number.")
        return routed(trace, "quantity", f"text {quantity}")
    return routed(trace, "text", f"text {fold_text(text, plain, trace)}")


_MOMENT_SENTENCES = {
    "date": "It is a calendar date; midnight in its own zone is its day.",
    "instant": "It is a timestamp with a zone: an instant, compared in UTC.",
    "local": "It is a timestamp without a zone, equal only to such.",
    "clock": "It is a time of day.",
}
