"""Decides what a table of documents must be, tells all that is wrong with one at once, and keeps a copy in the run."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from docassay.errors import ManifestError
from docassay.runs.layout import MANIFEST, Rows
from docassay.runs.sources import Source
from docassay.runs.store import Store

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ID", "SCORING", "Demands", "ManifestCopy", "column_faults", "copy_manifest"]

ID = "doc_id"
SCHEMA = "schema"
SCORING = ("doc_id", "gt_path", "pred_path", SCHEMA)
"""The columns that a manifest to be scored needs."""

ROW_GROUP_ROWS = 1000
ROW_GROUP_BYTES = 16 << 20

_SHOWN = 5
_TAG = b"docassay.copy"


@dataclass(frozen=True, slots=True)
class Demands:
    """What a use of a manifest asks of its columns."""

    needed: Sequence[str]
    """Columns that must be there; those ending in `_path` must hold text."""
    taken: Sequence[str] = ()
    """Names that the output's own columns have, which the manifest must leave free."""


def copy_manifest(
    source: Source, demands: Demands, store: Store, *, limit: int | None = None, tag: str = ""
) -> ManifestCopy:
    """Check a manifest and write it into the run, in row groups from which workers read their own rows.

    Args:
        limit: only so many rows from the top.
        tag: kept with the copy, to tell later what it is a copy of.

    Raises:
        ManifestError: columns or identifiers that cannot be used; all faults in one message.
    """
    import pyarrow.parquet as pq

    faults = column_faults(source.schema, demands)
    if faults:
        raise _refusal(source.path, faults)
    identifiers = _Identifiers()
    with (
        store.writing(MANIFEST) as file,
        pq.ParquetWriter(file, source.schema, compression="zstd", write_statistics=False) as writer,
    ):
        for table in _row_groups(_limited(source, limit)):
            identifiers.add(table.column(ID))
            writer.write_table(table, row_group_size=max(1, len(table)))
        faults = identifiers.faults(lambda: _limited(source, limit))
        if faults:
            raise _refusal(source.path, faults)
        writer.add_key_value_metadata({_TAG.decode(): tag})
    return ManifestCopy(store)


def column_faults(schema: pa.Schema, demands: Demands) -> list[str]:
    """What is wrong with a manifest's columns, one line each."""
    names: list[str] = schema.names
    lower = {name.lower(): name for name in names}
    faults = []
    for needed in demands.needed:
        if needed not in names:
            near = lower.get(needed.lower())
            hint = f" (there is {near!r}; names are case-sensitive)" if near else ""
            faults.append(f"no column {needed!r}{hint}; there are {', '.join(map(repr, names)) or 'none'}")
    for name in sorted({name for name in names if names.count(name) > 1}):
        faults.append(f"{names.count(name)} columns are named {name!r}")
    taken = {name.lower() for name in demands.taken}
    for name in sorted({name for name in names if name.lower() in taken}):
        faults.append(f"column {name!r} has the name of an output column; rename or drop it")
    return faults + [fault for name in demands.needed if names.count(name) == 1 for fault in _type_faults(schema, name)]


class ManifestCopy:
    """The manifest that a run holds: its columns, and any range of its rows."""

    def __init__(self, store: Store) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._store = store
        with store.open(MANIFEST) as file:
            parquet = pq.ParquetFile(file)
            self._metadata = parquet.metadata
            self.schema: pa.Schema = parquet.schema_arrow.remove_metadata()
        # Many rows have the same schema, whose text would else be made anew for each row of a group.
        at = self.schema.get_field_index(SCHEMA)
        self._repeated = [SCHEMA] if at >= 0 and pa.types.is_string(self.schema.field(at).type) else []
        sizes = [self._metadata.row_group(group).num_rows for group in range(self._metadata.num_row_groups)]
        self._starts = [0, *accumulate(sizes)]
        self.tag: str = (self._metadata.metadata or {}).get(_TAG, b"").decode()

    def __len__(self) -> int:
        return int(self._starts[-1])

    def read(self, rows: Rows, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows of a range, in order; all columns unless some are named."""
        first = bisect_right(self._starts, rows.start) - 1
        groups = [g for g in range(first, len(self._starts) - 1) if self._starts[g] < rows.stop]
        offset = rows.start - self._starts[first] if groups else 0
        return self._as_declared(self._groups(groups, columns).slice(offset, len(rows)))

    def chunks(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """All rows, a row group at a time."""
        for group in range(len(self._starts) - 1):
            yield self._as_declared(self._groups([group], columns))

    def _as_declared(self, table: pa.Table) -> pa.Table:
        """The table with its schemas as the manifest has them, where they were read as a dictionary."""
        import pyarrow as pa

        at = table.schema.get_field_index(SCHEMA)
        if at < 0 or table.schema.field(at).type == self.schema.field(SCHEMA).type:
            return table
        declared = self.schema.field(SCHEMA)
        texts = [chunk.dictionary_decode() for chunk in table.column(at).chunks]
        return table.set_column(at, declared, pa.chunked_array(texts, type=declared.type))

    def _groups(self, groups: Sequence[int], columns: Sequence[str] | None) -> pa.Table:
        import pyarrow.parquet as pq

        with self._store.open(MANIFEST) as file:
            parquet = pq.ParquetFile(file, metadata=self._metadata, read_dictionary=self._repeated)
            table = parquet.read_row_groups(list(groups), columns=None if columns is None else list(columns))
        return table.replace_schema_metadata(None)


@dataclass(slots=True)
class _Identifiers:
    """Finds empty and repeated identifiers in 8 bytes a row: hashes, and texts only where two hashes are equal."""

    hashes: array[int] = field(default_factory=lambda: array("q"))
    empty: list[int] = field(default_factory=list)

    def add(self, column: pa.ChunkedArray) -> None:
        for value in column.to_pylist():
            if value is None or not str(value).strip():
                self.empty.append(len(self.hashes))
            self.hashes.append(hash(value))

    def faults(self, again: Callable[[], Iterator[pa.RecordBatch]]) -> list[str]:
        told = [f"{_rows(self.empty)}: doc_id is empty"] if self.empty else []
        values, counts = np.unique(np.frombuffer(self.hashes, dtype=np.int64), return_counts=True)
        suspects = set(values[counts > 1].tolist())
        if not suspects:
            return told
        seen: dict[object, list[int]] = defaultdict(list)
        row = 0
        for batch in again():
            for value in batch.column(batch.schema.get_field_index(ID)).to_pylist():
                if self.hashes[row] in suspects and value is not None and str(value).strip():
                    seen[value].append(row)
                row += 1
        repeated = [(value, rows) for value, rows in seen.items() if len(rows) > 1]
        told += [f"{_rows(rows)}: doc_id {value!r} is not unique" for value, rows in repeated[:_SHOWN]]
        if len(repeated) > _SHOWN:
            told.append(f"and {len(repeated) - _SHOWN} more doc_ids that are not unique")
        return told


def _type_faults(schema: pa.Schema, name: str) -> list[str]:
    import pyarrow.types as types

    kind = schema.field(name).type
    value = kind.value_type if types.is_dictionary(kind) else kind
    text = types.is_string(value) or types.is_large_string(value) or types.is_string_view(value)
    if text or types.is_null(value) or (name == ID and types.is_integer(value)):
        return []
    if name == ID:
        return [f"column {name!r} has the type {kind}; it must be text or integers"]
    if name.endswith("_path"):
        return [f"column {name!r} has the type {kind}; it must be text"]
    return []


def _rows(rows: Sequence[int]) -> str:
    shown = ", ".join(str(row + 1) for row in rows[:_SHOWN])
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return f"{'row' if len(rows) == 1 else 'rows'} {shown}{more}"


def _refusal(path: str, faults: Sequence[str]) -> ManifestError:
    if len(faults) == 1:
        return ManifestError(f"{path}: {faults[0]}")
    return ManifestError(f"{path} cannot be used:\n" + "\n".join(f"  - {fault}" for fault in faults))


def _limited(source: Source, limit: int | None) -> Iterator[pa.RecordBatch]:
    left = limit
    for batch in source.batches():
        if left is None:
            yield batch
            continue
        if left <= 0:
            return
        yield batch.slice(0, left)
        left -= min(left, len(batch))


def _row_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The rows in tables small enough that reading one is cheap, whatever the batches were."""
    import pyarrow as pa

    for batch in batches:
        rows = min(ROW_GROUP_ROWS, max(1, len(batch) * ROW_GROUP_BYTES // max(1, batch.nbytes)))
        for start in range(0, len(batch), rows):
            yield pa.Table.from_batches([batch.slice(start, rows)])
