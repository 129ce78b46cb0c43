"""Decides what happens to rows whose process died: the suspect is tried alone, the others go on without it."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from docassay.errors import RunError
from docassay.executors.contract import Batch, Died, Engine, Event, Finished, Lost, Receipt, Settled, Stalled

__all__ = ["supervise"]

ATTEMPTS = 2
"""How often a row that was alone in its process may end it before it is given up."""

MOST_DEATHS = 20
"""Deaths in a row that cannot be laid to a document, after which it is the machines that are at fault."""

_TICK = 0.1


def supervise(
    engine: Engine, batches: Iterable[Batch], *, tick: Callable[[], None] = lambda: None
) -> Iterator[Receipt | Lost]:
    """Work off all batches, heaviest first; every row ends in exactly one receipt, or is lost.

    Args:
        tick: called often while waiting, to show progress or to raise.

    Raises:
        RunError: processes die again and again whatever they work on.
    """
    queue = _Queue(batches)
    unfinished: dict[Batch, int] = {}  # up to which row each is to work
    deaths = 0
    while queue or unfinished:
        while queue and len(unfinished) < engine.capacity:
            batch = queue.lightest() if engine.spare else queue.heaviest()
            unfinished[batch] = batch.stop
            engine.submit(batch)
        for event in engine.wait(_TICK):
            deaths = deaths + 1 if isinstance(event, Died) and event.row is None else 0
            if deaths > MOST_DEATHS and isinstance(event, Died):
                raise RunError(f"{deaths} batches in a row died; what is done is kept. The last: {event.reason}")
            yield from _settle(event, unfinished, queue)
        tick()


def _settle(event: Event, unfinished: dict[Batch, int], queue: _Queue) -> Iterator[Receipt | Lost]:
    batch = event.batch
    if isinstance(event, Stalled):
        queue.push(_part(batch, event.row, unfinished[batch]))
        unfinished[batch] = event.row
        return
    stop = unfinished.pop(batch)
    if isinstance(event, Settled):
        yield from event.outcomes
    elif isinstance(event, Finished):
        yield event.receipt
        queue.push(_part(batch, event.receipt.stop, stop))
    elif stop - batch.start == 1:
        if event.final or batch.attempt >= ATTEMPTS:
            yield Lost(batch.start, event.reason)
        else:
            queue.push(replace(batch, stop=stop, attempt=batch.attempt + 1))
    elif event.row is None:
        middle = (batch.start + stop) // 2
        queue.push(_part(batch, batch.start, middle))
        queue.push(_part(batch, middle, stop))
    else:
        queue.push(_part(batch, batch.start, event.row))
        queue.push(_part(batch, event.row + 1, stop))
        if event.final:
            yield Lost(event.row, event.reason)
        else:
            queue.push(_part(batch, event.row, event.row + 1))


def _part(batch: Batch, start: int, stop: int) -> Batch:
    return Batch(start, stop, batch.size * (stop - start) // max(1, len(batch)))


class _Queue:
    """Batches waiting, by weight."""

    def __init__(self, batches: Iterable[Batch]) -> None:
        self._sorted = sorted((batch for batch in batches if len(batch)), key=_weight)

    def push(self, batch: Batch) -> None:
        if len(batch):
            insort(self._sorted, batch, key=_weight)

    def heaviest(self) -> Batch:
        return self._sorted.pop()

    def lightest(self) -> Batch:
        return self._sorted.pop(0)

    def __bool__(self) -> bool:
        return bool(self._sorted)


def _weight(batch: Batch) -> tuple[int, int]:
    return batch.size, -batch.start
