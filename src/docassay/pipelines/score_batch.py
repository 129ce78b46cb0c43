"""Decides what a worker does with a batch: read each document once, score it under every metric, write the parts.

Whatever is wrong with one document becomes the reason in its row; what is wrong with the storage that the run is
written to is an error of the run. Nothing but tallies is returned.
"""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from docassay.core.columns import Column, Kind, arrow_type
from docassay.core.digest import digest_bytes
from docassay.core.interpreter import collector_paused
from docassay.core.signature import signature
from docassay.errors import DocassayError, DocumentError
from docassay.executors.contract import Batch, Receipt, Watch
from docassay.extraction.document import load_json
from docassay.extraction.metric import COUNT_NAMES, METRIC_NAMES, Score, find_metric, score
from docassay.extraction.verdicts import VerdictList
from docassay.runs.files import Content, read_ahead, resolve, unpack
from docassay.runs.layout import INPUTS_DIR, SCORES_DIR, VERDICTS_DIR, Rows
from docassay.runs.manifest import SCORING, ManifestCopy
from docassay.runs.store import Store, use_storage_settings
from docassay.runs.tables import (
    ERROR,
    SCORED,
    SCORES,
    VERDICTS,
    PartWriter,
    inputs_schema,
    json_text,
    scores_schema,
    text_array,
    verdicts_schema,
    writing_part,
)

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["BatchInputs", "ScoreJob", "score_batch", "write_lost", "write_nothing"]

GROUP_VERDICTS = 50_000
GROUP_BYTES = 32 << 20
"""A row group of verdicts is written when it has so many rows, or bytes."""
_CHUNK_VERDICTS = 2_000
"""So many at most are kept as objects of Python, which take several times the room of what is packed."""

_SCHEMAS_KEPT = 256


@dataclass(frozen=True, slots=True)
class ScoreJob:
    """What is the same for every batch: where the runs are (one for each metric), and the options."""

    runs: tuple[str, ...]
    metrics: tuple[str, ...]
    root: str
    order_matters: tuple[str, ...]
    verdicts: bool
    storage: Mapping[str, Any] = field(default_factory=dict)
    """fsspec's configuration where the run was begun, for its processes to have the same."""


@dataclass(frozen=True, slots=True)
class BatchInputs:
    """What is known of a batch's files before they are read, one entry per row."""

    sizes: Sequence[int]
    gt_fingerprints: Sequence[int]
    pred_fingerprints: Sequence[int]

    def __getitem__(self, rows: slice) -> BatchInputs:
        return BatchInputs(self.sizes[rows], self.gt_fingerprints[rows], self.pred_fingerprints[rows])


def score_batch(job: ScoreJob, batch: Batch, inputs: BatchInputs, watch: Watch) -> Receipt:
    """Score the rows of a batch and write their parts; the scores part comes last and says that the others are there.

    Raises:
        RunError, OSError: the run's storage fails.
    """
    use_storage_settings(job.storage)
    rows = _manifest(job.runs[0]).read(Rows(batch.start, batch.stop))
    digests = _Digests()
    documents = _documents(rows, inputs.sizes, job.root)
    with ExitStack() as stack:
        stack.enter_context(collector_paused())  # documents are many small objects, and no cycles
        sheets = _open_sheets(job, batch.start, stack)
        row = batch.start
        while row < batch.stop and watch.begin(row):
            document = next(documents)
            digests.add(document)
            for sheet, outcome in zip(sheets, _score_document(document, job), strict=True):
                sheet.add(document.id, outcome)
            row += 1
        watch.begin(batch.stop)
        documents.close()
        for sheet in sheets:
            sheet.finish(row)
    for sheet in sheets:
        sheet.commit(rows.slice(0, row - batch.start), digests.table(batch.start, inputs))
    return Receipt(batch.start, row, sheets[0].errors)


def write_lost(job: ScoreJob, row: int, reason: str, inputs: BatchInputs) -> None:
    """Write the parts of one row that gets no score, since scoring it ends the process or takes too long."""
    digests = _Digests()
    digests.add(_Document("", None, None, None))
    with ExitStack() as stack:
        sheets = _open_sheets(job, row, stack)
        for sheet in sheets:
            sheet.add("", _Outcome(None, reason, None))
            sheet.finish(row + 1)
    for sheet in sheets:
        sheet.commit(_manifest(job.runs[0]).read(Rows(row, row + 1)), digests.table(row, inputs))


def write_nothing(job: ScoreJob, copy: ManifestCopy) -> None:
    """Write one part without rows into each table, so that the tables of an empty manifest can be opened."""
    with ExitStack() as stack:
        sheets = _open_sheets(job, 0, stack)
    for sheet in sheets:
        sheet.commit(copy.schema.empty_table(), inputs_schema().empty_table())


@dataclass(frozen=True, slots=True)
class _Document:
    """One manifest row, its files read; None for a path that is not given."""

    id: str
    gold: Content | None
    prediction: Content | None
    schema: object


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One document under one metric: a score, or the reason why there is none."""

    score: Score | None
    error: str | None
    seconds: float | None


@lru_cache(maxsize=4)
def _manifest(run: str) -> ManifestCopy:
    return ManifestCopy(Store(run))


# Reading


def _documents(rows: pa.Table, sizes: Sequence[int], root: str) -> Generator[_Document, None, None]:
    identifiers, golds, predictions, schemas = (rows.column(name).to_pylist() for name in SCORING)
    paths = [(_path(gold, root), _path(prediction, root)) for gold, prediction in zip(golds, predictions, strict=True)]
    contents = read_ahead(paths, sizes)
    for identifier, schema, (gold, prediction) in zip(identifiers, schemas, contents, strict=True):
        yield _Document(str(identifier), gold, prediction, schema)


def _path(path: str | None, root: str) -> str | None:
    return resolve(path, root) if path else None


@dataclass(slots=True)
class _Digests:
    """What was read, by its digest."""

    gold: list[str | None] = field(default_factory=list)
    prediction: list[str | None] = field(default_factory=list)

    def add(self, document: _Document) -> None:
        for kept, content in ((self.gold, document.gold), (self.prediction, document.prediction)):
            kept.append(None if content is None or content.data is None else digest_bytes(content.data))

    def table(self, start: int, inputs: BatchInputs) -> pa.Table:
        import pyarrow as pa

        count = len(self.gold)
        columns = [
            range(start, start + count),
            self.gold,
            inputs.gt_fingerprints[:count],
            self.prediction,
            inputs.pred_fingerprints[:count],
        ]
        schema = inputs_schema()
        return pa.table([pa.array(c, type=f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


# Scoring


def _score_document(document: _Document, job: ScoreJob) -> Iterator[_Outcome]:
    """The outcome under each metric; what does not depend on the metric is done once."""
    parsed: dict[bool, tuple[_Parsed, float]] = {}
    for metric in job.metrics:
        exact = find_metric(metric).exact_decimals
        if exact not in parsed:
            started = time.perf_counter()
            parsed[exact] = (_parse(document, exact), time.perf_counter() - started)
        yield _outcome(parsed[exact][0], metric, job, parsed[exact][1])


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A document's three JSON values, or all that is wrong with them."""

    gold: object = None
    prediction: object = None
    schema: object = None
    faults: tuple[str, ...] = ()


def _parse(document: _Document, exact: bool) -> _Parsed:
    values: list[object] = []
    faults: list[str] = []
    readers: list[Callable[[], object]] = [
        lambda: _json(document.gold, "gt_path", exact),
        lambda: _json(document.prediction, "pred_path", exact),
        lambda: _schema(document.schema),
    ]
    for reader in readers:
        try:
            values.append(reader())
        except (DocassayError, MemoryError) as error:
            faults.append(_reason(error))
            values.append(None)
    prediction = values[1]
    if isinstance(prediction, dict) and "__error__" in prediction:
        faults.append(f"the prediction records a failure: {_brief(prediction['__error__'])}")
    return _Parsed(values[0], prediction, values[2], tuple(faults))


def _json(content: Content | None, column: str, exact: bool) -> object:
    if content is None:
        raise DocumentError(f"{column} is empty")
    if content.data is None:
        raise DocumentError(f"{column}: {content.error}")
    return load_json(unpack(content.data, column), where=column, exact=exact)


def _schema(value: object) -> object:
    """A manifest's schema: JSON text, its bytes, or a value that the table holds as such."""
    if value is None or value in ("", b""):
        raise DocumentError("schema is empty")
    if isinstance(value, str):
        return _schema_of_text(value)
    if isinstance(value, bytes):
        return _schema_of_bytes(value)
    return _without_nulls(value)


@lru_cache(maxsize=_SCHEMAS_KEPT)
def _schema_of_text(text: str) -> object:
    return load_json(text.encode("utf-8", "surrogatepass"), where="schema")


@lru_cache(maxsize=_SCHEMAS_KEPT)
def _schema_of_bytes(data: bytes) -> object:
    return load_json(unpack(data, "schema"), where="schema")


def _without_nulls(value: object) -> object:
    """A struct of a table has every key that any row has; those without a value were not written."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_nulls(inner) for inner in value]
    return value


def _outcome(parsed: _Parsed, metric: str, job: ScoreJob, seconds: float) -> _Outcome:
    if parsed.faults:
        return _Outcome(None, "; ".join(parsed.faults), seconds)
    started = time.perf_counter()
    try:
        result = score(
            parsed.prediction,
            parsed.gold,
            parsed.schema,
            metric=metric,
            order_matters=job.order_matters,
            verdicts=job.verdicts,
        )
    except (DocassayError, MemoryError) as error:
        return _Outcome(None, _reason(error), seconds + time.perf_counter() - started)
    except Exception:  # noqa: BLE001 - a fault of ours costs its row, and is told whole
        return _Outcome(None, traceback.format_exc(), seconds + time.perf_counter() - started)
    return _Outcome(result, None, seconds + time.perf_counter() - started)


def _reason(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory to score this document"
    return " ".join(str(error).split())


def _brief(value: object) -> str:
    text = " ".join((value if isinstance(value, str) else json.dumps(value, default=str)).split())
    return text if len(text) <= 500 else text[:497] + "..."


# Writing


def _open_sheets(job: ScoreJob, start: int, stack: ExitStack) -> list[_Sheet]:
    sheets = []
    for run, metric in zip(job.runs, job.metrics, strict=True):
        store = Store(run)
        part = None
        if job.verdicts:
            part = stack.enter_context(writing_part(store, VERDICTS_DIR, verdicts_schema(), start))
        sheets.append(_Sheet(store, signature(metric, job.order_matters), start, part))
    return sheets


@dataclass(slots=True)
class _Sheet:
    """The parts of one run that a batch fills: verdicts as they come, scores at the end."""

    store: Store
    signature: str
    start: int
    part: PartWriter | None
    outcomes: list[tuple[object, ...]] = field(default_factory=list)
    errors: int = 0
    verdicts: _VerdictColumns = field(default_factory=lambda: _VerdictColumns())

    def add(self, identifier: str, outcome: _Outcome) -> None:
        self.outcomes.append(_score_row(outcome, self.signature))
        self.errors += outcome.score is None
        if self.part is None or outcome.score is None:
            return
        found = outcome.score.verdicts
        assert found is not None  # they were asked for
        for start in range(0, len(found), GROUP_VERDICTS):
            some = found[start : start + GROUP_VERDICTS]
            self.verdicts.add(identifier, some)
            if self.verdicts.rows >= GROUP_VERDICTS or self.verdicts.bytes >= GROUP_BYTES:
                self._flush(self.part)

    def finish(self, stop: int) -> None:
        """No more documents: the verdicts part may be closed."""
        if self.part is not None:
            self._flush(self.part)
            self.part.stop = stop

    def commit(self, rows: pa.Table, inputs: pa.Table) -> None:
        """Write what was read and then the scores; from then on the rows are done."""
        stop = self.start + len(self.outcomes)
        for folder, table in ((INPUTS_DIR, inputs), (SCORES_DIR, self._scores(rows))):
            with writing_part(self.store, folder, table.schema, self.start) as part:
                part.write(table)
                part.stop = stop

    def _scores(self, rows: pa.Table) -> pa.Table:
        import pyarrow as pa

        schema = scores_schema(rows.schema)
        columns = list(zip(*self.outcomes, strict=True)) or [()] * len(SCORES)
        own = [_array(values, column) for values, column in zip(columns, SCORES, strict=True)]
        return pa.table([*own, *rows.columns], schema=schema)

    def _flush(self, part: PartWriter) -> None:
        if self.verdicts.rows:
            part.write(self.verdicts.table())
            self.verdicts = _VerdictColumns()


class _VerdictColumns:
    """Verdicts in the making, column by column, in the order of VERDICTS."""

    def __init__(self) -> None:
        self.rows = 0
        self.bytes = 0
        """Of what is packed."""
        self._columns: tuple[list[str | None], ...] = tuple([] for _ in VERDICTS)
        self._packed: list[pa.RecordBatch] = []

    def add(self, identifier: str, found: VerdictList) -> None:
        """Add some of a document's verdicts."""
        golds = [
            None if canon is None else json_text(value)
            for value, canon in zip(found.gold_raw, found.gold_canon, strict=True)
        ]
        predictions = [
            None if canon is None else gold if type(value) is str and value == other else json_text(value)
            for value, canon, gold, other in zip(found.pred_raw, found.pred_canon, golds, found.gold_raw, strict=True)
        ]
        added: tuple[Sequence[str | None], ...] = (
            [identifier] * len(found),
            found.address,
            found.field,
            found.verdict,
            golds,
            predictions,
            found.gold_canon,
            found.pred_canon,
        )
        for column, values in zip(self._columns, added, strict=True):
            column += values
        self.rows += len(found)
        if len(self._columns[0]) >= _CHUNK_VERDICTS:
            self._pack()

    def table(self) -> pa.Table:
        import pyarrow as pa

        self._pack()
        return pa.Table.from_batches(self._packed, schema=verdicts_schema())

    def _pack(self) -> None:
        import pyarrow as pa

        packed = pa.record_batch([text_array(column) for column in self._columns], schema=verdicts_schema())
        self._packed.append(packed)
        self.bytes += packed.nbytes
        for column in self._columns:
            column.clear()


_NO_SCORE = (None,) * (len(SCORES) - 4)
_OF_SCORE = attrgetter(*METRIC_NAMES)
_OF_COUNTS = attrgetter(*COUNT_NAMES)
_OF_ROWS = attrgetter("gt_rows", "pred_rows", "matched_rows", "matching_exact", "approximated", "skipped_open_maps")


def _score_row(outcome: _Outcome, signature: str) -> tuple[object, ...]:
    """One row's own columns, in the order of SCORES."""
    result = outcome.score
    if result is None:
        return (ERROR, outcome.error, *_NO_SCORE, signature, outcome.seconds)
    metrics = _OF_SCORE(result) if result.status == SCORED else (None,) * len(METRIC_NAMES)
    return (
        result.status,
        None,
        *metrics,
        *_OF_COUNTS(result.counts),
        *_OF_ROWS(result),
        result.signature,
        outcome.seconds,
    )


def _array(values: Sequence[Any], column: Column) -> pa.Array:
    import pyarrow as pa

    if column.kind is Kind.TEXT:
        return text_array(values)
    if column.kind is Kind.TEXTS:
        values = [text_array(value).to_pylist() if value else value for value in values]
    return pa.array(values, type=arrow_type(column.kind))
