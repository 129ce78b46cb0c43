"""Decides how a table is opened: Parquet (a file, or a directory of parts), CSV or JSON lines, on any storage.

Values are carried as they are. Parquet has types and keeps them. CSV has none, so its columns are text: `007` stays
`007`, an empty field is null, a quoted empty one is empty text. For JSON lines see `json_lines`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from docassay.errors import ManifestError
from docassay.runs.json_lines import read_json_lines
from docassay.runs.store import file_system

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Source", "open_source", "source_digest"]

BATCH_ROWS = 1000
CSV_BLOCK = 64 << 20
"""Bytes a CSV row may have at most."""


@dataclass(frozen=True, slots=True)
class Source:
    """A table that was opened: where it lies, its columns, and its rows as often as they are asked for."""

    path: str
    schema: pa.Schema
    batches: Callable[[], Iterator[pa.RecordBatch]]


def open_source(path: str) -> Source:
    """Open a table: Parquet (a file, or a directory of parts), CSV or JSON lines, by its name or its first bytes.

    Raises:
        ManifestError: there is none, or it cannot be read; the message names the file and the place in it.
    """
    system, inner = _found(path)
    if system.isdir(inner):
        return _parquet(path, system, _parts(path, system, inner))
    name = inner.lower().removesuffix(".gz")
    if name.endswith(".csv"):
        return _csv(path, system, inner)
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return _json_lines(path, system, inner)
    if name.endswith((".parquet", ".pq")) or system.cat_file(inner, start=0, end=4) == b"PAR1":
        return _parquet(path, system, [inner])
    raise ManifestError(
        f"{path}: not a manifest by its name: give .parquet, .csv, .jsonl or a directory of Parquet parts"
    )


def source_digest(path: str) -> str:
    """SHA-256 (hex) of a table's file; of a directory, of its parts' names and digests.

    Raises:
        ManifestError: there is none.
    """
    system, inner = _found(path)
    if not system.isdir(inner):
        return _digest(system, inner)
    told = [f"{part[len(inner) :]} {_digest(system, part)}\n" for part in _parts(path, system, inner)]
    return hashlib.sha256("".join(told).encode()).hexdigest()


def _found(path: str) -> tuple[Any, str]:
    system, inner = file_system(path)
    system.invalidate_cache()
    if not system.exists(inner):
        raise ManifestError(f"{path}: no such manifest")
    return system, inner


# Parquet


def _parts(path: str, system: Any, inner: str) -> list[str]:
    found = [str(part) for part in system.find(inner)]
    parts = [part for part in found if part.endswith((".parquet", ".pq")) and not _hidden(part[len(inner) :])]
    if not parts:
        raise ManifestError(f"{path}: a directory without any .parquet file")
    return sorted(parts)


def _hidden(path: str) -> bool:
    return any(step.startswith((".", "_")) for step in path.split("/"))


def _parquet(path: str, system: Any, parts: list[str]) -> Source:
    import pyarrow as pa

    schemas = {part: _part_schema(system, part) for part in parts}
    try:
        schema = pa.unify_schemas(list(schemas.values())) if len(parts) > 1 else schemas[parts[0]]
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise ManifestError(f"{path}: {_disagreement(schemas) or error}") from error

    def batches() -> Iterator[pa.RecordBatch]:
        for part in parts:
            yield from _part_batches(system, part, schema)

    return Source(path, schema, batches)


def _part_schema(system: Any, part: str) -> pa.Schema:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with system.open(part, "rb") as file:
            return _plain(pq.ParquetFile(file).schema_arrow)
    except (pa.ArrowException, OSError, EOFError) as error:
        raise ManifestError(f"{part}: not a whole Parquet file: {error}") from error


def _part_batches(system: Any, part: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with system.open(part, "rb") as file:
            for batch in pq.ParquetFile(file).iter_batches(batch_size=BATCH_ROWS):
                yield _conform(batch, schema)
    except (pa.ArrowException, OSError, EOFError) as error:
        raise ManifestError(f"{part}: cannot be read: {error}") from error


def _conform(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A part's rows under the columns of all parts; a column that the part lacks is null."""
    import pyarrow as pa

    if batch.schema.names == schema.names:
        return pa.RecordBatch.from_arrays(
            [c.cast(f.type) for c, f in zip(batch.columns, schema, strict=True)], schema=schema
        )
    columns = []
    for wanted in schema:
        index = batch.schema.get_field_index(wanted.name)
        columns.append(batch.column(index).cast(wanted.type) if index >= 0 else pa.nulls(len(batch), wanted.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _disagreement(schemas: dict[str, pa.Schema]) -> str | None:
    seen: dict[str, tuple[str, Any]] = {}
    for part, schema in schemas.items():
        for column in schema:
            other, kind = seen.setdefault(column.name, (part, column.type))
            if kind != column.type:
                return f"column {column.name!r} is {kind} in {other} and {column.type} in {part}; make them agree"
    return None


# CSV


def _csv(path: str, system: Any, inner: str) -> Source:
    import pyarrow as pa
    from pyarrow import csv

    def reader(names: Sequence[str]) -> Any:
        return csv.open_csv(
            system.open(inner, "rb", compression="infer"),
            read_options=csv.ReadOptions(use_threads=False, block_size=CSV_BLOCK),
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types={name: pa.string() for name in names},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    def batches() -> Iterator[pa.RecordBatch]:
        with _named(path), reader(schema.names) as rows:
            for batch in rows:
                yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)

    with _named(path), reader([]) as header:
        schema = pa.schema([pa.field(name, pa.string()) for name in header.schema.names])
    return Source(path, schema, batches)


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Turns what pyarrow says of a CSV file into an error that names it."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise ManifestError(f"{path}: not a CSV table in UTF-8: {error}") from error


# JSON lines


def _json_lines(path: str, system: Any, inner: str) -> Source:
    def lines() -> Any:
        return system.open(inner, "rb", compression="infer")

    return Source(path, *read_json_lines(path, lines, BATCH_ROWS))


def _digest(system: Any, path: str) -> str:
    with system.open(path, "rb") as file:
        digest = hashlib.sha256()
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def _plain(schema: pa.Schema) -> pa.Schema:
    """Columns as they are carried: types kept; notes of the program that wrote the file, and field numbers, dropped."""
    import pyarrow as pa

    return pa.schema([pa.field(f.name, f.type) for f in schema])
