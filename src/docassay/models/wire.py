"""A request as JSON for a chat completions endpoint, and an answer's body as what it says.

Source: the public description of OpenAI's chat completions, and what compatible servers do differently: `choices` null
with a top-level `error`, an error inside a choice, text as a list of parts, reasoning in a field of its own.
"""

from __future__ import annotations

import base64
import json
import math
from dataclasses import dataclass
from typing import Any

from docassay.models.contract import AnswerMode, AnswerStatus, FilePart, Message, ModelRequest, TextPart, Usage
from docassay.models.dialect import Dialect, ErrorBody, read_error
from docassay.models.parsing import UnreadableAnswerError, parse_json_answer

__all__ = [
    "Completion",
    "UnusableBodyError",
    "UpstreamError",
    "bytes_of",
    "input_tokens_limit",
    "payload",
    "read_completion",
]

JSON_ONLY = "Answer with JSON only: no explanation, no Markdown."
BY_SCHEMA = "The answer is one JSON value that is valid under this JSON Schema. " + JSON_ONLY


class UnusableBodyError(Exception):
    """A 200 whose body is no answer: not JSON, or without choices."""


class UpstreamError(Exception):
    """A 200 whose body says that the model's host failed."""

    def __init__(self, error: ErrorBody, status: int | None) -> None:
        super().__init__(error.message)
        self.error = error
        self.status = status
        """The HTTP status that the body quotes."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a body says."""

    status: AnswerStatus
    text: str
    value: object
    problem: str | None
    reasoning: str | None
    finish_reason: str | None
    response_id: str | None
    model: str | None
    usage: Usage
    cost: float | None


def payload(request: ModelRequest, dialect: Dialect) -> bytes:
    """The HTTP body that asks `request` in `dialect`."""
    body: dict[str, Any] = {"model": request.model, "messages": _messages(request, dialect.mode)}
    body[dialect.token_parameter.value] = request.max_output_tokens
    if request.temperature is not None and dialect.temperature:
        body["temperature"] = request.temperature
    if request.schema is not None and dialect.mode is not AnswerMode.TEXT:
        body["response_format"] = _response_format(request, dialect.mode)
    body.update({name: value for name, value in request.extra.items() if name not in dialect.left_out})
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def input_tokens_limit(request: ModelRequest) -> int:
    """More input tokens than the request can have: one per byte of text and file, and room for each message."""
    return bytes_of(request) + len(BY_SCHEMA) + 64 * (len(request.messages) + 1)


def bytes_of(request: ModelRequest) -> int:
    """Bytes of text, file and schema that the request sends, before they are encoded; the schema counts twice."""
    parts = [part for message in request.messages for part in _parts(message)]
    sent = sum(len(part.data) if isinstance(part, FilePart) else len(part.text.encode("utf-8")) for part in parts)
    return sent + (0 if request.schema is None else 2 * len(json.dumps(request.schema).encode("utf-8")))


def read_completion(body: bytes, schema: object) -> Completion:
    """What a 200's body says; JSON is read from the text where `schema` is not None.

    Raises:
        UnusableBodyError: no answer is in it.
        UpstreamError: it reports a failure of the model's host.
    """
    parsed = _object(body)
    choice = _choice(parsed, body)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise UnusableBodyError("the first choice has no message")
    text = _text(message.get("content"))
    finish = _string(choice.get("finish_reason"))
    status, value, problem = _judge(text, finish, _string(message.get("refusal")), schema)
    return Completion(
        status=status,
        text=text,
        value=value,
        problem=problem,
        reasoning=_string(message.get("reasoning_content")) or _string(message.get("reasoning")),
        finish_reason=finish,
        response_id=_string(parsed.get("id")),
        model=_string(parsed.get("model")),
        usage=_usage(parsed.get("usage")),
        cost=_cost(parsed.get("usage")),
    )


def _messages(request: ModelRequest, mode: AnswerMode) -> list[dict[str, Any]]:
    sent = [{"role": message.role, "content": _content(message)} for message in request.messages]
    if request.schema is not None and mode is not AnswerMode.JSON_SCHEMA:
        sent.append({"role": "user", "content": _instruction(request)})
    return sent


def _instruction(request: ModelRequest) -> str:
    if request.schema_in_messages:
        return JSON_ONLY
    return f"{BY_SCHEMA}\n\n{json.dumps(request.schema, ensure_ascii=False)}"


def _content(message: Message) -> str | list[dict[str, Any]]:
    if isinstance(message.content, str):
        return message.content
    return [_part(part) for part in message.content]


def _part(part: TextPart | FilePart) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    data = f"data:{part.media_type};base64,{base64.b64encode(part.data).decode('ascii')}"
    return {"type": "file", "file": {"filename": part.filename, "file_data": data}}


def _parts(message: Message) -> tuple[TextPart | FilePart, ...]:
    return (TextPart(message.content),) if isinstance(message.content, str) else message.content


def _response_format(request: ModelRequest, mode: AnswerMode) -> dict[str, Any]:
    if mode is AnswerMode.JSON_SCHEMA:
        named = {"name": request.schema_name, "schema": request.schema, "strict": request.strict}
        return {"type": "json_schema", "json_schema": named}
    if mode is AnswerMode.JSON_OBJECT_SCHEMA:
        return {"type": "json_object", "schema": request.schema}
    return {"type": "json_object"}


def _object(body: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UnusableBodyError(f"the body is not JSON; it begins {body[:80]!r}") from error
    if not isinstance(parsed, dict):
        raise UnusableBodyError(f"the body is no JSON object; it begins {body[:80]!r}")
    return parsed


def _choice(parsed: dict[str, Any], body: bytes) -> dict[str, Any]:
    choices = parsed.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    choice: dict[str, Any] = first if isinstance(first, dict) else {}
    failed = parsed.get("error") or choice.get("error")
    if failed:
        raise UpstreamError(read_error(json.dumps({"error": failed}).encode("utf-8")), _quoted_status(failed))
    if not choice:
        raise UnusableBodyError(f"the body has no choices; it begins {body[:80]!r}")
    if choice.get("finish_reason") == "error":
        raise UpstreamError(ErrorBody("the model's host broke off (finish_reason error)"), None)
    return choice


def _quoted_status(failed: object) -> int | None:
    code = failed.get("code") if isinstance(failed, dict) else None
    if isinstance(code, str) and code.isascii() and code.isdigit():
        code = int(code)
    return code if isinstance(code, int) and not isinstance(code, bool) and 100 <= code <= 599 else None


def _judge(
    text: str, finish: str | None, refusal: str | None, schema: object
) -> tuple[AnswerStatus, object, str | None]:
    if finish == "length":
        return AnswerStatus.TRUNCATED, None, "it was cut off at the limit of output tokens"
    if finish == "content_filter":
        return AnswerStatus.FILTERED, None, "the endpoint's content filter withheld it"
    if refusal and not text.strip():
        return AnswerStatus.REFUSED, None, f"the model declined: {refusal[:200]}"
    if not text.strip():
        return AnswerStatus.EMPTY, None, "it holds no text"
    if schema is None:
        return AnswerStatus.OK, None, None
    try:
        return AnswerStatus.OK, parse_json_answer(text, root=_root(schema)), None
    except UnreadableAnswerError as error:
        return AnswerStatus.NOT_JSON, None, str(error)


def _root(schema: object) -> str | None:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return kind if kind in ("object", "array") else None


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _usage(stated: object) -> Usage:
    usage = stated if isinstance(stated, dict) else {}
    return Usage(
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        reasoning_tokens=_count(_within(usage, "completion_tokens_details", "reasoning_tokens")),
        cached_tokens=_count(_within(usage, "prompt_tokens_details", "cached_tokens")),
    )


def _within(usage: dict[str, Any], outer: str, inner: str) -> object:
    details = usage.get(outer)
    return details.get(inner) if isinstance(details, dict) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _cost(stated: object) -> float | None:
    cost = stated.get("cost") if isinstance(stated, dict) else None
    if isinstance(cost, bool) or not isinstance(cost, int | float):
        return None
    return float(cost) if math.isfinite(cost) and cost >= 0 else None
