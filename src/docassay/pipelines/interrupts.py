"""Decides what Ctrl-C does to work in flight: once, nothing new is begun; twice, everything stops at once."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator

__all__ = ["Stop", "interruptible"]


class Stop:
    """A request to begin nothing new, which may come from any thread."""

    def __init__(self, on_request: Callable[[], None] = lambda: None) -> None:
        self._requested = threading.Event()
        self._on_request = on_request

    @property
    def requested(self) -> bool:
        """Whether it was asked for."""
        return self._requested.is_set()

    def request(self) -> None:
        """Ask for it; what is in flight is finished."""
        if not self.requested:
            self._requested.set()
            self._on_request()


@contextlib.contextmanager
def interruptible(stop: Stop) -> Iterator[None]:
    """While this lasts, the first SIGINT requests `stop` and the second cancels the current task.

    Does nothing outside the main thread, where signals cannot be handled.
    """
    task = asyncio.current_task()
    assert task is not None

    def interrupt() -> None:
        if stop.requested:
            task.cancel()
        stop.request()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    loop = asyncio.get_running_loop()
    signal.signal(signal.SIGINT, lambda number, frame: loop.call_soon_threadsafe(interrupt))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
