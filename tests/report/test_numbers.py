"""How figures are written, as one table."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docassay.report import numbers

M = numbers.MINUS

TABLE: list[tuple[Callable[..., str], tuple[Any, ...], str]] = [
    (numbers.percent, (0.98765,), "98.8%"),
    (numbers.percent, (1.0,), "100.0%"),
    (numbers.percent, (0.99999,), ">99.9%"),
    (numbers.percent, (0.9994,), "99.9%"),
    (numbers.percent, (0.0,), "0.0%"),
    (numbers.percent, (0.0001,), "<0.1%"),
    (numbers.percent, (-0.05,), f"{M}5.0%"),
    (numbers.percent, (0.5, 0), "50%"),
    (numbers.percent, (None,), "—"),
    (numbers.percent, (math.nan,), "—"),
    (numbers.percent_interval, (0.971, 0.99), "97.1–99.0%"),
    (numbers.percent_interval, (None, 0.99), "—"),
    (numbers.points, (0.0123,), "+1.2 pp"),
    (numbers.points, (-0.0123,), f"{M}1.2 pp"),
    (numbers.points, (0.0,), "0.0 pp"),
    (numbers.points, (-0.0,), "0.0 pp"),
    (numbers.points, (0.0001,), "+<0.1 pp"),
    (numbers.points, (-0.0001,), f"{M}<0.1 pp"),
    (numbers.points, (None,), "—"),
    (numbers.points_interval, (-0.004, 0.012), f"{M}0.4 to +1.2 pp"),
    (numbers.points_interval, (None, None), "—"),
    (numbers.count, (1234567,), "1,234,567"),
    (numbers.count, (0,), "0"),
    (numbers.count, (-5,), f"{M}5"),
    (numbers.count, (None,), "—"),
    (numbers.of, (12, 600), "12 of 600"),
    (numbers.plural, (1, "document"), "1 document"),
    (numbers.plural, (2000, "document"), "2,000 documents"),
    (numbers.plural, (2, "wrong address", "wrong addresses"), "2 wrong addresses"),
    (numbers.p_value, (0.0312,), "0.031"),
    (numbers.p_value, (0.0001,), "<0.001"),
    (numbers.p_value, (0.2891,), "0.29"),
    (numbers.p_value, (1.0,), ">0.99"),
    (numbers.p_value, (None,), "—"),
    (numbers.number, (3.0,), "3"),
    (numbers.number, (0.123456,), "0.123"),
    (numbers.number, (0.0000123,), "1.2e−05"),
    (numbers.number, (-1234.5,), f"{M}1,234.5"),
    (numbers.number, (None,), "—"),
    (numbers.quality, (83.5,), "83.5"),
    (numbers.quality, (41.75,), "41.75"),
    (numbers.quality, (0.0,), "0.0"),
    (numbers.quality, (None,), "—"),
    (numbers.quality_interval, (20, 83.5), "20.0–83.5"),
    (numbers.quality_interval, (20, 20), "20.0"),
    (numbers.quality_interval, (None, 20), "—"),
    (numbers.seconds, (0.00041,), "0.4 ms"),
    (numbers.seconds, (0.35,), "350 ms"),
    (numbers.seconds, (2.414,), "2.41 s"),
    (numbers.seconds, (12.34,), "12.3 s"),
    (numbers.seconds, (59.97,), "1 min 00 s"),
    (numbers.seconds, (200,), "3 min 20 s"),
    (numbers.seconds, (7500,), "2 h 05 min"),
    (numbers.seconds, (None,), "—"),
    (numbers.cost, (0.012345,), "0.0123"),
    (numbers.cost, (1.25, "USD"), "1.25 USD"),
    (numbers.cost, (1250,), "1,250.00"),
    (numbers.cost, (0,), "0.00"),
    (numbers.cost, (None, "USD"), "—"),
]


@pytest.mark.parametrize(("write", "arguments", "text"), TABLE)
def test_a_figure_is_written_so(write: Callable[..., str], arguments: tuple[Any, ...], text: str) -> None:
    assert write(*arguments) == text


@given(st.floats(0, 1))
def test_a_share_claims_neither_all_nor_nothing_unless_it_is(share: float) -> None:
    text = numbers.percent(share)
    assert (text == "100.0%") == (share == 1)
    assert (text == "0.0%") == (share == 0)


@given(st.floats(-1, 1))
def test_a_difference_keeps_its_sign(difference: float) -> None:
    text = numbers.points(difference)
    assert text[0] == ("+" if difference > 0 else M if difference < 0 else "0")


@given(st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True)))
def test_what_is_no_number_is_written_as_missing(value: float | None) -> None:
    for write in (numbers.percent, numbers.points, numbers.number, numbers.quality, numbers.seconds, numbers.cost):
        assert (write(value) == numbers.MISSING) == (value is None or not math.isfinite(value))
