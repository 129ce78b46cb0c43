"""How a server wants to be asked: structured output, token limit and parameters, learned from what it refuses.

A refusal is an error answer that names the parameter. Servers that break down on a json_schema instead (HTTP 500) are
told from servers that are merely in trouble by failing twice in a mode that never worked. What was learned is kept per
endpoint and model, once a request in the new dialect has been answered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from docassay.models.contract import AnswerMode, ModelRequest, TokenParameter

__all__ = ["Dialect", "DialectMemory", "ErrorBody", "Refusal", "read_error", "refusal_of", "weaker"]

LADDER = (AnswerMode.JSON_SCHEMA, AnswerMode.JSON_OBJECT_SCHEMA, AnswerMode.JSON_OBJECT, AnswerMode.TEXT)
BROKEN = 500
REFUSING = frozenset({400, 404, 415, 422, 501})
MAY_BE_LEFT_OUT = ("usage", "seed")
BREAKDOWNS_THAT_TELL = 2

FORMAT_WORDS = re.compile(
    r"response[_ ]?format|json[_ ]schema|json[_ ]object|structured[_ ]outputs?|guided[_ ]|grammar|"
    r"invalid schema|json mode",
    re.IGNORECASE,
)
BAD_SCHEMA = re.compile(r"invalid[_ ](json[_ ])?schema", re.IGNORECASE)
TOO_LONG = re.compile(r"context[_ ](length|window|size)|too many tokens|prompt is too long", re.IGNORECASE)
UNKNOWN_NAME = re.compile(
    r"unsupported|not supported|unrecognized|unknown|unexpected|extra|not permitted|not allowed|does not support|"
    r"instead",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What an error answer says, whatever its shape."""

    message: str
    code: str = ""
    """`error.code` and `error.type`, joined."""
    parameter: str = ""
    """The parameter it names: `error.param`, or the last part of a validation error's `loc`."""

    @property
    def text(self) -> str:
        """All of it, for matching."""
        return f"{self.message} {self.code} {self.parameter}"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a request is spelled for a server."""

    mode: AnswerMode = AnswerMode.JSON_SCHEMA
    token_parameter: TokenParameter = TokenParameter.MAX_TOKENS
    token_parameter_is_sure: bool = False
    """Whether the other name was refused, so that there is no way back."""
    temperature: bool = True
    left_out: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A parameter that the server refused, and how to ask without it."""

    parameter: str
    retry: Dialect
    schema_only: bool = False
    """Whether it refused this schema and not the mode: other schemas may still be sent."""


class DialectMemory:
    """What one model at one endpoint takes. Changes only on an answer, never on a refusal alone."""

    def __init__(self) -> None:
        self._dialect = Dialect()
        self._proven: set[AnswerMode] = set()
        self._breakdowns: dict[AnswerMode, int] = {}
        self._modes_of_schemas: dict[str, AnswerMode] = {}

    def dialect(self, schema_digest: str | None) -> Dialect:
        """How to ask now; `schema_digest` None for a request without a schema."""
        if schema_digest is None:
            return replace(self._dialect, mode=AnswerMode.TEXT)
        return replace(self._dialect, mode=self._modes_of_schemas.get(schema_digest, self._dialect.mode))

    def answered(self, dialect: Dialect, schema_digest: str | None, *, schema_only: bool) -> None:
        """A request in `dialect` was answered: that is how to ask from now on."""
        mode = self._dialect.mode
        if schema_digest is not None and schema_only:
            self._modes_of_schemas[schema_digest] = dialect.mode
        elif schema_digest is not None:
            self._proven.add(dialect.mode)
            mode = mode if mode in self._proven else dialect.mode
        self._dialect = replace(dialect, mode=mode)

    def broke_down(self, dialect: Dialect) -> Dialect | None:
        """The server failed (HTTP 500) in `dialect`: the dialect to try next where the mode may be the cause."""
        if dialect.mode in self._proven or dialect.mode is AnswerMode.TEXT:
            return None
        self._breakdowns[dialect.mode] = self._breakdowns.get(dialect.mode, 0) + 1
        return weaker(dialect) if self._breakdowns[dialect.mode] >= BREAKDOWNS_THAT_TELL else None


def weaker(dialect: Dialect) -> Dialect | None:
    """The next weaker mode; None behind plain text."""
    place = LADDER.index(dialect.mode) + 1
    return replace(dialect, mode=LADDER[place]) if place < len(LADDER) else None


def refusal_of(request: ModelRequest, dialect: Dialect, status: int, error: ErrorBody) -> Refusal | None:
    """Which parameter the server refused; None where it refused the question itself, which is final."""
    if status == BROKEN:
        return _response_format(request, dialect, error)
    if status not in REFUSING or TOO_LONG.search(error.text):
        return None
    return next((found for found in _candidates(request, dialect, error) if found is not None), None)


def read_error(body: bytes) -> ErrorBody:
    """The error in a body: OpenAI's shape, a bare string, a validation error's `detail`, or any text."""
    text = body.decode("utf-8", "replace").strip()
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return ErrorBody(text[:500])
    return _from_json(parsed, text)


def _candidates(request: ModelRequest, dialect: Dialect, error: ErrorBody) -> Iterator[Refusal | None]:
    yield _temperature(request, dialect, error)
    yield _token_parameter(dialect, error)
    yield from (_optional(request, dialect, error, name) for name in MAY_BE_LEFT_OUT)
    yield _response_format(request, dialect, error)


def _temperature(request: ModelRequest, dialect: Dialect, error: ErrorBody) -> Refusal | None:
    if request.temperature is None or not dialect.temperature or "temperature" not in error.text.lower():
        return None
    return Refusal("temperature", replace(dialect, temperature=False))


def _token_parameter(dialect: Dialect, error: ErrorBody) -> Refusal | None:
    named = re.search(rf"\b{dialect.token_parameter}\b", error.text)
    if dialect.token_parameter_is_sure or not named or not UNKNOWN_NAME.search(error.text):
        return None
    other = next(name for name in TokenParameter if name is not dialect.token_parameter)
    return Refusal(dialect.token_parameter, replace(dialect, token_parameter=other, token_parameter_is_sure=True))


def _optional(request: ModelRequest, dialect: Dialect, error: ErrorBody, name: str) -> Refusal | None:
    if name not in request.extra or name in dialect.left_out:
        return None
    spelled = rf"['\"`]{name}['\"`]|(argument|parameter)s?( supplied)?: {name}\b"
    if error.parameter.split(".")[0] != name and not re.search(spelled, error.message):
        return None
    return Refusal(name, replace(dialect, left_out=dialect.left_out | {name}))


def _response_format(request: ModelRequest, dialect: Dialect, error: ErrorBody) -> Refusal | None:
    next_one = weaker(dialect)
    if request.schema is None or next_one is None or not FORMAT_WORDS.search(error.text):
        return None
    return Refusal("response_format", next_one, schema_only=bool(BAD_SCHEMA.search(error.text)))


def _from_json(parsed: Any, text: str) -> ErrorBody:
    error = parsed.get("error", parsed) if isinstance(parsed, dict) else parsed
    if isinstance(error, dict) and isinstance(error.get("detail"), list):
        return _from_validation(error["detail"], text)
    if not isinstance(error, dict):
        return ErrorBody(str(error)[:500])
    message = next((str(error[key]) for key in ("message", "detail", "msg") if error.get(key)), text)
    code = " ".join(str(error[key]) for key in ("code", "type") if error.get(key) is not None)
    return ErrorBody(message[:500] + _upstream(error), code, str(error.get("param") or ""))


def _upstream(error: dict[str, Any]) -> str:
    """What a relaying host quotes of the model's own host (`error.metadata.raw`)."""
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    return f" ({str(raw)[:500]})" if raw else ""


def _from_validation(detail: list[Any], text: str) -> ErrorBody:
    first = detail[0] if detail and isinstance(detail[0], dict) else {}
    place = first.get("loc")
    parameter = ".".join(str(part) for part in place if part != "body") if isinstance(place, list) else ""
    return ErrorBody(text[:500], str(first.get("type") or ""), parameter)
