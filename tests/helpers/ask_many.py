"""A program that asks a model many questions through one cache and prints each answered one: for tests that kill it."""

from __future__ import annotations

import asyncio
import os
import sys

from docassay.models import AnswerCache, Endpoint, Message, ModelClient, ModelRequest, RetryPolicy


def request(number: int) -> ModelRequest:
    """The question with this number."""
    return ModelRequest("m", (Message("user", f"question {number}"),), 100, schema={"type": "object"})


async def main(base_url: str, cache_path: str, questions: int, concurrency: int) -> None:
    policy = RetryPolicy(waits=(0.05, 0.1, 0.2))
    with AnswerCache(cache_path) as cache:
        async with ModelClient(Endpoint(base_url), cache=cache, policy=policy, concurrency=concurrency) as client:
            await asyncio.gather(*(ask(client, number) for number in range(questions)))


async def ask(client: ModelClient, number: int) -> None:
    answer = await client.complete(request(number))
    os.write(1, f"{number} {answer.receipt.request_digest}\n".encode())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
