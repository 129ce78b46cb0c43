"""What a test scripts: the documents' answers, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from docassay.errors import ArgumentValueError

__all__ = ["ANSWER_KINDS", "KEYS", "VENDORS", "Answers", "FakeDocument", "Fault", "sample"]

KEYS: Mapping[str, str] = {
    "datalab": "DATALAB_API_KEY",
    "reducto": "REDUCTO_API_KEY",
    "extend": "EXTEND_API_KEY",
    "llamaextract": "LLAMA_CLOUD_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "azure-cu": "AZURE_CU_KEY",
    "openai": "OPENAI_API_KEY",
}
"""The environment variable of each vendor's key."""

VENDORS = tuple(KEYS)

REQUEST_KINDS = ("status", "reset", "not_json", "slow", "echo_key")
"""Faults that spoil one request."""

ANSWER_KINDS = (
    "never_ends",
    "empty",
    "job_failed",
    "no_cost",
    "late_cost",
    "passes",
    "fenced",
    "prose",
    "truncated",
    "no_choices",
)
"""Faults that spoil a document's answer."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong, and for which requests.

    Kinds that spoil one request: `status` (answers `status`, with `retry_after` and `body` where given), `reset` (the
    connection breaks), `not_json` (HTTP 200 with a page), `slow` (answers after `seconds`), `echo_key` (HTTP 400 whose
    body repeats the key).
    Kinds that spoil a document's answer: `never_ends`, `empty` (ends well, without data), `job_failed` (ends badly,
    saying `body`), `no_cost`, `late_cost` (states its cost one poll later), `passes` (a list with one object per
    field), and of chat answers also `fenced`, `prose`, `truncated` and `no_choices`.
    """

    kind: str
    vendor: str | None = None
    """Only this vendor."""
    step: str | None = None
    """Only this step: upload, submit, poll, projects, analyzer, analyzer-poll."""
    document: str | None = None
    """Only the document with this file name, where the request tells it."""
    times: int | None = 1
    """How many requests or answers it spoils; None: all."""
    rate: float = 1.0
    """The share of requests it spoils, drawn from the server's seeded generator."""
    status: int = 503
    retry_after: str | None = None
    body: str = "scripted fault"
    seconds: float = 0.0

    def __post_init__(self) -> None:
        known = (*REQUEST_KINDS, *ANSWER_KINDS)
        if self.kind not in known:
            raise ArgumentValueError(f"there is no fault {self.kind!r}; there are {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class FakeDocument:
    """A document as the server received it."""

    vendor: str
    name: str
    """The stated file name; empty where the API takes none."""
    data: bytes = field(repr=False)
    schema: Any = field(default=None, repr=False)
    """The schema as it came over the wire; None until it came."""


Answers = Mapping[str, object] | Callable[[FakeDocument], object]
"""The extraction by file name or by SHA-256 (hex) of the document, or a function of the document."""


def sample(schema: object) -> object:
    """A made-up value that fits a schema, the same every time: text `text`, number 1.5, one row per array."""
    if not isinstance(schema, Mapping):
        return "text"
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return sample(schema[key][0])
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" or "properties" in schema:
        return {name: sample(sub) for name, sub in (schema.get("properties") or {}).items()}
    if kind == "array":
        return [sample(schema.get("items"))]
    return {"number": 1.5, "integer": 1, "boolean": True, "null": None}.get(str(kind), "text")
