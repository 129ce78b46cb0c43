"""Holds supervision to its promise, with an engine that is told what to answer: each row ends once, whatever dies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docassay.errors import RunError
from docassay.executors.contract import Batch, Died, Event, Finished, Lost, Receipt, Settled, Stalled
from docassay.executors.supervise import ATTEMPTS, MOST_DEATHS, supervise


@dataclass
class Scripted:
    """Answers for each batch at once: deadly rows kill it, stalling rows hand over what is behind them."""

    deadly: frozenset[int] = frozenset()
    final: bool = False
    stalling: frozenset[int] = frozenset()
    early: frozenset[int] = frozenset()
    """Rows after which a batch ends early without having said so."""
    tells_row: bool = True
    capacity: int = 3
    spare: bool = False
    given: list[Batch] = field(default_factory=list)
    waiting: list[Batch] = field(default_factory=list)

    def __enter__(self) -> Scripted:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def rows_in_progress(self) -> int:
        return 0

    def submit(self, batch: Batch) -> None:
        assert len(self.waiting) < self.capacity
        self.given.append(batch)
        self.waiting.append(batch)

    def wait(self, seconds: float) -> Sequence[Event]:
        batch = self.waiting.pop(0)
        events: list[Event] = []
        for row in range(batch.start, batch.stop):
            if row in self.deadly:
                return [*events, Died(batch, row if self.tells_row else None, f"died at {row}", final=self.final)]
            if row in self.stalling and row + 1 < batch.stop:
                return [Stalled(batch, row + 1), Finished(batch, Receipt(batch.start, row + 1, 0))]
            if row in self.early:
                return [Finished(batch, Receipt(batch.start, row + 1, 0))]
        return [Finished(batch, Receipt(batch.start, batch.stop, 0))]


def settle(engine: Scripted, batches: Sequence[Batch]) -> tuple[list[int], dict[int, str]]:
    """The rows in receipts, sorted, and those lost with their reasons."""
    done: list[int] = []
    lost: dict[int, str] = {}
    for outcome in supervise(engine, batches):
        if isinstance(outcome, Lost):
            lost[outcome.row] = outcome.reason
        else:
            done += range(outcome.start, outcome.stop)
    return sorted(done), lost


@given(
    cuts=st.sets(st.integers(1, 59), max_size=8),
    deadly=st.frozensets(st.integers(0, 59), max_size=4),
    stalling=st.frozensets(st.integers(0, 59), max_size=4),
    early=st.frozensets(st.integers(0, 59), max_size=4),
    final=st.booleans(),
    tells_row=st.booleans(),
)
def test_every_row_ends_once(
    cuts: set[int],
    deadly: frozenset[int],
    stalling: frozenset[int],
    early: frozenset[int],
    final: bool,
    tells_row: bool,
) -> None:
    edges = [0, *sorted(cuts), 60]
    batches = [Batch(a, b, size=b - a) for a, b in pairwise(edges)]
    engine = Scripted(deadly, final and tells_row, stalling, early, tells_row)
    done, lost = settle(engine, batches)
    assert done == [row for row in range(60) if row not in deadly]
    assert lost == {row: f"died at {row}" for row in deadly}


def test_heavy_batches_are_begun_first() -> None:
    engine = Scripted(capacity=1)
    settle(engine, [Batch(0, 1, size=5), Batch(1, 2, size=50), Batch(2, 3, size=7)])
    assert [batch.start for batch in engine.given] == [1, 2, 0]


def test_a_spare_process_gets_light_work() -> None:
    engine = Scripted(capacity=1, spare=True)
    settle(engine, [Batch(0, 1, size=5), Batch(1, 2, size=50), Batch(2, 3, size=7)])
    assert [batch.start for batch in engine.given] == [0, 2, 1]


def test_a_suspect_is_tried_alone_before_it_is_given_up() -> None:
    engine = Scripted(deadly=frozenset([5]))
    settle(engine, [Batch(0, 10)])
    assert [batch.attempt for batch in engine.given if (batch.start, batch.stop) == (5, 6)] == list(
        range(1, ATTEMPTS + 1)
    )


def test_a_row_whose_time_is_up_is_not_tried_again() -> None:
    engine = Scripted(deadly=frozenset([5]), final=True)
    _, lost = settle(engine, [Batch(0, 10)])
    assert lost == {5: "died at 5"}
    assert [(batch.start, batch.stop) for batch in engine.given] == [(0, 10), (0, 5), (6, 10)]


def test_what_was_settled_elsewhere_is_taken_as_it_is() -> None:
    class Remote(Scripted):
        def wait(self, seconds: float) -> Sequence[Event]:
            batch = self.waiting.pop(0)
            return [Settled(batch, (Receipt(0, 3, 0), Lost(3, "gone"), Receipt(4, 9, 1)))]

    assert settle(Remote(), [Batch(0, 9)]) == ([0, 1, 2, 4, 5, 6, 7, 8], {3: "gone"})


def test_machines_that_die_whatever_they_do_end_the_run() -> None:
    engine = Scripted(deadly=frozenset(range(1000)), tells_row=False)
    with pytest.raises(RunError, match=f"{MOST_DEATHS + 1} batches in a row died"):
        settle(engine, [Batch(0, 1000)])
