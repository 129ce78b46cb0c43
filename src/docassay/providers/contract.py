"""What a provider is: how it describes itself, what it is asked, and what it must hand back.

A provider is one way to turn a PDF and a JSON Schema into JSON: a vendor's API, a model, a local program. It is
described by a `ProviderSpec` (found by name in `docassay.providers.registry`), configured by a frozen dataclass of
options, opened with credentials from the environment, and asked one `ExtractionTask` at a time for an
`ExtractionResult`. The shared HTTP behaviour lives in `docassay.providers.transport`; a provider need not use it.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol, runtime_checkable

from docassay.errors import ArgumentValueError

__all__ = [
    "DEFAULT_TIMEOUT",
    "Budget",
    "Cost",
    "CredentialSource",
    "Credentials",
    "Document",
    "Exchange",
    "ExtractionResult",
    "ExtractionTask",
    "Outcome",
    "Provider",
    "ProviderSpec",
    "RetryPolicy",
    "Setup",
]

DEFAULT_TIMEOUT = 1800.0
"""Seconds that one document may take, for upload, submission, polls and retries together."""

SHORTEST_SECRET = 8
"""Characters from which a credential's value is told apart from ordinary words, such as `EMPTY` or `none`."""

HIDDEN = "***"


class Outcome(StrEnum):
    """How one document ended."""

    OK = "ok"
    """There is an extraction."""
    FAILED = "failed"
    """The provider answered badly, or did not answer; `transient` says whether asking again can help."""
    TIMEOUT = "timeout"
    """Still running when the budget was spent. Never asked again; a kept job id can be collected."""
    ACCOUNT = "account"
    """The account is refused (credits, subscription, quota). Ends the provider's run; nothing is stored."""


class Budget:
    """One document's time on a monotonic clock: upload, submission, polls and retries share it."""

    def __init__(self, seconds: float = DEFAULT_TIMEOUT, *, clock: Callable[[], float] = time.monotonic) -> None:
        if not (math.isfinite(seconds) and seconds > 0):
            raise ArgumentValueError(f"a budget is a positive number of seconds, not {seconds!r}")
        self.seconds = seconds
        self._clock = clock
        self._start = clock()

    @property
    def elapsed(self) -> float:
        """Seconds since the budget began."""
        return self._clock() - self._start

    @property
    def remaining(self) -> float:
        """Seconds left; 0 when spent."""
        return max(0.0, self.seconds - self.elapsed)

    def allows(self, seconds: float) -> bool:
        """Whether a wait of `seconds` would end before the budget does."""
        return seconds < self.remaining

    async def sleep(self, seconds: float) -> None:
        """Wait `seconds`, or as long as the budget lasts."""
        await asyncio.sleep(min(seconds, self.remaining))


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When to ask again after a transient failure, and how long to wait. Waits are seconds."""

    waits: tuple[float, ...] = (20.0, 60.0, 120.0)
    """The wait before the 2nd, 3rd, ... attempt, unless the answer says Retry-After."""
    statuses: frozenset[int] = frozenset({429, 500, 502, 503, 504})
    """HTTP statuses that are transient; transport errors are too. Every other status is the vendor's answer."""
    poll_failures: int = 60
    """How many polls in a row may fail transiently before the job is given up."""

    def __post_init__(self) -> None:
        if any(not (math.isfinite(wait) and wait >= 0) for wait in self.waits):
            raise ArgumentValueError(f"retry waits are seconds, not {self.waits!r}")

    @property
    def attempts(self) -> int:
        """How often one request is sent at most."""
        return len(self.waits) + 1


@dataclass(frozen=True, slots=True)
class Document:
    """One document and the question about it."""

    doc_id: str
    name: str
    """The file name that is stated to the vendor, such as `invoice.pdf`."""
    data: bytes = field(repr=False)
    """The PDF."""
    schema: Mapping[str, Any] = field(repr=False)
    """The JSON Schema, benchmark-only keys already removed; never changed by a provider."""


@dataclass(frozen=True, slots=True)
class ExtractionTask:
    """One request to a provider."""

    document: Document
    budget: Budget
    job_id: str | None = None
    """A job submitted earlier for this document: a provider with jobs collects it and submits nothing."""
    on_job: Callable[[str], None] = lambda job_id: None
    """To be called with the job's id as soon as one is bought, so that a killed run can collect it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """A cost as the vendor stated it; there is none where the vendor stated none."""

    amount: float
    unit: Literal["USD", "credits"]
    source: str
    """Where it was stated, such as `cost_breakdown.final_cost_cents`."""

    def __post_init__(self) -> None:
        if isinstance(self.amount, bool) or not math.isfinite(self.amount):
            raise ArgumentValueError(f"a cost is a finite number, not {self.amount!r}")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came back, as received."""

    step: str
    """What it was for: upload, submit, poll, ..."""
    method: str
    url: str
    status: int | None
    """The HTTP status; None where no answer came."""
    body: str
    """The answer's text, or the transport error."""
    seconds: float


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """A provider's answer to one document, with the evidence for it."""

    outcome: Outcome
    extraction: object = None
    """The bare JSON that answers the schema, reserved names restored; None unless `outcome` is ok."""
    error: str | None = None
    """Why there is no extraction: one line, or a traceback for a fault of the adapter."""
    transient: bool = False
    """For a failure: whether asking again can help."""
    schema_sent: object = None
    """The schema exactly as it went over the wire, after re-encoding; None where none was sent."""
    job_id: str | None = None
    cost: Cost | None = None
    attempts: int = 0
    """Requests sent that could have bought an answer: submissions and their retries, not polls or uploads."""
    seconds: float = 0.0
    """Wall seconds from the first request to the last answer."""
    exchanges: tuple[Exchange, ...] = ()
    """What the vendor answered, in order. Of polls only the failed ones and the last are kept."""
    details: Mapping[str, object] = field(default_factory=dict)
    """What else explains the answer, as JSON values: every raw text, the response format that was used, ..."""

    def __post_init__(self) -> None:
        if (self.outcome is Outcome.OK) == (self.extraction is None):
            raise ArgumentValueError(f"an outcome {self.outcome.value!r} with extraction {self.extraction!r}")
        if (self.outcome is Outcome.OK) == (self.error is not None):
            raise ArgumentValueError(f"an outcome {self.outcome.value!r} with error {self.error!r}")


@dataclass(frozen=True, slots=True)
class CredentialSource:
    """Where one credential comes from: the first of these environment variables that is set."""

    variables: tuple[str, ...]
    help: str = ""
    required: bool = True
    secret: bool = True
    """Whether the value must never be written; a workspace id, say, is no secret."""


class Credentials:
    """Values read from the environment, by their variable; printed and written nowhere."""

    def __init__(self, values: Mapping[str, str], secrets: frozenset[str] | None = None) -> None:
        self._values = dict(values)
        self._secrets = frozenset(values) if secrets is None else secrets

    def get(self, *variables: str) -> str | None:
        """The value of the first of `variables` that was set."""
        return next((self._values[name] for name in variables if name in self._values), None)

    def __getitem__(self, variable: str) -> str:
        return self._values[variable]

    def redact(self, text: str) -> str:
        """`text` with every secret replaced by `***`: a vendor may echo a key in its error message."""
        for name in self._secrets & self._values.keys():
            if len(self._values[name]) >= SHORTEST_SECRET:
                text = text.replace(self._values[name], HIDDEN)
        return text

    def __repr__(self) -> str:
        return f"Credentials({', '.join(sorted(self._values))})"


@dataclass(frozen=True, slots=True)
class Setup:
    """What a provider is opened with."""

    name: str
    """The name it was asked for by; for a model, its id, such as `openai/gpt-5`."""
    config: Any
    """An instance of the spec's config class."""
    credentials: Credentials
    retry: RetryPolicy = RetryPolicy()


@runtime_checkable
class Provider(Protocol):
    """An opened provider. One event loop owns it; tasks run concurrently, up to the spec's `concurrency`."""

    async def extract(self, task: ExtractionTask) -> ExtractionResult:
        """Answer one document. A failure is a result, not an exception; cancellation is let through."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """A provider, described: what the registry holds and `docassay extract providers` lists."""

    name: str
    summary: str
    """One line for the list."""
    config: type[Any]
    """A frozen dataclass whose fields are made with `docassay.providers.options.option`."""
    open: Callable[[Setup], Provider]
    """Makes the provider; sends nothing."""
    credentials: tuple[CredentialSource, ...] = ()
    concurrency: int = 1
    """Documents in flight at once, at most."""
    cost_unit: Literal["USD", "credits"] | None = None
    """What the vendor states costs in; None where it states none."""
    free: bool = False
    """Whether it can never cost anything (local, offline)."""
    requires: Mapping[str, str] = field(default_factory=dict)
    """Importable module -> the docassay extra that installs it."""
    jobs: bool = False
    """Whether a task's `job_id` can be collected without buying the answer again."""
