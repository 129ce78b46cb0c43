"""Concurrency starts at one, grows while answers come, halves once per congestion, and never passes its bounds."""

from __future__ import annotations

import asyncio
import random
import time

import pytest

from docassay.errors import ArgumentValueError
from docassay.models import Endpoint, Message, ModelClient, ModelRequest, RetryPolicy
from docassay.models.fake import Asked, FakeModel, Reply, answer, rate_limited
from docassay.models.limiter import AdaptiveLimiter


def test_growth_doubles_and_then_adds() -> None:
    limiter = AdaptiveLimiter(100)
    for _ in range(15):
        limiter.succeeded()
    assert limiter.limit == 16
    limiter.congested(time.monotonic(), None)
    assert limiter.limit == 8
    for _ in range(8):
        limiter.succeeded()
    assert 8.8 < limiter.limit <= 9


def test_requests_that_flew_together_are_one_sign() -> None:
    limiter = AdaptiveLimiter(64)
    limiter.limit = 64.0
    sent = time.monotonic()
    for _ in range(10):
        limiter.congested(sent, None)
    assert limiter.limit == 32
    limiter.congested(time.monotonic(), None)
    assert limiter.limit == 16


def test_bounds() -> None:
    limiter = AdaptiveLimiter(3)
    for _ in range(50):
        limiter.succeeded()
    assert limiter.limit == 3
    for _ in range(50):
        limiter.congested(time.monotonic(), None)
    assert limiter.limit == 1
    with pytest.raises(ArgumentValueError):
        AdaptiveLimiter(0)


def test_slots_survive_cancellation() -> None:
    async def run() -> tuple[int, int]:
        limiter = AdaptiveLimiter(4)
        limiter.limit = 4.0
        rng = random.Random(1)
        most = 0

        async def work() -> None:
            nonlocal most
            async with limiter.slot():
                most = max(most, limiter.in_flight)
                await asyncio.sleep(rng.random() / 200)

        tasks = [asyncio.ensure_future(work()) for _ in range(200)]
        for task in rng.sample(tasks, 90):
            await asyncio.sleep(0.001)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return most, limiter.in_flight

    assert asyncio.run(run()) == (4, 0)


def test_a_client_settles_near_what_the_server_bears() -> None:
    """A server that takes four at once and refuses more: few refusals, everything answered."""
    bears = 4

    def reply(asked: Asked) -> Reply:
        return rate_limited() if server._open > bears else answer({}, delay=0.02)

    async def run() -> int:
        policy = RetryPolicy(waits=(0.02, 0.05, 0.1, 0.2, 0.4))
        async with ModelClient(Endpoint(server.base_url), policy=policy, concurrency=16) as client:
            requests = [ModelRequest("m", (Message("user", f"{i}"),), 10) for i in range(150)]
            answers = await asyncio.gather(*map(client.complete, requests))
        return sum(got.ok for got in answers)

    with FakeModel(default=reply) as server:
        assert asyncio.run(run()) == 150
        refused = len(server.asked) - 150
        assert server.most_at_once <= 16
    assert refused < 60, f"{refused} of {len(server.asked)} requests were refused"
