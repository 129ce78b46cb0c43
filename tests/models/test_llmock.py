"""The client against an OpenAI-compatible server that is not ours, which judges how it coped."""

from __future__ import annotations

import asyncio

import pytest

from docassay.models import Endpoint, Message, ModelAnswer, ModelClient, ModelRequest, RetryPolicy
from llmock_server import LlmockServer, llmock

SCHEMA = {
    "type": "object",
    "properties": {"vendor": {"type": "string"}, "total": {"type": "number"}},
    "required": ["vendor", "total"],
}
POLICY = RetryPolicy(waits=(0.1, 0.2, 0.4, 0.7, 1.1, 1.6, 2.2, 3.0), timeout=20.0)
"""Nine attempts: where a third of all answers are faults, twenty questions fail once in hundreds of runs."""


def ask_all(server: LlmockServer, count: int, schema: dict[str, object] | None = SCHEMA) -> list[ModelAnswer]:
    async def run() -> list[ModelAnswer]:
        async with ModelClient(Endpoint(server.base_url), policy=POLICY, concurrency=8) as client:
            requests = [ModelRequest("gpt-4o", (Message("user", f"{i}"),), 200, schema=schema) for i in range(count)]
            return list(await asyncio.gather(*map(client.complete, requests)))

    return asyncio.run(run())


def test_answers_hold_to_the_schema() -> None:
    with llmock() as server:
        answers = ask_all(server, 20)
        verdict = server.verdict()
    assert all(got.ok and set(got.value) == {"vendor", "total"} for got in answers)  # type: ignore[call-overload]
    assert answers[0].receipt.usage.input_tokens is not None
    assert answers[0].receipt.cost is None
    assert (verdict["passed"], verdict["calls"], verdict["attempts"]) == (True, 20, 20)


@pytest.mark.slow
def test_its_verdict_on_injected_faults() -> None:
    with llmock("--error-rate", "429=0.2", "--error-rate", "503=0.1", "--error-rate", "500=0.05") as server:
        answers = ask_all(server, 20)
        verdict = server.verdict()
    assert all(got.ok for got in answers)
    assert verdict["faults_injected"] > 0
    assert verdict["findings"] == []


@pytest.mark.parametrize(
    ("message", "mode"),
    [("'response_format' of type 'json_schema' is not supported", "json_object+schema"), (None, "json_schema")],
)
def test_a_refused_mode_is_left(message: str | None, mode: str) -> None:
    with llmock() as server:
        if message is not None:
            server.script({"type": "fail", "status": 400, "message": message})
        answers = ask_all(server, 5)
    assert {got.receipt.mode.value for got in answers} == {mode}
