"""Addresses print as people write them, and names read back as they were printed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docassay.errors import ArgumentValueError
from docassay.extraction.address import (
    ANY,
    Steps,
    parse_name,
    print_address,
    print_field,
    print_name,
    print_unquoted,
    reading_order,
)

keys = st.text(min_size=1, max_size=6)
paths = st.lists(st.one_of(keys, st.just(ANY)), min_size=1, max_size=5).map(tuple)


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ((), "<root>"),
        (("a",), "a"),
        (("rows", 0, "price"), "rows[0].price"),
        (("rows", ~2, "price"), "rows[p2].price"),
        (("rows", 1, "a.b"), 'rows[1]["a.b"]'),
        (("", "x"), '[""].x'),
        (("m", 0, 3), "m[0][3]"),
    ],
)
def test_addresses_print(steps: Steps, text: str) -> None:
    assert print_address(steps) == text


def test_a_field_has_no_indices() -> None:
    assert print_field(("rows", 7, "cells", ~1)) == "rows[*].cells[*]"


def test_skipped_maps_print_without_quotes_under_the_published_metric() -> None:
    assert print_unquoted(("a.b", 0, "c")) == "a.b[0].c"


@given(paths.filter(lambda path: path[0] not in ("", ANY)))
def test_names_read_back_as_they_were_printed(path: Steps) -> None:
    assert parse_name(print_name(path)) == path
    assert parse_name(print_address(path)) == path


@pytest.mark.parametrize("text", [".rows", "rows]", "rows[0]", "a['b", "rows[*]x"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(ArgumentValueError):
        parse_name(text)


def test_reading_order_puts_numbers_before_unpaired_rows_and_both_before_keys() -> None:
    steps = [("r", "k"), ("r", ~2), ("r", ~10), ("r", 10), ("r", 9)]
    assert sorted(steps, key=reading_order) == [("r", 9), ("r", 10), ("r", ~10), ("r", ~2), ("r", "k")]
