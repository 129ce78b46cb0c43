"""How JSON is read from a vendor and written to a prediction: without losing a digit, and never half valid.

A number that a float cannot hold exactly is kept as `Decimal`; integers are exact at any size.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal

from docassay.errors import DocumentError
from docassay.extraction.document import load_json

__all__ = ["dump_bytes", "loads", "unfence"]

FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```", re.DOTALL)


def loads(text: str) -> object:
    """Read a JSON text. Raises ValueError where it is none."""
    try:
        return load_json(text.encode("utf-8", "surrogatepass"), where="the answer", exact=True)
    except DocumentError as error:
        raise ValueError(str(error)) from None


def dump_bytes(value: object, *, indent: int | None = None) -> bytes:
    """`value` as JSON in UTF-8; an unpaired surrogate, which UTF-8 cannot hold, is escaped."""
    try:
        return _dumps(value, indent, ascii_only=False).encode()
    except UnicodeEncodeError:
        return _dumps(value, indent, ascii_only=True).encode()


def unfence(text: str) -> str:
    """The content of the first Markdown fence in `text`, or `text` where there is none or it is JSON as it stands."""
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        return stripped
    match = FENCE.search(stripped)
    return match.group(1) if match else stripped


def _dumps(value: object, indent: int | None, *, ascii_only: bool) -> str:
    try:
        return json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    except TypeError:
        return _with_decimals(value, ascii_only)


def _with_decimals(value: object, ascii_only: bool) -> str:
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        items = (f"{json.dumps(k, ensure_ascii=ascii_only)}: {_with_decimals(v, ascii_only)}" for k, v in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_with_decimals(item, ascii_only) for item in value) + "]"
    return json.dumps(value, ensure_ascii=ascii_only)
