"""Builds small extraction runs on disk from verdicts, with the declared tables, so that readers can be tested alone."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from docassay.runs.tables import scores_schema, verdicts_schema

SIGNATURE = "sound/1 order:free docassay:0.1.0"
GOLD = ("matched", "misread", "unfound")
ASSERTED = ("matched", "misread", "fabricated", "invented_item", "invented_field")
MANIFEST = pa.schema(
    [
        pa.field("doc_id", pa.string()),
        pa.field("gt_path", pa.string()),
        pa.field("pred_path", pa.string()),
        pa.field("schema", pa.string()),
        pa.field("suite", pa.string()),
        pa.field("doc_path", pa.string()),
    ]
)


@dataclass(frozen=True)
class Doc:
    """One manifest row and its verdicts: (address, verdict, gold value, predicted value)."""

    doc_id: str
    verdicts: Sequence[tuple[str, str, Any, Any]] = ()
    suite: str | None = None
    status: str = "scored"
    error: str | None = None
    seconds: float = 0.01
    extra: Mapping[str, Any] = field(default_factory=dict)


def write_run(
    path: Path, documents: Sequence[Doc], *, signature: str = SIGNATURE, record: Mapping[str, Any] | None = None
) -> Path:
    """A run directory in the declared layout, in one part per table."""
    (path / "scores.parquet").mkdir(parents=True)
    (path / "verdicts.parquet").mkdir()
    scores = [_score_row(document, signature) for document in documents]
    verdicts = [row for document in documents for row in _verdict_rows(document)]
    _write(path / "scores.parquet/part-00000.parquet", scores, scores_schema(MANIFEST))
    _write(path / "verdicts.parquet/part-00000.parquet", verdicts, verdicts_schema())
    run = {"signature": signature, "options": {"suite_column": "suite"}, "digests": {"manifest": "sha256:" + "0" * 64}}
    (path / "run.json").write_text(json.dumps({**run, **(record or {})}))
    return path


def _score_row(document: Doc, signature: str) -> dict[str, Any]:
    manifest = {"doc_id": document.doc_id, "suite": document.suite, "schema": "{}", **document.extra}
    row = {"status": document.status, "error": document.error, "signature": signature, "seconds": document.seconds}
    if document.status == "error":
        return {**row, **manifest}
    counts = Counter(verdict for _, verdict, _, _ in document.verdicts)
    matched, total = counts["matched"], sum(counts.values())
    gold, asserted = sum(counts[v] for v in GOLD), sum(counts[v] for v in ASSERTED)
    found = matched + counts["misread"]
    precision, recall = _ratio(matched, asserted), _ratio(matched, gold)
    f1 = None if total == 0 else 2 * matched / (asserted + gold)
    names = ("matched", "misread", "unfound", "fabricated", "invented_item", "invented_field")
    return {
        **row,
        **{name: counts[name] for name in names},
        "total": total,
        "gold": gold,
        "asserted": asserted,
        "accuracy": _ratio(matched, total),
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "addresses_found": _ratio(found, total),
        "addresses_read_right": _ratio(matched, found),
        "gt_rows": 0,
        "pred_rows": 0,
        "matched_rows": 0,
        "matching_exact": True,
        "approximated": [],
        "skipped_open_maps": [],
        **manifest,
    }


def _verdict_rows(document: Doc) -> list[dict[str, Any]]:
    rows = []
    for address, verdict, gold, predicted in document.verdicts:
        has_gold, has_pred = verdict in GOLD, verdict in ASSERTED
        rows.append(
            {
                "doc_id": document.doc_id,
                "address": address,
                "field": re.sub(r"\[p?\d+\]", "[*]", address),
                "verdict": verdict,
                "gold_raw": json.dumps(gold, ensure_ascii=False) if has_gold else None,
                "pred_raw": json.dumps(predicted, ensure_ascii=False) if has_pred else None,
                "gold_canon": f"t:{gold}" if has_gold else None,
                "pred_canon": (f"t:{gold}" if verdict == "matched" else f"t:{predicted}") if has_pred else None,
            }
        )
    return rows


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _write(path: Path, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)


@pytest.fixture(scope="session")
def doc() -> type[Doc]:
    """The record of one document to build runs from."""
    return Doc


@pytest.fixture(scope="session")
def run_writer() -> Callable[..., Path]:
    """Writes a run directory from documents."""
    return write_run
