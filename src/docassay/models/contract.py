"""What a model is asked, what an answer is, and what proves that it was given.

One `ModelRequest` goes in, one `ModelAnswer` with its `Receipt` comes out. An answer that arrived is data, whatever its
quality: cut off, filtered or unreadable answers are returned with a status (they were paid for, are cached, and may be
asked to be repaired). Only what brought no answer raises: `ModelError` (endpoint down, request refused), `BudgetError`
(a limit would be exceeded), `CredentialError` (no key), `AccountError` (credits, quota).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal, Protocol, Self, runtime_checkable
from urllib.parse import urlsplit

from docassay.core.digest import digest_bytes, digest_object
from docassay.errors import ArgumentValueError, ModelError

__all__ = [
    "JUDGE_KEY_VARIABLES",
    "AnswerMode",
    "AnswerStatus",
    "Attempt",
    "Endpoint",
    "Estimate",
    "FilePart",
    "Message",
    "Model",
    "ModelAnswer",
    "ModelRequest",
    "Prices",
    "Receipt",
    "RetryPolicy",
    "TextPart",
    "TokenParameter",
    "Usage",
]

JUDGE_KEY_VARIABLES = ("DOCASSAY_JUDGE_API_KEY", "JUDGE_API_KEY", "OPENAI_API_KEY")
"""Where a judge's key is looked for, in this order."""

QUESTION_FORMAT = 1
"""Part of every request digest; a change of what a digest covers changes it."""


class AnswerMode(StrEnum):
    """How structured output was asked for, from the strongest to the weakest."""

    JSON_SCHEMA = "json_schema"
    """`response_format` json_schema: the server holds the answer to the schema."""
    JSON_OBJECT_SCHEMA = "json_object+schema"
    """`response_format` json_object with a `schema` key, as llama.cpp and some hosts take it."""
    JSON_OBJECT = "json_object"
    """`response_format` json_object; the schema stands in the prompt."""
    TEXT = "text"
    """No `response_format`; the schema stands in the prompt. Also what a request without a schema is sent as."""


class TokenParameter(StrEnum):
    """What the server calls the limit on output tokens."""

    MAX_TOKENS = "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens"


class AnswerStatus(StrEnum):
    """What an answer that arrived is worth."""

    OK = "ok"
    """Finished; with a schema asked for, `value` holds its JSON."""
    TRUNCATED = "truncated"
    """Cut off at the output limit (`finish_reason` length): a failure, whatever of it can be read."""
    FILTERED = "filtered"
    """Withheld by the endpoint's content filter."""
    REFUSED = "refused"
    """The model declined (`message.refusal`)."""
    EMPTY = "empty"
    """No text at all."""
    NOT_JSON = "not_json"
    """JSON was asked for, and the text holds none, or more than one candidate."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go. Its URL is part of every request digest; its key never is."""

    base_url: str
    """Such as `https://openrouter.ai/api/v1` or `http://127.0.0.1:8000/v1`; `/chat/completions` is appended."""
    key_variables: tuple[str, ...] = JUDGE_KEY_VARIABLES
    """Environment variables that may hold the key; the first that is set is used. None set: a `CredentialError` before
    anything is sent, unless the endpoint is this machine (127.0.0.1, ::1, localhost), which may need none."""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Sent with every request; in no digest, record or log."""

    def __post_init__(self) -> None:
        if any(sign in self.base_url for sign in "@?#"):
            raise ArgumentValueError(
                "an endpoint's address holds no user, password or query: keys come from the environment"
            )
        if not re.fullmatch(r"https?://(\[[0-9a-fA-F:]+\]|[^\s/:\[\]]+)(:\d{1,5})?(/\S*)?", self.base_url):
            raise ArgumentValueError(f"an endpoint is an address with http:// or https://, not {self.base_url!r}")

    @property
    def url(self) -> str:
        """The base URL without a trailing slash."""
        return self.base_url.rstrip("/")

    @property
    def is_local(self) -> bool:
        """Whether it is this machine."""
        host = urlsplit(self.base_url).hostname or ""
        return host in ("localhost", "::1") or host.startswith("127.")


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text within a message."""

    text: str


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file within a message, sent inline as base64."""

    filename: str
    data: bytes = field(repr=False)
    media_type: str = "application/pdf"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation that is sent."""

    role: Literal["system", "user", "assistant"]
    content: str | tuple[TextPart | FilePart, ...]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question to a model. Two requests with equal digests are one question: it is asked once."""

    model: str
    """The model's name as the endpoint knows it, such as `openai/gpt-5`."""
    messages: tuple[Message, ...] = field(repr=False)
    max_output_tokens: int
    """Limit on the answer, reasoning included. Part of the digest, and what a cost is reserved for."""
    schema: Mapping[str, Any] | None = field(default=None, repr=False)
    """JSON Schema of the answer; None asks for free text. Sent as it is. Some servers accept it and ignore it: say in
    the messages what the answer looks like."""
    schema_name: str = "answer"
    strict: bool = False
    """`strict` of response_format json_schema. True needs a schema in the vendor's dialect."""
    schema_in_messages: bool = False
    """Whether the messages already state the schema, so that the weaker modes need not append it."""
    temperature: float | None = 0.0
    """None leaves it to the server. Left out, and remembered, where the server refuses it."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further top-level parameters as JSON, such as `{"usage": {"include": True}}` or `{"reasoning_effort": "low"}`.
    One that the server refuses by name is an error, except `usage` and `seed`, which are then left out."""
    repeat: int = 0
    """Asks the same question again on purpose: a different number is a different question to the cache."""
    label: str = ""
    """What it is for, such as `blind task-7 batch 2`: shown in errors and plans, in no digest."""

    def __post_init__(self) -> None:
        if self.max_output_tokens < 1:
            raise ArgumentValueError(f"max_output_tokens must be at least 1, not {self.max_output_tokens}")
        if self.temperature is not None and not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise ArgumentValueError(f"a temperature is a finite number from 0, not {self.temperature!r}")
        reserved = {"model", "messages", "response_format", "temperature", "stream", *TokenParameter} & set(self.extra)
        if reserved:
            raise ArgumentValueError(f"extra parameters may not set {', '.join(sorted(reserved))}")

    def question(self, endpoint: Endpoint) -> dict[str, Any]:
        """All that the digest covers, as JSON: endpoint, model, parameters, prompt; a file as its digest."""
        return {
            "format": QUESTION_FORMAT,
            "endpoint": endpoint.url,
            "model": self.model,
            "messages": [{"role": m.role, "content": _content(m.content)} for m in self.messages],
            "max_output_tokens": self.max_output_tokens,
            "schema": self.schema,
            "schema_name": self.schema_name,
            "strict": self.strict,
            "schema_in_messages": self.schema_in_messages,
            "temperature": None if self.temperature is None else float(self.temperature),
            "extra": dict(self.extra),
            "repeat": self.repeat,
        }

    def digest(self, endpoint: Endpoint) -> str:
        """SHA-256 (hex) of `question`: the cache's key, and what a review can be bound to."""
        return digest_object(self.question(endpoint))


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the endpoint stated them; None where it stated none."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    """Reasoning included."""
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    """Input tokens that the endpoint read from its own cache."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One HTTP request on the way to an answer."""

    outcome: str
    """`answered`, `http 429`, `timeout`, `refused response_format`, `transport: ...`, ..."""
    seconds: float
    """From sending to the end of the answer."""
    waited: float = 0.0
    """Seconds waited after it, before the next attempt."""
    status: int | None = None
    """HTTP status; None where no answer came."""
    said: str = ""
    """The body of an answer that is none, shortened; the body of the answer itself is kept with it."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What proves an answer: what was asked (by digest), of whom, how, and what it used. Holds no key and no prompt."""

    request_digest: str
    endpoint: str
    model: str
    """As asked for."""
    model_stated: str | None
    """As the answer names it."""
    response_id: str | None
    """`id` of the answer's body."""
    request_id: str | None
    """The `x-request-id` header, for a vendor's support."""
    mode: AnswerMode
    """How structured output was asked for in the request that was answered."""
    token_parameter: TokenParameter
    temperature: float | None
    """As sent; None where none was."""
    finish_reason: str | None
    usage: Usage
    cost: float | None
    """USD as the endpoint stated it (`usage.cost`), never an estimate; None where it stated none."""
    attempts: tuple[Attempt, ...]
    """Every HTTP request made for it, refused ones included; the last is the one that was answered."""
    seconds: float
    """Wall seconds from the first request to the answer, waits included."""
    answered_at: str
    """UTC, ISO 8601."""

    def as_dict(self) -> dict[str, Any]:
        """The receipt as JSON values."""
        return {**asdict(self), "mode": self.mode.value, "token_parameter": self.token_parameter.value}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """The receipt that `as_dict` gave."""
        return cls(
            **{
                **stored,
                "mode": AnswerMode(stored["mode"]),
                "token_parameter": TokenParameter(stored["token_parameter"]),
                "usage": Usage(**stored["usage"]),
                "attempts": tuple(Attempt(**attempt) for attempt in stored["attempts"]),
            }
        )


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What came back."""

    status: AnswerStatus
    text: str
    """The answer's text as received; empty where there is none."""
    value: object
    """The parsed JSON where a schema was asked for and the status is ok, else None. Not checked against the schema."""
    problem: str | None
    """Why the status is not ok, in a sentence; None where it is."""
    reasoning: str | None
    """The reasoning text where the endpoint showed it."""
    receipt: Receipt
    body: str = field(repr=False)
    """The HTTP body as received."""
    from_cache: bool = False
    """Whether it was read from the cache: this run paid nothing for it."""

    @property
    def ok(self) -> bool:
        """Whether the answer can be used as it is."""
        return self.status is AnswerStatus.OK

    def require_value(self) -> object:
        """The parsed JSON; raises `ModelError` with the status and the text's beginning where there is none."""
        if not self.ok:
            raise ModelError(f"{self.receipt.model}: {self.status.value}: {self.problem}; it began {self.text[:120]!r}")
        return self.value

    def cached(self) -> ModelAnswer:
        """The same answer, marked as read from the cache."""
        return replace(self, from_cache=True)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """What is tried again, and for how long. Seconds throughout."""

    waits: tuple[float, ...] = (2.0, 8.0, 20.0, 60.0, 120.0)
    """Wait before the 2nd, 3rd, ... attempt; Retry-After replaces it. One attempt more than waits."""
    jitter: float = 0.25
    """A wait is lengthened by up to this share, so that concurrent requests do not come back together."""
    statuses: frozenset[int] = frozenset({408, 429, 500, 502, 503, 504, 529})
    """HTTP statuses that are tried again, as transport errors and unreadable bodies are; others are final."""
    timeout: float = 600.0
    """One HTTP request, connect to last byte."""
    deadline: float = 1800.0
    """One `complete` call from its first request on, waits included; time spent queueing for a slot is not in it."""

    def __post_init__(self) -> None:
        seconds = (*self.waits, self.jitter, self.timeout, self.deadline)
        if not all(math.isfinite(s) and s >= 0 for s in seconds) or not self.timeout or not self.deadline:
            raise ArgumentValueError("a retry policy's waits are numbers from 0, its timeout and deadline above 0")

    @property
    def max_attempts(self) -> int:
        """How often one question is sent because of transient failures, at most."""
        return len(self.waits) + 1


@dataclass(frozen=True, slots=True)
class Prices:
    """USD per million tokens; what a cost limit reserves with before an answer has stated a cost."""

    input_per_million: float
    output_per_million: float

    def __post_init__(self) -> None:
        if not all(math.isfinite(p) and p >= 0 for p in (self.input_per_million, self.output_per_million)):
            raise ArgumentValueError("prices are finite numbers from 0, in USD per million tokens")


@dataclass(frozen=True, slots=True)
class Estimate:
    """What requests would use; every token figure is an estimate or a limit, none is a measurement."""

    calls: int
    """Requests that would be sent if none failed; cached and repeated ones are not in it."""
    cached: int
    """Requests that the cache (or an equal request before) answers for nothing."""
    input_tokens: int
    """Estimate: one token per four bytes of text."""
    output_tokens_limit: int
    """The sum of `max_output_tokens`: no answer can be longer."""
    cost_limit: float | None
    """USD if every answer used its whole limit; None without prices."""

    def __add__(self, other: Estimate) -> Estimate:
        unknown = self.cost_limit is None or other.cost_limit is None
        return Estimate(
            calls=self.calls + other.calls,
            cached=self.cached + other.cached,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens_limit=self.output_tokens_limit + other.output_tokens_limit,
            cost_limit=None if unknown else (self.cost_limit or 0.0) + (other.cost_limit or 0.0),
        )

    def sentence(self) -> str:
        """The dry run's line, for people."""
        cost = "unknown (no prices given)" if self.cost_limit is None else f"at most ${self.cost_limit:.4f}"
        return (
            f"{self.calls} calls ({self.cached} more from the cache), about {self.input_tokens:,} input tokens "
            f"(estimate: bytes / 4), at most {self.output_tokens_limit:,} output tokens, cost {cost}"
        )


@runtime_checkable
class Model(Protocol):
    """Anything that answers requests: `docassay.models.ModelClient`, or an offline stand-in."""

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Answer one request.

        Concurrent calls are welcome: the client bounds what is in flight. Equal requests in flight are sent once.

        Raises:
            ModelError: no answer came: the endpoint refused the request, or failed until the policy was spent.
                Its `transient` says whether asking later can help.
            BudgetError: sending it could exceed a limit; nothing was sent.
            CredentialError: no key is set, or the endpoint refused it.
            AccountError: credits or quota are used up; every later call raises it at once.
        """
        ...


def _content(content: str | tuple[TextPart | FilePart, ...]) -> Any:
    if isinstance(content, str):
        return content
    return [_part(part) for part in content]


def _part(part: TextPart | FilePart) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"text": part.text}
    return {"filename": part.filename, "media_type": part.media_type, "sha256": digest_bytes(part.data)}
