"""Decides how a judge is asked: one question, one answer, one repair; what any judge must be able to do.

A judge is whatever answers questions: a model, an oracle that knows the planted truth, a script in a test. What it
answers is read by the caller; an answer that cannot be read is asked to be repaired once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count
from typing import Any, Protocol, TypeVar

from docassay.discovery.prompting import Prompt, as_data, prompt_text
from docassay.errors import ReviewError

__all__ = ["Judge", "Question", "Reply", "Stage", "Subject", "ask"]

Answer = TypeVar("Answer")

MOST_ROUNDS = 100
"""Rounds of history that are read from kept answers before something is plainly wrong."""


class Stage(StrEnum):
    """What a question is for."""

    BLIND = "blind"
    ASSESSMENT = "assessment"
    MATCH = "match"


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a question is about. It is never sent: it is for labels, and for judges that know the truth."""

    task_id: str
    submission_sha256: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question to a judge.

    system: the fixed prompt; payload: the data as JSON values; contract: a line after the data, made of numbers only.
    schema: JSON Schema of the answer. label: for messages. subject: not sent.
    """

    stage: Stage
    label: str
    subject: Subject
    system: str = field(repr=False)
    payload: Mapping[str, Any] = field(repr=False)
    contract: str
    schema: Mapping[str, Any] = field(repr=False)
    repairs: bool = False

    @property
    def user(self) -> str:
        """The user message: fenced data, then the contract."""
        return as_data(self.payload) + (f"\n\n{self.contract}" if self.contract else "")

    def repaired(self, previous: str, problem: str) -> Question:
        """The same question once more, with the answer that could not be used and the reason."""
        addition = Prompt.BLIND_REPAIR if self.stage is Stage.BLIND else Prompt.ASSESSMENT_REPAIR
        return replace(
            self,
            label=f"{self.label} (repair)",
            system=self.system + prompt_text(addition),
            payload={**self.payload, "previous_answer": previous, "problem": problem},
            repairs=True,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the parsed JSON, or None with the reason why there is none.

    text: as received. receipt: what proves it, JSON values. kept: whether it was read from answers kept earlier.
    """

    value: object
    text: str
    problem: str | None = None
    receipt: Mapping[str, Any] | None = None
    kept: bool = False


class Judge(Protocol):
    """Answers questions."""

    @property
    def method(self) -> str:
        """Who judged, in a line, such as `https://... / model`: the same in all reviews of a folder."""
        ...

    @property
    def configuration(self) -> Mapping[str, Any]:
        """All that decides its answers, as JSON values: part of what a review is bound to. Holds no key."""
        ...

    async def answer(self, question: Question, attempt: int) -> Reply:
        """Answer one question. `attempt` tells apart asking the same thing again on purpose.

        Raises:
            DocassayError: no answer came (endpoint down, budget spent, no key).
        """
        ...


async def ask(judge: Judge, question: Question, read: Callable[[object], Answer]) -> tuple[Answer, tuple[Any, ...]]:
    """A readable answer and the receipts it took; unusable answers get one repair.

    A pair of unusable answers that was only read from kept ones is history: the question is then asked anew, so that a
    rerun gets a fresh chance for what failed, and pays for nothing else.

    Raises:
        ReviewError: a fresh answer and its repair could not be used.
    """
    for attempt in count():
        receipts: list[Any] = []
        try:
            return _read(await _collect(judge, question, attempt, receipts), read), tuple(receipts)
        except _UnusableError as first:
            again = question.repaired(first.reply.text, str(first.error))
        try:
            return _read(await _collect(judge, again, attempt, receipts), read), tuple(receipts)
        except _UnusableError as second:
            if not second.reply.kept or attempt >= MOST_ROUNDS:
                problem = f"{question.label}: the answer could not be used, nor its repair: {second.error}"
                raise ReviewError(second.error.code, problem) from second.error
    raise AssertionError("unreachable")


async def _collect(judge: Judge, question: Question, attempt: int, receipts: list[Any]) -> Reply:
    reply = await judge.answer(question, attempt)
    if reply.receipt is not None:
        receipts.append(reply.receipt)
    return reply


def _read(reply: Reply, read: Callable[[object], Answer]) -> Answer:
    if reply.problem is not None:
        raise _UnusableError(reply, ReviewError("no_answer", reply.problem))
    try:
        return read(reply.value)
    except ReviewError as error:
        raise _UnusableError(reply, error) from error


class _UnusableError(Exception):
    def __init__(self, reply: Reply, error: ReviewError) -> None:
        super().__init__(str(error))
        self.reply = reply
        self.error = error
