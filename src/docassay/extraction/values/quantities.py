"""Decides whether a text is one number with a currency or a unit under `sound/1`, so that its sign is kept."""

from __future__ import annotations

import re

from docassay.extraction.values.numbers import read_core
from docassay.extraction.values.words import CURRENCY_CODES, CURRENCY_NAMES, UNITS

CURRENCIES = CURRENCY_CODES | CURRENCY_NAMES
"""Codes and names of currencies, small letters."""
_CURRENCY_SIGNS = "$€£¥₹₩₽₺₪₫₴₦₱฿₡₲₵₸₼₾₿¢"
_QUANTITY = re.compile(
    r"(?P<sign1>[-(\s]*)(?P<currency>[^\d\s().,+-]{0,7}(?:\.(?=\s|\d))?)(?P<sign2>[-(\s]*)"
    r"(?P<number>[0-9.](?:[0-9.,' ]*[0-9])?)(?P<sign3>\)?)(?P<dash>\s*-)?(?P<sign4>\)?)"
    r"(?P<gap>\s*)(?P<unit>[^\d\s()-][^\s()-]{0,8}(?: [^\d\s()-]{1,7})?)?(?P<sign5>\s*[-)]{0,2})"
)


def read_quantity(text: str) -> str | None:
    """One number with a currency before it or a currency or unit after it, written one way; None if it is no such text.

    `text` is folded. Brackets round the number, or round all of it, and a minus in any place are one minus.
    """
    found = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        return None
    currency = found["currency"].rstrip(".")
    unit = (found["unit"] or "").replace(" ", "").rstrip(".,")
    if not _known(currency, unit):
        return None
    core = read_core(found["number"])
    signs = "".join(found[name] or "" for name in ("sign1", "sign2", "sign3", "sign4", "sign5"))
    if core is None or signs.count("(") != signs.count(")") or signs.count("(") > 1:
        return None
    if unit and not is_currency(unit) and not _dash_attached(found["dash"], found["gap"]):
        return None
    minus = "-" if "-" in signs or "(" in signs or found["dash"] else ""
    return f"{currency}{minus}{core}{unit}"


def _dash_attached(dash: str | None, gap: str) -> bool:
    """Whether a hyphen before a unit, if any, hangs on the number (`5- kg`): else it only joins (`5-kg`)."""
    return dash is None or (dash == "-" and bool(gap))


def is_currency(text: str) -> bool:
    """Whether a text in small letters is a currency: a sign, a code or a name."""
    return text in CURRENCIES or (len(text) == 1 and text in _CURRENCY_SIGNS)


_LONGEST = 60


def _known(currency: str, unit: str) -> bool:
    if currency and not is_currency(currency):
        return False
    if unit and not (is_currency(unit) or unit in UNITS):
        return False
    return bool(currency or unit)
