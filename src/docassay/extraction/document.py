"""From bytes to a JSON value: exact where a fast parser is not, and one clear error where there is no JSON."""

from __future__ import annotations

import codecs
import json
import re
from decimal import Decimal

import orjson

from docassay.errors import DocumentError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# A run of 16 digits may be an integer or a decimal that a double cannot hold.
_LONG_NUMBER = re.compile(rb"[0-9](?:[0-9.]{15})")
_OF_NUMBERS = bytes(ord("0") if chr(code) in "0123456789." else ord(" ") for code in range(256))
_LONG_RUN = b"0" * 16
_MAX_DIGITS = 4300


def load_json(data: bytes, *, where: str, exact: bool = False) -> object:
    """Parse one JSON document.

    `where` names it in errors. UTF-8 (with or without a byte order mark), UTF-16 and UTF-32 with one are read; NaN
    and Infinity, lone surrogates and integers of any size are taken as Python's own parser takes them; of duplicate
    keys the last one counts. With `exact`, decimals that a double would change are kept as `Decimal`.
    Raises DocumentError for anything else.
    """
    if not data.strip():
        raise DocumentError(f"{where} is empty; expected a JSON document")
    if not _has_long_number(data):
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError:
            pass  # the slow parser takes more, and tells better what is wrong
    return _load_slowly(_decode(data, where), where, exact)


def _has_long_number(data: bytes) -> bool:
    # The first look, through all bytes at once, takes a fraction of the pattern's time.
    return _LONG_RUN in data.translate(_OF_NUMBERS) and _LONG_NUMBER.search(data) is not None


def _decode(data: bytes, where: str) -> str:
    if data[:2] == b"\x1f\x8b":
        raise DocumentError(f"{where} is gzip-compressed, not JSON; decompress it, or name it *.json.gz")
    encoding = "utf-8"
    for mark, name in _BOMS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], name
            break
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise DocumentError(f"{where} is not {encoding.upper()} text: byte {error.start} cannot be read") from None


def _load_slowly(text: str, where: str, exact: bool) -> object:
    try:
        return json.loads(text, parse_int=_integer, parse_float=_decimal if exact else float)
    except json.JSONDecodeError as error:
        raise DocumentError(
            f"{where} is not JSON: {error.msg.lower()} at line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise DocumentError(f"{where} is nested deeper than the JSON parser takes") from None


def _integer(digits: str) -> int:
    if len(digits) <= _MAX_DIGITS:
        return int(digits)
    return int(Decimal(digits))  # the limit on int() guards against quadratic time; Decimal is linear here


def _decimal(text: str) -> float | Decimal:
    value = float(text)
    return value if Decimal(repr(value)) == Decimal(text) else Decimal(text)
