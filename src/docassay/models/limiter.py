"""How many requests may be in flight: doubling at first, halved when the server is busy, one more after each success.

Additive increase, multiplicative decrease with a slow start, as TCP does it (RFC 5681): the first request goes alone,
so that what the server takes is learned once, and a server's rate limit is found without being told.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from docassay.errors import ArgumentValueError

__all__ = ["AdaptiveLimiter"]


class AdaptiveLimiter:
    """Slots for requests to one endpoint. Belongs to one event loop at a time."""

    def __init__(self, maximum: int, start: int = 1) -> None:
        if not 1 <= start <= maximum:
            raise ArgumentValueError(f"concurrency is at least 1 and starts between 1 and that, not {maximum}, {start}")
        self.maximum = maximum
        self.limit = float(start)
        """Slots at this moment; the whole part counts."""
        self.in_flight = 0
        self._slow_start = True
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._last_decrease = float("-inf")
        self._paused_until = float("-inf")

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """One slot; waits for its turn, and while the endpoint has asked for a pause."""
        await self._enter()
        try:
            await self._sit_out_pause()
            yield
        finally:
            self._leave()

    def succeeded(self) -> None:
        """An answer came: allow more at once."""
        self.limit = min(float(self.maximum), self.limit + (1.0 if self._slow_start else 1.0 / self.limit))
        self._wake()

    def congested(self, sent_at: float, pause: float | None) -> None:
        """The server was too busy for a request sent at `sent_at` (monotonic seconds): allow half as many.

        Requests that were in flight together are one sign of congestion, not many. `pause` (seconds) is what
        Retry-After asked for: it holds for every request, since limits are counted per account.
        """
        now = time.monotonic()
        if pause is not None:
            self._paused_until = max(self._paused_until, now + pause)
        if sent_at >= self._last_decrease:
            self.limit = max(1.0, self.limit / 2)
            self._last_decrease = now
            self._slow_start = False

    async def _enter(self) -> None:
        if not self._waiting and self.in_flight < int(self.limit):
            self.in_flight += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()
            raise

    async def _sit_out_pause(self) -> None:
        while (left := self._paused_until - time.monotonic()) > 0:
            await asyncio.sleep(left)

    def _leave(self) -> None:
        self.in_flight -= 1
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self.in_flight < int(self.limit):
            turn = self._waiting.popleft()
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)
