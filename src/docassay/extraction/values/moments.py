"""Decides whether a text is a date, a timestamp or a time of day under `sound/1`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH = (
    {name: i for i, name in enumerate(_MONTHS, 1)} | {name[:3]: i for i, name in enumerate(_MONTHS, 1)} | {"sept": 9}
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = (
    {name: i for i, name in enumerate(_DAYS)}
    | {name[:3]: i for i, name in enumerate(_DAYS)}
    | {"tues": 1, "thur": 3, "thurs": 3}
)
_COMPACT_YEARS = range(1800, 2200)
_CENTURY_STARTS = 69
_DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Moment:
    """A date, a timestamp or a time of day, written one way only."""

    kind: str
    """`date`, `instant` (with a zone), `local` (without) or `clock` (no date)."""
    text: str
    """ISO text; an instant is in UTC."""


@dataclass(frozen=True, slots=True)
class _Clock:
    seconds: int
    fraction: str

    def __str__(self) -> str:
        hours, rest = divmod(self.seconds, 3600)
        minutes, seconds = divmod(rest, 60)
        tail = f".{self.fraction}" if self.fraction else ""
        return f"{hours:02}:{minutes:02}" + (f":{seconds:02}{tail}" if seconds or tail else "")


def read_moment(text: str) -> Moment | None:
    """The date, timestamp or time of day that a whole text states, or None.

    `text` is folded: small letters, ASCII digits, plain dashes.
    """
    if not _SOME_DIGIT.search(text[:_LONGEST]) or len(text) > _LONGEST:
        return None
    day = _read_date(text)
    if day is not None:
        return Moment("date", day.isoformat())
    if ":" not in text and not text.endswith("m"):
        return None
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        time = _clock(clock)
        return Moment("clock", str(time)) if time is not None else None
    return _read_timestamp(text)


_LONGEST = 60
_SOME_DIGIT = re.compile("[0-9]")


# Dates


def _read_date(text: str) -> date | None:
    if text[0].isdigit():
        return _digits_first(text)
    found = _WEEKDAY_FIRST.match(text) if text[:3] in _WEEKDAY else None
    if found is None:
        return _month_name_date(text)
    rest = text[found.end() :]
    day = (_digits_first(rest) if rest[:1].isdigit() else _month_name_date(rest)) if rest else None
    return day if day is not None and day.weekday() == _WEEKDAY[found["weekday"]] else None


_WEEKDAY_FIRST = re.compile(rf"(?P<weekday>{'|'.join(sorted(_WEEKDAY, key=len, reverse=True))})\b[.,\s]*")


def _digits_first(text: str) -> date | None:
    found = _NUMERIC.fullmatch(text)
    if found is not None:
        return _numeric_date(found["first"], found["mark"], found["second"], found["third"])
    found = _COMPACT.fullmatch(text) or (None if text.isascii() else _CHARACTERS.fullmatch("".join(text.split())))
    if found is None:
        return _month_name_date(text)
    year, month, day = (int(part) for part in found.groups())
    return _day(year, month, day) if found.re is _CHARACTERS or year in _COMPACT_YEARS else None


_NUMERIC = re.compile(
    r"(?P<first>[0-9]{1,4})\s*(?P<mark>[-/.])\s*(?P<second>[0-9]{1,2})\s*(?P=mark)\s*(?P<third>[0-9]{1,4})"
)
_COMPACT = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})")
_CHARACTERS = re.compile(r"([0-9]{4})[年년]([0-9]{1,2})[月월]([0-9]{1,2})[日일]")


def _numeric_date(first: str, mark: str, second: str, third: str) -> date | None:
    if len(first) == 4 and len(third) <= 2:
        return _day(int(first), int(second), int(third))
    if len(first) > 2:
        return None
    if len(third) == 4:
        year = int(third)
    elif len(third) == 2 and mark == "/":
        year = int(third) + (1900 if int(third) >= _CENTURY_STARTS else 2000)
    else:
        return None
    month_first, day_first = _day(year, int(first), int(second)), _day(year, int(second), int(first))
    return (day_first or month_first) if mark == "." else (month_first or day_first)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _month_name_date(text: str) -> date | None:
    """Day, month name and a year of four digits, each once, in any order."""
    if len(text) > _LONGEST_NAMED or not _NAME.search(text) or not _DATE_LETTERS.fullmatch(text):
        return None
    tokens = _TOKENS.findall(text)
    counts = [token for token in tokens if token[0].isdigit()]
    words = [token for token in tokens if not token[0].isdigit() and token not in ("of", "the")]
    month = _MONTH.get(words[0]) if len(words) == 1 else None
    if month is None or len(counts) != 2:
        return None
    year, day = counts if len(counts[0]) == 4 and counts[0].isdigit() else reversed(counts)
    day = day.rstrip("stndrh")
    if len(year) != 4 or not year.isdigit() or len(day) > 2:
        return None
    return _day(int(year), month, int(day))


_LONGEST_NAMED = 40
_NAME = re.compile("[a-z]{3}")
_TOKENS = re.compile(r"[0-9]+(?:(?:st|nd|rd|th)(?![a-z]))?|[a-z]+")
_DATE_LETTERS = re.compile(r"[a-z0-9][a-z0-9\s,./-]*[a-z0-9]")


# Times

_CLOCK_FORM = (
    r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]+))?)?)?"
    r"(?:\s*(?P<half>[ap])\.?\s?m)?"
)
_CLOCK = re.compile(_CLOCK_FORM)
_TIMESTAMP = re.compile(
    rf"(?P<date>.*?[0-9a-z])(?:t|\s*,\s*|\s+)(?:at\s+)?{_CLOCK_FORM}"
    r"(?:\s*(?P<zone>z|utc|gmt|(?P<sign>[-+])(?P<offset>[0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?)))?"
)


def _clock(found: re.Match[str]) -> _Clock | None:
    hour, half = int(found["hour"]), found["half"]
    if half is None and found["minute"] is None:
        return None
    if half is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    minute, second = int(found["minute"] or 0), int(found["second"] or 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return _Clock(hour * 3600 + minute * 60 + second, (found["fraction"] or "").rstrip("0"))


def _read_timestamp(text: str) -> Moment | None:
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        return None
    day, clock = _read_date(found["date"]), _clock(found)
    if day is None or clock is None:
        return None
    if not clock.seconds and not clock.fraction:
        return Moment("date", day.isoformat())
    if found["zone"] is None:
        return Moment("local", f"{day.isoformat()}T{clock}")
    offset = _offset(found["sign"], found["offset"])
    return _instant(day, clock, offset) if offset is not None else None


def _offset(sign: str | None, digits: str | None) -> int | None:
    """Seconds east of UTC."""
    if digits is None:
        return 0
    parts = [int(digits.replace(":", "")[i : i + 2] or 0) for i in (0, 2, 4)]
    if parts[0] > 23 or parts[1] > 59 or parts[2] > 59:
        return None
    seconds = parts[0] * 3600 + parts[1] * 60 + parts[2]
    return -seconds if sign == "-" else seconds


def _instant(day: date, clock: _Clock, offset: int) -> Moment | None:
    days, seconds = divmod(clock.seconds - offset, _DAY_SECONDS)
    try:
        utc = date.fromordinal(day.toordinal() + days)
    except (ValueError, OverflowError):
        return None
    return Moment("instant", f"{utc.isoformat()}T{_Clock(seconds, clock.fraction)}Z")
