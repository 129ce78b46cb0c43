"""How places in a document are written: addresses, fields, and the names of arrays.

A step is a key (`str`), an index (`int` >= 0), the position of a predicted row that paired with nothing (`~position`,
hence negative), or `ANY` for "whatever the index". What is printed can be read back by `parse_name`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable
from typing import Final, TypeAlias

from docassay.errors import ArgumentValueError

ANY: Final = None
Step: TypeAlias = str | int | None
Steps: TypeAlias = tuple[Step, ...]
Order: TypeAlias = tuple[tuple[int, int, str], ...]
"""What steps are sorted by."""

_PLAIN_KEY = re.compile(r"[^.\[\]'\"\\\s]+")
_NAME_TOKEN = re.compile(
    r"\[\*\]"
    r"|\[(?P<quoted>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')\]"
    r"|(?P<dot>\.?)(?P<plain>[^.\[\]]*)",
    re.DOTALL,
)


def print_address(steps: Iterable[Step]) -> str:
    """`rows[0].price`, `rows[p2].price`, `rows[*]["a.b"]`; the document itself is `<root>`."""
    text = ""
    for step in steps:
        text += print_step(step, first=not text)
    return text or "<root>"


def print_step(step: Step, *, first: bool) -> str:
    """One step of an address: `.price` (`price` if it is the first), `["a.b"]`, `[0]`."""
    if not isinstance(step, str):
        return print_index(step)
    if _PLAIN_KEY.fullmatch(step):
        return step if first else f".{step}"
    return f"[{json.dumps(step, ensure_ascii=False)}]"


def print_field(steps: Iterable[Step]) -> str:
    """An address with every index as `[*]`."""
    return print_address(step if isinstance(step, str) else ANY for step in steps)


def print_name(steps: Iterable[Step]) -> str:
    """The name of an array as `order_matters` takes it; odd keys stand in quotes: `o['a.b']`, `books[*].chapters`."""
    text = ""
    for step in steps:
        if not isinstance(step, str):
            text += "[*]"
        elif any(mark in step for mark in ".[]"):
            text += f"[{step!r}]"
        else:
            text += f".{step}" if text else step
    return text


def print_unquoted(steps: Iterable[Step]) -> str:
    """An address as the published metric prints skipped maps: no quoting at all."""
    text = ""
    for step in steps:
        text += print_index(step) if not isinstance(step, str) else f".{step}" if text else step
    return text or "<root>"


def print_index(step: int | None) -> str:
    """`[0]`, `[*]`, or `[p0]` for the position of a predicted row that paired with nothing."""
    if step is ANY:
        return "[*]"
    return f"[{step}]" if step >= 0 else f"[p{~step}]"


def parse_name(text: str) -> Steps:
    """Read what `print_name` or `print_field` wrote. Raises ArgumentValueError where the text is no name."""
    steps: list[Step] = []
    at = 0
    while at < len(text):
        token = _NAME_TOKEN.match(text, at)
        if token is None or token.end() == at or (token["plain"] is not None and bool(token["dot"]) != (at > 0)):
            raise ArgumentValueError(f"{text!r} is not the name of an array: cannot read {text[at:]!r}")
        if token["quoted"] is not None:
            steps.append(str(ast.literal_eval(token["quoted"])))
        elif token["plain"] is not None:
            steps.append(token["plain"])
        else:
            steps.append(ANY)
        at = token.end()
    return tuple(steps)


def reading_order(steps: Steps) -> Order:
    """Sort key: indices before keys, paired rows before unpaired ones, keys by code point."""
    return tuple(_step_order(step) for step in steps)


def _step_order(step: Step) -> tuple[int, int, str]:
    if isinstance(step, str):
        return (2, 0, step)
    if step is ANY or step >= 0:
        return (0, -1 if step is ANY else step, "")
    return (1, 0, f"p{~step}")
