"""Any OpenAI-compatible model: what is sent, which answers count, what is kept, and a server that is not ours."""

from __future__ import annotations

import asyncio
import base64
import json
from decimal import Decimal
from typing import Any

import pytest

from docassay.errors import ArgumentValueError, CredentialError
from docassay.models.fake import (
    FakeModel,
    Reply,
    answer,
    connection_reset,
    error,
    insufficient_quota,
    needs_key,
    rate_limited,
    refuses_mode,
    refuses_parameter,
    slow,
    upstream_failed,
)
from docassay.providers.contract import Budget, Document, ExtractionResult, ExtractionTask, Outcome, RetryPolicy
from docassay.providers.registry import configure, open_provider
from llmock_server import llmock

PDF = b"%PDF-1.7 tiny"
SCHEMA = {"type": "object", "properties": {"total": {"type": "number"}}}
QUICK = RetryPolicy(waits=(0.01, 0.02, 0.03))
KEY = "sk-test-key-12345678"


def extract(
    base_url: str,
    *,
    documents: int = 1,
    first: int = 0,
    seconds: float = 20.0,
    key: str | None = KEY,
    **options: object,
) -> list[ExtractionResult]:
    async def run() -> list[ExtractionResult]:
        configured = configure("some-org/some-model", {"base_url": base_url, **options})
        environment = {} if key is None else {"OPENAI_API_KEY": key}
        provider, _ = open_provider(configured, environment=environment, retry=QUICK)
        try:
            return list(await asyncio.gather(*(provider.extract(task(first + i, seconds)) for i in range(documents))))
        finally:
            await provider.aclose()

    return asyncio.run(run())


def task(number: int, seconds: float) -> ExtractionTask:
    return ExtractionTask(Document(f"doc-{number}", f"{number}.pdf", PDF, SCHEMA), Budget(seconds))


def one(replies: list[Reply], *, seconds: float = 20.0, **options: object) -> tuple[ExtractionResult, FakeModel]:
    with FakeModel(replies, default=error(400, "nothing more is scripted")) as server:
        (result,) = extract(server.base_url, seconds=seconds, **options)
    return result, server


def test_what_is_sent_and_what_comes_back() -> None:
    result, server = one([answer({"total": 12.5}, cost=0.004, usage=(900, 12))])
    sent = server.asked[0].body
    text, file = sent["messages"][0]["content"]
    assert sent["model"] == "some-org/some-model"
    assert json.dumps(SCHEMA) in text["text"]
    assert file["type"] == "file"
    assert file["file"]["filename"] == "0.pdf"
    assert base64.b64decode(file["file"]["file_data"].removeprefix("data:application/pdf;base64,")) == PDF
    assert sent["response_format"]["json_schema"]["schema"] == result.schema_sent == SCHEMA
    assert sent["response_format"]["json_schema"]["strict"] is False
    assert (sent["temperature"], sent["usage"], sent["max_tokens"]) == (0.0, {"include": True}, 16384)
    assert (result.outcome, result.extraction, result.attempts) == (Outcome.OK, {"total": 12.5}, 1)
    assert result.cost is not None
    assert (result.cost.amount, result.cost.unit, result.cost.source) == (0.004, "USD", "usage.cost")
    assert result.details["response_format"] == "json_schema"
    assert json.loads(result.exchanges[0].body)["usage"]["cost"] == 0.004


def test_an_unparsable_answer_is_tried_again_warmer_and_every_text_is_kept() -> None:
    result, server = one([answer("I see twelve.", cost=0.1), answer("", cost=0.1), answer({"total": 12}, cost=0.2)])
    assert [asked.body["temperature"] for asked in server.asked] == [0.0, 0.1, 0.2]
    assert result.extraction == {"total": 12}
    kept: Any = result.details["answers"]
    assert [item["text"] for item in kept] == ["I see twelve.", "", '{"total": 12}']
    assert result.cost is not None
    assert result.cost.amount == pytest.approx(0.4)
    assert result.attempts == 3


def test_attempts_are_bounded_by_the_option() -> None:
    result, server = one([answer("no")] * 5, attempts=2)
    assert (result.outcome, result.transient, len(server.asked)) == (Outcome.FAILED, False, 2)
    assert "not JSON" in str(result.error)
    assert result.cost is None


def test_a_cut_answer_is_a_failure_and_is_not_tried_again() -> None:
    result, server = one([answer({"total": 12}, finish_reason="length", cost=0.5)])
    assert (result.outcome, result.transient, len(server.asked)) == (Outcome.FAILED, False, 1)
    assert "limit of output tokens" in str(result.error)
    assert result.cost is not None, "what a failure cost is known all the same"


def test_fenced_json_is_read_and_no_digit_is_lost() -> None:
    result, _ = one([answer('```json\n{"total": 12345678901234567890.123456789}\n```')])
    assert result.extraction == {"total": Decimal("12345678901234567890.123456789")}


@pytest.mark.parametrize("text", ['"twelve"', "12", "null"])
def test_a_bare_scalar_is_no_extraction(text: str) -> None:
    result, _ = one([answer(text)], attempts=1)
    assert result.outcome is Outcome.FAILED


def test_transient_faults_are_tried_again_and_shown() -> None:
    faults = [rate_limited(0), upstream_failed("the upstream is asleep"), connection_reset()]
    result, server = one([*faults, answer({"total": 1})])
    assert result.outcome is Outcome.OK
    assert len(server.asked) == result.attempts == 4
    assert [exchange.status for exchange in result.exchanges] == [429, 200, None, 200]
    assert "asleep" in result.exchanges[1].body


def test_the_retries_of_all_providers_hold_here() -> None:
    result, server = one([error(503)] * 9)
    assert (result.outcome, result.transient, len(server.asked)) == (Outcome.FAILED, True, 4)
    assert [exchange.status for exchange in result.exchanges] == [503] * 4


def test_a_400_is_final() -> None:
    result, server = one([error(400, "the document is no PDF")])
    assert (result.outcome, result.transient, len(server.asked)) == (Outcome.FAILED, False, 1)
    assert "the document is no PDF" in str(result.error)


@pytest.mark.parametrize("reply", [insufficient_quota(), error(402), error(401), upstream_failed("no credits", 402)])
def test_the_account_is_refused(reply: Reply) -> None:
    result, server = one([reply])
    assert (result.outcome, len(server.asked)) == (Outcome.ACCOUNT, 1)


def test_the_budget_is_one_for_all() -> None:
    result, _ = one([answer("no"), slow(answer({"total": 1}), 3.0)], seconds=0.5)
    assert (result.outcome, result.transient) == (Outcome.TIMEOUT, False)
    assert result.seconds < 1.5
    assert [exchange.status for exchange in result.exchanges] == [200, None]


@pytest.mark.parametrize("mode", ["json_object+schema", "json_object", "text"])
def test_the_mode_is_found_once_and_recorded(mode: str) -> None:
    ladder = ["json_schema", "json_object+schema", "json_object"]
    refused = ladder[: ladder.index(mode)] if mode in ladder else ladder
    rules = [refuses_mode(*refused), refuses_parameter("max_tokens")]
    with FakeModel(default=answer({"total": 1}), rules=rules) as server:
        extract(server.base_url)
        first = len(server.asked)
        results = extract(server.base_url, documents=12)
    assert first == len(refused) + 2
    assert {result.details["response_format"] for result in results} == {mode}
    assert all(result.outcome is Outcome.OK for result in results)
    assert len(server.asked) - first <= 12 + 5 * (len(refused) + 1), "at most once for each document in flight"


def test_keys() -> None:
    with FakeModel([answer({"total": 1})], rules=[needs_key(KEY)]) as server:
        assert extract(server.base_url)[0].outcome is Outcome.OK
        refused = extract(server.base_url, key="sk-wrong-key-000")[0]
    assert refused.outcome is Outcome.ACCOUNT
    assert "sk-wrong-key-000" not in repr(refused)
    with pytest.raises(CredentialError, match="OPENROUTER_API_KEY or OPENAI_API_KEY"):
        extract("https://models.invalid/v1", key=None)


def test_options_are_checked() -> None:
    for options in ({"model": "x"}, {"attempts": 0}, {"base_url": "http://models.invalid/v1"}):
        with pytest.raises(ArgumentValueError):
            configure("some-org/some-model", options)


def test_a_server_that_is_not_ours() -> None:
    refusal = {"type": "fail", "status": 400, "message": "'response_format' of type 'json_schema' is not supported"}
    busy = {"type": "fail", "status": 429, "retry_after": 0.2}
    with llmock() as server:
        server.script(refusal, busy)
        (first,) = extract(server.base_url)
        later = extract(server.base_url, documents=6, first=1)
        verdict = server.verdict()
    assert first.outcome is Outcome.OK
    assert first.attempts == 3
    assert first.details["response_format"] == "json_object+schema"
    assert all(result.details["response_format"] == "json_schema" for result in later)
    assert all(isinstance(result.extraction, dict) for result in later)
    assert verdict["findings"] == []


def test_one_document_never_waits_for_another() -> None:
    with FakeModel([slow(answer({"total": 0}), 5.0)], default=answer({"total": 1})) as server:
        results = extract(server.base_url, documents=5, seconds=1.0)
    assert sorted(result.outcome.value for result in results) == ["ok"] * 4 + ["timeout"]
