"""Which refusals are told apart, from error bodies in the shapes that servers are known to send."""

from __future__ import annotations

import json

import pytest

from docassay.models import AnswerMode, Message, ModelRequest, TokenParameter
from docassay.models.dialect import Dialect, DialectMemory, ErrorBody, read_error, refusal_of, weaker

REQUEST = ModelRequest(
    "m", (Message("user", "q"),), 100, schema={"type": "object"}, extra={"usage": {"include": True}, "seed": 1}
)


def openai(message: str, code: str | None = None, param: str | None = None) -> dict[str, object]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code, "param": param}}


@pytest.mark.parametrize(
    ("status", "body", "parameter"),
    [
        (400, openai("Unsupported parameter: 'max_tokens' is not supported with this model. "
                     "Use 'max_completion_tokens' instead.", "unsupported_parameter", "max_tokens"), "max_tokens"),
        (400, openai("Unrecognized request argument supplied: max_tokens"), "max_tokens"),
        (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "max_tokens"],
                           "msg": "Extra inputs are not permitted"}]}, "max_tokens"),
        (400, openai("Unsupported value: 'temperature' does not support 0 with this model.", "unsupported_value",
                     "temperature"), "temperature"),
        (400, openai("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
                     None, "response_format"), "response_format"),
        (400, {"error": "'response_format.type' must be 'text'"}, "response_format"),
        (400, openai("This response_format type is unavailable now"), "response_format"),
        (404, openai("No endpoints found that support structured outputs"), "response_format"),
        (422, {"detail": [{"type": "literal_error", "loc": ["body", "response_format", "type"],
                           "msg": "Input should be 'text' or 'json_object'"}]}, "response_format"),
        (500, openai("failed to compile grammar"), "response_format"),
        (400, openai("Unknown parameter: 'usage'.", None, "usage"), "usage"),
        (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs"}]}, "seed"),
    ],
)  # fmt: skip
def test_a_refused_parameter_is_told(status: int, body: object, parameter: str) -> None:
    refusal = refusal_of(REQUEST, Dialect(), status, read_error(json.dumps(body).encode()))
    assert refusal is not None
    assert refusal.parameter == parameter
    assert refusal.retry != Dialect()


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, openai("The document cannot be read")),
        (400, openai("max_tokens is too large: 100000. This model supports at most 16384 completion tokens.", None,
                     "max_tokens")),
        (400, openai("This model's maximum context length is 8192 tokens, max_tokens included; unsupported",
                     "context_length_exceeded")),
        (404, openai("The model 'm' does not exist", "model_not_found")),
        (413, openai("response_format: body too large")),
        (500, openai("internal error")),
        (429, openai("temperature")),
    ],
)  # fmt: skip
def test_an_answer_to_the_question_is_final(status: int, body: object) -> None:
    assert refusal_of(REQUEST, Dialect(), status, read_error(json.dumps(body).encode())) is None


def test_the_other_name_of_the_limit_is_tried_once() -> None:
    refused = ErrorBody("Unrecognized request argument supplied: max_tokens")
    first = refusal_of(REQUEST, Dialect(), 400, refused)
    assert first is not None
    assert first.retry.token_parameter is TokenParameter.MAX_COMPLETION_TOKENS
    again = ErrorBody("Unrecognized request argument supplied: max_completion_tokens")
    assert refusal_of(REQUEST, first.retry, 400, again) is None


def test_the_ladder_ends_at_plain_text() -> None:
    steps: list[AnswerMode] = []
    dialect: Dialect | None = Dialect()
    while dialect is not None:
        steps.append(dialect.mode)
        dialect = weaker(dialect)
    assert steps == ["json_schema", "json_object+schema", "json_object", "text"]


def test_a_mode_that_worked_is_kept_whatever_one_schema_brings() -> None:
    memory = DialectMemory()
    memory.answered(Dialect(), "schema-1", schema_only=False)
    memory.answered(Dialect(mode=AnswerMode.JSON_OBJECT), "schema-2", schema_only=True)
    assert memory.dialect("schema-1").mode is AnswerMode.JSON_SCHEMA
    assert memory.dialect("schema-2").mode is AnswerMode.JSON_OBJECT
    assert memory.dialect("schema-3").mode is AnswerMode.JSON_SCHEMA
    assert memory.dialect(None).mode is AnswerMode.TEXT


def test_one_breakdown_tells_nothing_and_a_mode_that_worked_is_not_blamed() -> None:
    memory = DialectMemory()
    assert memory.broke_down(Dialect()) is None
    assert memory.broke_down(Dialect()) == Dialect(mode=AnswerMode.JSON_OBJECT_SCHEMA)
    memory.answered(Dialect(), "schema", schema_only=False)
    assert memory.broke_down(Dialect()) is None


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"[1]", b'"busy"', b"null", b'{"error": null}', b'{"detail": []}'])
def test_any_error_body_is_read(body: bytes) -> None:
    assert isinstance(read_error(body).text, str)
