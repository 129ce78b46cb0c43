"""Decides which values of a ground truth are likely to be disputed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from docassay.extraction.address import ANY, Steps
from docassay.extraction.lint.finding import LintFinding, finding
from docassay.extraction.lint.walk import Leaf
from docassay.extraction.metric import OMNI, SOUND
from docassay.extraction.values import ValueRules, compare, rules, shown

PLACEHOLDERS: Final = frozenset(
    {
        "-", "--", "---", "–", "—", "?", "n/a", "n.a.", "na", "none", "null", "nil", "nan", "unknown", "not available",
        "not applicable", "not provided", "not found", "not stated", "tbd", "blank", "empty", "undefined", "missing",
    }
)  # fmt: skip
_DATE = re.compile(r"\s*(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})\s*")
_NUMBER_TYPES: Final = frozenset({"number", "integer"})
_PLAIN_ROUTES: Final = frozenset({"number", "date", "time"})
_OMNI: Final = rules(OMNI.name)
_SOUND: Final = rules(SOUND.name)


def value_findings(leaf: Leaf) -> Iterator[LintFinding]:
    """What one value shows by itself."""
    if isinstance(leaf.value, str):
        yield from _read_differently(leaf.value, leaf.steps)
        yield from _ambiguous_date(leaf.value, leaf.steps)
        if leaf.value.strip().casefold() in PLACEHOLDERS:
            advice = "write null, unless the document says so and the schema asks for it"
            yield finding("placeholder", leaf.steps, shown(leaf.value), advice)
    yield from _types(leaf)


def disagreements(leaves: list[Leaf]) -> Iterator[LintFinding]:
    """Within a field: values that one metric merges and the other keeps apart, one example of each merge."""
    fields: dict[Steps, list[Leaf]] = {}
    for leaf in leaves:
        fields.setdefault(tuple(step if isinstance(step, str) else ANY for step in leaf.steps), []).append(leaf)
    for group in fields.values():
        for one, other in ((_OMNI, _SOUND), (_SOUND, _OMNI)):
            yield from _merged_by_one(group, one, other)


def _merged_by_one(group: list[Leaf], one: ValueRules, other: ValueRules) -> Iterator[LintFinding]:
    merged: dict[str, dict[str, Leaf]] = {}
    for leaf in group:
        merged.setdefault(one.canon(leaf.value), {}).setdefault(other.canon(leaf.value), leaf)
    for kept_apart in merged.values():
        if len(kept_apart) > 1:
            first, second = list(kept_apart.values())[:2]
            why = compare(other.read(first.value), other.read(second.value)).reason
            found = f"{shown(first.value)} and {shown(second.value)}"
            yield finding("metrics_disagree", first.steps, found, f"equal under {one.metric} only. {why}")


def _read_differently(value: str, steps: Steps) -> Iterator[LintFinding]:
    """A value and the plain form of what one metric reads it as, which the other metric holds to be two things."""
    for reader, other in ((_SOUND, _OMNI), (_OMNI, _SOUND)):
        reading = reader.read(value)
        if reading.route not in _PLAIN_ROUTES or reading.canonical is None:
            continue
        plain = _plain(reading.route, reading.canonical)
        if plain is not None and reader.canon(plain) == reading.canonical and other.canon(plain) != other.canon(value):
            advice = f"{reader.metric} reads it as {shown(plain)}, {other.metric} does not; written so, both agree"
            yield finding("read_differently", steps, shown(value), advice)
            return


def _plain(route: str, canonical: str) -> Any:
    """The plainest way to write what a value was read as; None where the canonical form does not show it."""
    text = canonical.split(" ", 1)[-1].removeprefix("#d")
    if route != "number":
        return text
    try:
        number = Decimal(text)
    except ArithmeticError:
        return None
    return int(number) if number == number.to_integral_value() else number


def _ambiguous_date(value: str, steps: Steps) -> Iterator[LintFinding]:
    found = _DATE.fullmatch(value)
    if found is None or int(found[1]) == int(found[3]):
        return
    if 1 <= int(found[1]) <= 12 and 1 <= int(found[3]) <= 12:
        readings = [one.read(value) for one in (_SOUND, _OMNI)]
        read = ", ".join(f"as {_plain(one.route, one.canonical or '')} by {one.metric}" for one in readings)
        yield finding("ambiguous_date", steps, shown(value), f"read {read}; write it as YYYY-MM-DD")


def _types(leaf: Leaf) -> Iterator[LintFinding]:
    types = leaf.node.types if leaf.node is not None else frozenset()
    asks_number, asks_text = bool(types & _NUMBER_TYPES), "string" in types
    if isinstance(leaf.value, str) and asks_number and not asks_text:
        yield finding("number_as_text", leaf.steps, shown(leaf.value), "write it as a JSON number")
    is_number = isinstance(leaf.value, (int, float, Decimal)) and not isinstance(leaf.value, bool)
    if is_number and asks_text and not asks_number:
        yield finding("text_as_number", leaf.steps, shown(leaf.value), "write it as text, as the document has it")
