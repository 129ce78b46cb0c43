"""Holds the division of rows to its rules: all rows once, none too heavy, heavy ones by themselves."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from docassay.runs.layout import Rows
from docassay.runs.plan import LEAST_BYTES, MOST_BYTES, MOST_ROWS, gaps, shares


def test_gaps_are_what_is_not_done() -> None:
    assert gaps(10, []) == [Rows(0, 10)]
    assert gaps(10, [Rows(0, 10)]) == []
    assert gaps(10, [Rows(2, 3), Rows(3, 5), Rows(9, 10)]) == [Rows(0, 2), Rows(5, 9)]
    assert gaps(0, []) == []


@given(
    st.lists(st.integers(0, 200_000_000), min_size=1, max_size=300),
    st.integers(1, 64),
    st.none() | st.integers(1, 50),
    st.data(),
)
def test_every_missing_row_is_in_one_share(
    sizes: list[int], workers: int, most: int | None, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(sizes)), max_size=8)))
    done = [Rows(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    missing = gaps(len(sizes), done)
    made = shares(missing, np.array(sizes, dtype=np.int64), workers, most_rows=most)
    covered = [row for share in made for row in range(share.rows.start, share.rows.stop)]
    assert covered == [row for some in missing for row in range(some.start, some.stop)]
    for share in made:
        assert 1 <= len(share.rows) <= (most or MOST_ROWS)
        assert len(share.rows) == 1 or share.size <= MOST_BYTES + 4096 * len(share.rows)


def test_a_heavy_document_is_alone() -> None:
    sizes = np.full(100, 1000, dtype=np.int64)
    sizes[40] = 200 << 20
    made = shares([Rows(0, 100)], sizes, workers=2)
    assert Rows(40, 41) in [share.rows for share in made]


def test_small_documents_fill_shares_for_all_workers() -> None:
    made = shares([Rows(0, 100_000)], np.full(100_000, 2000, dtype=np.int64), workers=2)
    assert {len(share.rows) for share in made} == {1000}
    few = shares([Rows(0, 240)], np.full(240, 100, dtype=np.int64), workers=2)
    assert [len(share.rows) for share in few] == [64, 64, 64, 48]
    fewer = shares([Rows(0, 20)], np.full(20, 100, dtype=np.int64), workers=4)
    assert [len(share.rows) for share in fewer] == [5, 5, 5, 5]
    assert LEAST_BYTES < MOST_BYTES
