"""Decides which values are so plain that no rule has anything to do: short numbers and ISO dates, in both metrics.

What is told here is told equally by the rules in full; tests hold it to that.
"""

from __future__ import annotations

import re

EXACT = 2**53
"""Integers below this in magnitude are the same in a double."""
NUMBER_STARTS = frozenset("0123456789-$")
"""First characters of the texts that `short_number` may know."""
SMALL = bytes(range(256)).lower()
"""Translation table from ASCII capitals to small letters."""

_DECIMAL = re.compile(r"(?!-?0\.0000|-0\.0*$)-?(?:0|[1-9][0-9]{0,7})\.[0-9]{1,7}").fullmatch
_MONEY = re.compile(r"(-?)\$?(0(?=\.)|[1-9][0-9]{0,2}(?:,[0-9]{3}){1,3}|[1-9][0-9]{0,10})(\.[0-9]{1,4})?%?").fullmatch
_ISO_DATE = re.compile(
    "(?!0000)[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
).fullmatch


def is_iso_date(text: str) -> bool:
    """Whether an ASCII text is `YYYY-MM-DD`, leap days left out."""
    return len(text) == 10 and _ISO_DATE(text) is not None


def short_number(text: str) -> str | None:
    """The plain decimal of an ASCII text that a double holds exactly: `-12.50` -> `-12.5`, `$1,234.00` -> `1234`."""
    if _DECIMAL(text):
        return text.rstrip("0").rstrip(".")
    found = _MONEY(text)
    if not found:
        return None
    sign, whole, fraction = found.groups()
    digits = sign + whole.replace(",", "")
    if fraction is None:
        return digits
    digits = (digits + fraction).rstrip("0").rstrip(".")
    return "0" if digits == "-0" else digits


def short_float(value: float) -> str | None:
    """The plain decimal of a float with at most seven decimals and no exponent: `12.0` -> `12`."""
    text = repr(value)
    if text[-2:] == ".0":
        return "0" if text == "-0.0" else text[:-2]
    point = text.find(".")
    return None if point < 0 or len(text) - point > 8 or "e" in text else text
