"""No provider can hang a run, end it, or hand back what is no result."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from docassay.errors import AccountError, ArgumentValueError, ProviderError
from docassay.providers.asking import GRACE, extract
from docassay.providers.contract import (
    Budget,
    Cost,
    Credentials,
    Document,
    Exchange,
    ExtractionResult,
    ExtractionTask,
    Outcome,
)

Act = Callable[[ExtractionTask], Awaitable[ExtractionResult]]


class Stranger:
    """A third party's provider."""

    def __init__(self, act: Act) -> None:
        self.act = act

    async def extract(self, task: ExtractionTask) -> ExtractionResult:
        return await self.act(task)

    async def aclose(self) -> None:
        """Nothing to release."""


def ask(act: Act, seconds: float = 5.0) -> ExtractionResult:
    task = ExtractionTask(Document("d", "d.pdf", b"", {}), Budget(seconds))
    credentials = Credentials({"A_KEY": "secret-value-1"})
    return asyncio.run(extract(Stranger(act), task, credentials))


async def fine(task: ExtractionTask) -> ExtractionResult:
    return ExtractionResult(Outcome.OK, {"a": "secret-value-1"})


async def hangs(task: ExtractionTask) -> ExtractionResult:
    task.on_job("job-1")
    await asyncio.sleep(60)
    raise AssertionError


async def refused(task: ExtractionTask) -> ExtractionResult:
    raise AccountError("no credit left for secret-value-1")


async def failed(task: ExtractionTask) -> ExtractionResult:
    task.on_job("job-1")
    raise ProviderError("page 3 is unreadable")


async def broken(task: ExtractionTask) -> ExtractionResult:
    raise KeyError("secret-value-1")


async def own_timeout(task: ExtractionTask) -> ExtractionResult:
    raise TimeoutError("of its own making")


async def no_result(task: ExtractionTask) -> ExtractionResult:
    return {"a": 1}  # type: ignore[return-value]


async def tells(task: ExtractionTask) -> ExtractionResult:
    return ExtractionResult(
        Outcome.FAILED,
        error="with secret-value-1",
        exchanges=(Exchange("submit", "POST", "http://x/secret-value-1", 400, "key secret-value-1", 0.1),),
        details={"secret-value-1": [{"deep": "secret-value-1"}]},
    )


def test_an_answer_is_handed_on() -> None:
    assert ask(fine).extraction == {"a": "secret-value-1"}, "what a document says is not touched"


def test_one_that_hangs_is_a_timeout_with_its_job() -> None:
    result = ask(hangs, seconds=0.3)
    assert (result.outcome, result.job_id) == (Outcome.TIMEOUT, "job-1")
    assert result.seconds < 0.3 + GRACE + 1


def test_what_it_raises_is_the_documents_outcome() -> None:
    assert (ask(refused).outcome, ask(refused).error) == (Outcome.ACCOUNT, "no credit left for ***")
    assert (ask(failed).outcome, ask(failed).error, ask(failed).job_id) == (
        Outcome.FAILED,
        "page 3 is unreadable",
        "job-1",
    )
    for act in (broken, own_timeout):
        result = ask(act)
        assert result.outcome is Outcome.FAILED
        assert "Traceback" in str(result.error)
        assert "secret-value-1" not in str(result.error)


def test_what_is_no_result_is_told() -> None:
    assert "no ExtractionResult but dict" in str(ask(no_result).error)


def test_keys_are_redacted_wherever_a_provider_puts_them() -> None:
    result = ask(tells)
    assert "secret" not in repr(result)
    assert result.details == {"***": [{"deep": "***"}]}


def test_a_cancelled_run_is_cancelled() -> None:
    async def work() -> None:
        task = ExtractionTask(Document("d", "d.pdf", b"", {}), Budget(5))
        asking = asyncio.create_task(extract(Stranger(hangs), task, Credentials({})))
        await asyncio.sleep(0.05)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(work())


@pytest.mark.parametrize(
    "fields",
    [
        {"outcome": Outcome.OK},
        {"outcome": Outcome.OK, "extraction": {}, "error": "but"},
        {"outcome": Outcome.FAILED},
        {"outcome": Outcome.TIMEOUT, "error": "late", "extraction": {}},
    ],
)
def test_a_result_is_an_answer_or_a_reason(fields: dict[str, object]) -> None:
    with pytest.raises(ArgumentValueError):
        ExtractionResult(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("amount", [True, float("nan"), float("inf")])
def test_a_cost_is_a_figure(amount: float) -> None:
    with pytest.raises(ArgumentValueError):
        Cost(amount, "USD", "x")


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_budget_is_a_time(seconds: float) -> None:
    with pytest.raises(ArgumentValueError):
        Budget(seconds)
