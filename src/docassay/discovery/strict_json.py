"""Decides what JSON text is: UTF-8, no NaN or infinity, no lone surrogate, nesting that a program can follow.

Integers keep their full size (a float could not tell 10**400 from infinity); a key given twice keeps its last value.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import orjson

from docassay.errors import DocumentError, NonFiniteError

__all__ = ["MAX_DEPTH", "check_value", "parse_json", "parse_line", "read_json"]

MAX_DEPTH = 64
"""How deep arrays and objects may nest; no record of this package needs more than eight levels."""

MAX_INTEGER_BITS = 14_000
"""Longest integer; Python prints no more than 4,300 digits, and a digest needs them all."""

_MANY_DIGITS = re.compile(rb"[0-9]{19}")


def read_json(path: Path) -> Any:
    """The JSON value of a file. Raises DocumentError naming the file if it cannot be read or is not strict JSON."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DocumentError(f"{path}: cannot be read: {error.strerror or error}") from error
    return parse_json(data, where=str(path))


def parse_json(data: bytes | str, *, where: str) -> Any:
    """The value of one strict JSON text. Raises DocumentError, which names `where`, for anything else."""
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise DocumentError(f"{where}: byte {error.start} is not UTF-8 ({error.reason})") from error
    except RecursionError as error:
        raise DocumentError(f"{where}: nested deeper than {MAX_DEPTH} levels") from error
    except _NonFiniteTokenError as error:
        raise NonFiniteError(f"{where}: {error}") from error
    except json.JSONDecodeError as error:
        raise DocumentError(f"{where}: not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
    except ValueError as error:
        raise DocumentError(f"{where}: {error}") from error
    check_value(value, where=where)
    return value


def parse_line(line: bytes, *, where: str) -> Any:
    """As `parse_json`, for the many lines of a corpus: the fast parser, unless a long integer needs the exact one."""
    if _MANY_DIGITS.search(line):
        return parse_json(line, where=where)
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return parse_json(line, where=where)


def check_value(value: object, *, where: str) -> None:
    """Raise DocumentError if a parsed or hand-made value is not strict JSON; the message has the place in it."""
    pending: list[tuple[object, str, int]] = [(value, "", 0)]
    while pending:
        node, place, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise DocumentError(f"{where}: nested deeper than {MAX_DEPTH} levels")
        problem = _problem(node)
        if problem:
            wrong = NonFiniteError if isinstance(node, float) else DocumentError
            raise wrong(f"{where}: {problem} at {place or 'the top'}")
        pending.extend(_children(node, place, depth + 1))


def _children(node: object, place: str, depth: int) -> Iterator[tuple[object, str, int]]:
    if isinstance(node, dict):
        for key, child in node.items():
            problem = _problem(key) if isinstance(key, str) else "a key that is not text"
            if problem:
                raise DocumentError(f"{problem} in a key at {place or 'the top'}")
            if not _is_plain(child):
                yield child, f"{place}.{key}" if place else key, depth
    elif isinstance(node, list):
        for index, child in enumerate(node):
            if not _is_plain(child):
                yield child, f"{place}[{index}]", depth


def _is_plain(node: object) -> bool:
    """Whether a leaf needs no closer look; most leaves are short ASCII identifiers."""
    return node is None or (type(node) is str and node.isascii()) or type(node) is bool


def _problem(node: object) -> str | None:
    if isinstance(node, str):
        return _surrogate(node)
    if isinstance(node, float):
        return None if math.isfinite(node) else f"{node} is not a JSON number"
    if isinstance(node, int) and node.bit_length() > MAX_INTEGER_BITS:
        return f"an integer of {node.bit_length()} bits is too long to print"
    if node is None or isinstance(node, bool | int | dict | list):
        return None
    return f"a {type(node).__name__} is not JSON"


def _surrogate(text: str) -> str | None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"a lone surrogate (U+{ord(text[error.start]):04X})"
    return None


class _NonFiniteTokenError(ValueError):
    """Raised inside the parser."""


def _refuse_constant(name: str) -> NoReturn:
    raise _NonFiniteTokenError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _NonFiniteTokenError(f"{text[:40]} is too large for a double")
    return number
