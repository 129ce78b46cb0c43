"""Decides which columns a run's tables have, with which types, and reads them back in manifest order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docassay.core.columns import Column, Kind, arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SCORED", "SCORES", "STATUSES", "VERDICTS", "scores_schema", "verdicts_schema"]

SCORED = "scored"
NOTHING_TO_SCORE = "nothing_to_score"
ERROR = "error"
STATUSES = (SCORED, NOTHING_TO_SCORE, ERROR)

SCORES = (
    Column("status", Kind.TEXT, "scored, nothing_to_score or error"),
    Column("error", Kind.TEXT, "why there is no score: one line for a fault of the input, a traceback for ours"),
    Column("accuracy", Kind.NUMBER, "matched / total, in 0-1"),
    Column("precision", Kind.NUMBER, "matched / asserted, in 0-1"),
    Column("recall", Kind.NUMBER, "matched / gold, in 0-1"),
    Column("f1", Kind.NUMBER, "harmonic mean of precision and recall, in 0-1"),
    Column("addresses_found", Kind.NUMBER, "(matched + misread) / total, in 0-1"),
    Column("addresses_read_right", Kind.NUMBER, "matched / (matched + misread), in 0-1"),
    Column("total", Kind.COUNT, "addresses with a verdict"),
    Column("matched", Kind.COUNT, "addresses on both sides, values equal"),
    Column("misread", Kind.COUNT, "addresses on both sides, values not equal"),
    Column("unfound", Kind.COUNT, "addresses of the ground truth that the prediction lacks"),
    Column("fabricated", Kind.COUNT, "addresses of the prediction alone, in slots that the schema offers"),
    Column("invented_item", Kind.COUNT, "addresses under predicted rows that paired with nothing"),
    Column("invented_field", Kind.COUNT, "addresses of the prediction alone that the schema does not offer"),
    Column("asserted", Kind.COUNT, "addresses of the prediction"),
    Column("gold", Kind.COUNT, "addresses of the ground truth"),
    Column("gt_rows", Kind.COUNT, "object rows in the ground truth"),
    Column("pred_rows", Kind.COUNT, "object rows in the prediction"),
    Column("matched_rows", Kind.COUNT, "object rows that were paired"),
    Column("matching_exact", Kind.FLAG, "whether every pairing is optimal"),
    Column("approximated", Kind.COUNTS, "sizes of the arrays whose pairing is not optimal"),
    Column("skipped_open_maps", Kind.TEXTS, "open maps whose undeclared keys were not scored"),
    Column("signature", Kind.TEXT, "metric, version and every option that could change the row"),
    Column("seconds", Kind.NUMBER, "time spent parsing and scoring the document, in seconds"),
)
"""A run's scores, one row per manifest row; the manifest's own columns follow, in their order."""

VERDICTS = (
    Column("doc_id", Kind.TEXT, "the document"),
    Column("address", Kind.TEXT, "where the value stands, such as rows[0].price"),
    Column("field", Kind.TEXT, "the address with every index as [*]"),
    Column("verdict", Kind.TEXT, "matched, misread, unfound, fabricated, invented_item or invented_field"),
    Column("gold_raw", Kind.TEXT, "the ground truth's value as JSON text; null where it has no such address"),
    Column("pred_raw", Kind.TEXT, "the prediction's value as JSON text; null where it has no such address"),
    Column("gold_canon", Kind.TEXT, "what the ground truth's value is compared as"),
    Column("pred_canon", Kind.TEXT, "what the prediction's value is compared as"),
)
"""A run's verdicts, one row per address, documents in manifest order."""


def scores_schema(manifest: pa.Schema) -> pa.Schema:
    """The schema of every scores part: the declared columns, then the manifest's own."""
    import pyarrow as pa

    return pa.schema([*arrow_schema(SCORES), *manifest])


def verdicts_schema() -> pa.Schema:
    """The schema of every verdicts part."""
    return arrow_schema(VERDICTS)
