"""Decides how every figure is written: the only module that turns a number into text for a person.

Each function takes None for what is not known and answers `MISSING`. A figure never rounds into a claim it does not
make: 0.9999 is not written 100%, and 0.0001 is not written 0%.
"""

from __future__ import annotations

import math

MISSING = "—"
"""What stands where a value is not known; whoever prints it gives the reason beside it."""

MINUS = "\u2212"
NARROW = "\u202f"


def percent(value: float | None, digits: int = 1) -> str:
    """A share in 0–1 as a percentage: 0.98765 -> `98.8%`; short of a bound it stays short of it (`>99.9%`, `<0.1%`)."""
    if value is None or not math.isfinite(value):
        return MISSING
    step = 10.0**-digits
    scaled = 100 * value
    if 100 - step / 2 <= scaled < 100:
        return f">{100 - step:.{digits}f}%"
    if 0 < scaled < step / 2:
        return f"<{step:.{digits}f}%"
    return f"{_signed(f'{scaled:.{digits}f}')}%"


def points(value: float | None, digits: int = 1) -> str:
    """A difference of shares in percentage points, always signed: 0.0123 -> `+1.2 pp`; a tiny one keeps its sign."""
    if value is None or not math.isfinite(value):
        return MISSING
    scaled = 100 * value
    if value != 0 and abs(scaled) < 10.0**-digits / 2:
        return f"{'+' if value > 0 else MINUS}<{10.0**-digits:.{digits}f} pp"
    text = f"{scaled:+.{digits}f}" if value != 0 else f"{0:.{digits}f}"
    return f"{_signed(text)} pp"


def percent_interval(low: float | None, high: float | None, digits: int = 1) -> str:
    """Two shares as a range: `97.1–99.0%`."""
    if low is None or high is None:
        return MISSING
    return f"{percent(low, digits).removesuffix('%')}–{percent(high, digits)}"


def points_interval(low: float | None, high: float | None, digits: int = 1) -> str:
    """Two differences as a range: `−0.4 to +1.2 pp`."""
    if low is None or high is None:
        return MISSING
    return f"{points(low, digits).removesuffix(' pp')} to {points(high, digits)}"


def count(value: int | None) -> str:
    """A whole number with thousands marks: 1234567 -> `1,234,567`."""
    return MISSING if value is None else _signed(f"{value:,}")


def of(part: int | None, whole: int | None) -> str:
    """`12 of 600`."""
    return f"{count(part)} of {count(whole)}"


def plural(value: int, one: str, many: str | None = None) -> str:
    """`1 document`, `2,000 documents`."""
    return f"{count(value)} {one if value == 1 else many or one + 's'}"


def p_value(value: float | None) -> str:
    """A p-value: `0.034`, `<0.001`, `>0.99`."""
    if value is None:
        return MISSING
    if value < 0.001:
        return "<0.001"
    return ">0.99" if value > 0.99 else f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def number(value: float | None, digits: int = 3) -> str:
    """A plain figure with at most `digits` decimals and no trailing zeros; whole numbers get thousands marks."""
    if value is None or not math.isfinite(value):
        return MISSING
    if value == int(value) and abs(value) < 1e15:
        return count(int(value))
    text = f"{value:,.{digits}f}".rstrip("0").rstrip(".")
    if text in ("0", "-0"):
        return _signed(f"{value:.2g}")
    return _signed(text)


def quality(value: float | None) -> str:
    """A quality in 0–100: `83.5`, with two decimals where they say something (`41.75`)."""
    if value is None or not math.isfinite(value):
        return MISSING
    text = f"{value:.2f}"
    return text[:-1] if text.endswith("0") else text


def quality_interval(low: float | None, high: float | None) -> str:
    """Bounds of a quality: `20.0–83.5`."""
    if low is None or high is None:
        return MISSING
    return quality(low) if low == high else f"{quality(low)}–{quality(high)}"


def seconds(value: float | None) -> str:
    """A duration: `0.4 ms`, `350 ms`, `2.41 s`, `12.3 s`, `3 min 20 s`, `2 h 05 min`."""
    if value is None or not math.isfinite(value):
        return MISSING
    if value < 0.9995:
        return f"{value * 1000:.1f} ms" if value < 0.00995 else f"{value * 1000:.0f} ms"
    if value < 59.95:
        return f"{value:.2f} s" if value < 9.995 else f"{value:.1f} s"
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    minutes = round(value / 60)
    return f"{count(minutes // 60)} h {minutes % 60:02d} min"


def cost(value: float | None, unit: str = "") -> str:
    """An amount in the unit that the vendor stated: `1,250.00`, `1.25`, and small ones to three digits, `0.0123`."""
    if value is None or not math.isfinite(value):
        return MISSING
    text = f"{value:,.2f}" if value >= 1 or value == 0 else f"{value:.3g}"
    return f"{text} {unit}".rstrip()


def _signed(text: str) -> str:
    """A real minus sign; a negative zero loses it."""
    if text.startswith("-") and not any(c in "123456789" for c in text):
        text = text[1:]
    return text.replace("-", MINUS)
