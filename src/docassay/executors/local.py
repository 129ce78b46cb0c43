"""Decides how this machine works off batches: one process each, whose death or delay is told with the row at fault.

Each worker has a pipe and a few shared numbers of its own, and no lock is shared: a process killed at any moment can
neither take another one's work with it nor leave a lock behind. The shared numbers tell which row a worker is at and
since when, so that a row that kills its process, exceeds its time, or holds up others is known without a message each.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import connection
from types import ModuleType
from typing import Any

from docassay.errors import DocassayError, RunError
from docassay.executors.contract import Batch, Died, Event, Finished, Receipt, Stalled, Work, find

__all__ = ["LocalEngine", "default_workers", "prepare"]

PATIENCE_SECONDS = 2.0
"""How long a row may take before the rows behind it are given to another process."""

_FORK_SERVER = "forkserver"
_SETTLE_SECONDS = 0.05
_ROW, _SINCE, _STOP = range(3)
_IDLE = -1


def default_workers() -> int:
    """As many processes as this one may use processors."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def prepare(target: str) -> None:
    """Let the server that workers start from import the work while this process does something else."""
    if _FORK_SERVER in multiprocessing.get_all_start_methods():
        from multiprocessing import forkserver

        _context(target)
        with _without_main():
            forkserver.ensure_running()


class LocalEngine:
    """Worker processes on this machine, started when there is work for them.

    While every worker is held up by a row that takes long, one process more than `workers` goes on with light work.
    """

    def __init__(self, work: Work, workers: int | None = None, *, patience: float = PATIENCE_SECONDS) -> None:
        self._work = work
        self._workers = workers or default_workers()
        self._patience = patience
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []

    @property
    def capacity(self) -> int:
        held_up = sum(worker.seconds_at_row() > self._patience for worker in self._busy)
        return self._workers + (held_up >= self._workers)

    @property
    def spare(self) -> bool:
        return len(self._busy) >= self._workers

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *exception: object) -> None:
        for worker in self._idle:
            worker.end()
        for worker in self._busy:
            worker.kill()
        self._idle, self._busy = [], []

    def submit(self, batch: Batch) -> None:
        worker = self._idle.pop() if self._idle else _start(self._work)
        worker.give(batch, self._work.payload(batch))
        self._busy.append(worker)

    def wait(self, seconds: float) -> Sequence[Event]:
        connection.wait([handle for worker in self._busy for handle in worker.handles()], timeout=seconds)
        return [event for worker in list(self._busy) for event in self._events(worker)]

    def rows_in_progress(self) -> int:
        return sum(worker.rows_done() for worker in self._busy)

    def _events(self, worker: _Worker) -> Iterator[Event]:
        message = worker.message()
        if isinstance(message, Receipt):
            self._release(worker)
            yield Finished(worker.batch, message)
        elif isinstance(message, _Failure):
            raise message.error()
        elif not worker.process.is_alive():
            self._busy.remove(worker)
            yield worker.obituary()
        elif self._work.timeout is not None and worker.seconds_at_row() > self._work.timeout:
            yield from self._time_out(worker, self._work.timeout)
        elif worker.holds_up(self._patience):
            yield Stalled(worker.batch, worker.stop)

    def _release(self, worker: _Worker) -> None:
        self._busy.remove(worker)
        if len(self._busy) + len(self._idle) < self.capacity:
            self._idle.append(worker)
        else:
            worker.end()

    def _time_out(self, worker: _Worker, timeout: float) -> Iterator[Event]:
        row = worker.row
        worker.kill()
        message = worker.message()
        self._busy.remove(worker)
        if isinstance(message, Receipt):  # it was done just before
            yield Finished(worker.batch, message)
        elif worker.row == row:
            yield Died(worker.batch, row, f"took longer than the {timeout:g} s that a document may take", final=True)
        else:
            yield worker.obituary()


@dataclass(slots=True)
class _Worker:
    """One process, the batch it works on, and the numbers that both sides see."""

    process: Any
    pipe: connection.Connection
    shared: Any
    """[the row it is at, since when (monotonic nanoseconds), the row before which it shall end]"""
    batch: Batch = field(default_factory=lambda: Batch(0, 0))
    handed_over: bool = False
    offered_at: float | None = None

    def give(self, batch: Batch, payload: object) -> None:
        self.batch, self.handed_over, self.offered_at = batch, False, None
        self.shared[_ROW], self.shared[_STOP] = _IDLE, batch.stop
        # A worker that is gone is noticed by its sentinel.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.pipe.send((batch, payload))

    def handles(self) -> list[Any]:
        return [self.pipe, self.process.sentinel]

    def message(self) -> Receipt | _Failure | None:
        try:
            received: Receipt | _Failure | None = self.pipe.recv() if self.pipe.poll() else None
        except (EOFError, OSError):
            return None
        return received

    @property
    def row(self) -> int:
        return int(self.shared[_ROW])

    @property
    def stop(self) -> int:
        return int(self.shared[_STOP])

    def at_a_row(self) -> bool:
        return self.batch.start <= self.row < self.batch.stop

    def seconds_at_row(self) -> float:
        return (time.monotonic_ns() - int(self.shared[_SINCE])) / 1e9 if self.at_a_row() else 0.0

    def rows_done(self) -> int:
        return min(max(self.row, self.batch.start), self.batch.stop) - self.batch.start

    def holds_up(self, patience: float) -> bool:
        """Whether the rows behind the present one are free for another process, asked again and again.

        Two steps make this safe without a lock: the worker is told to stop after its row; if a moment later it still is
        at that row, it is sure to see that before it takes up the next one.
        """
        if self.handed_over:
            return False
        row, now = self.row, time.monotonic()
        if self.offered_at is not None:
            if now - self.offered_at < _SETTLE_SECONDS:
                return False
            self.offered_at = None
            self.handed_over = row + 1 == self.stop
            if not self.handed_over:
                self.shared[_STOP] = self.batch.stop
        elif self.at_a_row() and row + 1 < self.batch.stop and self.seconds_at_row() > patience:
            self.shared[_STOP], self.offered_at = row + 1, now
        return self.handed_over

    def obituary(self) -> Died:
        self.process.join()
        code = self.process.exitcode or 0
        if self.row == _IDLE and code > 0:
            raise RunError(
                f"a worker process ended with exit code {code} before it did anything; see its messages above"
            )
        return Died(self.batch, self.row if self.at_a_row() else None, _cause(code))

    def end(self) -> None:
        with suppress(OSError):
            self.pipe.send(None)
        self.process.join(timeout=2)
        self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.join()


@dataclass(frozen=True, slots=True)
class _Failure:
    """What the work raised, as text, since not every exception can travel between processes."""

    text: str

    def error(self) -> Exception:
        return RunError(self.text)


def _cause(code: int) -> str:
    if code >= 0:
        return f"the worker process ended with exit code {code} while scoring this document"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = "; most likely the system was out of memory" if -code == signal.SIGKILL else ""
    return f"the worker process was killed by {name} while scoring this document{hint}"


def _start(work: Work) -> _Worker:
    context = _context(work.target)
    shared = context.RawArray("q", [_IDLE, 0, 0])
    ours, theirs = context.Pipe()
    arguments = (theirs, shared, work.target, work.job, dict(os.environ))
    process = context.Process(target=_serve, args=arguments, daemon=True)
    with _without_main():
        process.start()
    theirs.close()
    return _Worker(process, ours, shared)


def _context(target: str) -> Any:
    """Processes that start from a clean server: threads of this process cannot disturb them, and imports are done."""
    if _FORK_SERVER not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([target.partition(":")[0]])
    return context


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the main module, which a new process would run again: a script without a main guard would never end."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


class _SharedWatch:
    """The worker's side of the shared numbers."""

    def __init__(self, shared: Any) -> None:
        self._shared = shared

    def begin(self, row: int) -> bool:
        self._shared[_SINCE] = time.monotonic_ns()
        self._shared[_ROW] = row
        return bool(row < self._shared[_STOP])


def _serve(pipe: connection.Connection, shared: Any, target: str, job: object, environment: dict[str, str]) -> None:
    """What a worker process does until it is told to end, or its parent is gone."""
    os.environ.clear()
    os.environ.update(environment)  # the fork server has that of the time when it was started
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    gc.freeze()
    watch = _SharedWatch(shared)
    while True:
        try:
            given = pipe.recv()
        except EOFError:
            return
        if given is None:
            return
        batch, payload = given
        try:
            answer: Receipt | _Failure = find(target)(job, batch, payload, watch)
        except DocassayError as error:
            answer = _Failure(str(error))
        except Exception:  # noqa: BLE001 - told to the process that gave the work
            answer = _Failure(f"a worker failed; what was finished is kept\n{traceback.format_exc()}")
        pipe.send(answer)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
