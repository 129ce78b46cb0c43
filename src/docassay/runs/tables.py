"""Decides which columns a run's tables have, how a part of one is written, and how they are read in manifest order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import orjson

from docassay.core.columns import Column, Kind, arrow_schema
from docassay.errors import RunError
from docassay.runs.layout import Rows, part_name, start_of_part
from docassay.runs.store import Store

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ERROR",
    "INPUTS",
    "NOTHING_TO_SCORE",
    "SCORED",
    "SCORES",
    "STATUSES",
    "VERDICTS",
    "PartWriter",
    "inputs_schema",
    "json_text",
    "part_rows",
    "read_parts",
    "scores_schema",
    "text_array",
    "verdicts_schema",
    "writing_part",
]

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

INPUTS = (
    Column("row", Kind.COUNT, "the manifest row, counting from 0"),
    Column("gt_digest", Kind.TEXT, "SHA-256 (hex) of the ground truth's file; null where it could not be read"),
    Column("gt_fingerprint", Kind.COUNT, "a number that changes with the file's size, times or ETag; -1: no such file"),
    Column("pred_digest", Kind.TEXT, "SHA-256 (hex) of the prediction's file; null where it could not be read"),
    Column("pred_fingerprint", Kind.COUNT, "as gt_fingerprint; -2 where the storage tells nothing"),
)
"""What a run read, one row per manifest row."""

_ROWS = b"docassay.rows"


def scores_schema(manifest: pa.Schema) -> pa.Schema:
    """The schema of every scores part: the declared columns, then the manifest's own."""
    import pyarrow as pa

    return pa.schema([*arrow_schema(SCORES), *manifest])


def verdicts_schema() -> pa.Schema:
    """The schema of every verdicts part."""
    return arrow_schema(VERDICTS)


def inputs_schema() -> pa.Schema:
    """The schema of every inputs part."""
    return arrow_schema(INPUTS)


@contextmanager
def writing_part(store: Store, folder: str, schema: pa.Schema, start: int) -> Iterator[PartWriter]:
    """Write one part of a table, whole or not at all; `PartWriter.stop` is to be set before the block ends."""
    import pyarrow.parquet as pq

    with (
        store.writing(f"{folder}/{part_name(start)}") as file,
        pq.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        part = PartWriter(writer, start)
        yield part
        if not part.groups:
            writer.write_table(schema.empty_table())
        writer.add_key_value_metadata({_ROWS.decode(): f"{start}:{part.stop}"})


class PartWriter:
    """A part that is being written."""

    def __init__(self, writer: Any, start: int) -> None:
        self._writer = writer
        self.groups = 0
        self.stop = start
        """The manifest row before which the part ends."""

    def write(self, table: pa.Table) -> None:
        """Add a row group."""
        self._writer.write_table(table)
        self.groups += 1


def part_rows(store: Store, folder: str, name: str) -> Rows | None:
    """The manifest rows that a part holds; None for a file that is no part of a run."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    start = start_of_part(name)
    if start is None:
        return None
    try:
        with store.open(f"{folder}/{name}") as file:
            told = (pq.read_metadata(file).metadata or {}).get(_ROWS, b"").decode()
    except FileNotFoundError:
        return None
    except pa.ArrowException as error:
        raise RunError(
            f"{store}/{folder}/{name}: not a whole Parquet file: {error}; score anew with --overwrite"
        ) from error
    first, _, stop = told.partition(":")
    return Rows(start, int(stop)) if first == str(start) and stop.isdigit() else None


def read_parts(store: Store, folder: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """The parts of a run's table, in manifest order."""
    import pyarrow.parquet as pq

    for name in store.list(folder):
        if start_of_part(name) is not None:
            with store.open(f"{folder}/{name}") as file:
                yield pq.ParquetFile(file).read(columns=None if columns is None else list(columns))


def text_array(values: Sequence[str | None]) -> pa.Array:
    """Texts as a column; what UTF-8 cannot hold (a lone surrogate) is written as its escape."""
    import pyarrow as pa

    try:
        return pa.array(values, type=pa.string())
    except UnicodeEncodeError:
        escaped = [None if v is None else v.encode("utf-8", "backslashreplace").decode() for v in values]
        return pa.array(escaped, type=pa.string())


def json_text(value: object) -> str:
    """A scalar as JSON text, exact at any size; NaN and infinity as Python writes them."""
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError):
        pass
    if isinstance(value, Decimal):
        return str(value)
    return f"{Decimal(value):f}" if isinstance(value, int) else json.dumps(value)
