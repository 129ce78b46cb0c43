"""Decides whether a text is a number under `sound/1`, and writes any number exactly, at any size, one way only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

KEPT_DIGITS = 7
"""Digits of the fraction that count, from its first non-zero one; the rest is rounded half to even."""
_WRITTEN_ZEROS = 30


@dataclass(frozen=True, slots=True)
class Number:
    """An exact decimal: digits times ten to the exponent, with a sign."""

    digits: str
    """Decimal digits without leading or trailing zeros; empty for zero."""
    exponent: int
    """Power of ten of the last digit."""
    negative: bool
    """Whether it is below zero; False for zero."""

    def __str__(self) -> str:
        """The one way to write it: plain, with `e` only where more than 30 zeros would be written."""
        if not self.digits:
            return "0"
        return ("-" if self.negative else "") + _written(self.digits, self.exponent)


def number(digits: str, exponent: int, negative: bool) -> Number:
    """The number of these decimal digits times ten to the exponent, its fraction rounded to seven digits."""
    digits = digits.lstrip("0")
    digits, exponent = _round_fraction(digits, exponent)
    short = digits.rstrip("0")
    return Number(short, exponent + len(digits) - len(short) if short else 0, negative and bool(short))


def from_json_number(value: int | float | Decimal) -> Number:
    """A finite JSON number, exactly; a float stands for its shortest decimal text."""
    exact = Decimal(float.__repr__(value)) if isinstance(value, float) else Decimal(value)
    parts = exact.as_tuple()
    assert isinstance(parts.exponent, int), "infinities and NaN are no numbers"
    return number("".join(map(str, parts.digits)), parts.exponent, parts.sign == 1)


def read_number(text: str) -> Number | None:
    """The number that a whole text states in any notation, or None.

    `text` is folded: small letters, ASCII digits, plain dashes and quotes. An integer that starts with a zero is a
    code, not a number.
    """
    if text[:1] not in _STARTS:
        return None
    outer = _NOTATION.fullmatch(text)
    if outer is None or not _one_notation(outer["before"], outer["after"]):
        return None
    core = read_core(outer["core"])
    if core is None or core.code:
        return None
    return number(core.whole + core.fraction, -len(core.fraction), "-" in text or "(" in text)


def read_code(text: str) -> str | None:
    """The integer with leading zeros that a whole text states, with its sign in one notation, or None."""
    outer = _CODE.fullmatch(text)
    if outer is None or not _one_notation(outer["before"], outer["after"]):
        return None
    return ("-" if "-" in text or "(" in text else "") + outer["code"]


@dataclass(frozen=True, slots=True)
class Core:
    """The digits of a number in some notation, groups removed."""

    whole: str
    """Digits before the decimal mark, as written."""
    fraction: str
    """Digits after it."""

    @property
    def code(self) -> bool:
        """Whether it is an integer with a leading zero, which is a code."""
        return not self.fraction and len(self.whole) > 1 and self.whole[0] == "0"

    def __str__(self) -> str:
        """The number in text: codes as written, else exact and without idle zeros."""
        if self.code:
            return self.whole
        whole, fraction = self.whole.lstrip("0") or "0", self.fraction.rstrip("0")
        return f"{whole}.{fraction}" if fraction else whole


def read_core(text: str) -> Core | None:
    """Digits with groups and a decimal mark, or None if the notation is not well-formed."""
    if text.isdigit():
        return Core(text, "")
    if _IP_ADDRESS.fullmatch(text):
        return None
    for form, decimal in _CORES:
        if form.fullmatch(text):
            whole, _, fraction = text.partition(decimal) if decimal else (text, "", "")
            return Core(_only_digits(whole) or "0", _only_digits(fraction))
    return None


_STARTS = frozenset("0123456789.-+($%")
_NOTATION = re.compile(r"(?P<before>[-+($%\s]*)(?P<core>[0-9.](?:[0-9.,' ]*[0-9.])?)(?P<after>[-)$%\s]*)")
_CODE = re.compile(r"(?P<before>[-(\s]*)(?P<code>0[0-9]+)(?P<after>[-)\s]*)")
_GROUP = r"[1-9][0-9]{0,2}"
_CORES = tuple(
    (re.compile(form), decimal)
    for form, decimal in (
        (r"[0-9]+\.[0-9]*|\.[0-9]+", "."),
        (rf"{_GROUP}(?:,[0-9]{{3}})+", ""),
        (rf"{_GROUP}(?:,[0-9]{{3}})+\.[0-9]*", "."),
        (r"[0-9]+,(?:[0-9]{1,2}|[0-9]{4,})|0,[0-9]{3}", ","),
        (rf"{_GROUP}(?:\.[0-9]{{3}}){{2,}}", ""),
        (rf"{_GROUP}(?:\.[0-9]{{3}})+,[0-9]+", ","),
        (rf"{_GROUP}(?:'[0-9]{{3}})+|{_GROUP}(?: [0-9]{{3}})+", ""),
        (rf"(?:{_GROUP}(?:'[0-9]{{3}})+|{_GROUP}(?: [0-9]{{3}})+)\.[0-9]*", "."),
        (rf"(?:{_GROUP}(?:'[0-9]{{3}})+|{_GROUP}(?: [0-9]{{3}})+),[0-9]+", ","),
    )
)
_OCTET = "(?:0|[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])"
_IP_ADDRESS = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}")
_NOT_DIGITS = str.maketrans("", "", ".,' ")


def _only_digits(text: str) -> str:
    return text.translate(_NOT_DIGITS)


def _one_notation(before: str, after: str) -> bool:
    """At most one pair of brackets, one $ and one %, and no plus beside a minus or brackets."""
    both = before + after
    if both.count("$") > 1 or both.count("%") > 1:
        return False
    opened, closed = before.count("("), after.count(")")
    if opened != closed or opened > 1 or ")" in before or "(" in after:
        return False
    return "+" not in both or (both.count("+") == 1 and "-" not in both and not opened)


def _round_fraction(digits: str, exponent: int) -> tuple[str, int]:
    if exponent >= 0:
        return digits, exponent
    fraction = digits[exponent:] if len(digits) > -exponent else digits
    extra = len(fraction.lstrip("0")) - KEPT_DIGITS
    if extra <= 0:
        return digits, exponent
    kept, cut = digits[:-extra], digits[-extra:]
    half = "5".ljust(extra, "0")
    if cut > half or (cut == half and kept[-1] in "13579"):
        kept = _increment(kept)
    return kept, exponent + extra


def _increment(digits: str) -> str:
    short = digits.rstrip("9")
    if not short:
        return "1" + "0" * len(digits)
    return short[:-1] + chr(ord(short[-1]) + 1) + "0" * (len(digits) - len(short))


def _written(digits: str, exponent: int) -> str:
    if exponent >= 0:
        return digits + "0" * exponent if exponent <= _WRITTEN_ZEROS else f"{digits}e{exponent}"
    point = len(digits) + exponent
    if point > 0:
        return f"{digits[:point]}.{digits[point:]}"
    return f"0.{'0' * -point}{digits}" if -point <= _WRITTEN_ZEROS else f"{digits}e{exponent}"
