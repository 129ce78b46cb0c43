"""Decides what is told of a table's ground truth: what each shows by itself, and where all systems agree against it.

What one ground truth shows is decided in `extraction.lint`. A file that cannot be read is a finding like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from docassay.errors import (
    DocassayError,
    DocumentError,
    InputError,
    ManifestError,
    MissingDependencyError,
    RunMismatchError,
)
from docassay.extraction.document import load_json
from docassay.extraction.lint import CODES, LintFinding, lint
from docassay.pipelines.pairing import what_matters
from docassay.pipelines.run_data import Run, attach, connect, open_runs
from docassay.runs.files import default_root, read_document, resolve, unpack
from docassay.runs.manifest import Demands, column_faults
from docassay.runs.sources import open_source

if TYPE_CHECKING:
    import duckdb

__all__ = ["TABLE_CODES", "LintReport", "TableFinding", "lint_table"]

TABLE_CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "unreadable": "the ground truth or its schema cannot be read, so nothing else is known of it",
        **CODES,
        "all_read_alike": "every system reads the same other value: is the ground truth right?",
        "all_miss": "no system finds the value: does the document state it?",
        "all_add": "every system reports the same value where the ground truth has none: is it left out?",
    }
)
"""All codes and what they mean: those of one document, and those that only a table can tell."""

NEEDED = ("doc_id", "gt_path", "schema")


@dataclass(frozen=True, slots=True)
class TableFinding:
    """One thing to look at, and the document it is in. `found` is what stands there."""

    doc_id: str
    code: str
    address: str
    field: str
    found: str
    advice: str


@dataclass(frozen=True, slots=True)
class LintReport:
    """What was looked at and how much was found; findings beyond the examples went to the caller of `lint_table`."""

    rows: int
    """Rows of the manifest."""
    linted: int
    """Distinct ground truths (with their schema) among them; the others were linted with an earlier row."""
    runs: tuple[str, ...]
    """The runs that were asked where all agree against the ground truth."""
    signature: str | None
    """By which metric and options these were scored; None where no run was asked."""
    counts: Mapping[str, int]
    """Findings per code, in the order of TABLE_CODES; codes without any are left out."""
    documents: Mapping[str, int]
    """Documents per code."""
    examples: Mapping[str, tuple[TableFinding, ...]]
    """The first few of each code, from different fields or documents."""


def lint_table(
    manifest: str | Path,
    *,
    root: str | Path | None = None,
    runs: Sequence[str | Path] = (),
    limit: int | None = None,
    examples: int = 3,
    each: Callable[[TableFinding], None] = lambda finding: None,
    progress: Callable[[int], None] = lambda rows: None,
) -> LintReport:
    """Lint the ground truth of a table, each distinct pair of a `gt_path` and a schema once.

    Memory holds one document and two numbers (some 150 bytes) per row: findings are counted and handed on one by one.

    Args:
        manifest: a table with the columns doc_id, gt_path and schema; others are not looked at.
        root: where relative paths start; by default DOCASSAY_ROOT, OEB_ROOT or the working directory.
        runs: none, or finished runs of at least two systems over these documents, scored alike.
        limit: only the first rows.
        examples: how many findings of each code the report keeps.
        each: called with every finding, in order.
        progress: called with the number of rows done.

    Raises:
        ManifestError: the table cannot be used.
        InputError, RunMismatchError: runs that are none, that are fewer than two, or that were not scored alike.
        MissingDependencyError: jsonschema, or for runs duckdb, is not installed.
    """
    opened = _comparable(runs)
    tally = _Tally(examples)
    walk = _Walk(str(manifest), default_root() if root is None else str(root), limit, progress)
    for finding in chain(walk.findings(), _agreements(opened, walk.seen_documents)):
        tally.add(finding)
        each(finding)
    return LintReport(
        rows=walk.rows,
        linted=walk.linted,
        runs=tuple(run.name for run in opened),
        signature=_signature(opened[0]) if opened else None,
        counts=tally.in_order(tally.counts),
        documents=tally.in_order(tally.documents),
        examples={code: tuple(tally.examples[code]) for code in TABLE_CODES if code in tally.examples},
    )


class _Tally:
    """Counts findings and keeps the first few of each code."""

    def __init__(self, most: int) -> None:
        self.counts: Counter[str] = Counter()
        self.documents: Counter[str] = Counter()
        self.examples: dict[str, list[TableFinding]] = {}
        self._most = most
        self._last: dict[str, str] = {}

    def add(self, finding: TableFinding) -> None:
        code = finding.code
        self.counts[code] += 1
        if self._last.get(code) != finding.doc_id:
            self._last[code] = finding.doc_id
            self.documents[code] += 1
        kept = self.examples.setdefault(code, [])
        if len(kept) < self._most and all((k.doc_id, k.field) != (finding.doc_id, finding.field) for k in kept):
            kept.append(finding)

    def in_order(self, counts: Counter[str]) -> Mapping[str, int]:
        return {code: counts[code] for code in TABLE_CODES if counts[code]}


# The documents


class _Walk:
    """Goes through a manifest once and lints each ground truth that it has not met yet."""

    def __init__(self, manifest: str, root: str, limit: int | None, progress: Callable[[int], None]) -> None:
        self.rows = 0
        self.linted = 0
        self._manifest = manifest
        self._root = root
        self._limit = limit
        self._progress = progress
        self._linted: set[int] = set()
        self._documents: set[int] = set()

    def findings(self) -> Iterator[TableFinding]:
        for doc_id, gt_path, schema in self._read():
            self._documents.add(_number(doc_id))
            path = resolve(gt_path, self._root) if gt_path else ""
            key = _number(path, repr(schema))
            if not path or key not in self._linted:
                self._linted.add(key)
                self.linted += 1
                for finding in _lint_one(path, schema):
                    yield TableFinding(
                        doc_id, finding.code, finding.address, finding.field, finding.found, finding.advice
                    )
            self.rows += 1
            self._progress(self.rows)

    def seen_documents(self, doc_id: str) -> bool:
        """Whether the manifest names this document."""
        return _number(doc_id) in self._documents

    def _read(self) -> Iterator[tuple[str, str | None, object]]:
        source = open_source(self._manifest)
        faults = column_faults(source.schema, Demands(NEEDED))
        if faults:
            raise ManifestError(f"{self._manifest}: {'; '.join(faults)}")
        left = self._limit
        for batch in source.batches():
            part = batch if left is None else batch.slice(0, left)
            for row in zip(*(part.column(name).to_pylist() for name in NEEDED), strict=True):
                yield str(row[0]), row[1], row[2]
            if left is not None:
                left -= len(part)
                if left <= 0:
                    return


def _number(*texts: str) -> int:
    """A number of 64 bits that stands for texts, to remember many of them."""
    text = "\0".join(texts)
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _lint_one(path: str, schema: object) -> list[LintFinding]:
    try:
        return lint(_gold(path), _schema(schema))
    except MissingDependencyError:
        raise
    except (DocassayError, MemoryError) as error:
        reason = " ".join(str(error).split()) or "there is not enough memory"
        return [LintFinding("unreadable", "", "", reason, "mend the file, or the manifest's row")]


def _gold(path: str) -> object:
    if not path:
        raise DocumentError("gt_path is empty")
    content = read_document(path)
    if content.data is None:
        raise DocumentError(f"gt_path: {content.error}")
    return load_json(unpack(content.data, "gt_path"), where="gt_path", exact=True)


def _schema(value: Any) -> object:
    """A manifest's schema: JSON text, its bytes, or a value that the table holds as such."""
    if value is None or value in ("", b""):
        raise DocumentError("schema is empty")
    if isinstance(value, str):
        return load_json(value.encode("utf-8", "surrogatepass"), where="schema")
    if isinstance(value, bytes):
        return load_json(unpack(value, "schema"), where="schema")
    return _without_nulls(value)


def _without_nulls(value: object) -> object:
    """A struct of a table has every key that any row has; those without a value were not written."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_nulls(inner) for inner in value]
    return value


# Several systems


def _comparable(paths: Sequence[str | Path]) -> list[Run]:
    """The runs, opened; all of one metric and with the same options."""
    if not paths:
        return []
    if len(paths) == 1:
        raise InputError("one run alone cannot tell where all systems agree; name two or more")
    runs = open_runs([Path(path) for path in paths])
    first = runs[0]
    for other in runs[1:]:
        mine, theirs = _signature(first), _signature(other)
        if what_matters(mine) != what_matters(theirs):
            raise RunMismatchError(
                f"{first.name} ({mine or 'no signature'}) and {other.name} ({theirs or 'no signature'}) were not "
                "scored alike; score both with the same metric and options"
            )
    return runs


def _signature(run: Run) -> str:
    return str(run.record.get("signature", ""))


def _agreements(runs: Sequence[Run], listed: Callable[[str], bool]) -> Iterator[TableFinding]:
    """Addresses of listed documents that all runs judge alike, and against the ground truth."""
    if not runs:
        return
    with connect() as connection:
        attach(connection, runs)
        yield from (finding for finding in _agreed(connection, runs) if listed(finding.doc_id))


def _agreed(connection: duckdb.DuckDBPyConnection, runs: Sequence[Run]) -> Iterator[TableFinding]:
    everyone = " UNION ALL ".join(
        f"SELECT {index} AS run, doc_id, address, field, verdict, gold_raw, pred_raw, gold_canon, pred_canon "
        f"FROM verdicts_{index} WHERE verdict IN ('misread', 'unfound', 'fabricated')"
        for index in range(len(runs))
    )
    answer = connection.execute(
        "SELECT verdict, doc_id, address, any_value(field), any_value(gold_raw), "
        f"any_value(pred_raw ORDER BY run) FROM ({everyone}) "
        "GROUP BY verdict, doc_id, address, gold_canon, pred_canon HAVING count(DISTINCT run) = $runs "
        "ORDER BY list_position(['misread', 'unfound', 'fabricated'], verdict), doc_id, address",
        {"runs": len(runs)},
    )
    while rows := answer.fetchmany(1000):
        for verdict, doc_id, address, field, gold, predicted in rows:
            code, found = _AGREED[verdict]
            told = found.format(gold=_short(gold), predicted=_short(predicted), runs=len(runs))
            yield TableFinding(doc_id, code, address, field, told, "look it up in the document")


_AGREED: Final = {
    "misread": ("all_read_alike", "{gold} here, {predicted} in all {runs} runs"),
    "unfound": ("all_miss", "{gold} here, nothing in all {runs} runs"),
    "fabricated": ("all_add", "nothing here, {predicted} in all {runs} runs"),
}


def _short(raw: str | None) -> str:
    return "" if raw is None else raw if len(raw) <= 100 else raw[:97] + "..."
