"""Decides what a value is compared as under `omni/1`, the metric published with omni-extract-bench 0.1.7.

Every key is the published one, oddities included; where the original raises or takes quadratic time, the same rules
are carried through here. Source: the observed behaviour of that package, kept as golden vectors.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date, datetime
from decimal import Context, Decimal, InvalidOperation

from docassay.extraction.values.plain import EXACT, NUMBER_STARTS, SMALL, is_iso_date, short_float, short_number
from docassay.extraction.values.reading import Fold, Trace, apply_folds, note, routed

ABSENT = ""
"""The key of what states nothing."""

_PUBLISHED = Context(prec=28)
_EXPONENT_LIMIT = 100
_KEPT_DIGITS = 7
_DATE_LENGTH = 34
_CUT = 64


def states_nothing(raw: object) -> bool:
    """Whether the value has no address: null, or text of white space only."""
    return raw is None or (isinstance(raw, str) and not raw.strip())


def canon(raw: object) -> str:
    """The canonical key of a JSON scalar; equal keys mean equal values.

    Plain ASCII text, integers, short decimals and ISO dates take a short cut that tests hold equal to `trace_canon`.
    """
    kind = type(raw)
    key: str | None = None
    if kind is str:
        key = _quick_text(raw)  # type: ignore[arg-type]
    elif kind is int:
        key = str(raw) if -EXACT < raw < EXACT else None  # type: ignore[operator]
    elif kind is float:
        key = short_float(raw)  # type: ignore[arg-type]
    return trace_canon(raw, None) if key is None else key


def trace_canon(raw: object, trace: Trace | None) -> str:
    """The key by every rule in full; the one implementation behind `canon` and `read`."""
    if states_nothing(raw) or raw == [] or raw == {}:
        return routed(trace, "absent", ABSENT)
    text = _as_text(raw)
    if isinstance(raw, bool):
        return routed(trace, "boolean", _fold_text(text, trace))
    number = _read_decimal(text)
    if number is not None:
        plain = format(number.normalize(_PUBLISHED), "f")
        note(
            trace,
            "decimal",
            text,
            plain,
            "It reads as a decimal number: signs, brackets, $, % and commas are notation.",
        )
        return routed(trace, "number", _fold_text(plain, trace))
    moment = _read_moment(text.strip())
    if moment is not None:
        return _moment_key(text, moment, trace)
    return routed(trace, "text", _fold_text(text, trace))


# Short cuts: the key where it can be told at a glance, else None

_DATE_START = re.compile(
    r"\s*(?:\d{1,4}[-/.]\s?\d|(?:\d{1,2}[\s-]*)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))", re.IGNORECASE
).match
_DELETED = b" \t\n\v\f\r\x1c\x1d\x1e\x1f,-.()/"
_INERT = bytes(c for c in range(128) if chr(c) not in "\0$%\"'[+0123456789")


def _quick_text(text: str) -> str | None:
    if not text.isascii():
        return None
    if text.isalnum():
        return _quick_word(text)
    if text[:1] in NUMBER_STARTS:
        if is_iso_date(text):
            return "#d" + text
        number = short_number(text)
        if number is not None:
            return number
    data = text.encode()
    held = data.translate(None, _INERT)
    if not held:  # no digit, quote, bracket or currency: no number, date or marker
        return data.translate(SMALL, _DELETED).decode() or None
    return _quick_mixed(text, data) if held.isdigit() else None


def _quick_word(text: str) -> str | None:
    if text.isalpha():
        return text.lower()
    if text.isdigit():
        return text if len(text) < 16 or (text[0] == "0") else None
    if text[0].isdigit() and text[-1].isdigit() and _DATE_START(text):
        return None
    return text.lower()


def _quick_mixed(text: str, data: bytes) -> str | None:
    """Digits among other characters, without quotes, brackets, currency or plus sign."""
    if len(text) <= _DATE_LENGTH and _DATE_START(text):
        return None
    if not text[0].isalpha():
        if "." in text:
            return None
        key = data.translate(SMALL, _DELETED).decode()
        return None if key.isdigit() else key
    if "." not in text:
        return data.translate(SMALL, _DELETED).decode()
    return _drop_punctuation(text.lower()).translate(_BRACKETS)


def _as_text(raw: object) -> str:
    if isinstance(raw, str):
        return raw
    if isinstance(raw, Decimal):
        return str(float(raw))
    if isinstance(raw, int) and not isinstance(raw, bool):
        return integer_text(raw)
    return str(raw)


def integer_text(value: int) -> str:
    """The decimal digits of an integer of any size (`str` refuses more than 4300 digits)."""
    try:
        return str(value)
    except ValueError:
        return format(Decimal(value), "f")


# Numbers


def _read_decimal(text: str) -> Decimal | None:
    if "." not in text:
        return None
    return _round_fraction(parsed) if (parsed := _parse_decimal(text)) is not None else None


def _parse_decimal(text: str) -> Decimal | None:
    body = text.strip()
    negative = False
    if body.startswith("(") and body.endswith(")"):
        negative = True
        body = body[1:-1].strip()
    body = body.replace("\u2212", "-").replace("\u2013", "-")
    if body.endswith("-"):
        negative = not negative
        body = body[:-1]
    while body[:1] in ("-", "+"):
        negative ^= body[0] == "-"
        body = body[1:].lstrip()
    body = body.translate(_NUMBER_NOISE)
    if "." not in body:
        return None
    try:
        number = Decimal("-" + body if negative else body)
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > _EXPONENT_LIMIT:
        return None
    return number


_NUMBER_NOISE = str.maketrans("", "", ",$% ")


def _round_fraction(number: Decimal) -> Decimal:
    """Round the fraction to seven digits counted from its first non-zero digit, half to even."""
    wide = Context(prec=len(number.as_tuple().digits) + 2 * _EXPONENT_LIMIT)
    whole = number.to_integral_value("ROUND_DOWN", wide)
    fraction = wide.subtract(number, whole)
    if not fraction:
        return number
    step = Decimal(1).scaleb(fraction.adjusted() - _KEPT_DIGITS + 1)
    return wide.add(whole, fraction.quantize(step, "ROUND_HALF_EVEN", wide))


# Dates and timestamps, by the rules of C-locale strptime

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH_NUMBER = {name: i for i, name in enumerate(_MONTHS, 1)} | {name[:3]: i for i, name in enumerate(_MONTHS, 1)}
_FIELDS = {
    "Y": r"(?P<Y>\d\d\d\d)",
    "y": r"(?P<y>\d\d)",
    "m": r"(?P<m>1[0-2]|0[1-9]|[1-9])",
    "d": r"(?P<d>3[0-1]|[1-2]\d|0[1-9]|[1-9]| [1-9])",
    "B": "(?P<B>" + "|".join(_MONTHS) + ")",
    "b": "(?P<B>" + "|".join(name[:3] for name in _MONTHS) + ")",
    " ": r"\s+",
    "H": r"(?P<H>2[0-3]|[0-1]\d|\d)",
    "M": r"(?P<M>[0-5]\d|\d)",
    "S": r"(?P<S>6[0-1]|[0-5]\d|\d)",
    "f": r"(?P<f>[0-9]{1,6})",
    "z": r"(?P<z>[+-]\d\d:?[0-5]\d(:?[0-5]\d(\.\d{1,6})?)?|(?-i:Z))",
}
_DATES = (
    "Y-m-d",
    "m/d/Y",
    "m-d-Y",
    "d/m/Y",
    "B d, Y",
    "b d, Y",
    "d B Y",
    "d-b-Y",
    "dbY",
    "m/d/y",
    "Y/m/d",
    "d.m.Y",
    "m.d.Y",
    "b d Y",
    "B d Y",
)
_TIMES = tuple(
    "Y-m-d" + join + clock for clock in ("H:M:S", "H:M:Sz", "H:M:S.f", "H:M:S.fz", "H:M") for join in ("T", " ")
)


def _compiled(shape: str) -> re.Pattern[str]:
    return re.compile("".join(_FIELDS.get(c, re.escape(c)) for c in shape), re.IGNORECASE)


def _by_first_mark() -> dict[str, tuple[re.Pattern[str], ...]]:
    """The shapes in published order, by what follows the leading digits, so that few are tried."""
    table: dict[str, tuple[re.Pattern[str], ...]] = {}
    for shape in _DATES + _TIMES:
        mark = "" if shape[0] in "Bb" or shape[1] in " Bb" else shape[1]
        table[mark] = (*table.get(mark, ()), _compiled(shape))
    return table


_SHAPES = _by_first_mark()
_FIRST_MARK = re.compile(r"\d+([-/.])")


def _read_moment(text: str) -> datetime | None:
    if len(text) > _DATE_LENGTH:
        return None
    mark = _FIRST_MARK.match(text)
    for shape in _SHAPES[mark[1] if mark else ""]:
        found = shape.fullmatch(text)
        moment = _moment(found.groupdict()) if found else None
        if moment is not None:
            return moment
    return None


def _moment(parts: dict[str, str | None]) -> datetime | None:
    year = int(parts.get("Y") or 0) or _full_year(parts.get("y"))
    month = _MONTH_NUMBER.get((parts.get("B") or "").lower()) or int(parts.get("m") or 0)
    micro = int((parts.get("f") or "").ljust(6, "0"))
    hour, minute, second = (int(parts.get(name) or 0) for name in "HMS")
    if not _zone_exists(parts.get("z")):
        return None
    try:
        return datetime(year, month, int(parts["d"] or 0), hour, minute, second, micro)  # noqa: DTZ001 - the zone is ignored
    except ValueError:
        return None


def _full_year(two_digits: str | None) -> int:
    """69-99 lie in the last century, 00-68 in this one; without digits the year 0, which no calendar has."""
    if two_digits is None:
        return 0
    year = int(two_digits)
    return year + (1900 if year >= 69 else 2000)


def _zone_exists(zone: str | None) -> bool:
    """Offsets of a day or more do not exist; colons stand everywhere or nowhere."""
    if not zone or zone == "Z":
        return True
    if int(zone[1:3]) >= 24:
        return False
    return len(zone) <= 6 or (zone[3] == ":") == (":" in zone[5:7])


def _moment_key(text: str, moment: datetime, trace: Trace | None) -> str:
    if moment == datetime.combine(moment.date(), datetime.min.time()):
        key = "#d" + date.isoformat(moment.date())
        note(trace, "date", text, key, "It reads as a calendar date; midnight is its day, and a zone is ignored.")
        return routed(trace, "date", key)
    key = "#t" + moment.isoformat(timespec="microseconds")
    note(trace, "time", text, key, "It reads as a timestamp; its zone is ignored.")
    return routed(trace, "time", key)


# Text


def _fold_text(text: str, trace: Trace | None) -> str:
    folded = apply_folds(text, _BEFORE_NUMBER, trace)
    try:
        number = _plain_number(folded)
    except OverflowError:
        cut = " ".join(text.lower().split())[:_CUT]
        note(trace, "cut", folded, cut, "Too large for a double: 64 characters of the text are compared.")
        return cut
    if number is not None:
        note(trace, "number", folded, number, "Only a number is left: it is read as a double.")
        return number
    if _only_dashes(folded):
        note(trace, "dash", folded, "#ph_dash", "Only dashes: every dash is the same mark.")
        return "#ph_dash"
    key = apply_folds(folded, _AFTER_NUMBER, trace)
    if key:
        return key
    whole = "".join(text.lower().split())
    note(trace, "nothing left", key, whole, "The rules leave nothing, so the text itself is compared.")
    return whole


def _lower(text: str) -> str:
    return text.strip().lower()


class _Decomposed(dict[int, str]):
    """Code point to what is left of it, filled as characters are met.

    NFKD works character by character here: what it reorders are marks, and those go.
    """

    def __missing__(self, code: int) -> str:
        kept = (
            c
            for c in unicodedata.normalize("NFKD", chr(code))
            if not unicodedata.combining(c) and unicodedata.category(c) != "Cf"
        )
        self[code] = left = "".join(kept).replace("\u03bc", "u")
        return left


_DECOMPOSED = _Decomposed()


def _decompose(text: str) -> str:
    return text if text.isascii() else text.translate(_DECOMPOSED)


_MARKER = re.compile(r"(?<!\s)\s*\[\s*(?:\d{1,2}|[a-z])\s*\]")


def _drop_markers(text: str) -> str:
    if "[" not in text:
        return text
    without = _MARKER.sub("", text)
    return without if without.strip() else text


_TYPOGRAPHY = str.maketrans(
    dict.fromkeys("\u2018\u2019\u2032", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u2033", '"')
    | {"\u201a": ",", "\u2044": "/"}
    | dict.fromkeys("\u2010\u2011\u2013\u2014\u2015\u2212", "-")
)
_BULLET = re.compile("^[\u2022\u2023\u25e6\u25aa\u25b6\u2219\u25cf\u25a0](?=\\s|$)")
_PLAIN_NUMBER = re.compile(r"(?!-?0\d)[+-]?\d+(?:\.\d+)?")
_NUMBER_SIGNS = str.maketrans("", "", ",$%")


def _plain_number(text: str) -> str | None:
    body = text.translate(_NUMBER_SIGNS).strip()
    if not _PLAIN_NUMBER.fullmatch(body):
        return None
    value = float(body)
    return str(int(value)) if value == int(value) else repr(value)


def _only_dashes(text: str) -> bool:
    squeezed = "".join(text.split())
    return bool(squeezed) and not squeezed.strip("-")


_POINT = re.compile(r"(?<=\d)\.(?=\d)")


def _drop_punctuation(text: str) -> str:
    if len(_POINT.findall(text)) == 1:
        text = _POINT.sub("\0", text)
    return "".join(text.split()).translate(_PUNCTUATION)


_PUNCTUATION = str.maketrans({",": None, "-": None, ".": None, "\0": "."})


_BRACKETS = str.maketrans("", "", "()/")

_BEFORE_NUMBER = (
    Fold("case", "White space at the ends goes, capitals become small letters.", _lower),
    Fold(
        "decompose",
        "Accents, marks and invisible characters go, styled characters become plain ones, mu is u.",
        _decompose,
    ),
    Fold("marker", "A bracketed number of one or two digits, or letter, is a footnote marker.", _drop_markers),
    Fold(
        "typography",
        "Curly quotes, primes and long dashes become plain ones.",
        lambda text: text.translate(_TYPOGRAPHY),
    ),
    Fold("bullet", "A bullet at the start is layout.", lambda text: _BULLET.sub("", text)),
)
_AFTER_NUMBER = (
    Fold(
        "punctuation", "White space, commas, hyphens and periods go; the only decimal point stays.", _drop_punctuation
    ),
    Fold("quotes", "Quotes at the ends go.", lambda text: text.strip("\"'")),
    Fold("brackets", "Round brackets and slashes go.", lambda text: text.translate(_BRACKETS)),
)
