"""Decides what an engine is: it works off batches of rows in other processes and tells what became of each.

An engine knows nothing of documents. The work is a function named by its module, so that a process on another machine
can find it; it is called as `function(job, batch, payload, watch)`, writes its results itself, and returns a receipt.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = [
    "Batch",
    "Died",
    "Engine",
    "Event",
    "Finished",
    "Lost",
    "Payload",
    "Receipt",
    "Settled",
    "Stalled",
    "Watch",
    "Work",
    "WorkFunction",
    "find",
]


@dataclass(frozen=True, slots=True)
class Batch:
    """The rows from `start` up to, not including, `stop`, to be worked on by one process."""

    start: int
    stop: int
    size: int = 0
    """Bytes to be read, as far as known; heavy batches are begun first."""
    attempt: int = 1

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a batch's work returns: tallies only, since the results are in storage already."""

    start: int
    stop: int
    """Rows done; fewer than the batch's when the work was told to stop early."""
    errors: int
    """Rows that got a reason instead of a score."""


class Watch(Protocol):
    """What the work tells while it runs, and is told."""

    def begin(self, row: int) -> bool:
        """The work is about to take up a row; False when it shall end before it."""
        ...


class Payload(Protocol):
    """Something for each row of a batch, of which a part can be taken."""

    def __getitem__(self, rows: slice, /) -> Any: ...


WorkFunction = Callable[[Any, Batch, Any, Watch], Receipt]


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be done with each batch."""

    target: str
    """`module:function`, importable wherever the engine's processes run."""
    job: object
    """The first argument of every call; picklable."""
    payload: Callable[[Batch], Payload]
    """Called where the batches are given out: what the function needs for these rows besides the job; picklable."""
    timeout: float | None = None
    """Seconds that one row may take."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A row that ended its process again and again, or ran out of time: it gets a reason instead of a result."""

    row: int
    reason: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A batch's work returned."""

    batch: Batch
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class Settled:
    """A batch was supervised where it was worked on: each of its rows is in a receipt, or lost."""

    batch: Batch
    outcomes: tuple[Receipt | Lost, ...]


@dataclass(frozen=True, slots=True)
class Died:
    """The process that worked on a batch is gone, and with it what the batch had done so far."""

    batch: Batch
    row: int | None
    """The row it was working on; None where that is not known."""
    reason: str
    final: bool = False
    """Whether trying again is no use, as after a row's time is up."""


@dataclass(frozen=True, slots=True)
class Stalled:
    """A batch will end before `row`, since the row before takes long; the rest may go to another process."""

    batch: Batch
    row: int


Event = Finished | Settled | Died | Stalled


class Engine(Protocol):
    """Works off batches in other processes. Used as a context manager; leaving it ends its processes."""

    @property
    def capacity(self) -> int:
        """How many batches may be given at once."""
        ...

    @property
    def spare(self) -> bool:
        """Whether the next batch is for a process that shall be kept free of heavy work."""
        ...

    def __enter__(self) -> Engine: ...

    def __exit__(self, *exception: object) -> None: ...

    def submit(self, batch: Batch) -> None:
        """Give a batch; only while fewer than `capacity` are unfinished."""
        ...

    def wait(self, seconds: float) -> Sequence[Event]:
        """What happened, waiting at most so long for something to; an error of the work itself is raised."""
        ...

    def rows_in_progress(self) -> int:
        """Rows done in batches that have not finished, as far as known."""
        ...


def find(target: str) -> WorkFunction:
    """The function that `module:function` names."""
    module, _, name = target.partition(":")
    function: WorkFunction = getattr(importlib.import_module(module), name)
    return function
