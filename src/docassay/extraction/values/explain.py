"""Decides how a reading is told: why two values are equal or not, in a sentence that a reader can disagree with."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import overload

from docassay.errors import ArgumentTypeError
from docassay.extraction.values.canon import DEFAULT_METRIC, SOUND, rules
from docassay.extraction.values.omni import integer_text
from docassay.extraction.values.reading import Comparison, Reading


class _Nothing:
    """Stands for a second value that was not given (None is a value)."""


_NOTHING = _Nothing()


@overload
def explain(value: object, /, *, metric: str = ...) -> Reading: ...
@overload
def explain(value: object, other: object, /, *, metric: str = ...) -> Comparison: ...


def explain(value: object, other: object = _NOTHING, /, *, metric: str = DEFAULT_METRIC) -> Reading | Comparison:
    """How a value is read under a metric or, given two, whether they are equal and why.

    Values are JSON scalars: text, numbers (also Decimal), booleans, None. The rules are the very ones that score.
    Raises ArgumentTypeError for anything else, ArgumentValueError for an unknown metric.
    """
    found = rules(metric)
    first = found.read(_scalar(value))
    if isinstance(other, _Nothing):
        return first
    return compare(first, found.read(_scalar(other)))


def compare(a: Reading, b: Reading) -> Comparison:
    """Whether two readings under one metric are equal, and the sentence that says why."""
    equal = a.canonical == b.canonical
    return Comparison(a, b, equal, _why_equal(a, b) if equal else _why_different(a, b))


def shown(raw: object) -> str:
    """A raw value as JSON text, for people: text in quotes, numbers and literals bare."""
    if isinstance(raw, int) and not isinstance(raw, bool):
        return integer_text(raw)
    if isinstance(raw, Decimal):
        return str(raw)
    return json.dumps(raw, ensure_ascii=False)


_NOUNS = {
    "absent": "nothing",
    "boolean": "a truth value",
    "number": "a number",
    "date": "a date",
    "time": "a time",
    "text": "text",
    "dash": "a dash",
    "identifier": "an identifier in groups of digits",
    "quantity": "an amount with a currency or unit",
    "address": "a written address",
}


_BARE = frozenset({"number", "date", "time"})


def _scalar(value: object) -> object:
    if value is None or isinstance(value, (str, int, float, Decimal)):
        return value
    raise ArgumentTypeError(
        f"explain reads one JSON scalar (text, number, true, false, null), not a {type(value).__name__}; "
        "objects and arrays are compared value by value"
    )


def _why_equal(a: Reading, b: Reading) -> str:
    if a.canonical is None:
        return "Both state nothing."
    if type(a.raw) is type(b.raw) and a.raw == b.raw:
        return "They are the same value."
    names = list(dict.fromkeys(step.name for step in (*a.steps, *b.steps)))
    by = f" What is taken away on the way: {', '.join(names)}." if names else ""
    return f"Both are compared as {a.canonical!r}.{by}"


def _why_different(a: Reading, b: Reading) -> str:
    if a.canonical is None or b.canonical is None:
        absent, stated = (a, b) if a.canonical is None else (b, a)
        return f"{shown(absent.raw)} states nothing, {shown(stated.raw)} is {_NOUNS[stated.route]}."
    if _NOUNS[a.route] != _NOUNS[b.route]:
        return (
            f"{shown(a.raw)} reads as {_NOUNS[a.route]}, {shown(b.raw)} as {_NOUNS[b.route]}: "
            f"{a.canonical!r} is not {b.canonical!r}."
        )
    return f"Both read as {_NOUNS[a.route]}, but {_kept(a)} is not {_kept(b)}."


def _kept(reading: Reading) -> str:
    """What is compared, without the type that the sentence names already; texts in quotes."""
    assert reading.canonical is not None
    typed = reading.metric == SOUND.metric and " " in reading.canonical
    kept = reading.canonical.split(" ", 1)[1] if typed else reading.canonical
    return kept if reading.route in _BARE else repr(kept)
