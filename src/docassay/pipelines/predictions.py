"""Decides what lies in a predictions directory, and what a second run makes of what it finds there.

preds/predict.json                 which provider with which settings: what the directory is bound to
preds/input/manifest.parquet       the documents as they were listed
preds/predictions/<name>.json      the bare extraction, or {"__error__": reason}
preds/records/<name>.json          the evidence; written after the prediction, so a record says: done
preds/jobs/<name>.json             a job that was bought and whose answer is not stored yet
preds/manifest.parquet             one row per document, ready to be scored
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from docassay.core.columns import names
from docassay.core.digest import digest_object
from docassay.core.filenames import safe_name
from docassay.errors import DocumentError, ManifestError, RunMismatchError
from docassay.extraction.document import load_json
from docassay.providers import jsontext
from docassay.providers.contract import Outcome
from docassay.providers.evidence import Binding, Kept, Record, error_document, read_kept
from docassay.providers.registry import Configured
from docassay.runs.layout import Rows
from docassay.runs.manifest import ID, Demands, ManifestCopy, copy_manifest
from docassay.runs.sources import open_source
from docassay.runs.store import Store
from docassay.runs.tables import SCORES
from docassay.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ADDED",
    "PREDICTING",
    "Note",
    "Predictions",
    "Row",
    "Step",
    "check_binding",
    "kept_of",
    "next_step",
    "settings_digest",
]

SETTINGS = "predict.json"
INPUT = "input"
MANIFEST = "manifest.parquet"
PREDICTIONS = "predictions"
RECORDS = "records"
JOBS = "jobs"
CHUNK = 1000

PREDICTING = Demands(needed=("doc_id", "doc_path", "schema"), taken=names(SCORES))
"""What predicting asks of a manifest: the scores' columns are to be left free, or its output could not be scored."""

ADDED = (
    "pred_path",
    "predict_outcome",
    "predict_error",
    "predict_seconds",
    "predict_cost",
    "predict_cost_unit",
)
"""The columns that predicting adds; where the manifest has them already, it replaces them.

`predict_outcome` is ok, failed or timeout, and null for a document that was not answered.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One document as the manifest lists it."""

    doc_id: str
    name: str
    """Its safe file name, without an ending."""
    doc_path: str | None
    """As the manifest has it."""


@dataclass(frozen=True, slots=True)
class Note:
    """A job that was bought for a document and whose answer is not stored yet."""

    job_id: str
    schema_digest: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done about a document."""

    ask: bool
    """Whether it is asked; else its stored answer stands."""
    job_id: str | None = None
    """A job to collect instead of buying one."""


def settings_digest(configured: Configured) -> str:
    """SHA-256 (hex) of a provider's name and all its resolved options: what a run is named and bound by."""
    return digest_object(configured.settings)


class Predictions:
    """A predictions directory, on a disk or an object store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def check(self, configured: Configured) -> None:
        """Raise RunMismatchError, naming what differs, where the directory is bound to other settings."""
        data = self.store.read(SETTINGS)
        if data is None:
            return
        found = load_json(data, where=f"{self.store}/{SETTINGS}")
        differing = _differences(found, configured.settings) if isinstance(found, Mapping) else ["it holds no settings"]
        if differing:
            raise RunMismatchError(
                f"{self.store} holds predictions of other settings: {'; '.join(differing)}. Name another directory"
            )

    def bind(self, configured: Configured) -> None:
        """Bind the directory to a provider and its settings, if it is not yet."""
        if not self.store.exists(SETTINGS):
            digest = settings_digest(configured)
            record = {"format": 1, **configured.settings, "settings_digest": digest, "docassay": __version__}
            self.store.write(SETTINGS, jsontext.dump_bytes(record, indent=2) + b"\n")

    def copy(self, manifest: str, limit: int | None) -> ManifestCopy:
        """Check the manifest and keep its (first `limit`) rows. Raises ManifestError that lists all faults."""
        return copy_manifest(open_source(manifest), PREDICTING, self.store.child(INPUT), limit=limit)

    def rows(self, manifest: ManifestCopy) -> list[Row]:
        """All rows in order; their schemas, which can be large, are read when they are needed."""
        rows = []
        for table in manifest.chunks([ID, "doc_path"]):
            for doc_id, path in zip(table.column(ID).to_pylist(), table.column("doc_path").to_pylist(), strict=True):
                rows.append(Row(str(doc_id), safe_name(str(doc_id)), path))
        self._refuse_twins(rows)
        return rows

    def kept(self, rows: Iterable[Row]) -> dict[str, Kept]:
        """What is stored already, by file name: documents that have both a prediction and a record."""
        stored = self._names(PREDICTIONS) & self._names(RECORDS)
        found = {}
        for row in rows:
            if row.name in stored or ("/" in row.name and self.store.exists(f"{RECORDS}/{row.name}.json")):
                found[row.name] = self._read_kept(row)
        return found

    def notes(self, rows: Iterable[Row]) -> dict[str, Note]:
        """Jobs that earlier runs bought and did not collect, by file name."""
        stored = self._names(JOBS)
        notes = {}
        for row in rows:
            data = self.store.read(f"{JOBS}/{row.name}.json") if row.name in stored or "/" in row.name else None
            if data is not None:
                found = json.loads(data)
                notes[row.name] = Note(str(found["job_id"]), found["schema_digest"])
        return notes

    def write_note(self, row: Row, note: Note) -> None:
        """Remember a job until its answer is stored."""
        data = {"job_id": note.job_id, "schema_digest": note.schema_digest}
        self.store.write(f"{JOBS}/{row.name}.json", jsontext.dump_bytes(data))

    def save(self, row: Row, record: Record) -> None:
        """Store one answer: first the prediction, then the record that says it is done."""
        result = record.result
        prediction = result.extraction if result.outcome is Outcome.OK else error_document(str(result.error))
        self.store.write(f"{PREDICTIONS}/{row.name}.json", jsontext.dump_bytes(prediction, indent=2) + b"\n")
        self.store.write(f"{RECORDS}/{row.name}.json", record.dump())
        self.store.remove([f"{JOBS}/{row.name}.json"])

    def prediction_path(self, name: str) -> str:
        """Where a prediction lies, absolute."""
        file = f"{PREDICTIONS}/{name}.json"
        return str(self.store.local / file) if self.store.local is not None else f"{self.store.url}/{file}"

    def write_manifest(self, manifest: ManifestCopy, rows: list[Row], kept: Mapping[str, Kept]) -> str:
        """Write the score manifest: every row with what became of it; its path."""
        import pyarrow.parquet as pq

        schema = self._output_schema(manifest.schema)
        with (
            self.store.writing(MANIFEST) as file,
            pq.ParquetWriter(file, schema, compression="zstd") as writer,
        ):
            for start in range(0, len(rows), CHUNK):
                part = rows[start : start + CHUNK]
                table = manifest.read(Rows(start, start + len(part)))
                writer.write_table(self._with_outcomes(table, part, kept, schema))
        return str(self.store.local / MANIFEST) if self.store.local is not None else f"{self.store.url}/{MANIFEST}"

    def _names(self, folder: str) -> set[str]:
        return {name.removesuffix(".json") for name in self.store.list(folder) if name.endswith(".json")}

    def _read_kept(self, row: Row) -> Kept:
        where = f"{RECORDS}/{row.name}.json"
        data = self.store.read(where)
        if data is None:
            raise DocumentError(f"{self.store}/{where} vanished while it was read")
        kept = read_kept(data, where=f"{self.store}/{where}")
        if kept.binding.doc_id != row.doc_id:
            raise RunMismatchError(f"{self.store}/{where} is of document {kept.binding.doc_id!r}, not {row.doc_id!r}")
        return kept

    def _refuse_twins(self, rows: list[Row]) -> None:
        """Names that differ only in case are one file on some disks; refused there, and only there."""
        seen: dict[str, str] = {}
        for row in rows:
            twin = seen.setdefault(row.name.casefold(), row.doc_id)
            if twin != row.doc_id and self._ignores_case():
                raise ManifestError(
                    f"documents {twin!r} and {row.doc_id!r} would share a file: {self.store} ignores case; "
                    "write elsewhere or rename one"
                )

    def _ignores_case(self) -> bool:
        return self.store.local is not None and (self.store.local / INPUT.upper()).exists()

    def _output_schema(self, schema: pa.Schema) -> pa.Schema:
        import pyarrow as pa

        types = [pa.string(), pa.string(), pa.string(), pa.float64(), pa.float64(), pa.string()]
        own = [pa.field(name, kind) for name, kind in zip(ADDED, types, strict=True)]
        return pa.schema([*(item for item in schema if item.name not in ADDED), *own])

    def _with_outcomes(self, table: pa.Table, rows: list[Row], kept: Mapping[str, Kept], schema: pa.Schema) -> pa.Table:
        import pyarrow as pa

        table = table.drop_columns([name for name in ADDED if name in table.column_names])
        outcomes = [self._added(row, kept.get(row.name)) for row in rows]
        for name in ADDED:
            field = schema.field(name)
            table = table.append_column(field, pa.array([added[name] for added in outcomes], type=field.type))
        return table.cast(schema)

    def _added(self, row: Row, kept: Kept | None) -> dict[str, Any]:
        cost = kept.cost if kept is not None else None
        return {
            "pred_path": self.prediction_path(row.name),
            "predict_outcome": None if kept is None else kept.outcome.value,
            "predict_error": None if kept is None else kept.error,
            "predict_seconds": None if kept is None else kept.seconds,
            "predict_cost": None if cost is None else cost.amount,
            "predict_cost_unit": None if cost is None else cost.unit,
        }


def kept_of(record: Record) -> Kept:
    """What is known of a document whose record was just written."""
    result = record.result
    return Kept(
        record.binding,
        result.outcome,
        result.error,
        result.transient,
        record.input_fault,
        result.job_id,
        result.cost,
        round(result.seconds, 6),  # as the record has it, so that a resumed run writes the same manifest
    )


def next_step(kept: Kept | None, *, retry_errors: bool, collects: bool) -> Step:
    """What a run does about a document: a stored answer stands unless its failure was transient or is to be retried.

    A job that had not ended is collected by providers that can, and never bought again: a timeout without a job to
    collect stands.
    """
    if kept is None:
        return Step(ask=True)
    job_id = kept.job_id if collects else None
    if kept.outcome is Outcome.TIMEOUT:
        return Step(ask=retry_errors and job_id is not None, job_id=job_id)
    if kept.outcome is Outcome.FAILED and kept.transient:
        return Step(ask=True, job_id=job_id)
    return Step(ask=retry_errors and kept.outcome is Outcome.FAILED)


def check_binding(kept: Kept, asked: Binding, where: str) -> None:
    """Raise RunMismatchError where a stored answer is to another question or document than is asked now."""
    differing = [
        name
        for name in ("doc_path", "schema_digest")
        if getattr(kept.binding, name) != getattr(asked, name) and not kept.input_fault
    ]
    if differing:
        raise RunMismatchError(
            f"{where} holds an answer for document {asked.doc_id!r} with another {' and '.join(differing)}; "
            "name another directory, or delete its prediction and record to ask again"
        )


def _differences(found: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    if found.get("provider") != asked["provider"]:
        return [f"provider {found.get('provider')!r}, not {asked['provider']!r}"]
    old, new = found.get("options") or {}, asked["options"]
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return [f"{name} = {json.dumps(old.get(name))}, not {json.dumps(new.get(name))}" for name in names]
