"""Decides what the local page of an extraction run answers: each question of the page is one function here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from docassay.errors import DocassayError, InputError
from docassay.pipelines.run_data import Run, connect, quoted
from docassay.report import numbers
from docassay.report.difference import Marked, mark, plain
from docassay.report.reasons import LONG, VERDICT_WORDS, metric_of, reason, value_of
from docassay.report.text import visible
from docassay.report.view.pdf import PdfFiles
from docassay.report.view.query import MAX_ROWS, Query, one, whole
from docassay.report.view.tree import TreeLine, tree_lines
from docassay.report.view.verdict_table import Filters, FullVerdict, VerdictTable

WHOLE = 20_000
"""Characters of a value that one row alone shows."""


class ExtractionView:
    """One extraction run, ready to be asked; safe to be called from several threads."""

    title = "extraction"

    def __init__(self, run: Run, docs: bool = False, root: str | None = None) -> None:
        if not run.keeps_verdicts:
            raise InputError(
                f"{run.path} was scored without verdicts, so there are no values to show; score it with them"
            )
        self.table = VerdictTable(run)
        self.metric = metric_of(self.table.documents.signature)
        self._paths = _document_paths(run, root) if docs else {}
        self._pdf = PdfFiles() if docs else None

    def routes(self) -> dict[str, Callable[[Query], Any]]:
        """The questions that are answered in JSON, by name."""
        return {
            "run": lambda query: self.about(),
            "verdicts": self.verdicts,
            "facets": self.facets,
            "verdict": self.verdict,
            "step": self.step,
            "documents": self.document_list,
            "tree": self.tree,
            "find": self.find,
        }

    def about(self) -> dict[str, Any]:
        """What the run is: name, signature, coverage, and the words of the verdicts."""
        documents = self.table.documents
        return {
            "name": visible(documents.run.name),
            "signature": visible(documents.signature),
            "metric": self.metric,
            "documents": len(documents),
            "scored": int(documents.scored.sum()),
            "failed": int(documents.failed.sum()),
            "verdicts": len(self.table),
            "accuracy": numbers.percent(_mean(documents.with_failures_as_zero("accuracy"))),
            "words": VERDICT_WORDS,
            "docs": self._pdf is not None,
            "finished": bool(documents.run.summary),
        }

    def verdicts(self, query: Query) -> dict[str, Any]:
        """A stretch of rows: `offset`, `limit`, `sort` and the filters; with `id`, the stretch that holds that row."""
        filters, sort = filters_of(query), one(query, "sort")
        limit = max(1, min(whole(query, "limit", 100), MAX_ROWS))
        offset = whole(query, "offset", 0)
        if "id" in query:
            place = self.table.position(filters, sort, whole(query, "id", 0))
            offset = offset if place is None else place - place % limit
        page = self.table.page(filters, sort, offset, limit)
        return {"total": page.total, "offset": page.offset, "rows": [_row(asdict(row)) for row in page.rows]}

    def facets(self, query: Query) -> dict[str, Any]:
        """The values of every filter with their counts; `find_field` and `find_document` narrow the long lists."""
        wanted = {"field": one(query, "find_field"), "document": one(query, "find_document")}
        found = self.table.facets(filters_of(query), wanted)
        return {
            name: {"values": [[value, visible(value), n] for value, n in facet.values], "more": facet.more}
            for name, facet in found.items()
        }

    def verdict(self, query: Query) -> dict[str, Any]:
        """One row with its whole values, what differs marked, and how each value is read."""
        row = self.table.full(whole(query, "id", -1))
        if row is None:
            raise InputError("there is no such row")
        gold, predicted = _both(row)
        return {
            "id": row.id,
            "doc_id": row.doc_id,
            "shown_id": visible(row.doc_id),
            "address": visible(row.address),
            "field": row.field,
            "verdict": row.verdict,
            "reason": visible(reason(row.verdict, row.gold_raw, row.pred_raw, self.metric)),
            "gold": gold,
            "predicted": predicted,
            "gold_reading": self._reading(row.gold_raw),
            "predicted_reading": self._reading(row.pred_raw),
        }

    def step(self, query: Query) -> dict[str, Any]:
        """The next or previous row, error, document or field; `id` is null where there is none."""
        current = whole(query, "id", -1) if "id" in query else None
        found = self.table.step(
            filters_of(query), one(query, "sort"), current, one(query, "kind") or "row", one(query, "to") != "previous"
        )
        return {"id": None, "place": None} if found is None else {"id": found[0], "place": found[1]}

    def document_list(self, query: Query) -> dict[str, Any]:
        """Documents with status, accuracy and reason; `sort` is accuracy, wrong, doc_id or nothing (manifest order)."""
        documents, text, suite = self.table.documents, one(query, "q").casefold(), one(query, "suite")
        rows = [
            row
            for row in range(len(documents))
            if (not suite or documents.suite[row] == suite) and text in _haystack(documents, row)
        ]
        rows = _sorted_documents(documents, rows, one(query, "sort"))
        offset, limit = whole(query, "offset", 0), max(1, min(whole(query, "limit", 100), MAX_ROWS))
        offset = max(0, min(offset, max(0, len(rows) - 1)))
        shown = rows[offset : offset + limit]
        return {"total": len(rows), "offset": offset, "rows": [_document(documents, row) for row in shown]}

    def tree(self, query: Query) -> dict[str, Any]:
        """A document as a tree; `only=wrong` leaves out what is matched throughout."""
        doc_id = one(query, "document")
        place = self.table.place_of(doc_id)
        if place is None:
            raise InputError("there is no such document")
        lines = tree_lines(self.table.of_document(doc_id), one(query, "only") == "wrong")
        return {"document": _document(self.table.documents, place), "lines": [_tree_line(line) for line in lines]}

    def find(self, query: Query) -> dict[str, Any]:
        """Where a row's values stand on the pages of its document."""
        row = self.table.full(whole(query, "id", -1))
        if self._pdf is None or row is None:
            raise InputError("there is no such row, or the page was started without --docs")
        path = self._path(row.doc_id)
        sides = {}
        for side, raw in (("gold", row.gold_raw), ("predicted", row.pred_raw)):
            hits = self._pdf.find(path, raw)
            sides[side] = {
                "spelling": hits.spelling and visible(hits.spelling),
                "boxes": [asdict(b) for b in hits.boxes],
            }
        return {"document": self.table.place_of(row.doc_id), "pages": hits.pages, **sides}

    def page_png(self, document: int, page: int) -> bytes | None:
        """A page of the document in that row of the scores table; the request names no path."""
        if self._pdf is None or not 0 <= document < len(self.table.documents):
            return None
        return self._pdf.page_png(self._path(self.table.documents.doc_id[document]), page)

    def _path(self, doc_id: str) -> Path:
        path = self._paths.get(doc_id)
        if path is None:
            raise InputError("the run's manifest names no doc_path for this document")
        return path

    def _reading(self, raw: str | None) -> dict[str, Any] | None:
        if raw is None or len(raw) > LONG:
            return None
        from docassay.extraction.values import Reading, explain

        try:
            reading = explain(value_of(raw, self.metric), metric=self.metric)
        except DocassayError:
            return None
        assert isinstance(reading, Reading)
        return {
            "route": reading.route,
            "canonical": None if reading.canonical is None else visible(reading.canonical),
            "steps": [
                {"name": s.name, "before": visible(s.before), "after": visible(s.after), "sentence": s.sentence}
                for s in reading.steps
            ],
        }


def filters_of(query: Query) -> Filters:
    """The filters of a request."""
    return Filters(
        verdicts=tuple(sorted(set(query.get("verdict", [])))),
        field=one(query, "field"),
        suite=one(query, "suite"),
        document=one(query, "document"),
        text=one(query, "q"),
    )


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose foreign text is visible; the raw id and field stay beside it, to filter by."""
    shown = {name: None if row[name] is None else visible(row[name]) for name in ("address", "gold", "predicted")}
    return {**row, **shown, "shown_id": visible(row["doc_id"])}


def _both(row: FullVerdict) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    gold, predicted = row.gold_raw, row.pred_raw
    if row.verdict == "misread" and gold is not None and predicted is not None:
        left, right = mark(gold, predicted, 2000)
        return _marked(left), _marked(right)
    return (
        None if gold is None else _marked(plain(gold, WHOLE)),
        None if predicted is None else _marked(plain(predicted, WHOLE)),
    )


def _marked(value: Marked) -> dict[str, Any]:
    return {"parts": [[p.text, p.changed] for p in value.parts], "before": value.before, "after": value.after}


def _tree_line(line: TreeLine) -> list[Any]:
    """Compact, since a document may have a hundred thousand lines."""
    values = (None if text is None else visible(text[:120]) for text in (line.gold, line.predicted))
    return [line.depth, visible(line.label), line.row, line.verdict, *values, line.wrong, line.values]


def _document(documents: Any, row: int) -> dict[str, Any]:
    accuracy, total, matched = (documents.numbers[name][row] for name in ("accuracy", "total", "matched"))
    return {
        "doc_id": documents.doc_id[row],
        "shown_id": visible(documents.doc_id[row]),
        "suite": documents.suite[row],
        "status": documents.status[row],
        "error": documents.error[row] and visible(documents.error[row][:2000]),
        "accuracy": None if np.isnan(accuracy) else numbers.percent(float(accuracy)),
        "wrong": None if np.isnan(total) else int(total - matched),
        "total": None if np.isnan(total) else int(total),
    }


def _haystack(documents: Any, row: int) -> str:
    parts = (documents.doc_id[row], documents.suite[row], documents.status[row], documents.error[row])
    return "\n".join(part for part in parts if part).casefold()


def _sorted_documents(documents: Any, rows: list[int], sort: str) -> list[int]:
    column, down = sort.lstrip("-"), sort.startswith("-")
    if column == "doc_id":
        return sorted(rows, key=lambda row: documents.doc_id[row], reverse=down)
    if column not in ("accuracy", "wrong"):
        return rows
    total = documents.numbers["total"]
    figure = documents.numbers["accuracy"] if column == "accuracy" else total - documents.numbers["matched"]
    # What has no figure stands first whichever way: it is what needs a look.
    return sorted(rows, key=lambda row: (not np.isnan(figure[row]), -figure[row] if down else figure[row]))


def _mean(values: Any) -> float | None:
    return None if np.isnan(values).all() else float(np.nanmean(values))


def _document_paths(run: Run, root: str | None) -> dict[str, Path]:
    """Where each document's own file lies, by the manifest's `doc_path` column.

    Raises:
        InputError: the run has no such column.
    """
    base = Path(root or _root_of(run))
    with connect() as connection:
        table = connection.read_parquet(run.scores, hive_partitioning=False)
        if "doc_path" not in table.columns:
            raise InputError(
                f"{run.path} has no column doc_path, so its documents cannot be shown; score a manifest that has one"
            )
        rows = table.project(f"doc_id::VARCHAR, {quoted('doc_path')}::VARCHAR").fetchall()
    return {doc_id: base / path for doc_id, path in rows if path}


def _root_of(run: Run) -> str:
    root = run.record.get("root")
    return root if isinstance(root, str) and root else "."
