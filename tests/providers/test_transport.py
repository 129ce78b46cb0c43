"""The rules that are the same for every vendor, each over real sockets."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise
from typing import Any

import pytest

from docassay.providers.contract import Cost, ExtractionResult, Outcome, RetryPolicy
from docassay.providers.dialects import question
from docassay.providers.fake import FakeServer, Fault
from docassay.providers.jsontext import dump_bytes, loads
from docassay.providers.transport import account_refusal, base_url_fault, stated_cost

Ask = Callable[..., ExtractionResult]

VENDORS = ("datalab", "reducto", "extend", "llamaextract", "mistral", "azure-cu")
WITH_JOBS = tuple(vendor for vendor in VENDORS if vendor != "mistral")


@pytest.mark.parametrize("vendor", VENDORS)
def test_an_answer_comes_with_its_evidence(ask: Ask, vendor: str) -> None:
    answer = {"id": "A-1", "rows": [{"price": 2.5}, {"price": 3}]}
    with FakeServer(lambda document: _as_sent(vendor, answer)) as fake:
        result = ask(fake, vendor)
        assert result.outcome is Outcome.OK
        assert result.extraction == answer
        assert (result.error, result.attempts) == (None, 1)
        assert (result.job_id is not None) == (vendor in WITH_JOBS)
        assert result.seconds > 0
        assert [exchange.status for exchange in result.exchanges if exchange.step == "submit"] in ([200], [202])
        assert result.exchanges[-1].body
        assert result.schema_sent == fake.schemas(vendor)[-1]


@pytest.mark.parametrize("vendor", VENDORS)
def test_what_the_benchmark_knows_is_not_sent(ask: Ask, vendor: str) -> None:
    schema = {
        "type": "object",
        "evaluation_config": "exact",
        "properties": {
            "default": {"type": "string", "default": "secret answer"},
            "evaluation_config": {"type": "string"},
        },
    }
    with FakeServer() as fake:
        result = ask(fake, vendor, schema=question(schema))
        assert isinstance(result.extraction, dict)
        assert set(result.extraction) == {"default", "evaluation_config"}
        assert all(b"secret answer" not in request.body for request in fake.seen(vendor))


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_transient_answer_is_asked_again(ask: Ask, vendor: str, status: int) -> None:
    with FakeServer(faults=[Fault("status", step="submit", status=status, times=2)]) as fake:
        result = ask(fake, vendor)
        assert result.outcome is Outcome.OK
        assert result.attempts == fake.count(vendor, "submit") == 3
        assert [e.status for e in result.exchanges if e.step == "submit"][:2] == [status, status]


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_broken_connection_is_asked_again(ask: Ask, vendor: str) -> None:
    with FakeServer(faults=[Fault("reset", step="submit")]) as fake:
        result = ask(fake, vendor)
        assert result.outcome is Outcome.OK
        assert fake.count(vendor, "submit") == 2
        assert next(e.status for e in result.exchanges if e.step == "submit") is None


@pytest.mark.parametrize("vendor", VENDORS)
def test_after_four_attempts_the_failure_is_told_and_transient(ask: Ask, vendor: str) -> None:
    with FakeServer(faults=[Fault("status", step="submit", body="over capacity", times=None)]) as fake:
        result = ask(fake, vendor)
        assert fake.count(vendor, "submit") == 4
        assert (result.outcome, result.transient) == (Outcome.FAILED, True)
        assert "submit: HTTP 503" in str(result.error)
        assert "over capacity" in str(result.error)


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("status", [400, 404, 422])
def test_a_refusal_is_final(ask: Ask, vendor: str, status: int) -> None:
    with FakeServer(faults=[Fault("status", step="submit", status=status, body="no such field")]) as fake:
        result = ask(fake, vendor)
        assert fake.count(vendor, "submit") == 1
        assert (result.outcome, result.transient) == (Outcome.FAILED, False)
        assert f"HTTP {status}" in str(result.error)


@pytest.mark.parametrize("vendor", ["reducto", "extend", "llamaextract"])
def test_an_upload_is_retried_too(ask: Ask, vendor: str) -> None:
    with FakeServer(faults=[Fault("status", step="upload", times=3)]) as fake:
        result = ask(fake, vendor)
        assert result.outcome is Outcome.OK
        assert (fake.count(vendor, "upload"), fake.count(vendor, "submit")) == (4, 1)


def test_the_waits_are_those_of_the_policy(ask: Ask) -> None:
    with FakeServer(faults=[Fault("status", step="submit", times=3)]) as fake:
        ask(fake, "datalab", retry=RetryPolicy(waits=(0.1, 0.3, 0.5)))
        sent = [request.at for request in fake.seen("datalab", "submit")]
        waits = [later - earlier for earlier, later in pairwise(sent)]
        assert len(waits) == 3
        assert all(wait <= found < wait + 0.25 for wait, found in zip((0.1, 0.3, 0.5), waits, strict=True)), waits


def test_the_published_waits_are_the_defaults() -> None:
    assert RetryPolicy().waits == (20.0, 60.0, 120.0)
    assert RetryPolicy().attempts == 4
    assert RetryPolicy().poll_failures == 60


@pytest.mark.parametrize("stated", ["0.4", "date"])
def test_retry_after_goes_before_the_policy(ask: Ask, stated: str) -> None:
    value = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True) if stated == "date" else stated
    with FakeServer(faults=[Fault("status", step="submit", status=429, retry_after=value)]) as fake:
        result = ask(fake, "mistral", retry=RetryPolicy(waits=(9.0, 9.0, 9.0)))
        first, second = (request.at for request in fake.seen("mistral", "submit"))
        assert result.outcome is Outcome.OK
        assert 0.4 <= second - first < 4


def test_a_wait_past_the_budget_is_not_begun(ask: Ask) -> None:
    with FakeServer(faults=[Fault("status", step="submit", status=429, retry_after="3600")]) as fake:
        start = time.monotonic()
        result = ask(fake, "datalab", seconds=2)
        assert time.monotonic() - start < 1.5
        assert fake.count("datalab", "submit") == 1
        assert (result.outcome, result.transient) == (Outcome.FAILED, True)
        assert "no time left to wait 3600 s" in str(result.error)


@pytest.mark.parametrize("vendor", WITH_JOBS)
@pytest.mark.parametrize("fault", ["status", "reset", "not_json"])
def test_a_failed_poll_is_not_a_failed_job(ask: Ask, vendor: str, fault: str) -> None:
    with FakeServer(faults=[Fault(fault, step="poll", times=5)]) as fake:
        result = ask(fake, vendor)
        assert result.outcome is Outcome.OK
        assert fake.count(vendor, "submit") == 1
        assert len([e for e in result.exchanges if e.step == "poll"]) == 6  # the failed ones and the last


def test_polls_that_keep_failing_end_with_the_job_kept(ask: Ask) -> None:
    with FakeServer(faults=[Fault("status", step="poll", times=None)]) as fake:
        result = ask(fake, "reducto")
        assert fake.count("reducto", "submit") == 1
        assert fake.count("reducto", "poll") == 61
        assert (result.outcome, result.transient, result.job_id) == (Outcome.FAILED, True, "job-0")


def test_failed_polls_count_only_in_a_row(ask: Ask) -> None:
    with FakeServer(polls=8, faults=[Fault("status", step="poll", rate=0.7, times=40)], seed=3) as fake:
        result = ask(fake, "reducto", retry=RetryPolicy(poll_failures=12))
        assert result.outcome is Outcome.OK


def test_a_poll_that_is_refused_is_final(ask: Ask) -> None:
    with FakeServer(faults=[Fault("status", step="poll", status=404)]) as fake:
        result = ask(fake, "extend")
        assert fake.count("extend", "poll") == 1
        assert (result.outcome, result.transient) == (Outcome.FAILED, False)


@pytest.mark.parametrize("vendor", WITH_JOBS)
def test_a_job_that_never_ends_is_a_timeout_with_its_id(ask: Ask, vendor: str) -> None:
    with FakeServer(faults=[Fault("never_ends")]) as fake:
        result = ask(fake, vendor, seconds=1)
        assert result.outcome is Outcome.TIMEOUT
        assert str(result.job_id).endswith(("job-0", "job-0?api-version=fake"))
        assert fake.count(vendor, "submit") == 1
        assert "1 s" in str(result.error)
        assert 0.9 < result.seconds < 2


@pytest.mark.parametrize("vendor", WITH_JOBS)
def test_a_job_can_be_collected_without_buying_it_again(ask: Ask, vendor: str) -> None:
    bought: list[str] = []
    with FakeServer(polls=100) as fake:
        slow = ask(fake, vendor, seconds=1, on_job=bought.append)
        assert (slow.outcome, [slow.job_id]) == (Outcome.TIMEOUT, bought)
        result = ask(fake, vendor, job_id=slow.job_id)
        assert result.outcome is Outcome.OK
        assert (result.attempts, fake.count(vendor, "submit"), fake.count(vendor, "upload") <= 1) == (0, 1, True)


def test_one_budget_covers_every_phase(ask: Ask) -> None:
    """Each phase would have had time enough alone."""
    slow = [Fault("slow", step=step, seconds=0.5) for step in ("upload", "submit", "poll")]
    with FakeServer(faults=slow) as fake:
        result = ask(fake, "reducto", seconds=1.2)
        assert (result.outcome, result.job_id) == (Outcome.TIMEOUT, "job-0")
        assert 1.1 < result.seconds < 2


def test_retries_share_the_budget_too(ask: Ask) -> None:
    with FakeServer(faults=[Fault("status", step="submit", times=None)]) as fake:
        result = ask(fake, "reducto", seconds=1.2, retry=RetryPolicy(waits=(0.5, 0.5, 0.5, 0.5)))
        assert fake.count("reducto", "submit") < 4
        assert result.outcome is Outcome.FAILED
        assert result.seconds < 1.3


def test_a_request_that_hangs_is_ended_by_the_budget(ask: Ask) -> None:
    with FakeServer(faults=[Fault("slow", step="submit", seconds=5)]) as fake:
        start = time.monotonic()
        result = ask(fake, "mistral", seconds=0.5)
        assert time.monotonic() - start < 3
        assert (result.outcome, result.job_id) == (Outcome.TIMEOUT, None)


ACCOUNT = [
    Fault("status", step="submit", status=402, body="pay"),
    Fault("status", step="submit", status=401, body="bad key"),
    Fault("status", step="submit", status=403, body="Your subscription has expired"),
    Fault("status", step="submit", status=429, body="insufficient_quota"),
    Fault("status", step="submit", status=400, body="You have used up all credits"),
    Fault("status", step="upload", status=402, body="pay"),
    Fault("status", step="poll", status=402, body="pay"),
    Fault("job_failed", body="Not enough credits for this job"),
]


@pytest.mark.parametrize("fault", ACCOUNT, ids=lambda fault: f"{fault.kind}-{fault.step}-{fault.status}")
def test_a_refused_account_is_told_from_a_failed_document(ask: Ask, fault: Fault) -> None:
    with FakeServer(faults=[fault]) as fake:
        result = ask(fake, "extend")
        assert result.outcome is Outcome.ACCOUNT
        assert fake.count("extend", "submit") <= 1


@pytest.mark.parametrize(
    "text",
    [
        "rate limit exceeded",
        "Quota of requests per minute exceeded, retry later",
        "the field credits is unknown",
        "credit card number expired",
        "no document",
    ],
)
def test_other_failures_do_not_refuse_the_account(text: str) -> None:
    assert account_refusal(429, text) is None


def test_an_account_phrase_in_a_document_is_no_refusal(ask: Ask) -> None:
    answer = {"id": "Your subscription has expired and all credits are used up"}
    with FakeServer({"one.pdf": answer}) as fake:
        assert ask(fake, "datalab").extraction == answer


@pytest.mark.parametrize("vendor", VENDORS)
def test_an_empty_result_is_a_failure(ask: Ask, vendor: str) -> None:
    with FakeServer(faults=[Fault("empty")]) as fake:
        result = ask(fake, vendor)
        assert (result.outcome, result.transient) == (Outcome.FAILED, False)
        assert "empty" in str(result.error)


@pytest.mark.parametrize("vendor", [v for v in VENDORS if v != "azure-cu"])
def test_an_empty_object_is_an_answer(ask: Ask, vendor: str) -> None:
    with FakeServer(lambda document: {}) as fake:
        assert ask(fake, vendor).extraction == {}


@pytest.mark.parametrize("vendor", WITH_JOBS)
def test_a_job_that_ends_badly_says_why(ask: Ask, vendor: str) -> None:
    with FakeServer(faults=[Fault("job_failed", body="page 3 is unreadable")]) as fake:
        result = ask(fake, vendor)
        assert (result.outcome, result.transient) == (Outcome.FAILED, False)
        assert "page 3 is unreadable" in str(result.error)


@pytest.mark.parametrize("vendor", VENDORS)
def test_an_answer_that_is_no_json_is_kept_and_not_bought_again(ask: Ask, vendor: str) -> None:
    with FakeServer(faults=[Fault("not_json", step="submit")]) as fake:
        result = ask(fake, vendor)
        assert (result.outcome, fake.count(vendor, "submit")) == (Outcome.FAILED, 1)
        assert "Service page" in result.exchanges[-1].body


def test_fenced_json_is_read(ask: Ask) -> None:
    with FakeServer(faults=[Fault("fenced")]) as fake:
        assert ask(fake, "mistral").outcome is Outcome.OK


def test_a_truncated_answer_is_a_failure(ask: Ask) -> None:
    with FakeServer(faults=[Fault("truncated")]) as fake:
        result = ask(fake, "mistral")
        assert result.outcome is Outcome.FAILED
        assert "not JSON" in str(result.error)


def test_no_digit_is_lost_on_the_way() -> None:
    text = '{"id": "A", "rows": [{"price": 12345678901234567890.123456789}], "big": 123456789012345678901234567890}'

    assert dump_bytes(loads(text)).decode() == text


COSTS = {
    "datalab": Cost(0.025, "USD", "cost_breakdown.final_cost_cents"),
    "reducto": Cost(2.5, "credits", "result.usage.credits"),
    "extend": Cost(2.5, "credits", "usage.totalCredits"),
    "llamaextract": None,
    "mistral": Cost(2.5, "USD", "usage_info.cost"),
    "azure-cu": None,
}


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_cost_is_what_was_stated_and_where(ask: Ask, vendor: str) -> None:
    with FakeServer(cost=2.5) as fake:
        assert ask(fake, vendor).cost == COSTS[vendor]


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("cost", [True, None, "2.5", float("nan")])
def test_what_is_no_figure_is_no_cost(ask: Ask, vendor: str, cost: object) -> None:
    with FakeServer(cost=cost) as fake:
        result = ask(fake, vendor)
        assert (result.outcome, result.cost) == (Outcome.OK, None)


def test_a_cost_that_comes_late_is_waited_for_once(ask: Ask) -> None:
    with FakeServer(faults=[Fault("late_cost")]) as fake:
        assert ask(fake, "datalab").cost == COSTS["datalab"]
    with FakeServer(faults=[Fault("no_cost")]) as fake:
        assert ask(fake, "datalab").cost is None
        assert fake.count("datalab", "poll") == 3


def test_a_free_answer_states_zero() -> None:
    assert stated_cost({"total_cost": 0}, "total_cost", unit="USD", cents=True) == Cost(0.0, "USD", "total_cost")
    assert stated_cost({"a": {"b": 12.3}}, "x.y", "a.b", unit="USD", cents=True) == Cost(0.123, "USD", "a.b")


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_key_that_is_echoed_stays_out_of_the_evidence(ask: Ask, vendor: str) -> None:
    with FakeServer(faults=[Fault("echo_key", step="submit")]) as fake:
        result = ask(fake, vendor)
        assert fake.seen(vendor, "submit")[0].key == "key-4711-never-written"
        assert "the key *** may not do this" in str(result.error)
        assert "key-4711" not in repr(result)


@pytest.mark.parametrize(
    ("url", "right"),
    [
        ("https://api.example.com", True),
        ("https://api.example.com:8443/prefix", True),
        ("http://127.0.0.1:80/x", True),
        ("http://localhost", True),
        ("http://api.example.com", False),
        ("http://localhost.example.com", False),
        ("https://user:pass@api.example.com", False),
        ("https://api.example.com?key=1", False),
        ("ftp://api.example.com", False),
        ("", False),
    ],
)
def test_keys_travel_encrypted_or_stay_here(url: str, right: bool) -> None:
    assert (base_url_fault(url) is None) == right


def test_a_redirect_takes_no_key_along(ask: Ask) -> None:
    with FakeServer(faults=[Fault("status", step="submit", status=307, body="elsewhere")]) as fake:
        result = ask(fake, "datalab")
        assert (result.outcome, fake.count()) == (Outcome.FAILED, 1)


def _as_sent(vendor: str, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer under the names that went over the wire."""
    return {"id_value": answer["id"], "rows": answer["rows"]} if vendor == "extend" else answer
