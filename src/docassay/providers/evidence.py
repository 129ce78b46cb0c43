"""What is kept of one document's prediction: a record that proves it, and the few facts that a resumed run reads.

No credential is in a record: a result is redacted where the provider hands it over, in `docassay.providers.asking`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

from docassay.errors import DocumentError
from docassay.extraction.document import load_json
from docassay.providers import jsontext
from docassay.providers.contract import Cost, ExtractionResult, Outcome

__all__ = ["FORMAT", "Binding", "Kept", "Record", "error_document", "read_kept", "result_dict"]

FORMAT = 1
"""Version of the record's layout."""


@dataclass(frozen=True, slots=True)
class Binding:
    """What a record is evidence of: it counts for this question about this document and no other."""

    doc_id: str
    doc_path: str | None
    schema_digest: str | None
    """SHA-256 of the question's canonical JSON; None where the schema could not be read."""


@dataclass(frozen=True, slots=True)
class Record:
    """One document's record, as `records/<name>.json` holds it."""

    binding: Binding
    provider: str
    settings_digest: str
    """Names the provider and all its resolved options, which the run's own record spells out."""
    docassay: str
    """The version that wrote it."""
    started: str
    """UTC, ISO 8601."""
    document_sha256: str | None
    """Of the document's bytes; None where it could not be read."""
    result: ExtractionResult
    input_fault: bool = False
    """Whether nothing was sent because the document or the schema could not be used."""

    def as_dict(self) -> dict[str, object]:
        """The record as a JSON object; the extraction itself is in the predictions folder."""
        return {
            "format": FORMAT,
            **asdict(self.binding),
            "provider": self.provider,
            "settings_digest": self.settings_digest,
            "docassay": self.docassay,
            "started": self.started,
            "document_sha256": self.document_sha256,
            "input_fault": self.input_fault,
            **result_dict(self.result),
        }

    def dump(self) -> bytes:
        """The record's file."""
        return jsontext.dump_bytes(self.as_dict(), indent=2) + b"\n"


def result_dict(result: ExtractionResult) -> dict[str, object]:
    """A result's evidence as a JSON object: all but the extraction."""
    return {
        "outcome": result.outcome.value,
        "error": result.error,
        "transient": result.transient,
        "job_id": result.job_id,
        "cost": None if result.cost is None else asdict(result.cost),
        "seconds": round(result.seconds, 6),
        "attempts": result.attempts,
        "schema_sent": result.schema_sent,
        "details": dict(result.details),
        "exchanges": [asdict(exchange) for exchange in result.exchanges],
    }


@dataclass(frozen=True, slots=True)
class Kept:
    """What a resumed run needs to know of a record."""

    binding: Binding
    outcome: Outcome
    error: str | None
    transient: bool
    input_fault: bool
    job_id: str | None
    cost: Cost | None
    seconds: float


def read_kept(data: bytes, *, where: str) -> Kept:
    """The facts in a record's file. Raises DocumentError for what is no record of this format."""
    found = load_json(data, where=where)
    if not isinstance(found, Mapping) or found.get("format") != FORMAT:
        raise DocumentError(f"{where} is no prediction record of format {FORMAT}; move it away to predict again")
    try:
        return Kept(
            Binding(found["doc_id"], found["doc_path"], found["schema_digest"]),
            Outcome(found["outcome"]),
            found["error"],
            found["transient"],
            found["input_fault"],
            found["job_id"],
            _cost(found["cost"]),
            float(found["seconds"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DocumentError(f"{where} is no whole prediction record: {error!r}; move it away") from None


def error_document(reason: str) -> dict[str, str]:
    """What stands in the predictions folder for a document that has no extraction."""
    return {"__error__": reason}


def _cost(found: Any) -> Cost | None:
    if found is None or not math.isfinite(found["amount"]):
        return None
    return Cost(float(found["amount"]), cast(Literal["USD", "credits"], found["unit"]), str(found["source"]))
