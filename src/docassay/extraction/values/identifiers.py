"""Decides whether a text is an identifier written in groups of digits under `sound/1`, which its digits stand for."""

from __future__ import annotations

import re

from docassay.extraction.values.numbers import read_core


def grouped_identifier(text: str) -> str | None:
    """The digits of a text that is nothing but nine or more digits in groups, or None.

    `text` is folded. What is shaped like a date or like a network address is no identifier.
    """
    if not _GROUP_MARKS.fullmatch(text):
        return None
    text = _WIDE_HYPHEN.sub("-", text)
    if not _GROUPED.fullmatch(text) or _DATE_SHAPE.search(text):
        return None
    if text.count(".") == 3 and read_core(text) is None and _IP_ADDRESS.fullmatch(text):
        return None
    digits = "".join(c for c in text if c.isdigit())
    return digits if len(digits) >= _LEAST_DIGITS else None


_GROUP_MARKS = re.compile("[0-9()+. -]+")
_GROUPED = re.compile(
    r"\+?[0-9]+(?:[-. ][0-9]+)+|\+[0-9]+|(?:\+?[0-9]{1,3}[- ]?)?\([0-9]{2,5}\)[- ]?[0-9]+(?:[-. ][0-9]+)*"
)
_DATE_SHAPE = re.compile(
    r"(?<![0-9])(?:[12][0-9]{3}[-. ](?:0?[1-9]|1[0-2])[-. ](?:0?[1-9]|[12][0-9]|3[01])"
    r"|(?:0?[1-9]|[12][0-9]|3[01])[-. ](?:0?[1-9]|[12][0-9]|3[01])[-. ][12][0-9]{3})(?![0-9])"
)
_LEAST_DIGITS = 9
_WIDE_HYPHEN = re.compile(r"(?<! ) ?- ?(?! )")
_IP_ADDRESS = re.compile(r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})")
