"""How prediction runs show how far they are: a live table on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from docassay.pipelines.spending import Progress

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["counting", "line", "money"]

EVERY = 10.0
"""Seconds between lines where there is no terminal."""


@contextmanager
def counting(console: Console, names: Sequence[str]) -> Iterator[Callable[[str, Progress], None]]:
    """Show the progress of the runs called `names`; yields the function to report with, callable from any thread."""
    if console.quiet:
        yield lambda name, progress: None
        return
    if not console.is_terminal:
        with _lines(console) as watch:
            yield watch
        return
    from rich.live import Live

    state = dict.fromkeys(names, Progress())
    with Live(console=console, get_renderable=lambda: _table(state), refresh_per_second=4):

        def watch(name: str, progress: Progress) -> None:
            state[name] = progress

        yield watch


def line(name: str, progress: Progress) -> str:
    """One run in one line."""
    average = "" if progress.seconds is None else f", {progress.seconds:.1f} s each"
    cost = f", {money(progress)}" if progress.cost else ""
    return (
        f"{name}: {progress.done}/{progress.total} done, {progress.ok} ok, {progress.failed} failed, "
        f"{progress.timeouts} timed out, {progress.in_flight} in flight{cost}{average}"
    )


def money(progress: Progress) -> str:
    """What was stated so far, such as `$1.25` or `12 credits`; `-` for nothing."""
    parts = [f"${amount:.4g}" if unit == "USD" else f"{amount:g} {unit}" for unit, amount in progress.cost.items()]
    return " + ".join(parts) or "-"


@contextmanager
def _lines(console: Console) -> Iterator[Callable[[str, Progress], None]]:
    latest: dict[str, Progress] = {}
    said: dict[str, float] = {}
    lock = threading.Lock()

    def say(name: str) -> None:
        console.print(line(name, latest[name]), highlight=False, markup=False, soft_wrap=True)

    def watch(name: str, progress: Progress) -> None:
        with lock:
            latest[name] = progress
            now = time.monotonic()
            if now - said.setdefault(name, now) >= EVERY:
                said[name] = now
                say(name)

    try:
        yield watch
    finally:
        for name in latest:
            say(name)


def _table(state: dict[str, Progress]) -> Table:
    from rich.table import Table

    table = Table(box=None)
    for heading in ("run", "done", "ok", "errors", "in flight", "cost", "s/document"):
        table.add_column(heading, justify="left" if heading == "run" else "right")
    for name, now in state.items():
        average = "-" if now.seconds is None else f"{now.seconds:.1f}"
        errors = str(now.failed + now.timeouts)
        table.add_row(name, f"{now.done}/{now.total}", str(now.ok), errors, str(now.in_flight), money(now), average)
    return table
