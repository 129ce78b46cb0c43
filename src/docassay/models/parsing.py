"""Reads the one JSON value that a model's text holds, or says why there is none; never guesses between two."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

__all__ = ["UnreadableAnswerError", "parse_json_answer", "strict_loads"]

THINKING = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
FENCE = re.compile(r"```[\w+-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```", re.DOTALL)


class UnreadableAnswerError(ValueError):
    """The text holds no JSON value, or more than one that could be meant."""


def strict_loads(text: str) -> object:
    """Read one JSON text; NaN and infinity are no JSON. Raises ValueError."""
    return json.loads(text, parse_constant=_no_constant)


def parse_json_answer(text: str, *, root: str | None = None, loads: Callable[[str], object] = strict_loads) -> object:
    """The JSON value in `text`.

    Taken, in this order: the whole text; one fenced block; one value with prose around it. Trailing commas are
    forgiven. A leading `<think>` block is passed over. What is not done: closing what was cut off, quoting keys,
    taking an inner object of a broken outer one, or choosing between two different values.

    Args:
        root: the JSON Schema type of the answer (`object` or `array`) where known; values of another type are no
            candidates.
        loads: reads one JSON text; raises ValueError for what is none.

    Raises:
        UnreadableAnswerError: says which of these failed.
    """
    body = THINKING.sub("", text.lstrip("\ufeff")).strip()
    if not body:
        raise UnreadableAnswerError("the text is empty")
    reader = _Reader(loads)
    whole = reader.load(body)
    if whole is not _NOTHING and _fits(whole, root):
        return whole
    fenced = [value for value in reader.fenced(body) if _fits(value, root)]
    return _only(fenced or [value for value in reader.scan(body) if _fits(value, root)], root)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


class _Nothing:
    pass


_NOTHING = _Nothing()


@dataclass(frozen=True, slots=True)
class _Reader:
    loads: Callable[[str], object]

    def load(self, text: str) -> object:
        try:
            return self.loads(text)
        except (ValueError, RecursionError):
            return _NOTHING

    def forgiving(self, text: str) -> object:
        value = self.load(text)
        return self.load(_without_trailing_commas(text)) if value is _NOTHING else value

    def fenced(self, text: str) -> list[object]:
        """Every fenced block that is JSON."""
        return [value for value in map(self.forgiving, FENCE.findall(text)) if value is not _NOTHING]

    def scan(self, text: str) -> list[object]:
        """Every outermost object or array in prose; a bracket that opens no JSON is passed over as a whole."""
        found: list[object] = []
        at = 0
        while (start := _next_open(text, at)) is not None:
            end = _balanced_end(text, start)
            if end is None:
                return []
            value = self.forgiving(text[start:end])
            if value is not _NOTHING:
                found.append(value)
            at = end
        return found


def _only(values: list[object], root: str | None) -> object:
    if not values:
        raise UnreadableAnswerError(f"the text holds no complete JSON {root or 'value'}")
    if any(value != values[0] for value in values):
        raise UnreadableAnswerError(
            f"the text holds {len(values)} JSON values that differ, and none is marked as meant"
        )
    return values[0]


def _fits(value: object, root: str | None) -> bool:
    if root == "object":
        return isinstance(value, dict)
    if root == "array":
        return isinstance(value, list)
    return True


def _next_open(text: str, at: int) -> int | None:
    return min((place for place in (text.find("{", at), text.find("[", at)) if place >= 0), default=None)


def _balanced_end(text: str, start: int) -> int | None:
    """Behind the bracket that closes the one at `start`; None where the text ends first."""
    depth = 0
    for place, char in _outside_strings(text, start):
        if char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return place + 1
    return None


def _without_trailing_commas(text: str) -> str:
    """`text` without commas that only white space parts from a closing bracket."""
    dropped: set[int] = set()
    comma: int | None = None
    for place, char in _outside_strings(text, 0):
        if char in "}]" and comma is not None:
            dropped.add(comma)
        if not char.isspace():
            comma = place if char == "," else None
    return "".join(char for place, char in enumerate(text) if place not in dropped)


def _outside_strings(text: str, start: int) -> list[tuple[int, str]]:
    """Characters from `start` that stand in no JSON string, with their places; a string's opening quote is kept."""
    kept: list[tuple[int, str]] = []
    quoted = False
    escaped = False
    for place in range(start, len(text)):
        char = text[place]
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
            continue
        quoted = char == '"'
        kept.append((place, char))
    return kept
