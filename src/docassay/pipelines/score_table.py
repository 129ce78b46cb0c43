"""Decides how a table of documents becomes a run: check, divide, score in many processes, summarise."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from docassay.core.columns import names
from docassay.core.signature import signature
from docassay.core.statistics.intervals import prepare as prepare_intervals
from docassay.errors import ArgumentValueError, ManifestError, MissingDependencyError, RunError
from docassay.executors.contract import Batch, Lost, Work
from docassay.executors.engines import ENGINES, make_engine
from docassay.executors.supervise import supervise
from docassay.extraction.metric import DEFAULT_METRIC, find_metric
from docassay.pipelines.score_batch import BatchInputs, ScoreJob, write_lost, write_nothing
from docassay.pipelines.workers import SCORE_BATCH, prepare_scoring
from docassay.runs.files import Surveyor, default_root, resolve
from docassay.runs.layout import INPUTS_DIR, MANIFEST, SCORES_DIR, SUMMARY, VERDICTS_DIR, Rows, folder_of_metric
from docassay.runs.lock import locked
from docassay.runs.manifest import SCORING, Demands, ManifestCopy, copy_manifest
from docassay.runs.plan import gaps, shares
from docassay.runs.resume import (
    Asked,
    Options,
    clear,
    done_rows,
    enter,
    failures,
    forget,
    load_asked,
    refuse_changed_inputs,
)
from docassay.runs.sources import open_source, source_digest
from docassay.runs.store import Store, is_uri, storage_settings
from docassay.runs.summary import Summary, summarise, summary_columns
from docassay.runs.tables import SCORES, read_parts

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Progress", "TableRun", "score_table"]

_ROUNDS = 3
_PATHS = ("gt_path", "pred_path")
_NEEDED = ("pyarrow", "fsspec", "filelock")
SUITE = "suite"
"""The column that tells suites, unless another is named."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a table is."""

    documents: int
    done: int
    errors: int
    """Documents that got a reason instead of a score, of those done now."""
    resumed: int
    """Documents that an earlier call had done."""
    bytes: int
    """Bytes of all documents, as far as the storage tells."""
    workers: int


@dataclass(frozen=True, slots=True)
class TableRun:
    """A finished run: where it is, and what it came to."""

    path: str
    metric: str
    summary: Summary


@overload
def score_table(
    manifest: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    metrics: Sequence[str],
    order_matters: Sequence[str] = ...,
    root: str | os.PathLike[str] | None = ...,
    verdicts: bool = ...,
    suite_column: str | None = ...,
    limit: int | None = ...,
    timeout: float | None = ...,
    engine: str = ...,
    workers: int | None = ...,
    batch_rows: int | None = ...,
    ray_address: str | None = ...,
    overwrite: bool = ...,
    retry_errors: bool = ...,
    progress: Callable[[Progress], None] | None = ...,
) -> tuple[TableRun, ...]: ...


@overload
def score_table(
    manifest: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    metric: str = ...,
    order_matters: Sequence[str] = ...,
    root: str | os.PathLike[str] | None = ...,
    verdicts: bool = ...,
    suite_column: str | None = ...,
    limit: int | None = ...,
    timeout: float | None = ...,
    engine: str = ...,
    workers: int | None = ...,
    batch_rows: int | None = ...,
    ray_address: str | None = ...,
    overwrite: bool = ...,
    retry_errors: bool = ...,
    progress: Callable[[Progress], None] | None = ...,
) -> TableRun: ...


def score_table(
    manifest: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    metric: str = DEFAULT_METRIC,
    metrics: Sequence[str] | None = None,
    order_matters: Sequence[str] = (),
    root: str | os.PathLike[str] | None = None,
    verdicts: bool = True,
    suite_column: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
    engine: str = "local",
    workers: int | None = None,
    batch_rows: int | None = None,
    ray_address: str | None = None,
    overwrite: bool = False,
    retry_errors: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> TableRun | tuple[TableRun, ...]:
    """Score every document of a manifest into a run directory, or continue one that was interrupted.

    Args:
        manifest: a Parquet file or directory of parts, CSV or JSON lines, with the columns doc_id, gt_path, pred_path
            and schema (JSON text or bytes); a path or a URI that fsspec knows.
        out: the run directory; a path or a URI.
        metric: the metric's name.
        metrics: several metrics, for which each file is read once; each gets a run of its own below `out`, named like
            `omni-1`, and what is returned is a tuple of runs.
        order_matters: arrays whose order counts.
        root: where relative paths of the manifest start; by default DOCASSAY_ROOT, OEB_ROOT or the working directory.
        verdicts: whether to write a row for each address.
        suite_column: the column that names each document's suite; by default `suite`, if there is one.
        limit: only so many rows from the top.
        timeout: seconds that one document may take; one that takes longer gets an error row.
        engine: `local`, `ray` or `modal`.
        workers: processes at once.
        batch_rows: rows that one process takes at most at a time; chosen if not given.
        ray_address: an existing Ray cluster; by default RAY_ADDRESS, or a new cluster on this machine.
        overwrite: score anew, whatever the directory holds of a run.
        retry_errors: score again what failed earlier, whose files may have changed since.
        progress: called now and then.

    Raises:
        ArgumentValueError: options that cannot be; all in one message.
        ManifestError: a manifest that cannot be used.
        RunMismatchError: the directory holds another run; says what differs.
        RunLockedError: another process is writing it.
        RunError: the storage of the run, or a worker, failed.
    """
    _require(_NEEDED)
    request = _Request(
        manifest=_absolute(manifest),
        out=_absolute(out),
        root=_absolute(root if root is not None else default_root()),
        metrics=tuple(metrics) if metrics is not None else (metric,),
        nested=metrics is not None,
        options=Options(tuple(order_matters), verdicts, suite_column, limit, timeout),
        engine=engine,
        workers=workers,
        batch_rows=batch_rows,
        ray_address=ray_address,
        overwrite=overwrite,
        retry_errors=retry_errors,
        progress=progress or (lambda _: None),
    )
    _check(request)
    if engine == "local":
        prepare_scoring()
    with ExitStack() as stack:
        checks = [stack.enter_context(locked(store)) for store in request.stores()]
        runs = _Table(request, _all_of(checks)).run()
    return runs if metrics is not None else runs[0]


@dataclass(frozen=True, slots=True)
class _Request:
    """What `score_table` was asked, its paths made absolute."""

    manifest: str
    out: str
    root: str
    metrics: tuple[str, ...]
    nested: bool
    options: Options
    engine: str
    workers: int | None
    batch_rows: int | None
    ray_address: str | None
    overwrite: bool
    retry_errors: bool
    progress: Callable[[Progress], None]

    def stores(self) -> list[Store]:
        """One run directory for each metric."""
        if not self.nested:
            return [Store(self.out)]
        return [Store(self.out).child(folder_of_metric(metric)) for metric in self.metrics]

    def folders(self) -> list[str]:
        """The tables that each run has."""
        return [SCORES_DIR, INPUTS_DIR, *([VERDICTS_DIR] if self.options.verdicts else [])]


@dataclass(frozen=True, slots=True)
class _Survey:
    """What is known of all documents before one is read, one entry per row."""

    sizes: NDArray[np.int64]
    fingerprints: dict[str, NDArray[np.int64]]
    relative: bool
    """Whether any path depends on the root."""

    def inputs(self, rows: Rows | Batch) -> BatchInputs:
        part = slice(rows.start, rows.stop)
        gold, prediction = (self.fingerprints[column][part].tolist() for column in _PATHS)
        return BatchInputs(self.sizes[part].tolist(), gold, prediction)


class _Table:
    """One call of `score_table`, its locks held."""

    def __init__(self, request: _Request, still_ours: Callable[[], None]) -> None:
        self._request = request
        self._still_ours = still_ours
        self._runs = list(zip(request.stores(), request.metrics, strict=True))
        self._stores = [store for store, _ in self._runs]

    def run(self) -> tuple[TableRun, ...]:
        digest = source_digest(self._request.manifest)
        self._refuse_another(digest)
        copy = self._copy_manifest(digest)
        suite_column = self._suite_column(copy)
        survey = _survey(copy, self._request.root)
        self._enter(digest, len(copy), self._request.root if survey.relative else None, suite_column)
        self._score_missing(copy, survey)
        return tuple(self._summarise(store, metric, suite_column) for store, metric in self._runs)

    def _refuse_another(self, digest: str) -> None:
        """Refuse before anything is touched; what takes reading the manifest is compared later."""
        for store, metric in self._runs:
            found = None if self._request.overwrite else load_asked(store)
            if found is not None:
                column = self._request.options.suite_column or found.options.suite_column
                enter(store, self._asked(metric, digest, found.rows, found.root, column))

    def _copy_manifest(self, digest: str) -> ManifestCopy:
        """The manifest, checked, as each run holds it."""
        limit = self._request.options.limit
        tag = f"{digest} limit:{limit}"
        for store in self._stores:
            store.clean()
            if not store.exists(MANIFEST) or ManifestCopy(store).tag != tag:
                source = open_source(self._request.manifest)
                copy_manifest(source, Demands(SCORING, names(SCORES)), store, limit=limit, tag=tag)
        return ManifestCopy(self._stores[0])

    def _suite_column(self, copy: ManifestCopy) -> str | None:
        asked: str | None = self._request.options.suite_column
        if asked is None:
            return SUITE if SUITE in copy.schema.names else None
        if asked not in copy.schema.names:
            there = ", ".join(map(repr, copy.schema.names))
            raise ManifestError(f"{self._request.manifest}: no column {asked!r} to tell suites by; there are {there}")
        return asked

    def _enter(self, digest: str, rows: int, root: str | None, suite_column: str | None) -> None:
        for store, metric in self._runs:
            if self._request.overwrite:
                clear(store)
            enter(store, self._asked(metric, digest, rows, root, suite_column))

    def _asked(self, metric: str, digest: str, rows: int, root: str | None, suite_column: str | None) -> Asked:
        request = self._request
        return Asked(
            signature=signature(metric, request.options.order_matters),
            metric=metric,
            options=replace(request.options, suite_column=suite_column),
            manifest=request.manifest,
            manifest_digest=digest,
            rows=rows,
            root=root,
            arguments={"engine": request.engine, "workers": request.workers, "batch_rows": request.batch_rows},
        )

    def _score_missing(self, copy: ManifestCopy, survey: _Survey) -> None:
        done = self._done(copy, survey)
        if not len(copy) and not done:
            write_nothing(self._job(), copy)
        for _ in range(_ROUNDS):
            missing = gaps(len(copy), done)
            if not missing:
                return
            for store in self._stores:
                store.remove([SUMMARY])
            self._score(missing, survey, resumed=len(copy) - sum(map(len, missing)))
            done = done_rows(self._stores, self._request.folders())
        missing = gaps(len(copy), done)
        if missing:
            lost = f"rows {missing[0].start} to {missing[0].stop}"
            raise RunError(f"{self._request.out}: {lost} were scored {_ROUNDS} times and are not in storage")

    def _done(self, copy: ManifestCopy, survey: _Survey) -> list[Rows]:
        """What an earlier call has done, of files that are what they were."""
        folders = self._request.folders()
        done = done_rows(self._stores, folders)
        failed: set[Rows] = set()
        but_rows: set[int] = set()
        for store in self._stores if self._request.retry_errors else []:
            found = failures(store, done)
            failed |= found.keys()
            but_rows.update(*found.values())
        for store in self._stores if done else []:
            refuse_changed_inputs(store, copy, self._request.root, survey.fingerprints, but_rows=but_rows)
        forget(self._stores, folders, failed)
        return [rows for rows in done if rows not in failed]

    def _score(self, missing: Sequence[Rows], survey: _Survey, resumed: int) -> None:
        request, job = self._request, self._job()
        work = Work(SCORE_BATCH, job, survey.inputs, request.options.timeout)
        made = make_engine(request.engine, work, workers=request.workers, ray_address=request.ray_address)
        with made as engine:
            prepare_intervals()
            state = Progress(len(survey.sizes), resumed, 0, resumed, int(survey.sizes.sum()), engine.capacity)

            def tick() -> None:
                self._still_ours()
                request.progress(replace(state, done=state.done + engine.rows_in_progress()))

            tick()
            divided = shares(missing, survey.sizes, engine.capacity, most_rows=request.batch_rows)
            batches = [Batch(share.rows.start, share.rows.stop, share.size) for share in divided]
            for outcome in supervise(engine, batches, tick=tick):
                if isinstance(outcome, Lost):
                    rows = Rows(outcome.row, outcome.row + 1)
                    write_lost(job, outcome.row, outcome.reason, survey.inputs(rows))
                    state = replace(state, done=state.done + 1, errors=state.errors + 1)
                else:
                    done = outcome.stop - outcome.start
                    state = replace(state, done=state.done + done, errors=state.errors + outcome.errors)
            request.progress(state)

    def _job(self) -> ScoreJob:
        request = self._request
        runs = tuple(store.url for store in self._stores)
        options = request.options
        # A cloud has credentials of its own; this machine's stay here.
        storage = {} if request.engine == "modal" else storage_settings()
        return ScoreJob(runs, request.metrics, request.root, options.order_matters, options.verdicts, storage)

    def _summarise(self, store: Store, metric: str, suite_column: str | None) -> TableRun:
        parts = read_parts(store, SCORES_DIR, summary_columns(suite_column))
        summary = summarise(parts, signature(metric, self._request.options.order_matters), suite_column)
        store.write(SUMMARY, summary.as_json())
        return TableRun(store.url, metric, summary)


def _survey(copy: ManifestCopy, root: str) -> _Survey:
    """Ask the storage for the size and the fingerprint of every document; count the schema's bytes to its document."""
    surveyor = Surveyor(lambda: (_resolved(chunk, column, root) for chunk in copy.chunks(_PATHS) for column in _PATHS))
    sizes: list[NDArray[np.int64]] = []
    fingerprints: dict[str, list[NDArray[np.int64]]] = {column: [] for column in _PATHS}
    relative = False
    for chunk in copy.chunks(_PATHS):
        size = np.zeros(len(chunk), dtype=np.int64)
        for column in _PATHS:
            resolved = _resolved(chunk, column, root)
            found = surveyor.survey(resolved)
            size += found.sizes
            fingerprints[column].append(found.fingerprints)
            written = chunk.column(column).to_pylist()
            relative = relative or any(path and path != full for path, full in zip(written, resolved, strict=True))
        sizes.append(size)
    return _Survey(_joined(sizes), {column: _joined(found) for column, found in fingerprints.items()}, relative)


def _resolved(chunk: pa.Table, column: str, root: str) -> list[str | None]:
    return [resolve(path, root) if path else None for path in chunk.column(column).to_pylist()]


def _joined(arrays: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)


def _check(request: _Request) -> None:
    """Tell all that is wrong with the options at once."""
    faults = []
    for metric in request.metrics:
        try:
            find_metric(metric)
        except ArgumentValueError as error:
            faults.append(str(error))
    if not request.metrics or len(set(request.metrics)) < len(request.metrics):
        faults.append(f"metrics is {list(request.metrics)}; name each metric once")
    if request.engine not in ENGINES:
        faults.append(f"there is no engine {request.engine!r}; choose one of: {', '.join(ENGINES)}")
    if request.engine == "modal" and not is_uri(request.out):
        faults.append(f"out is {request.out}, which Modal's containers cannot see; give a URI such as s3://bucket/run")
    counts = {"limit": request.options.limit, "workers": request.workers, "batch_rows": request.batch_rows}
    faults += [
        f"{name} is {value}; it must be at least 1" for name, value in counts.items() if value is not None and value < 1
    ]
    if request.options.timeout is not None and not request.options.timeout > 0:
        faults.append(f"timeout is {request.options.timeout}; it must be more than 0 seconds")
    if faults:
        raise ArgumentValueError("; ".join(faults))


def _require(packages: Sequence[str]) -> None:
    for package in packages:
        if find_spec(package) is None:
            raise MissingDependencyError(package, "run")


def _absolute(path: str | os.PathLike[str]) -> str:
    """As workers find it, whose working directory may be another."""
    text = os.fspath(path)
    return text if is_uri(text) else str(Path(text).absolute())


def _all_of(checks: Sequence[Callable[[], None]]) -> Callable[[], None]:
    def check() -> None:
        for one in checks:
            one()

    return check
