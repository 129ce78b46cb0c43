"""Any model behind an OpenAI-compatible endpoint: the PDF as a file part, the schema as text and as response format.

Temperature 0 at first, and 0.1 more for each further attempt at an answer that cannot be parsed; one that was cut off
at the output limit is not tried again, since a shorter one cannot come from the same limit. Every raw text is kept.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field, replace

from docassay.errors import AccountError, CredentialError, ModelError
from docassay.models import (
    AnswerStatus,
    Attempt,
    Endpoint,
    FilePart,
    Message,
    ModelAnswer,
    ModelClient,
    ModelRequest,
    RetryPolicy,
    TextPart,
)
from docassay.models.parsing import UnreadableAnswerError, parse_json_answer
from docassay.providers import jsontext
from docassay.providers.contract import (
    Cost,
    CredentialSource,
    Document,
    Exchange,
    ExtractionResult,
    ExtractionTask,
    Outcome,
    ProviderSpec,
    Setup,
)
from docassay.providers.options import option
from docassay.providers.transport import base_url_fault, positive

__all__ = ["PROVIDER", "OpenAICompatible", "OpenAICompatibleConfig"]

KEYS = ("OPENROUTER_API_KEY", "OPENAI_API_KEY")
CONCURRENCY = 5
WARMER = 0.1
TELLING = 0.05
"""Seconds by which a call ends before its budget, so that it can tell what it was waiting for."""
A_YEAR = 365 * 86400.0
INSTRUCTION = (
    "Read the attached document and give the data that this JSON Schema asks for, as one JSON value that is valid "
    "under it. What the document does not contain is null, or an empty list. Answer with the JSON only."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAICompatibleConfig:
    """Options of any model; which model it is, the provider's name says."""

    base_url: str = option(
        "https://openrouter.ai/api/v1", help="Address of the API, up to and with /v1.", check=base_url_fault
    )
    max_output_tokens: int = option(16384, help="Limit on an answer's tokens, reasoning included.", check=positive)
    attempts: int = option(3, help="Tries at an answer that can be parsed.", check=positive)


class OpenAICompatible:
    """One model at one endpoint; implements `docassay.providers.contract.Provider`."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.config: OpenAICompatibleConfig = setup.config
        self.endpoint = Endpoint(self.config.base_url, key_variables=KEYS)
        environ = {name: value for name in KEYS if (value := setup.credentials.get(name)) is not None}
        self.client = ModelClient(
            self.endpoint, policy=_policy(setup), concurrency=CONCURRENCY, start_with=CONCURRENCY, environ=environ
        )

    async def extract(self, task: ExtractionTask) -> ExtractionResult:
        """Answer one document within its budget; see `docassay.providers.contract.Provider`."""
        talk = _Talk(task)
        try:
            async with asyncio.timeout(task.budget.remaining):
                await self._converse(talk)
        except TimeoutError:
            return self._result(talk, Outcome.TIMEOUT, f"no answer after {task.budget.seconds:g} s")
        except (AccountError, CredentialError) as error:
            return self._result(talk, Outcome.ACCOUNT, str(error))
        except ModelError as error:
            talk.failed = error.attempts
            outcome = Outcome.TIMEOUT if error.timed_out else Outcome.FAILED
            return self._result(talk, outcome, str(error), transient=error.transient)
        if talk.extraction is None:
            return self._result(talk, Outcome.FAILED, talk.failure)
        return self._result(talk, Outcome.OK, None)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.client.aclose()

    async def _converse(self, talk: _Talk) -> None:
        """Ask until an answer can be parsed, an answer is final, or the attempts are used up."""
        question = self._question(talk.task.document)
        for number in range(self.config.attempts):
            request = replace(question, temperature=round(WARMER * number, 1), repeat=number)
            answer = await self.client.complete(request, deadline=talk.task.budget.remaining - TELLING)
            talk.answers.append(answer)
            talk.read(answer)
            if talk.extraction is not None or talk.final:
                return

    def _question(self, document: Document) -> ModelRequest:
        text = f"{INSTRUCTION}\n\n{json.dumps(document.schema, ensure_ascii=False)}"
        return ModelRequest(
            model=self.setup.name,
            messages=(Message("user", (TextPart(text), FilePart(document.name, document.data))),),
            max_output_tokens=self.config.max_output_tokens,
            schema=document.schema,
            schema_name="extraction",
            schema_in_messages=True,
            extra={"usage": {"include": True}},
            label=document.doc_id,
        )

    def _result(self, talk: _Talk, outcome: Outcome, error: str | None, *, transient: bool = False) -> ExtractionResult:
        exchanges = talk.exchanges(f"{self.endpoint.url}/chat/completions")
        return ExtractionResult(
            outcome,
            talk.extraction if outcome is Outcome.OK else None,
            error=error,
            transient=transient,
            schema_sent=talk.task.document.schema if exchanges else None,
            cost=talk.cost,
            attempts=len(exchanges),
            seconds=talk.task.budget.elapsed,
            exchanges=exchanges,
            details=talk.details(),
        )


@dataclass
class _Talk:
    """What was said about one document so far."""

    task: ExtractionTask
    answers: list[ModelAnswer] = field(default_factory=list)
    failed: tuple[Attempt, ...] = ()
    """The HTTP requests of a try that brought no answer."""
    extraction: object = None
    failure: str = "no attempt was made"
    final: bool = False
    """Whether asking again cannot help."""

    def read(self, answer: ModelAnswer) -> None:
        """Take the extraction from an answer, or note why there is none."""
        self.final = answer.status in (AnswerStatus.TRUNCATED, AnswerStatus.FILTERED, AnswerStatus.REFUSED)
        if answer.status not in (AnswerStatus.OK, AnswerStatus.NOT_JSON):
            self.failure = f"the answer is of no use: {answer.problem}"
            return
        try:
            extraction = parse_json_answer(answer.text, loads=jsontext.loads)
        except UnreadableAnswerError as error:
            self.failure = f"the answer is not JSON: {error}"
            return
        if isinstance(extraction, dict | list):
            self.extraction = extraction
        else:
            self.failure = f"the answer is neither an object nor an array: {answer.text[:200]!r}"

    @property
    def cost(self) -> Cost | None:
        """The sum of what the answers state; None where one of them states nothing."""
        costs = [answer.receipt.cost for answer in self.answers]
        stated = [cost for cost in costs if cost is not None]
        return Cost(sum(stated), "USD", "usage.cost") if costs and len(stated) == len(costs) else None

    def exchanges(self, url: str) -> tuple[Exchange, ...]:
        """Every HTTP request with what it was answered."""
        sent: list[Exchange] = []
        for answer in self.answers:
            *earlier, last = answer.receipt.attempts
            sent += [_exchange(attempt, url) for attempt in earlier]
            sent.append(Exchange("complete", "POST", url, last.status, answer.body, last.seconds))
        return (*sent, *(_exchange(attempt, url) for attempt in self.failed))

    def details(self) -> dict[str, object]:
        """Every raw text with how it was asked for."""
        if not self.answers:
            return {}
        mode = self.answers[-1].receipt.mode.value
        return {"response_format": mode, "answers": [_answer_details(answer) for answer in self.answers]}


def _exchange(attempt: Attempt, url: str) -> Exchange:
    return Exchange("complete", "POST", url, attempt.status, attempt.said or attempt.outcome, attempt.seconds)


def _answer_details(answer: ModelAnswer) -> dict[str, object]:
    kept = ("model_stated", "response_id", "request_id", "mode", "token_parameter", "temperature", "finish_reason")
    receipt = answer.receipt.as_dict()
    return {
        "text": answer.text,
        "status": answer.status.value,
        **{name: receipt[name] for name in (*kept, "usage", "cost", "request_digest")},
    }


def _policy(setup: Setup) -> RetryPolicy:
    """The rules that all providers share; the document's budget is what ends a call."""
    return RetryPolicy(
        waits=setup.retry.waits, jitter=0.0, statuses=setup.retry.statuses, timeout=A_YEAR, deadline=A_YEAR
    )


PROVIDER = ProviderSpec(
    name="org/model",
    summary="Any model behind an OpenAI-compatible API, by its id.",
    config=OpenAICompatibleConfig,
    open=OpenAICompatible,
    credentials=(
        CredentialSource(KEYS, "from OpenRouter or the endpoint's owner; any text for a server that needs none"),
    ),
    concurrency=CONCURRENCY,
    cost_unit="USD",
    requires={"httpx": "predict"},
)
