"""Decides which texts are so plain that `sound/1` tells their key at a glance; tests hold it to the rules in full."""

from __future__ import annotations

import re

from docassay.extraction.values.plain import NUMBER_STARTS, SMALL, is_iso_date, short_number
from docassay.extraction.values.quantities import CURRENCIES
from docassay.extraction.values.words import UNITS

_SPACES = b" \t\n\v\f\r\x1c\x1d\x1e\x1f"
_LETTERS = bytes(c for c in range(128) if chr(c).isalpha())
_INERT = _LETTERS + _SPACES + b",;!?&'"
_MARKS = b".-:/()#*+=_~|<>{}$%"
_DELETED = _SPACES + b",.-()"
_LOOSE_MARK = re.compile("(?<![A-Za-z])[-/]|[-/](?![A-Za-z])").search
_HYPHENS = re.compile("([A-Za-z]*)-(?=([A-Za-z0-9]?))").findall
_DIGIT_GAP = re.compile("[0-9][ \t\n\v\f\r\x1c-\x1f,.-]+[0-9]").search
_NAMED_DAY = re.compile(
    "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun", re.IGNORECASE
).search
_HALVES_OF_DAY = ("am", "pm")
_SHORTEST_DATE = 8
_MINUS_WORDS = UNITS | CURRENCIES | {"e"}


def quick_text(text: str) -> str | None:
    """The key of an ASCII text that no rule of `sound/1` has anything to say about but case and separators, or None."""
    if not text.isascii():
        return None
    if text.isalnum():
        return _quick_word(text)
    first = text[:1]
    if first in NUMBER_STARTS:
        if is_iso_date(text):
            return "date " + text
        number = short_number(text)
        if number is not None:
            return "number " + number
    if not first.isalnum() and not (first == "(" and text[1:2].isalnum()):
        return None
    data = text.encode()
    held = data.translate(None, _INERT)
    if not held:
        key = data.translate(SMALL, _DELETED).decode()
        return "text " + key if key else None
    if not held.translate(None, _MARKS):
        return _quick_phrase(text, data, held)
    return None if held.translate(None, b"0123456789-.") else _quick_mixed(text, data, held)


def _quick_word(text: str) -> str | None:
    if text.isalpha():
        return "text " + text.lower()
    if text.isdigit():
        return _quick_digits(text)
    if len(text) >= _SHORTEST_DATE and _NAMED_DAY(text):
        return None
    key = text.lower()
    return None if key.endswith(_HALVES_OF_DAY) else "text " + key


def _quick_digits(text: str) -> str | None:
    if text[0] == "0":
        return "text " + text if len(text) > 1 else "number 0"
    if len(text) == _SHORTEST_DATE and "01" <= text[4:6] <= "12" and "01" <= text[6:] <= "31":
        return None
    return "number " + text if len(text) < 30 else None


def _quick_phrase(text: str, data: bytes, held: bytes) -> str | None:
    """No digit, double quote, square bracket, address sign: letters that fold together, with marks between them."""
    if b"." in held and not _points_end_words(data, held):
        return None
    if held.strip(b".") and not _marks_fold(text, held):
        return None
    key = data.translate(SMALL, _DELETED).decode()
    return "text " + key if key and key != "n/a" else None


def _points_end_words(data: bytes, held: bytes) -> bool:
    """Whether a space or the end follows every period."""
    if held.count(b".") == 1:
        after = data.find(b".") + 1
        return data[after : after + 1] in (b"", b" ")
    return held.count(b".") == data.count(b". ") + data.endswith(b".")


def _marks_fold(text: str, held: bytes) -> bool:
    """Whether every hyphen and slash stands between letters, and brackets beside letters only."""
    slash = b"/" in held
    if (slash or b"-" in held) and _LOOSE_MARK(text):
        return False
    if slash and (b":" in held or b"." in held):
        return False
    return not ((b"(" in held or b")" in held) and held.translate(None, b".-:()"))


def _quick_mixed(text: str, data: bytes, held: bytes) -> str | None:
    """Words and counts, never with a separator between two digits."""
    digits = held if held.isdigit() else held.translate(None, b"-.")
    if digits not in data and _DIGIT_GAP(text):
        return None
    if len(digits) > 4 and (digits not in data or len(digits) == _SHORTEST_DATE) and _NAMED_DAY(text):
        return None
    if b"'" in data or (digits is not held and not _joins_fold(text, data, held)):
        return None
    key = data.translate(SMALL, _DELETED).decode()
    return None if key.isdigit() or key.endswith(_HALVES_OF_DAY) else "text " + key


def _joins_fold(text: str, data: bytes, held: bytes) -> bool:
    """Whether periods end words, and hyphens follow a word that takes no minus."""
    if b"." in held and not _points_end_words(data, held):
        return False
    for before, after in _HYPHENS(text) if b"-" in held else ():
        if not before or not after or (after.isdigit() and before.lower() in _MINUS_WORDS):
            return False
    return True
