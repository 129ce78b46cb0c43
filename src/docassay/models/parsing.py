"""Reads the one JSON value that a model's text holds, or says why there is none; never guesses between two."""

from __future__ import annotations

import json
import re
from typing import NoReturn

__all__ = ["UnreadableAnswerError", "parse_json_answer"]

THINKING = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
FENCE = re.compile(r"```[\w+-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```", re.DOTALL)


class UnreadableAnswerError(ValueError):
    """The text holds no JSON value, or more than one that could be meant."""


def parse_json_answer(text: str, *, root: str | None = None) -> object:
    """The JSON value in `text`.

    Taken, in this order: the whole text; one fenced block; one value with prose around it. Trailing commas are
    forgiven. A leading `<think>` block is passed over. What is not done: closing what was cut off, quoting keys,
    taking an inner object of a broken outer one, or choosing between two different values.

    Args:
        root: the JSON Schema type of the answer (`object` or `array`) where known; values of another type are no
            candidates.

    Raises:
        UnreadableAnswerError: says which of these failed.
    """
    body = THINKING.sub("", text.lstrip("\ufeff")).strip()
    if not body:
        raise UnreadableAnswerError("the text is empty")
    whole = _load(body)
    if whole is not _NOTHING and _fits(whole, root):
        return whole
    fenced = [value for value in map(_load_forgiving, FENCE.findall(body)) if value is not _NOTHING]
    values = [value for value in fenced if _fits(value, root)] or [v for v in _scan(body) if _fits(v, root)]
    return _only(values, root)


class _Nothing:
    pass


_NOTHING = _Nothing()


def _only(values: list[object], root: str | None) -> object:
    if not values:
        raise UnreadableAnswerError(f"the text holds no complete JSON {root or 'value'}")
    spelled = {json.dumps(value, sort_keys=True) for value in values}
    if len(spelled) > 1:
        raise UnreadableAnswerError(f"the text holds {len(spelled)} different JSON values, and none is marked as meant")
    return values[0]


def _fits(value: object, root: str | None) -> bool:
    if root == "object":
        return isinstance(value, dict)
    if root == "array":
        return isinstance(value, list)
    return True


def _load(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return _NOTHING


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _load_forgiving(text: str) -> object:
    value = _load(text)
    return _load(_without_trailing_commas(text)) if value is _NOTHING else value


def _scan(text: str) -> list[object]:
    """Every outermost object or array in prose; a bracket that opens no JSON is passed over as a whole."""
    found: list[object] = []
    at = 0
    while (start := _next_open(text, at)) is not None:
        end = _balanced_end(text, start)
        if end is None:
            return []
        value = _load_forgiving(text[start:end])
        if value is not _NOTHING:
            found.append(value)
        at = end
    return found


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
