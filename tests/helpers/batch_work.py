"""Work for engines to be tested with: it keeps a file for each row done, and misbehaves where it is told to."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from docassay.executors.contract import Batch, Receipt, Watch, Work


@dataclass(frozen=True)
class Orders:
    """What happens at which rows."""

    folder: str
    kill: tuple[int, ...] = ()
    """Rows that end their process."""
    kill_once: tuple[int, ...] = ()
    """Rows that end it the first time only."""
    exit: tuple[int, ...] = ()
    sleep: tuple[tuple[int, float], ...] = ()
    """(row, seconds)"""
    fail: tuple[int, ...] = ()
    """Rows whose work raises."""


def work(orders: Orders, batch: Batch, payload: object, watch: Watch) -> Receipt:
    """Do a batch: note each row when it is done, as `row.number of times`."""
    assert payload == range(batch.start, batch.stop)
    seconds = dict(orders.sleep)
    done: list[int] = []
    for row in range(batch.start, batch.stop):
        if not watch.begin(row):
            break
        _misbehave(orders, row)
        time.sleep(seconds.get(row, 0.0))
        done.append(row)
    watch.begin(batch.stop)
    for row in done:  # at the end, as parts are written
        (Path(orders.folder) / f"{row}.{os.getpid()}.{time.monotonic_ns()}").touch()
    return Receipt(batch.start, batch.start + len(done), 0)


def _misbehave(orders: Orders, row: int) -> None:
    if row in orders.kill_once:
        mark = Path(orders.folder) / f"killed-{row}"
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    if row in orders.kill:
        os.kill(os.getpid(), signal.SIGKILL)
    if row in orders.exit:
        os._exit(3)
    if row in orders.fail:
        raise ValueError(f"no good at {row}")


def work_of(orders: Orders, timeout: float | None = None) -> Work:
    """The work, as engines take it."""
    return Work("batch_work:work", orders, lambda batch: range(batch.start, batch.stop), timeout)


def rows_done(folder: Path) -> list[int]:
    """The rows done, each as often as it was."""
    return sorted(int(path.name.partition(".")[0]) for path in folder.iterdir() if not path.name.startswith("killed"))
