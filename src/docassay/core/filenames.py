"""Decides which file name stands for an identifier: safe on every system, never shared by two, and readable back.

Letters, digits, `-`, `_` and inner `.` stand for themselves; everything else is percent-encoded UTF-8, as in a URL. A
name too long for a file system continues in a folder whose name ends with a bare `%`.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from docassay.errors import ArgumentValueError

__all__ = ["id_of", "safe_name"]

LONGEST = 200
"""Bytes of one step of a path; file systems take 255, and an ending is still to come."""

UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
EDGE_DOTS = re.compile(r"^\.|\.$")
DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)", re.IGNORECASE)
"""Names that one system keeps for devices, whatever ending they have."""


def safe_name(identifier: str) -> str:
    """The file name, without an ending, for an identifier; two identifiers never share one.

    It is a relative path of several steps only where the identifier is longer than about 200 bytes.
    Raises ArgumentValueError for an empty identifier.
    """
    if not identifier:
        raise ArgumentValueError("an empty identifier cannot name a file")
    name = UNSAFE.sub(lambda found: _escape(found[0]), identifier)
    name = EDGE_DOTS.sub("%2E", name)
    device = DEVICE.match(name)
    if device is not None:
        name = _escape(name[0]) + name[1:]
    return "%/".join(_steps(name))


def id_of(name: str) -> str:
    """The identifier that `safe_name` made `name` from."""
    return unquote(name.replace("%/", ""), errors="surrogatepass")


def _escape(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def _steps(name: str) -> list[str]:
    """`name` in pieces that never cut through an escape."""
    steps = []
    while len(name) > LONGEST:
        cut = LONGEST - next((back for back in (1, 2) if name[LONGEST - back] == "%"), 0)
        steps.append(name[:cut])
        name = name[cut:]
    return [*steps, name]
