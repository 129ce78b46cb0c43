"""The client against a scripted server on loopback, one fault at a time."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import TypeVar

import pytest

from docassay.errors import AccountError, ArgumentValueError, CredentialError, ModelError
from docassay.models import (
    AnswerCache,
    AnswerMode,
    AnswerStatus,
    Endpoint,
    FilePart,
    Message,
    Model,
    ModelAnswer,
    ModelClient,
    ModelRequest,
    Prices,
    RetryPolicy,
    TextPart,
    TokenParameter,
)
from docassay.models.budget import Budget
from docassay.models.fake import (
    FakeModel,
    Reply,
    answer,
    breaks_on_mode,
    broken_body,
    connection_reset,
    error,
    insufficient_quota,
    mode_of,
    needs_key,
    not_json,
    rate_limited,
    refuses_mode,
    refuses_parameter,
    slow,
    upstream_failed,
)

T = TypeVar("T")
SCHEMA = {"type": "object", "properties": {"total": {"type": "number"}}}
QUICK = RetryPolicy(waits=(0.01, 0.02, 0.03, 0.04, 0.05), timeout=5.0, deadline=20.0)
REQUEST = ModelRequest("m", (Message("user", "What is the total?"),), 100, schema=SCHEMA)


def question(number: int) -> ModelRequest:
    return replace(REQUEST, messages=(Message("user", f"question {number}"),))


def with_client(
    server: FakeModel, use: Callable[[ModelClient], Awaitable[T]], *, policy: RetryPolicy = QUICK, **options: object
) -> T:
    async def run() -> T:
        async with ModelClient(Endpoint(server.base_url), policy=policy, **options) as client:  # type: ignore[arg-type]
            return await use(client)

    return asyncio.run(run())


def ask(server: FakeModel, request: ModelRequest = REQUEST, **options: object) -> ModelAnswer:
    return with_client(server, lambda client: client.complete(request), **options)  # type: ignore[arg-type]


def test_an_answer_with_its_receipt() -> None:
    with FakeModel([answer({"total": 12}, usage=(50, 7), cost=0.25, reasoning_content="adding up")]) as server:
        got = ask(server)
    assert (got.status, got.value, got.reasoning, got.from_cache) == (
        AnswerStatus.OK,
        {"total": 12},
        "adding up",
        False,
    )
    receipt = got.receipt
    assert receipt.request_digest == REQUEST.digest(Endpoint(server.asked and receipt.endpoint))
    assert (receipt.model, receipt.model_stated, receipt.response_id) == ("m", "fake-model", "fake-1")
    assert (receipt.usage.input_tokens, receipt.usage.output_tokens, receipt.cost) == (50, 7, 0.25)
    assert receipt.usage.reasoning_tokens is None
    assert receipt.mode is AnswerMode.JSON_SCHEMA
    assert [attempt.outcome for attempt in receipt.attempts] == ["answered"]
    assert type(receipt).from_dict(json.loads(json.dumps(receipt.as_dict()))) == receipt


def test_what_is_sent() -> None:
    file = FilePart("a.pdf", b"%PDF-1.7")
    request = replace(REQUEST, messages=(Message("user", (TextPart("Read it."), file)),), extra={"seed": 7})
    with FakeModel() as server:
        ask(server, request)
    sent = server.asked[0].body
    assert sent["messages"][0]["content"][1] == {
        "type": "file",
        "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjc="},
    }
    assert sent["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": SCHEMA, "strict": False},
    }
    assert (sent["model"], sent["max_tokens"], sent["temperature"], sent["seed"]) == ("m", 100, 0.0, 7)
    assert server.asked[0].path == "/v1/chat/completions"


def test_free_text_needs_no_format() -> None:
    with FakeModel([answer("hello")]) as server:
        got = ask(server, replace(REQUEST, schema=None, temperature=None))
    assert (got.ok, got.text, got.value) == (True, "hello", None)
    assert not {"response_format", "temperature"} & set(server.asked[0].body)


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (answer('{"total": 1', finish_reason="length"), AnswerStatus.TRUNCATED),
        (answer({"total": 1}, finish_reason="length"), AnswerStatus.TRUNCATED),
        (answer(None, finish_reason="content_filter"), AnswerStatus.FILTERED),
        (answer(None, refusal="I cannot."), AnswerStatus.REFUSED),
        (answer(None, reasoning="thinking only"), AnswerStatus.EMPTY),
        (answer("I think it is twelve."), AnswerStatus.NOT_JSON),
        (answer('Sure:\n```json\n{"total": 1}\n```'), AnswerStatus.OK),
        (answer({"total": 1}, finish_reason=None), AnswerStatus.OK),
    ],
)
def test_an_answer_of_any_quality_is_data_and_is_asked_once(reply: Reply, status: AnswerStatus) -> None:
    with FakeModel([reply]) as server:
        got = ask(server)
    assert got.status is status
    assert (got.problem is None) == got.ok
    assert (got.value is None) != got.ok
    assert len(server.asked) == 1
    if not got.ok:
        with pytest.raises(ModelError, match=status.value):
            got.require_value()


def test_every_transient_fault_is_asked_again() -> None:
    faults = [rate_limited(), error(500), error(503), connection_reset(), broken_body()]
    with FakeModel([*faults, answer({"total": 1})]) as server:
        got = ask(server)
    assert got.value == {"total": 1}
    outcomes = [attempt.outcome for attempt in got.receipt.attempts]
    assert [outcome.split(":")[0] for outcome in outcomes] == [
        "http 429", "http 500", "http 503", "transport", "transport", "answered",
    ]  # fmt: skip
    assert len(server.asked) == 6


@pytest.mark.parametrize(
    "fault",
    [
        not_json(),
        not_json("[]"),
        not_json("{}"),
        upstream_failed(),
        upstream_failed(code=None),
        upstream_failed(code=429),
    ],
)
def test_a_200_without_an_answer_is_asked_again(fault: Reply) -> None:
    with FakeModel([fault, answer({"total": 1})]) as server:
        assert ask(server).ok
    assert len(server.asked) == 2


@pytest.mark.parametrize("fault", [error(400), error(404), error(413), upstream_failed(code=400), error(307)])
def test_the_endpoints_answer_is_final(fault: Reply) -> None:
    with FakeModel([fault]) as server, pytest.raises(ModelError) as raised:
        ask(server, replace(REQUEST, label="task-7"))
    assert not raised.value.transient
    assert "task-7" in str(raised.value)
    assert len(server.asked) == 1


def test_attempts_are_bounded() -> None:
    with FakeModel(default=error(503)) as server, pytest.raises(ModelError, match="http 503") as raised:
        ask(server)
    assert raised.value.transient
    assert raised.value.status == 503
    assert len(server.asked) == QUICK.max_attempts


def test_nobody_listening_is_a_transient_failure() -> None:
    with FakeModel() as server:
        url = server.base_url

    async def run() -> None:
        budget = Budget(max_calls=100)
        async with ModelClient(Endpoint(url), policy=QUICK, budget=budget) as client:
            with pytest.raises(ModelError, match="transport") as raised:
                await client.complete(REQUEST)
        assert raised.value.transient
        assert budget.calls == 0

    asyncio.run(run())


@pytest.mark.parametrize("spelled", ["seconds", "date", "milliseconds"])
def test_retry_after_is_waited_for(spelled: str) -> None:
    limited = {
        "seconds": rate_limited(1),
        "date": rate_limited(format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)),
        "milliseconds": replace(rate_limited(30), headers=(("retry-after", "30"), ("retry-after-ms", "600"))),
    }[spelled]
    with FakeModel([limited, answer({"total": 1})]) as server:
        ask(server)
    waited = server.asked[1].at - server.asked[0].at
    assert 0.59 <= waited < 4


def test_retry_after_pauses_every_request() -> None:
    with FakeModel([answer({})] * 4 + [rate_limited(0.7)], default=answer({}, delay=0.01)) as server:
        with_client(server, lambda client: asyncio.gather(*(client.complete(question(i)) for i in range(20))))
    limited = server.asked[4].at
    others = [asked.at - limited for asked in server.asked[5:]]
    open_with_it = sum(gap < 0.65 for gap in others)
    assert open_with_it <= 4, "only what was already in flight may arrive within the pause"


def test_a_wait_beyond_the_deadline_fails_at_once() -> None:
    with FakeModel([rate_limited(3600)]) as server, pytest.raises(ModelError, match="deadline") as raised:
        ask(server)
    assert raised.value.transient
    assert raised.value.status == 429


def test_a_slow_answer_is_given_up_and_asked_again() -> None:
    with FakeModel([slow(answer({}), 1.0), answer({"total": 1})]) as server:
        got = ask(server, policy=replace(QUICK, timeout=0.2))
    assert [attempt.outcome for attempt in got.receipt.attempts] == ["timeout", "answered"]


def test_the_deadline_is_for_all_attempts_together() -> None:
    started = time.monotonic()
    with FakeModel(default=slow(answer({}), 1.0)) as server, pytest.raises(ModelError) as raised:
        ask(server, policy=replace(QUICK, timeout=0.3, deadline=0.5))
    assert raised.value.timed_out
    assert time.monotonic() - started < 2.5


def test_a_caller_may_shorten_the_deadline() -> None:
    with FakeModel(default=slow(answer({}), 1.0)) as server, pytest.raises(ModelError) as raised:
        with_client(server, lambda client: client.complete(REQUEST, deadline=0.2))
    assert raised.value.timed_out
    assert not raised.value.transient


@pytest.mark.parametrize(
    ("refused", "mode"),
    [
        (["json_schema"], "json_object+schema"),
        (["json_schema", "json_object+schema"], "json_object"),
        (["json_schema", "json_object+schema", "json_object"], "text"),
    ],
)
def test_weaker_modes_are_found_and_remembered(refused: list[str], mode: str) -> None:
    with FakeModel(default=answer('```json\n{"total": 1}\n```'), rules=[refuses_mode(*refused)]) as server:
        answers = with_client(server, lambda client: asyncio.gather(*(client.complete(question(i)) for i in range(10))))
    assert {got.receipt.mode.value for got in answers} == {mode}
    assert all(got.value == {"total": 1} for got in answers)
    assert len(server.asked) == 10 + len(refused), "a refusal is met once, not once per request"
    last = server.asked[-1]
    assert mode_of(last.body) == mode
    assert json.dumps(SCHEMA) in last.text, "a weaker mode states the schema in the prompt"


def test_a_server_that_breaks_on_json_schema_is_understood() -> None:
    with FakeModel(default=answer({"total": 1}), rules=[breaks_on_mode("json_schema")]) as server:
        answers = with_client(server, lambda client: asyncio.gather(*(client.complete(question(i)) for i in range(3))))
    assert [got.receipt.mode.value for got in answers] == ["json_object+schema"] * 3
    assert len(server.asked) == 5


def test_one_500_does_not_cost_the_mode() -> None:
    with FakeModel([error(500), answer({"total": 1})]) as server:
        assert ask(server).receipt.mode is AnswerMode.JSON_SCHEMA


@pytest.mark.parametrize("name", ["max_tokens", "temperature", "usage"])
def test_refused_parameters_are_left_out_and_remembered(name: str) -> None:
    with FakeModel(default=answer({}), rules=[refuses_parameter(name)]) as server:
        requests = [replace(question(i), extra={"usage": {"include": True}}) for i in range(5)]
        answers = with_client(server, lambda client: asyncio.gather(*map(client.complete, requests)))
    assert len(server.asked) == 6
    assert all(got.ok for got in answers)
    last = server.asked[-1].body
    assert name not in last
    assert last.get("max_tokens", last.get("max_completion_tokens")) == 100
    renamed = name == "max_tokens"
    assert answers[0].receipt.token_parameter is (
        TokenParameter.MAX_COMPLETION_TOKENS if renamed else TokenParameter.MAX_TOKENS
    )
    assert answers[0].receipt.temperature == (None if name == "temperature" else 0.0)


def test_an_account_failure_ends_the_client() -> None:
    async def use(client: ModelClient) -> list[object]:
        first = await asyncio.gather(client.complete(REQUEST), return_exceptions=True)
        rest = await asyncio.gather(*(client.complete(question(i)) for i in range(5)), return_exceptions=True)
        return [*first, *rest]

    with FakeModel([insufficient_quota()]) as server:
        outcomes = with_client(server, use)
    assert all(isinstance(outcome, AccountError) for outcome in outcomes)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "reply", [error(402), upstream_failed("Insufficient credits", 402), error(403, "Your credits are used up")]
)
def test_account_failures_are_told_in_every_shape(reply: Reply) -> None:  # fmt: skip
    with FakeModel([reply]) as server, pytest.raises(AccountError):
        ask(server)


def test_equal_requests_in_flight_are_asked_once() -> None:
    with FakeModel(default=answer({"total": 1}, delay=0.1)) as server:
        answers = with_client(server, lambda client: asyncio.gather(*(client.complete(REQUEST) for _ in range(10))))
    assert len(server.asked) == 1
    assert all(got.value == {"total": 1} for got in answers)


def test_who_waits_is_not_hurt_by_who_gives_up() -> None:
    async def use(client: ModelClient) -> ModelAnswer:
        impatient = asyncio.ensure_future(client.complete(REQUEST))
        patient = asyncio.ensure_future(client.complete(REQUEST))
        await asyncio.sleep(0.1)
        impatient.cancel()
        return await patient

    with FakeModel(default=answer({"total": 1}, delay=0.3)) as server:
        assert with_client(server, use).ok
    assert len(server.asked) == 1


def test_a_question_nobody_waits_for_is_ended_and_can_be_asked_again() -> None:
    async def use(client: ModelClient) -> ModelAnswer:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.6):
                await client.complete(REQUEST)
        return await client.complete(REQUEST)

    with FakeModel([slow(answer({}), 3.0), answer({"total": 2})]) as server:
        assert with_client(server, use).value == {"total": 2}


def test_a_known_answer_is_never_asked_again(tmp_path: Path) -> None:
    replies = [answer({"total": 1}, cost=0.5), answer("cut", finish_reason="length")]
    with FakeModel(replies) as server:
        for _ in range(3):
            with AnswerCache(tmp_path / "answers.sqlite") as cache:
                got = ask(server, cache=cache)
                cut = ask(server, question(1), cache=cache)
        assert len(server.asked) == 2
    assert (got.from_cache, got.value, got.receipt.cost) == (True, {"total": 1}, 0.5)
    assert (cut.from_cache, cut.status) == (True, AnswerStatus.TRUNCATED)


def test_a_repeat_is_another_question(tmp_path: Path) -> None:
    with FakeModel() as server, AnswerCache(tmp_path / "a.sqlite") as cache:
        ask(server, cache=cache)
        ask(server, replace(REQUEST, repeat=1), cache=cache)
        assert len(server.asked) == 2


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, model="n"),
        replace(REQUEST, messages=(Message("system", "What is the total?"),)),
        replace(REQUEST, max_output_tokens=101),
        replace(REQUEST, schema={"type": "object"}),
        replace(REQUEST, temperature=0.1),
        replace(REQUEST, extra={"seed": 1}),
        replace(REQUEST, strict=True),
        replace(REQUEST, repeat=1),
    ],
)
def test_whatever_could_change_an_answer_changes_the_digest(other: ModelRequest) -> None:
    endpoint = Endpoint("http://127.0.0.1:1/v1")
    assert other.digest(endpoint) != REQUEST.digest(endpoint)
    assert REQUEST.digest(endpoint) != REQUEST.digest(Endpoint("http://127.0.0.1:2/v1"))
    assert replace(REQUEST, label="elsewhere").digest(endpoint) == REQUEST.digest(Endpoint("http://127.0.0.1:1/v1/"))


def test_a_missing_key_is_told_before_anything_is_sent() -> None:
    async def run() -> None:
        client = ModelClient(Endpoint("https://models.invalid/v1"), environ={})
        with pytest.raises(CredentialError, match="DOCASSAY_JUDGE_API_KEY or JUDGE_API_KEY or OPENAI_API_KEY"):
            await client.complete(REQUEST)

    asyncio.run(run())


def test_the_key_is_sent_and_written_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    key = "sk-do-not-write-me-12345"
    caplog.set_level(0)
    echo = answer({"total": 1}, note=f"your key is {key}")
    with FakeModel([echo], rules=[needs_key(key)]) as server, AnswerCache(tmp_path / "a.sqlite") as cache:
        got = ask(server, cache=cache, environ={"JUDGE_API_KEY": key})
        with pytest.raises(CredentialError, match="refuses the key from") as raised:
            ask(server, question(2), cache=cache, environ={"OPENAI_API_KEY": "sk-another-secret-9876"})
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for secret in (key, "sk-another-secret-9876"):
        assert secret.encode() not in written
        assert secret not in caplog.text + repr(got) + str(raised.value)


def test_the_first_variable_that_is_set_counts() -> None:
    with FakeModel(rules=[needs_key("first")]) as server:
        assert ask(server, environ={"JUDGE_API_KEY": "first", "OPENAI_API_KEY": "second"}).ok


def test_a_dry_run_sends_nothing(tmp_path: Path) -> None:
    with FakeModel() as server, AnswerCache(tmp_path / "a.sqlite") as cache:
        ask(server, cache=cache)
        budget = Budget(prices=Prices(1.0, 10.0))

        async def use(client: ModelClient) -> None:
            estimate = client.estimate([REQUEST, question(1), question(1), question(2)])
            assert (estimate.calls, estimate.cached, estimate.output_tokens_limit) == (2, 2, 200)
            assert estimate.cost_limit is not None
            assert estimate.cost_limit > 200 * 10 / 1e6
            assert "2 calls (2 more from the cache)" in estimate.sentence()
            assert "estimate" in estimate.sentence()

        with_client(server, use, cache=cache, budget=budget)
        assert len(server.asked) == 1


def test_a_client_is_a_model() -> None:
    assert isinstance(ModelClient(Endpoint("http://127.0.0.1:1/v1")), Model)


@pytest.mark.parametrize("url", ["https://user:pass@host/v1", "https://host/v1?api_key=1"])
def test_an_address_holds_no_secret(url: str) -> None:
    with pytest.raises(ArgumentValueError) as raised:
        Endpoint(url)
    assert "pass" not in str(raised.value).replace("password", "")


@pytest.mark.parametrize("url", ["ftp://x", "host/v1", "http://", "http://host:port/v1", "http://a b/v1", ""])
def test_an_address_is_one(url: str) -> None:
    with pytest.raises(ArgumentValueError):
        Endpoint(url)


@pytest.mark.parametrize("key", ["sk-with-\nnewline-123", "sk-ünïcode-12345"])
def test_a_key_that_cannot_be_sent_is_not_shown(key: str) -> None:
    with FakeModel() as server, pytest.raises(CredentialError) as raised:
        ask(server, environ={"JUDGE_API_KEY": key})
    assert "sk-" not in str(raised.value)
    assert server.asked == []


def test_a_refused_key_ends_the_client() -> None:
    async def use(client: ModelClient) -> list[object]:
        return [await asyncio.gather(client.complete(question(number)), return_exceptions=True) for number in range(4)]

    with FakeModel(rules=[needs_key("right-key-12345")]) as server:
        outcomes = with_client(server, use, environ={"JUDGE_API_KEY": "wrong-key-12345"})
    assert all(isinstance(outcome[0], CredentialError) for outcome in outcomes)  # type: ignore[index]
    assert len(server.asked) == 1


def test_impossible_requests_are_refused() -> None:
    for change in ({"max_output_tokens": 0}, {"temperature": float("nan")}, {"extra": {"max_tokens": 1}}):
        with pytest.raises(ArgumentValueError):
            replace(REQUEST, **change)  # type: ignore[arg-type]
