"""Decides what a blind checker sees, and whether its answer can be used.

The checker sees inclusion and exclusion texts under opaque numbers, and original text as numbered segments; no claim,
label, statistic, question, document id or metadata. It names segments; the program copies the text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from docassay.discovery.population import STATES
from docassay.discovery.segments import batches, segments
from docassay.errors import ReviewError

__all__ = [
    "Annotation",
    "BlindBatch",
    "BlindDefinition",
    "answer_schema",
    "blind_batches",
    "blind_contract",
    "blind_payload",
    "check_annotations",
    "read_annotations",
    "read_labels",
]


@dataclass(frozen=True, slots=True)
class BlindDefinition:
    """One condition as the checker sees it; its number is its position."""

    inclusion: str
    exclusion: str


@dataclass(frozen=True, slots=True)
class BlindBatch:
    """Documents that are sent together; `doc_ids` never leave the program."""

    number: int
    doc_ids: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    """Per document, its segments."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What a checker said of one document: per condition a state, and the segment it cited (empty where none)."""

    doc_id: str
    states: tuple[str, ...]
    quotes: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """As it is kept in a review."""
        return {"doc_id": self.doc_id, "states": list(self.states), "quotes": list(self.quotes)}


def blind_batches(doc_ids: Sequence[str], texts: Sequence[str]) -> tuple[BlindBatch, ...]:
    """The sampled documents in batches, in sample order."""
    return tuple(
        BlindBatch(number, tuple(doc_ids[i] for i in members), tuple(segments(texts[i]) for i in members))
        for number, members in enumerate(batches(len(text) for text in texts))
    )


def blind_payload(definitions: Sequence[BlindDefinition], batch: BlindBatch) -> dict[str, Any]:
    """All that the checker is sent besides the fixed prompt, as JSON values."""
    return {
        "definitions": [
            {"id": number, "inclusion": definition.inclusion, "exclusion": definition.exclusion}
            for number, definition in enumerate(definitions)
        ],
        "documents": [
            {"index": index, "segments": [[number, text] for number, text in enumerate(texts)]}
            for index, texts in enumerate(batch.texts)
        ],
    }


def blind_contract(conditions: int, documents: int) -> str:
    """The line after the data: the exact shape of the answer, which holds no word of the material."""
    example = json.dumps([0, *(["negative", None] * conditions)])
    return (
        f"Label {documents} documents (index 0 to {documents - 1}) against {conditions} definitions: "
        f"{documents} rows of {1 + 2 * conditions} entries, such as {example}."
    )


def answer_schema(conditions: int) -> dict[str, Any]:
    """JSON Schema of the checker's answer, `{"labels": [[index, state, segment or null, ...], ...]}`."""
    cell = {"anyOf": [{"type": "integer"}, {"type": "string", "enum": list(STATES)}, {"type": "null"}]}
    length = 1 + 2 * conditions
    row = {"type": "array", "items": cell, "minItems": length, "maxItems": length}
    return {
        "type": "object",
        "properties": {"labels": {"type": "array", "items": row}},
        "required": ["labels"],
        "additionalProperties": False,
    }


def read_labels(response: object, batch: BlindBatch, conditions: int) -> tuple[Annotation, ...]:
    """The annotations in a checker's parsed answer, in batch order.

    Raises:
        ReviewError: the answer cannot be used: code answer_shape, coverage, row_shape, state, segment or
            positive_without_segment. A blank segment is no evidence.
    """
    if not isinstance(response, dict) or set(response) != {"labels"} or not isinstance(response["labels"], list):
        raise ReviewError("answer_shape", 'the answer is not an object with the one key "labels", a list')
    rows: dict[int, Annotation] = {}
    for row in response["labels"]:
        index = _row_index(row, conditions, len(batch.doc_ids))
        if index in rows:
            raise ReviewError("coverage", f"document {index} is labelled more than once")
        rows[index] = _annotation(row, batch.doc_ids[index], batch.texts[index])
    lacking = [index for index in range(len(batch.doc_ids)) if index not in rows]
    if lacking:
        raise ReviewError("coverage", f"each document is labelled exactly once; missing: {lacking[:10]}")
    return tuple(rows[index] for index in range(len(batch.doc_ids)))


def read_annotations(stored: object) -> tuple[Annotation, ...]:
    """Annotations out of a review file; shapes only, see `check_annotations` for the rest.

    Raises:
        ReviewError: code annotation_shape.
    """
    if not isinstance(stored, list):
        raise ReviewError("annotation_shape", "the stored annotations are not a list")
    return tuple(_stored_annotation(row) for row in stored)


def check_annotations(annotations: Sequence[Annotation], texts: Mapping[str, str], conditions: int) -> None:
    """That stored annotations cover exactly the sample, and that each quote is in its document's text.

    Args:
        annotations: One per sampled document, any order.
        texts: Sampled document id → original text.
        conditions: Number of conditions over all findings.

    Raises:
        ReviewError: code coverage, annotation_shape or annotation_quote.
    """
    found = [annotation.doc_id for annotation in annotations]
    if len(found) != len(texts) or set(found) != set(texts):
        odd = sorted(set(found) ^ set(texts))[:5]
        raise ReviewError("coverage", f"the blind check does not cover exactly the audit sample; differing: {odd}")
    for annotation in annotations:
        _check_annotation(annotation, texts[annotation.doc_id], conditions)


def _row_index(row: object, conditions: int, documents: int) -> int:
    length = 1 + 2 * conditions
    if not isinstance(row, list) or len(row) != length or type(row[0]) is not int:
        raise ReviewError("row_shape", f"a row is [document index, then a state and a segment for each of the "
                          f"{conditions} definitions], {length} long; found {str(row)[:120]}")  # fmt: skip
    if not 0 <= row[0] < documents:
        raise ReviewError("coverage", f"there is no document {row[0]}; indices run from 0 to {documents - 1}")
    return row[0]


def _annotation(row: Sequence[object], doc_id: str, texts: Sequence[str]) -> Annotation:
    states, quotes = [], []
    for state, segment in zip(row[1::2], row[2::2], strict=True):
        states.append(_state(state, row[0]))
        quotes.append(_quote(segment, texts, row[0]))
        if state == "positive" and not quotes[-1].strip():
            raise ReviewError("positive_without_segment", f"document {row[0]}: a positive cites a segment with text")
    return Annotation(doc_id, tuple(states), tuple(quotes))


def _state(state: object, index: object) -> str:
    if not isinstance(state, str) or state not in STATES:
        raise ReviewError("state", f"document {index}: {str(state)[:40]!r} is not one of {', '.join(STATES)}")
    return state


def _quote(segment: object, texts: Sequence[str], index: object) -> str:
    if segment is None:
        return ""
    if type(segment) is not int or not 0 <= segment < len(texts):
        raise ReviewError("segment", f"document {index} has no segment {str(segment)[:40]!r}; it has {len(texts)}")
    return texts[segment]


def _stored_annotation(row: object) -> Annotation:
    if not isinstance(row, dict) or set(row) != {"doc_id", "states", "quotes"} or not isinstance(row["doc_id"], str):
        raise ReviewError("annotation_shape", "a stored annotation is not {doc_id, states, quotes}")
    states, quotes = row["states"], row["quotes"]
    if not _all_text(states) or not _all_text(quotes):
        raise ReviewError("annotation_shape", f"annotation of {row['doc_id']!r}: states and quotes are lists of text")
    return Annotation(row["doc_id"], tuple(states), tuple(quotes))


def _all_text(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _check_annotation(annotation: Annotation, text: str, conditions: int) -> None:
    where = f"annotation of {annotation.doc_id!r}"
    if len(annotation.states) != conditions or len(annotation.quotes) != conditions:
        raise ReviewError("annotation_shape", f"{where}: expected {conditions} states and quotes")
    for state, quote in zip(annotation.states, annotation.quotes, strict=True):
        if state not in STATES:
            raise ReviewError("annotation_shape", f"{where}: {state!r} is not one of {', '.join(STATES)}")
        if state == "positive" and not quote.strip():
            raise ReviewError("annotation_quote", f"{where}: a positive has no quote")
        if quote not in text:
            raise ReviewError("annotation_quote", f"{where}: the quote {quote[:60]!r} is not in the document")
