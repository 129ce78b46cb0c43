"""The budget: one monotonic clock for everything that a document takes."""

from __future__ import annotations

import asyncio
import time

import pytest

from docassay.errors import ArgumentValueError
from docassay.providers.contract import Budget, RetryPolicy


def test_a_budget_runs_out_on_its_own_clock() -> None:
    now = [100.0]
    budget = Budget(10, clock=lambda: now[0])
    assert (budget.elapsed, budget.remaining) == (0, 10)
    now[0] = 107.5
    assert (budget.elapsed, budget.remaining) == (7.5, 2.5)
    assert (budget.allows(2.4), budget.allows(2.5)) == (True, False)
    now[0] = 200
    assert (budget.remaining, budget.allows(0)) == (0, False)


def test_a_sleep_ends_with_the_budget() -> None:
    start = time.monotonic()
    asyncio.run(Budget(0.1).sleep(30))
    assert 0.1 <= time.monotonic() - start < 2


@pytest.mark.parametrize("waits", [(-1.0,), (float("nan"),), (float("inf"),)])
def test_waits_are_times(waits: tuple[float, ...]) -> None:
    with pytest.raises(ArgumentValueError):
        RetryPolicy(waits=waits)
