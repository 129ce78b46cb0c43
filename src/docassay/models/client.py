"""The one async client for OpenAI-compatible endpoints: what is sent, when it is sent again, and what is kept.

It stands on plain httpx and not on a vendor's package: what is kept as evidence are the bytes as received, a refusal is
told by an error's text that a typed layer would hide, and importing it costs a tenth of a second.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self

from docassay.core.digest import digest_object
from docassay.errors import AccountError, CredentialError, MissingDependencyError, ModelError
from docassay.models.budget import Budget, Reservation
from docassay.models.cache import AnswerCache, StoredAnswer
from docassay.models.contract import Attempt, Endpoint, Estimate, ModelAnswer, ModelRequest, Receipt, RetryPolicy
from docassay.models.dialect import Dialect, DialectMemory, ErrorBody, Refusal, read_error, refusal_of
from docassay.models.limiter import AdaptiveLimiter
from docassay.models.wire import (
    Completion,
    UnusableBodyError,
    UpstreamError,
    bytes_of,
    input_tokens_limit,
    payload,
    read_completion,
)

if TYPE_CHECKING:
    import httpx

__all__ = ["ModelClient"]

BUSY = frozenset({429, 503, 529})
BROKEN = 500
MAX_REFUSALS = 12
SHORTEST_SECRET = 8
CONNECT_SECONDS = 30.0
BYTES_PER_TOKEN = 4
MOST_KEPT_OF_AN_ERROR = 2000

ACCOUNT_CODES = re.compile(r"insufficient_(quota|credits|funds|balance)|billing_hard_limit|payment_required")
ACCOUNT_WORDS = re.compile(
    r"insufficient (credits?|balance|funds|quota)|credits? (have been |has been |are |is )?(used up|exhausted)|"
    r"(out of|no more|not enough|run out of) credits|credit balance is too low|subscription (has |is )?expired",
    re.IGNORECASE,
)


class ModelClient:
    """Answers requests of one endpoint; implements `docassay.models.Model`.

    Belongs to one event loop; close it with `aclose` or `async with`. Cache and budget are the caller's and may be
    shared by several clients.

    Args:
        endpoint: where to send.
        cache: keeps every answer that arrives; None keeps none and asks every time.
        budget: limits on calls and cost; None sets none.
        policy: retries, waits, timeouts.
        concurrency: requests in flight at once, at most; the client finds what the server bears below that.
        start_with: requests in flight at the beginning. One, so that what a server refuses is met once; more where
            no request may wait for another.
        environ: where keys are read, when the first request is sent.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        cache: AnswerCache | None = None,
        budget: Budget | None = None,
        policy: RetryPolicy | None = None,
        concurrency: int = 8,
        start_with: int = 1,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.endpoint = endpoint
        self.budget = budget or Budget()
        self.policy = policy or RetryPolicy()
        self._cache = cache
        self._environ = environ
        self._limiter = AdaptiveLimiter(concurrency, start_with)
        self._memories: dict[str, DialectMemory] = {}
        self._asking: dict[str, _Shared] = {}
        self._connection: _Connection | None = None
        self._shut: AccountError | CredentialError | None = None
        """What ended this client: no request can be answered after it."""
        self._first_is_done = False

    async def complete(self, request: ModelRequest, *, deadline: float | None = None) -> ModelAnswer:
        """Answer one request, from the cache where it is known; see `docassay.models.Model.complete`.

        Args:
            deadline: seconds this call may take from its first HTTP request on, if fewer than the policy's.
        """
        digest = request.digest(self.endpoint)
        known = self._recall(request, digest)
        return known if known is not None else await self._join(request, digest, deadline)

    def estimate(self, requests: Iterable[ModelRequest]) -> Estimate:
        """What `requests` would use, without sending anything; needs no key and no network."""
        total = Estimate(calls=0, cached=0, input_tokens=0, output_tokens_limit=0, cost_limit=0.0)
        seen: set[str] = set()
        for request in requests:
            digest = request.digest(self.endpoint)
            known = digest in seen or (self._cache is not None and digest in self._cache)
            seen.add(digest)
            total += Estimate(0, 1, 0, 0, 0.0) if known else self._estimate_one(request)
        return total

    async def aclose(self) -> None:
        """End what is in flight and close the connections."""
        tasks = [shared.task for shared in self._asking.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._connection is not None:
            await self._connection.http.aclose()
            self._connection = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _recall(self, request: ModelRequest, digest: str) -> ModelAnswer | None:
        stored = None if self._cache is None else self._cache.get(digest)
        if stored is None:
            return None
        completion = read_completion(stored.body, request.schema)
        return _answer(completion, Receipt.from_dict(stored.receipt), stored.body).cached()

    async def _join(self, request: ModelRequest, digest: str, deadline: float | None) -> ModelAnswer:
        """Ask, or wait for the equal request in flight. It is ended when nobody waits for it any more."""
        shared = self._asking.get(digest)
        if shared is None:
            task = asyncio.ensure_future(self._ask(request, digest, deadline))
            shared = self._asking[digest] = _Shared(task)
            task.add_done_callback(lambda _: self._forget(digest, shared))
        shared.waiters += 1
        try:
            return await asyncio.shield(shared.task)
        finally:
            shared.waiters -= 1
            if not shared.waiters and not shared.task.done():
                self._forget(digest, shared)
                await _end(shared.task)

    def _forget(self, digest: str, shared: _Shared) -> None:
        if self._asking.get(digest) is shared:
            del self._asking[digest]

    async def _ask(self, request: ModelRequest, digest: str, deadline: float | None) -> ModelAnswer:
        limit = self.policy.deadline
        call = _Call(request, digest, limit if deadline is None else min(deadline, limit))
        try:
            while True:
                async with self._limiter.slot():
                    outcome = await self._attempt(call)
                    while not isinstance(outcome, ModelAnswer) and self._keeps_slot(outcome):
                        await self._prepare_next(call, outcome)
                        outcome = await self._attempt(call)
                if isinstance(outcome, ModelAnswer):
                    return outcome
                await self._prepare_next(call, outcome)
        except ModelError as error:
            error.attempts = tuple(call.attempts)
            raise
        finally:
            self._first_is_done = True

    def _keeps_slot(self, again: _Again) -> bool:
        """Whether to go on without letting others in: what the first request learns, the others need not meet."""
        return again.refusal is not None or not self._first_is_done

    async def _attempt(self, call: _Call) -> ModelAnswer | _Again:
        if self._shut is not None:
            raise type(self._shut)(str(self._shut))
        if call.left <= 0:
            raise self._error(call, f"nothing is left of {call.deadline:g} s", timed_out=True)
        connection = self._connect()
        limit = input_tokens_limit(call.request)
        reservation = await self.budget.reserve(call.request.model, limit, call.request.max_output_tokens)
        dialect = call.override or self._memory(call).dialect(call.schema_digest)
        sent_at = call.send()
        try:
            return await self._send(call, dialect, connection, reservation)
        finally:
            reservation.charge_all()
            self._watch(sent_at, call.last_status, call.last_pause)

    async def _send(
        self, call: _Call, dialect: Dialect, connection: _Connection, reservation: Reservation
    ) -> ModelAnswer | _Again:
        """Send once. The reservation stays open where nobody knows whether the request was charged."""
        import httpx

        try:
            async with asyncio.timeout(min(self.policy.timeout, call.left)):
                response = await connection.post(payload(call.request, dialect))
        except (TimeoutError, httpx.TimeoutException) as error:
            if isinstance(error, httpx.ConnectTimeout):
                reservation.withdraw()
            return self._timed_out(call)
        except httpx.RequestError as error:
            if isinstance(error, httpx.ConnectError):
                reservation.withdraw()
            why = f"transport: {connection.redact(str(error)) or type(error).__name__}"
            return _Again(why, self._error(call, f"no answer ({why})", transient=True))
        call.last_status = call.http_status = response.status_code
        body = connection.redact_bytes(response.content)
        call.said = body[:MOST_KEPT_OF_AN_ERROR].decode("utf-8", "replace")
        if response.status_code != httpx.codes.OK:
            reservation.charge_nothing()
            return self._failed(call, dialect, response.status_code, read_error(body), response.headers)
        return self._read(call, dialect, body, response.headers, reservation)

    def _read(
        self, call: _Call, dialect: Dialect, body: bytes, headers: Mapping[str, str], reservation: Reservation
    ) -> ModelAnswer | _Again:
        try:
            completion = read_completion(body, call.request.schema)
        except UnusableBodyError as error:
            return _Again("unusable body", self._error(call, str(error), transient=True))
        except UpstreamError as error:
            reservation.charge_nothing()
            call.last_status = error.status
            return self._failed(call, dialect, error.status, error.error, headers)
        call.said = ""
        call.note("answered")
        receipt = self._receipt(call, dialect, completion, headers)
        self._keep(call, body, receipt)
        reservation.settle(completion.usage, completion.cost)
        self._memory(call).answered(dialect, call.schema_digest, schema_only=call.schema_only)
        return _answer(completion, receipt, body)

    def _keep(self, call: _Call, body: bytes, receipt: Receipt) -> None:
        if self._cache is not None:
            self._cache.put(call.digest, call.request.question(self.endpoint), StoredAnswer(body, receipt.as_dict()))

    def _failed(
        self, call: _Call, dialect: Dialect, status: int | None, error: ErrorBody, headers: Mapping[str, str]
    ) -> _Again:
        """An error answer: raises where it is final, else says how to go on. `status` None: the model's host failed."""
        what = f"http {status}" if status is not None else "upstream error"
        self._raise_if_account(status, error)
        if status == 401:
            names = " or ".join(self.endpoint.key_variables) or "its headers"
            self._shut = CredentialError(f"{self.endpoint.url} refuses the key from {names} ({what}): {error.message}")
            raise self._shut
        refusal = None if status is None else refusal_of(call.request, dialect, status, error)
        failure = self._error(call, f"{what}: {error.message}", status=status)
        if refusal is not None:
            return _Again(f"refused {refusal.parameter}", failure, refusal=refusal)
        if status is not None and status not in self.policy.statuses:
            call.note(what)
            raise failure
        failure.transient = True
        call.last_pause = _retry_after(headers) if status is not None else None
        other = self._memory(call).broke_down(dialect) if status == BROKEN and call.request.schema is not None else None
        return _Again(what, failure, wait=call.last_pause, dialect=other)

    def _raise_if_account(self, status: int | None, error: ErrorBody) -> None:
        said = f"{error.code} {error.message}"
        if status == 402 or ACCOUNT_CODES.search(said) or ACCOUNT_WORDS.search(said):
            self._shut = AccountError(f"{self.endpoint.url} refuses the account (http {status}): {error.message}")
            raise self._shut

    def _timed_out(self, call: _Call) -> _Again:
        over = call.left <= 0
        seconds = call.deadline if over else self.policy.timeout
        failure = self._error(call, f"no answer within {seconds:g} s", transient=not over, timed_out=True)
        if over:
            call.note("timeout")
            raise failure
        return _Again("timeout", failure)

    async def _prepare_next(self, call: _Call, again: _Again) -> None:
        """Decide whether to ask again, and wait; raises what the attempt failed with where it was the last."""
        if again.refusal is not None:
            self._take_refusal(call, again, again.refusal)
            return
        call.failures += 1
        call.override = again.dialect or call.override
        wait = self._wait(call, again)
        last = call.failures >= self.policy.max_attempts
        call.note(again.outcome, waited=0.0 if last else wait)
        if last:
            raise again.error
        if wait >= call.left:
            raise ModelError(
                f"{again.error}; waiting {wait:.0f} s more would pass the deadline of {call.deadline:g} s",
                transient=True,
                status=again.error.status,
            )
        await asyncio.sleep(wait)

    def _take_refusal(self, call: _Call, again: _Again, refusal: Refusal) -> None:
        call.note(again.outcome)
        call.refusals += 1
        if call.refusals > MAX_REFUSALS:
            raise again.error
        call.override = refusal.retry
        call.schema_only = call.schema_only or refusal.schema_only

    def _wait(self, call: _Call, again: _Again) -> float:
        waits = self.policy.waits
        base = waits[min(call.failures, len(waits)) - 1] if again.wait is None and waits else again.wait or 0.0
        return base * (1 + self.policy.jitter * random.random())

    def _watch(self, sent_at: float, status: int | None, pause: float | None) -> None:
        if status in BUSY:
            self._limiter.congested(sent_at, pause)
        elif status == 200:
            self._limiter.succeeded()

    def _receipt(self, call: _Call, dialect: Dialect, completion: Completion, headers: Mapping[str, str]) -> Receipt:
        return Receipt(
            request_digest=call.digest,
            endpoint=self.endpoint.url,
            model=call.request.model,
            model_stated=completion.model,
            response_id=completion.response_id,
            request_id=headers.get("x-request-id"),
            mode=dialect.mode,
            token_parameter=dialect.token_parameter,
            temperature=call.request.temperature if dialect.temperature else None,
            finish_reason=completion.finish_reason,
            usage=completion.usage,
            cost=completion.cost,
            attempts=tuple(call.attempts),
            seconds=call.elapsed,
            answered_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )

    def _connect(self) -> _Connection:
        if self._connection is None:
            self._connection = _Connection.open(self.endpoint, self.policy, self._environ)
        return self._connection

    def _memory(self, call: _Call) -> DialectMemory:
        return self._memories.setdefault(call.request.model, DialectMemory())

    def _error(
        self, call: _Call, what: str, *, transient: bool = False, timed_out: bool = False, status: int | None = None
    ) -> ModelError:
        about = f" ({call.request.label})" if call.request.label else ""
        return ModelError(
            f"{call.request.model} at {self.endpoint.url}{about}: {what}",
            transient=transient,
            timed_out=timed_out,
            status=status,
        )

    def _estimate_one(self, request: ModelRequest) -> Estimate:
        ceiling = self.budget.ceiling(request.model)
        cost = None if ceiling is None else ceiling.cost(input_tokens_limit(request), request.max_output_tokens)
        return Estimate(1, 0, bytes_of(request) // BYTES_PER_TOKEN, request.max_output_tokens, cost)


@dataclass
class _Shared:
    """A question in flight, and how many wait for it."""

    task: asyncio.Task[ModelAnswer]
    waiters: int = 0


@dataclass
class _Call:
    """One question on its way: what was tried, and how long it may still take."""

    request: ModelRequest
    digest: str
    deadline: float
    attempts: list[Attempt] = field(default_factory=list)
    override: Dialect | None = None
    """How to ask next, where a refusal says so; else as the endpoint is remembered."""
    schema_only: bool = False
    failures: int = 0
    refusals: int = 0
    http_status: int | None = None
    said: str = ""
    last_status: int | None = None
    """As the HTTP status, or as a 200's body quotes it of the model's host."""
    last_pause: float | None = None
    first_sent_at: float | None = None
    sent_at: float = 0.0
    schema_digest: str | None = None

    def __post_init__(self) -> None:
        if self.request.schema is not None:
            self.schema_digest = digest_object(self.request.schema)

    def send(self) -> float:
        """Start the clock of the next HTTP request; the first one starts the deadline's."""
        self.sent_at = time.monotonic()
        self.first_sent_at = self.sent_at if self.first_sent_at is None else self.first_sent_at
        self.http_status = self.last_status = self.last_pause = None
        self.said = ""
        return self.sent_at

    def note(self, outcome: str, waited: float = 0.0) -> None:
        """Keep what became of the HTTP request sent last."""
        seconds = time.monotonic() - self.sent_at
        self.attempts.append(Attempt(outcome, seconds, waited, self.http_status, self.said))

    @property
    def elapsed(self) -> float:
        return 0.0 if self.first_sent_at is None else time.monotonic() - self.first_sent_at

    @property
    def left(self) -> float:
        return self.deadline - self.elapsed


@dataclass(frozen=True)
class _Again:
    """An attempt that brought no answer, and how to go on; `error` is raised where that is the end."""

    outcome: str
    error: ModelError
    wait: float | None = None
    dialect: Dialect | None = None
    refusal: Refusal | None = None


@dataclass(frozen=True)
class _Connection:
    """The HTTP client and what may not be written: the key and the endpoint's own headers."""

    http: httpx.AsyncClient
    url: str
    secrets: tuple[str, ...]

    @classmethod
    def open(cls, endpoint: Endpoint, policy: RetryPolicy, environ: Mapping[str, str]) -> _Connection:
        try:
            import httpx
        except ImportError as error:
            raise MissingDependencyError("httpx", "judge") from error
        key = _key(endpoint, environ)
        headers = {**dict(endpoint.headers), "content-type": "application/json"}
        if key is not None:
            headers["authorization"] = f"Bearer {key}"
        http = httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(policy.timeout, connect=min(CONNECT_SECONDS, policy.timeout), pool=None),
            limits=httpx.Limits(max_connections=None),
            trust_env=not endpoint.is_local,
        )
        values = [key or "", *(value for _, value in endpoint.headers)]
        return cls(http, f"{endpoint.url}/chat/completions", tuple(v for v in values if len(v) >= SHORTEST_SECRET))

    async def post(self, body: bytes) -> httpx.Response:
        return await self.http.post(self.url, content=body)

    def redact(self, text: str) -> str:
        return self.redact_bytes(text.encode("utf-8")).decode("utf-8")

    def redact_bytes(self, body: bytes) -> bytes:
        for secret in self.secrets:
            body = body.replace(secret.encode("utf-8"), b"***")
        return body


def _key(endpoint: Endpoint, environ: Mapping[str, str]) -> str | None:
    name = next((name for name in endpoint.key_variables if environ.get(name, "").strip()), None)
    if name is None and endpoint.key_variables and not endpoint.is_local:
        raise CredentialError(
            f"no key for {endpoint.url}: set {' or '.join(endpoint.key_variables)} in the environment"
        )
    if name is None:
        return None
    key = environ[name].strip()
    if not (key.isascii() and key.isprintable()):
        raise CredentialError(f"the key in {name} holds characters that no HTTP header can carry")
    return key


def _answer(completion: Completion, receipt: Receipt, body: bytes) -> ModelAnswer:
    return ModelAnswer(
        status=completion.status,
        text=completion.text,
        value=completion.value,
        problem=completion.problem,
        reasoning=completion.reasoning,
        receipt=receipt,
        body=body.decode("utf-8", "replace"),
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms`, or `retry-after` as seconds or an HTTP date (RFC 9110, 10.2.3)."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        stated = headers.get(name, "").strip()
        if re.fullmatch(r"\d+(\.\d+)?", stated):
            return float(stated) * unit
    try:
        at = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())


async def _end(task: asyncio.Task[ModelAnswer]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
