"""Decides how a judge's question becomes a model's request, and what counts as an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from docassay.discovery.judge import Question, Reply
from docassay.discovery.prompting import prompt_digests
from docassay.errors import ArgumentValueError, ReviewError
from docassay.models import Endpoint, Message, Model, ModelAnswer, ModelRequest

__all__ = ["ModelJudge", "ModelSettings"]

ROUNDS_PER_REPEAT = 1000
"""Repeats of a judge are this far apart, so that asking anew within one never meets another's answers."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What decides a model's answers.

    max_output_tokens: limit per answer, reasoning included. max_input_characters: longer questions are refused unsent.
    temperature: None leaves it to the server. extra: further request parameters. repeat: 0, or another number to judge
    the same again.
    """

    model: str
    endpoint: Endpoint
    max_output_tokens: int = 8000
    max_input_characters: int = 600_000
    temperature: float | None = 0.0
    extra: Mapping[str, Any] = field(default_factory=dict)
    repeat: int = 0

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise ArgumentValueError("a judge needs the name of a model")
        if self.max_input_characters < 1 or self.repeat < 0:
            raise ArgumentValueError("max_input_characters is at least 1 and repeat at least 0")


class ModelJudge:
    """A judge behind an OpenAI-compatible endpoint. Implements `docassay.discovery.judge.Judge`."""

    def __init__(self, model: Model, settings: ModelSettings) -> None:
        self.model = model
        self.settings = settings

    @property
    def method(self) -> str:
        """Endpoint and model."""
        repeat = f" / repeat {self.settings.repeat}" if self.settings.repeat else ""
        return f"{self.settings.endpoint.url} / {self.settings.model}{repeat}"

    @property
    def configuration(self) -> Mapping[str, Any]:
        """Model, endpoint, prompts and limits."""
        settings = self.settings
        return {
            "judge": "model",
            "model": settings.model,
            "endpoint": settings.endpoint.url,
            "max_output_tokens": settings.max_output_tokens,
            "max_input_characters": settings.max_input_characters,
            "temperature": settings.temperature,
            "extra": json.loads(json.dumps(dict(settings.extra))),
            "repeat": settings.repeat,
            "prompts": prompt_digests(),
        }

    async def answer(self, question: Question, attempt: int) -> Reply:
        """Ask the model; see `Judge.answer`."""
        return _reply(await self.model.complete(self.request(question, attempt)), question)

    def request(self, question: Question, attempt: int = 0) -> ModelRequest:
        """The request that a question becomes. Raises ReviewError (too_long) for one over the input limit."""
        settings, user = self.settings, question.user
        length = len(question.system) + len(user)
        if length > settings.max_input_characters:
            raise ReviewError(
                "too_long",
                f"{question.label}: {length:,} characters, more than the limit of {settings.max_input_characters:,}; "
                "raise --max-input-characters or audit fewer documents",
            )
        return ModelRequest(
            model=settings.model,
            messages=(Message("system", question.system), Message("user", user)),
            max_output_tokens=settings.max_output_tokens,
            schema=question.schema,
            schema_name=f"{question.stage.value}_answer",
            schema_in_messages=True,
            temperature=settings.temperature,
            extra=settings.extra,
            repeat=settings.repeat * ROUNDS_PER_REPEAT + attempt,
            label=question.label,
        )


def _reply(answer: ModelAnswer, question: Question) -> Reply:
    receipt = {
        **answer.receipt.as_dict(),
        "stage": question.stage.value,
        "repairs": question.repairs,
        "status": answer.status.value,
    }
    problem = None if answer.ok else f"{answer.status.value}: {answer.problem}"
    return Reply(answer.value, answer.text, problem, receipt, answer.from_cache)
