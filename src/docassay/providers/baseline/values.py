"""A piece of printed text as a value of the type that the schema asks for, or nothing."""

from __future__ import annotations

import re
from datetime import date

from docassay.providers.baseline.fields import Field

__all__ = ["checked_option", "dates_in", "numbers_in", "read_value", "split_list"]

NUMBER = re.compile(r"\(?[-+−]?\s?[$€£¥]?\s?[-−]?\d[\d.,'’   ]*\)?-?")
CHECKED = re.compile(r"(?:\[\s?[xX✓✔]\s?\]|\([xX✓]\)|[☒☑✓✔■])\s*([^\[\]()☐☒☑✓✔■□]+)")
UNCHECKED = re.compile(r"\[\s*\]|\(\s\)|[☐□]")
YES, NO = frozenset({"yes", "true", "y", "x", "✓", "ja", "oui", "sí"}), frozenset({"no", "false", "n", "nein", "non"})
MOST_BESIDE_A_NUMBER = 8
LONGEST_TEXT = 200

MONTHS = {
    name: number
    for number, names in enumerate(
        ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august",
         "sep sept september", "oct october", "nov november", "dec december"), 1,
    )
    for name in names.split()
}  # fmt: skip
DATES = (
    re.compile(r"\b(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})\b"),
    re.compile(r"\b(?P<d>\d{1,2})(?:st|nd|rd|th)?\.?[ -](?P<name>[A-Za-z]{3,9})\.?,?[ -](?P<y>\d{4})\b"),
    re.compile(r"\b(?P<name>[A-Za-z]{3,9})\.? (?P<d>\d{1,2})(?:st|nd|rd|th)?,? (?P<y>\d{4})\b"),
    re.compile(r"\b(?P<d>\d{1,2})[./-](?P<m>\d{1,2})[./-](?P<y>\d{4})\b"),
)


def read_value(field: Field, text: str) -> object | None:
    """`text` as a value of `field`; None where it is none."""
    text = text.strip(" :.…_") if field.kind != "number" else text.strip(" :…_")
    if not text:
        return None
    if field.kind == "array":
        return _list_value(field, text)
    if field.enum:
        return _member(field.enum, text)
    if field.kind == "boolean":
        return _truth(text)
    if field.kind in ("number", "integer"):
        return _number(text, whole=field.kind == "integer")
    if field.format == "date":
        return next(iter(dates_in(text)), None)
    return _text(text)


def dates_in(text: str) -> list[str]:
    """Every date in `text` as YYYY-MM-DD, in order; day before month where both orders are possible."""
    found = [(match.start(), _iso(match)) for pattern in DATES for match in pattern.finditer(text)]
    return [iso for _, iso in sorted(found, key=lambda item: item[0]) if iso is not None]


def numbers_in(text: str) -> list[int | float]:
    """Every number in `text`; a dash between two parts them."""
    pieces = re.split(r"(?<=\d)\s*[-–—]\s*(?=\d)|\bto\b|;|/|,\s", text)
    values = [_numeral(match.group()) for piece in pieces for match in NUMBER.finditer(piece)]
    return [value for value in values if value is not None]


def split_list(text: str) -> list[str]:
    """The items of an enumeration in a line."""
    divider = ";" if ";" in text else ","
    return [item.strip(" .•*-–") for item in text.split(divider) if item.strip(" .•*-–")]


def checked_option(text: str) -> str | None:
    """What the ticked box in `text` stands before; None where no box is ticked."""
    match = CHECKED.search(text)
    return match.group(1).strip() if match else None


def _list_value(field: Field, text: str) -> list[object] | None:
    item = field.items
    if item is None or not item.is_scalar:
        return None
    if item.kind in ("number", "integer"):
        return list(numbers_in(text)) or None
    values = [read_value(item, piece) for piece in split_list(text)]
    return [value for value in values if value is not None] or None


def _text(text: str) -> str | None:
    if UNCHECKED.search(text) or CHECKED.search(text):
        return checked_option(text)
    return text if len(text) <= LONGEST_TEXT and any(char.isalnum() for char in text) else None


def _member(allowed: tuple[object, ...], text: str) -> object | None:
    stated = (checked_option(text) or text).casefold()
    spelled = {str(member).replace("_", " ").casefold(): member for member in allowed}
    if stated in spelled:
        return spelled[stated]
    within = [member for name, member in spelled.items() if re.search(rf"\b{re.escape(name)}\b", stated)]
    return within[0] if len(within) == 1 else None


def _truth(text: str) -> bool | None:
    word = (checked_option(text) or text).strip().casefold()
    if word in YES or word in NO:
        return word in YES
    return None


def _number(text: str, *, whole: bool) -> int | float | None:
    """The one number of a text that says little else."""
    matches = list(NUMBER.finditer(text))
    if len(matches) != 1 or len(text) - len(matches[0].group()) > MOST_BESIDE_A_NUMBER:
        return None
    value = _numeral(matches[0].group())
    if value is None or (whole and value != int(value)):
        return None
    return int(value) if whole else value


def _numeral(text: str) -> int | float | None:
    """A printed number, whatever parts its thousands; brackets and a trailing minus are negative."""
    negative = text.startswith("(") or "−" in text or "-" in text
    digits = re.sub(r"[^\d.,]", "", text).rstrip(".,")
    point = max(digits.rfind("."), digits.rfind(","))
    grouped = point >= 0 and len(digits) - point == 4 and (digits[point] == "," or digits.count(digits[point]) > 1)
    if point >= 0 and not grouped:
        plain = re.sub(r"[.,]", "", digits[:point]) + "." + digits[point + 1 :]
    else:
        plain = re.sub(r"[.,]", "", digits)
    if not plain.strip("."):
        return None
    value = float(plain) if "." in plain else int(plain)
    return -value if negative else value


def _iso(match: re.Match[str]) -> str | None:
    parts = match.groupdict()
    day, year = int(parts["d"]), int(parts["y"])
    month = MONTHS.get(parts["name"].casefold()) if parts.get("name") else int(parts.get("m") or 0)
    if month is None:
        return None
    if month > 12 >= day:
        day, month = month, day
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None
