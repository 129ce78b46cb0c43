"""Decides how the parameters of a request are read."""

from __future__ import annotations

from collections.abc import Mapping

from docassay.errors import InputError

Query = Mapping[str, list[str]]

MAX_ROWS = 500
"""Rows that one answer holds at most."""


def one(query: Query, name: str) -> str:
    """The last value given for a name, or nothing."""
    values = query.get(name)
    return values[-1] if values else ""


def whole(query: Query, name: str, otherwise: int) -> int:
    """A whole number of a request; what is none is refused.

    Raises:
        InputError: the text is no number.
    """
    text = one(query, name)
    if not text:
        return otherwise
    if not (text.removeprefix("-").isascii() and text.removeprefix("-").isdigit()) or len(text) > 12:
        raise InputError(f"{name} is no number")
    return int(text)
