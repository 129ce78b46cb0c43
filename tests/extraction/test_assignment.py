"""The assignment is optimal, whatever the size of the weights and the shape of the table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from docassay.extraction.assignment import best_assignment


@st.composite
def tables(draw: st.DrawFn, largest: int = 12) -> list[list[int]]:
    rows, columns = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    return draw(
        st.lists(st.lists(st.integers(0, largest), min_size=columns, max_size=columns), min_size=rows, max_size=rows)
    )


def worth(table: list[list[int]], pairs: list[tuple[int, int]]) -> int:
    assert len({row for row, _ in pairs}) == len(pairs) == len({column for _, column in pairs})
    return sum(table[row][column] for row, column in pairs)


@given(tables())
def test_no_assignment_is_worth_more(table: list[list[int]]) -> None:
    rows, columns = linear_sum_assignment(np.array(table), maximize=True)
    best = int(np.array(table)[rows, columns].sum())
    assert worth(table, best_assignment(table)) == best
    assert worth(table, best_assignment(np.array(table, dtype=float))) == best


@given(tables())
def test_a_pair_worth_nothing_is_no_pair(table: list[list[int]]) -> None:
    assert all(table[row][column] > 0 for row, column in best_assignment(table))


@given(tables())
def test_weights_beyond_doubles_are_still_added_exactly(table: list[list[int]]) -> None:
    huge = [
        [cell * 10**30 + (row * 7 + column * 3) % 5 for column, cell in enumerate(cells)]
        for row, cells in enumerate(table)
    ]
    most = worth(huge, best_assignment(huge)) // 10**30
    assert most == worth(table, best_assignment(table))


@pytest.mark.parametrize("size", [1, 6, 7, 25])
def test_the_diagonal_is_found(size: int) -> None:
    table = [[2 if row == column else 1 for column in range(size)] for row in range(size)]
    assert sorted(best_assignment(table)) == [(index, index) for index in range(size)]
