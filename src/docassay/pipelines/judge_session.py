"""Opens what a judge run needs: the folder's lock, a client with cache and limits; notes what the run did and cost."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from docassay.discovery.judge import Judge, Question, Reply
from docassay.discovery.tasks import TaskData
from docassay.errors import ArgumentValueError, ReviewError, RunStoppedError
from docassay.models import AnswerCache, Budget, Estimate, ModelClient, ModelRequest, Prices, RetryPolicy
from docassay.pipelines.interrupts import Stop, interruptible
from docassay.pipelines.judge_run import JudgeOptions, JudgeOutcome, JudgeState, judge_submissions, plan_questions
from docassay.pipelines.model_judge import ModelJudge, ModelSettings
from docassay.pipelines.review_folder import ReviewFolder
from docassay.runs.lock import locked
from docassay.runs.store import Store
from docassay.version import __version__

__all__ = ["JudgeRun", "Limits", "judge_with_model", "judge_with_oracle", "plan_with_model", "sample_only"]

Watch = Callable[[int, int], None]
"""Told how many answers there were, and how many of them were kept from before."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a run may send and spend.

    concurrency: requests in flight at once. max_calls, max_cost (USD): never exceeded; None sets no limit.
    prices: what a cost limit reserves with; without, it learns from stated costs.
    """

    concurrency: int = 8
    max_calls: int | None = None
    max_cost: float | None = None
    prices: Prices | None = None
    policy: RetryPolicy = field(default_factory=RetryPolicy)


@dataclass(frozen=True, slots=True)
class JudgeRun:
    """What a run did: one outcome per task, HTTP requests sent, and USD as far as known."""

    outcomes: tuple[JudgeOutcome, ...]
    calls: int = 0
    spent: float = 0.0
    stated: float = 0.0
    answers_without_cost: int = 0
    interrupted: bool = False

    @property
    def failed(self) -> bool:
        """Whether a task's review could not be made."""
        return any(outcome.state in (JudgeState.FAILED, JudgeState.STOPPED) for outcome in self.outcomes)

    def as_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


def judge_with_model(
    data: TaskData,
    settings: ModelSettings,
    options: JudgeOptions,
    limits: Limits,
    *,
    stop: Stop | None = None,
    watch: Watch = lambda answered, kept: None,
) -> JudgeRun:
    """Blind check and assessment by a model; every answer is kept in the folder's `answers.sqlite` as it arrives.

    `stop` may be asked, from any thread, to begin nothing new; `watch` is told after every answer how many there were,
    and how many of them were kept from before.

    Raises:
        RunLockedError: another process judges into this folder.
        RunMismatchError: it holds reviews of another configuration.
        CredentialError: no key is set.
    """
    try:
        return asyncio.run(_with_model(data, settings, options, limits, stop or Stop(), watch))
    except asyncio.CancelledError:  # the second Ctrl-C
        raise KeyboardInterrupt from None


def judge_with_oracle(data: TaskData, judge: Judge, options: JudgeOptions) -> JudgeRun:
    """The same with a judge that needs no network, such as the oracle. Raises as `judge_with_model`."""
    if options.controls:
        raise ArgumentValueError("planted controls test a judge that reads; an oracle does not read")
    return _offline(data, judge, options)


def sample_only(data: TaskData, options: JudgeOptions) -> JudgeRun:
    """Draw the audit samples and lay them out for a person; no judge. Raises as `judge_with_model`."""
    return _offline(data, None, replace(options, controls=0))


def plan_with_model(data: TaskData, settings: ModelSettings, options: JudgeOptions, limits: Limits) -> Estimate:
    """What a run would send, if no answer needed a repair: asks and writes nothing, needs no key."""
    path = ReviewFolder(options.out).answers
    cache = AnswerCache(path) if path.exists() else None
    try:
        client = ModelClient(settings.endpoint, cache=cache, budget=Budget(prices=limits.prices))
        judge = ModelJudge(client, settings)
        return client.estimate(_requests(judge, plan_questions(data, options)))
    finally:
        if cache is not None:
            cache.close()


def _requests(judge: ModelJudge, questions: Iterable[Question]) -> Iterator[ModelRequest]:
    """The questions as requests, without those that a run would refuse to send."""
    for question in questions:
        try:
            yield judge.request(question)
        except ReviewError:
            continue


def _offline(data: TaskData, judge: Judge | None, options: JudgeOptions) -> JudgeRun:
    with locked(Store(options.out)):
        run = JudgeRun(asyncio.run(judge_submissions(data, judge, options)))
        _note(run, options)
    return run


async def _with_model(
    data: TaskData, settings: ModelSettings, options: JudgeOptions, limits: Limits, stop: Stop, watch: Watch
) -> JudgeRun:
    budget = Budget(max_calls=limits.max_calls, max_cost=limits.max_cost, prices=limits.prices)
    folder = ReviewFolder(options.out)
    with locked(Store(options.out)), AnswerCache(folder.answers) as cache, interruptible(stop):
        async with ModelClient(
            settings.endpoint, cache=cache, budget=budget, policy=limits.policy, concurrency=limits.concurrency
        ) as client:
            judge = _WatchedJudge(ModelJudge(client, settings), stop, watch, limits.concurrency)
            outcomes = await judge_submissions(data, judge, options)
        run = JudgeRun(outcomes, budget.calls, budget.spent, budget.stated, budget.answers_without_cost, stop.requested)
        _note(run, options)
    return run


def _note(run: JudgeRun, options: JudgeOptions) -> None:
    states = Counter(outcome.state.value for outcome in run.outcomes)
    what: dict[str, Any] = {key: value for key, value in run.as_dict().items() if key != "outcomes"}
    ReviewFolder(options.out).add_run({"docassay": __version__, "tasks": dict(states), **what})


class _WatchedJudge:
    """Begins no new question once asked to stop; what is in flight is finished and kept. Counts the answers."""

    def __init__(self, judge: ModelJudge, stop: Stop, watch: Watch, concurrency: int) -> None:
        self._judge = judge
        self._stop = stop
        self._watch = watch
        self._answered = self._kept = 0
        self._slots = asyncio.Semaphore(concurrency)

    @property
    def method(self) -> str:
        return self._judge.method

    @property
    def configuration(self) -> Mapping[str, Any]:
        return self._judge.configuration

    async def answer(self, question: Question, attempt: int) -> Reply:
        async with self._slots:
            if self._stop.requested:
                raise RunStoppedError("stopped as asked; what was answered is kept, and the same command goes on")
            reply = await self._judge.answer(question, attempt)
        self._answered += 1
        self._kept += reply.kept
        self._watch(self._answered, self._kept)
        return reply
