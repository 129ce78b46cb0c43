"""Decides which characters of two values are marked as different, and how much of a long one is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from docassay.report.text import visible

SHOWN = 240
"""Characters of one value that are shown at most."""
_CONTEXT = 60
_ALIKE = 0.35  # below this ratio two texts have nothing in common worth pointing at


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a value; `changed` where the other value has something else."""

    text: str
    changed: bool


@dataclass(frozen=True, slots=True)
class Marked:
    """A value as it is shown: parts in order, and how many characters are left out on either side."""

    parts: tuple[Part, ...]
    before: int = 0
    after: int = 0


def plain(value: str, shown: int = SHOWN) -> Marked:
    """A value without a counterpart, cut at `shown` characters."""
    return Marked((Part(visible(value[:shown]), False),), 0, max(0, len(value) - shown))


def mark(one: str, other: str, shown: int = SHOWN) -> tuple[Marked, Marked]:
    """Both values with what differs marked; long ones are shown from a little before the first difference."""
    start = max(0, _common_prefix(one, other) - _CONTEXT)
    if max(len(one), len(other)) <= shown:
        start = 0
    left, right = one[start : start + shown], other[start : start + shown]
    first, second = _parts(left, right)
    return (
        Marked(first, start, len(one) - start - len(left)),
        Marked(second, start, len(other) - start - len(right)),
    )


def _common_prefix(one: str, other: str) -> int:
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))


def _parts(left: str, right: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return (Part(visible(left), True),), (Part(visible(right), True),)
    codes = matcher.get_opcodes()
    return (
        tuple(_merged((tag != "equal", left[a:b]) for tag, a, b, _, _ in codes)),
        tuple(_merged((tag != "equal", right[a:b]) for tag, _, _, a, b in codes)),
    )


def _merged(stretches: Iterable[tuple[bool, str]]) -> Iterator[Part]:
    """Stretches joined where neighbours are marked alike; empty ones vanish."""
    kept, text = False, ""
    for changed, stretch in stretches:
        if not stretch:
            continue
        if text and changed != kept:
            yield Part(visible(text), kept)
            text = ""
        kept, text = changed, text + stretch
    if text:
        yield Part(visible(text), kept)
