"""How every vendor is spoken to over HTTP: one budget, the same retries and polls, and evidence of each answer.

`HttpProvider` is what a vendor's adapter builds on. It owns the connections; one `Conversation` per document spends
the document's budget, repeats what failed transiently, tells an account failure from a failed document and a job that
is still running from one that failed, and keeps what was answered. `JobProvider` adds the submit-then-poll shape.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal

from docassay.errors import AccountError, ProviderError
from docassay.providers import jsontext
from docassay.providers.contract import (
    Cost,
    Document,
    Exchange,
    ExtractionResult,
    ExtractionTask,
    Outcome,
    RetryPolicy,
    Setup,
)

if TYPE_CHECKING:
    import httpx

__all__ = [
    "AnswerFailedError",
    "Conversation",
    "Encoded",
    "HttpProvider",
    "JobProvider",
    "Reading",
    "Reply",
    "StillRunningError",
    "account_refusal",
    "base_url_fault",
    "failure",
    "member",
    "positive",
    "read_extraction",
    "stated_cost",
]

CONNECT_SECONDS = 30.0
POLL_SECONDS = 60.0
"""One poll is a quick question: without an answer after this long it has failed transiently."""

SHOWN = 300
"""Characters of a vendor's answer that an error message quotes; the record holds all of it."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")

ACCOUNT_TEXT = re.compile(
    r"insufficient_quota"
    r"|(?:insufficient|not enough|no|out of|ran out of|exhausted|used up(?: all)?|used all|exceeded|depleted)"
    r"\W[^.\n]{0,30}\bcredits?\b(?! card)"
    r"|\bcredits?\b(?! card)[^.\n]{0,30}"
    r"\b(?:exhausted|used up|depleted|expired|insufficient|exceeded|ran out|run out)\b"
    r"|\bsubscription\b[^.\n]{0,30}\b(?:expired|inactive|ended|cancell?ed|lapsed)\b"
    r"|\bexpired subscription\b"
    r"|check your plan and billing",
    re.IGNORECASE,
)


class AnswerFailedError(ProviderError):
    """The vendor answered this document badly, or not at all; `transient` says whether asking again can help."""

    def __init__(self, reason: str, *, transient: bool = False) -> None:
        super().__init__(reason)
        self.transient = transient


class StillRunningError(ProviderError):
    """The budget is spent and the job has not ended."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A successful HTTP answer (2xx)."""

    text: str
    headers: Mapping[str, str]
    status: int

    def json(self) -> Any:
        """The body as JSON. Raises AnswerFailedError where it is none."""
        try:
            return jsontext.loads(self.text)
        except ValueError:
            raise AnswerFailedError(f"the answer is not JSON: {_shorten(self.text)}") from None


@dataclass(frozen=True, slots=True)
class Encoded:
    """A schema as it goes over the wire, and the way back for what comes in under it."""

    schema: object
    restore: Callable[[object], object] = lambda extraction: extraction


@dataclass(frozen=True, slots=True)
class Reading:
    """What a vendor's last answer holds."""

    extraction: object
    cost: Cost | None = None
    details: Mapping[str, object] = field(default_factory=dict)


class Conversation:
    """One document's exchanges with a vendor, within its budget."""

    def __init__(self, client: httpx.AsyncClient, task: ExtractionTask, retry: RetryPolicy) -> None:
        self.task = task
        self.exchanges: list[Exchange] = []
        self.attempts = 0
        self.job_id: str | None = task.job_id
        self._client = client
        self._retry = retry

    def bought(self, job_id: object) -> str:
        """Take note of a job's id, so that a killed run can collect it. Raises where the answer had none."""
        if not isinstance(job_id, str | int) or isinstance(job_id, bool) or job_id == "":
            raise failure(f"the answer names no job: {_shorten(self.exchanges[-1].body)}", self.exchanges[-1].body)
        self.job_id = str(job_id)
        self.task.on_job(self.job_id)
        return self.job_id

    async def send(
        self,
        step: str,
        method: str,
        url: str,
        *,
        buys: bool = False,
        accept: frozenset[int] = frozenset(),
        **content: Any,
    ) -> Reply:
        """One request, sent again after transient failures as the retry policy says.

        `buys` marks the request that is paid for; statuses in `accept` count as success. Raises AccountError, or
        AnswerFailedError for a final answer, spent attempts, or a wait that the budget does not allow.
        """
        for attempt in range(self._retry.attempts):
            self.attempts += buys
            reply = await self._once(step, method, url, self.task.budget.remaining, content)
            fault = self._fault(step, reply, accept)
            if fault is None:
                assert isinstance(reply, Reply)
                return reply
            if not fault.transient or attempt == len(self._retry.waits):
                raise fault
            await self._wait_for_retry(fault, reply, self._retry.waits[attempt])
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def poll(self, url: str, *, interval: float, pending: Callable[[Any], bool], step: str = "poll") -> Any:
        """Ask for a job's state until it is no longer pending; the JSON body of the last answer.

        A poll that fails transiently (also one whose body is no JSON) is repeated; the job is not submitted again.
        Raises StillRunningError when the budget is spent.
        """
        failures = 0
        while True:
            reply = await self._once(step, "GET", url, min(POLL_SECONDS, self.task.budget.remaining), {})
            state, fault = self._state(step, reply)
            if fault is None and not pending(state):
                return state
            failures = failures + 1 if fault is not None else 0
            if fault is None:
                self.exchanges.pop()
            elif not fault.transient or failures > self._retry.poll_failures:
                raise fault
            if not self.task.budget.allows(interval):
                await self.task.budget.sleep(interval)
                raise StillRunningError(self._still_running())
            await self.task.budget.sleep(max(interval, _retry_after(reply) or 0.0))

    async def again(self, url: str, step: str = "poll") -> Any | None:
        """One more GET, without insisting: its JSON body, or None."""
        reply = await self._once(step, "GET", url, min(POLL_SECONDS, self.task.budget.remaining), {})
        state, fault = self._state(step, reply)
        return state if fault is None else None

    async def _once(
        self, step: str, method: str, url: str, seconds: float, content: Mapping[str, Any]
    ) -> Reply | _Lost:
        import httpx

        start = time.monotonic()
        limits = httpx.Timeout(max(seconds, 0.001), connect=min(CONNECT_SECONDS, max(seconds, 0.001)))
        try:
            response = await self._client.request(method, url, timeout=limits, **content)
            got: Reply | _Lost = Reply(response.text, response.headers, response.status_code)
        except httpx.RequestError as error:
            got = _Lost(f"{type(error).__name__}: {error}".rstrip(": "))
        status, body = (got.status, got.text) if isinstance(got, Reply) else (None, got.reason)
        self.exchanges.append(Exchange(step, method, str(url), status, body, time.monotonic() - start))
        return got

    def _fault(self, step: str, reply: Reply | _Lost, accept: frozenset[int]) -> AnswerFailedError | None:
        if isinstance(reply, _Lost):
            return AnswerFailedError(f"{step}: no answer ({reply.reason})", transient=True)
        if 200 <= reply.status < 300 or reply.status in accept:
            return None
        refusal = account_refusal(reply.status, reply.text)
        if refusal is not None:
            raise AccountError(f"{step}: {refusal}")
        shown = f"{step}: HTTP {reply.status}: {_shorten(reply.text)}"
        return AnswerFailedError(shown, transient=reply.status in self._retry.statuses)

    def _state(self, step: str, reply: Reply | _Lost) -> tuple[Any, AnswerFailedError | None]:
        fault = self._fault(step, reply, frozenset())
        if fault is not None or isinstance(reply, _Lost):
            return None, fault
        try:
            return reply.json(), None
        except AnswerFailedError as error:
            return None, AnswerFailedError(f"{step}: {error}", transient=True)

    async def _wait_for_retry(self, fault: AnswerFailedError, reply: Reply | _Lost, wait: float) -> None:
        stated = _retry_after(reply)
        seconds = wait if stated is None else stated
        if not self.task.budget.allows(seconds):
            raise AnswerFailedError(f"{fault}; no time left to wait {seconds:g} s and ask again", transient=True)
        await self.task.budget.sleep(seconds)

    def _still_running(self) -> str:
        return f"still running after {self.task.budget.seconds:g} s (job {self.job_id})"


class HttpProvider(ABC):
    """A vendor behind an HTTP API: subclasses say how to encode a schema and how to get an answer."""

    def __init__(self, setup: Setup, *, headers: Mapping[str, str]) -> None:
        import httpx

        self.setup = setup
        direct: dict[str, httpx.AsyncBaseTransport | None] = {f"all://{host}": None for host in LOOPBACK[:2]}
        self.client = httpx.AsyncClient(headers=dict(headers), mounts=direct)

    async def extract(self, task: ExtractionTask) -> ExtractionResult:
        """Answer one document within its budget; see `docassay.providers.contract.Provider`."""
        talk = Conversation(self.client, task, self.setup.retry)
        try:
            encoded = self.encode(task.document.schema)
        except ProviderError as error:
            return ExtractionResult(Outcome.FAILED, error=str(error))
        try:
            async with asyncio.timeout(task.budget.remaining):
                reading = await self.answer(talk, encoded)
            extraction = encoded.restore(reading.extraction)
        except TimeoutError:
            reason = f"no answer after {task.budget.seconds:g} s (job {talk.job_id})"
            return _unanswered(talk, encoded, Outcome.TIMEOUT, reason)
        except StillRunningError as error:
            return _unanswered(talk, encoded, Outcome.TIMEOUT, str(error))
        except AccountError as error:
            return _unanswered(talk, encoded, Outcome.ACCOUNT, str(error))
        except AnswerFailedError as error:
            return _unanswered(talk, encoded, Outcome.FAILED, str(error), transient=error.transient)
        return ExtractionResult(
            Outcome.OK,
            extraction,
            schema_sent=encoded.schema,
            job_id=talk.job_id,
            cost=reading.cost,
            attempts=talk.attempts,
            seconds=task.budget.elapsed,
            exchanges=tuple(talk.exchanges),
            details=reading.details,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self.client.aclose()

    def encode(self, schema: Mapping[str, Any]) -> Encoded:
        """The schema in the vendor's dialect; by default as it is."""
        return Encoded(schema)

    @abstractmethod
    async def answer(self, talk: Conversation, encoded: Encoded) -> Reading:
        """Get the answer to `talk.task`; raises AnswerFailedError, StillRunningError or AccountError."""


class JobProvider(HttpProvider):
    """A vendor that is given a job and polled for its end."""

    async def answer(self, talk: Conversation, encoded: Encoded) -> Reading:
        job_id = talk.task.job_id
        if job_id is None:
            job_id = await self.submit(talk, talk.task.document, encoded)
        return await self.collect(talk, job_id)

    @abstractmethod
    async def submit(self, talk: Conversation, document: Document, encoded: Encoded) -> str:
        """Upload, submit, and note the job by `talk.bought`; the job's id."""

    @abstractmethod
    async def collect(self, talk: Conversation, job_id: str) -> Reading:
        """Poll the job to its end and read the answer."""


def account_refusal(status: int | None, text: str) -> str | None:
    """Why an unsuccessful answer refuses the account rather than the document, or None.

    HTTP 402, and 401 (the key is refused, so every document would be), or a text that says that credits are used up,
    the subscription has expired or `insufficient_quota`.
    """
    if status in (401, 402):
        return f"HTTP {status}: {_shorten(text)}"
    if ACCOUNT_TEXT.search(text):
        return _shorten(text) if status is None else f"HTTP {status}: {_shorten(text)}"
    return None


def failure(reason: str, text: str) -> AnswerFailedError | AccountError:
    """The error for a job that ended badly and says so in `text`."""
    return AccountError(reason) if account_refusal(None, text) is not None else AnswerFailedError(reason)


def read_extraction(value: object, *, where: str) -> object:
    """A vendor's data as JSON: itself, or parsed where it is a JSON text, also in a Markdown fence.

    Raises AnswerFailedError for what is empty (null, blank text) or is neither an object nor an array.
    """
    if isinstance(value, str) and value.strip():
        try:
            value = jsontext.loads(jsontext.unfence(value))
        except ValueError:
            raise AnswerFailedError(f"{where} is not JSON: {_shorten(str(value))}") from None
    if value is None or value == "":
        raise AnswerFailedError(f"the job ended well, but {where} is empty")
    if not isinstance(value, dict | list):
        raise AnswerFailedError(f"{where} is neither an object nor an array: {_shorten(str(value))}")
    return value


def member(value: object, *path: str) -> Any:
    """What lies under `path` in nested objects, or None."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def stated_cost(body: object, *paths: str, unit: Literal["USD", "credits"], cents: bool = False) -> Cost | None:
    """The first of the dotted `paths` in `body` that holds a number; None where none does. `true` is no number."""
    for path in paths:
        amount = member(body, *path.split("."))
        if isinstance(amount, bool) or not isinstance(amount, int | float | Decimal) or not math.isfinite(amount):
            continue
        exact = Decimal(str(amount))
        return Cost(float(exact / 100 if cents else exact), unit, path)
    return None


def base_url_fault(url: str) -> str | None:
    """What is wrong with a vendor's address, or None: keys travel by https, or stay on this machine."""
    match = re.fullmatch(r"(https?)://([^/@?#\s]+@)?(\[[^\]]+\]|[^/:@?#\s]+)(:\d+)?(/[^?#\s]*)?", url)
    if match is None:
        return f"{url!r} is no http(s) address without query"
    if match.group(2):
        return "an address must not hold credentials"
    if match.group(1) == "http" and match.group(3).strip("[]") not in LOOPBACK:
        return f"{url!r} would send the key unencrypted; use https"
    return None


def positive(value: float) -> str | None:
    """What is wrong with a number that must be above 0, or None."""
    return None if value > 0 else f"{value!r} is not above 0"


@dataclass(frozen=True, slots=True)
class _Lost:
    """A request that got no answer."""

    reason: str


def _unanswered(
    talk: Conversation, encoded: Encoded, outcome: Outcome, reason: str, *, transient: bool = False
) -> ExtractionResult:
    return ExtractionResult(
        outcome,
        error=reason,
        transient=transient,
        schema_sent=encoded.schema if talk.attempts or talk.task.job_id else None,
        job_id=talk.job_id,
        attempts=talk.attempts,
        seconds=talk.task.budget.elapsed,
        exchanges=tuple(talk.exchanges),
    )


def _retry_after(reply: Reply | _Lost) -> float | None:
    """Seconds that the answer asks to wait: a number, or an HTTP date."""
    stated = reply.headers.get("retry-after") if isinstance(reply, Reply) else None
    if stated is None:
        return None
    if re.fullmatch(r"\d+(\.\d+)?", stated.strip()):
        return float(stated)
    try:
        until = parsedate_to_datetime(stated)
    except ValueError:
        return None
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else line[:SHOWN] + "…"
