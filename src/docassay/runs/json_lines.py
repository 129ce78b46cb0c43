"""Decides which type a JSON-lines column has: that of its values where all rows agree, else JSON text.

No value is changed for the sake of a type: objects make a struct only where all have the same keys, integers become
floats only beside floats and where a float holds them exactly. The column `schema` is JSON text always, since no two
schemas have the same keys.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from docassay.errors import ManifestError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_json_lines"]

Lines = Callable[[], IO[bytes]]

_NULL, _TEXT, _BOOL, _INT, _LONG, _FLOAT, _JSON = "null", "text", "bool", "int", "long", "float", "json"
# A kind is one of these names, ("list", kind) or ("object", {key: kind}). Rows of unlike kinds have _JSON in common.


def read_json_lines(path: str, lines: Lines, rows: int) -> tuple[pa.Schema, Callable[[], Iterator[pa.RecordBatch]]]:
    """The columns of the records, in the order in which they first appear, and the records, so many rows at a time.

    Raises:
        ManifestError: a line that is not a JSON object; names the file and the line.
    """
    import pyarrow as pa

    kinds: dict[str, Any] = {}
    for record in _records(path, lines):
        for name, value in record.items():
            kind = _TEXT if name == "schema" else _kind(value)
            kinds[name] = _merge(kinds.get(name, _NULL), kind)
    schema = pa.schema([pa.field(name, _arrow(kind)) for name, kind in kinds.items()])

    def batches() -> Iterator[pa.RecordBatch]:
        records = _records(path, lines)
        while some := list(islice(records, rows)):
            columns = [
                pa.array([_told(record.get(name), kind) for record in some], type=_arrow(kind))
                for name, kind in kinds.items()
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return schema, batches


def _records(path: str, lines: Lines) -> Iterator[dict[str, Any]]:
    with lines() as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line.decode("utf-8-sig"))
            except (ValueError, RecursionError) as error:
                raise ManifestError(f"{path} line {number}: not JSON: {error}") from error
            if not isinstance(record, dict):
                raise ManifestError(f"{path} line {number}: {type(record).__name__}, not an object")
            yield record


def _kind(value: object) -> Any:
    if value is None:
        return _NULL
    if isinstance(value, bool):
        return _BOOL
    if isinstance(value, int):
        return _INT if abs(value) <= 2**53 else _LONG if -(2**63) <= value < 2**63 else _JSON
    if isinstance(value, float):
        return _FLOAT
    if isinstance(value, list):
        return _holding("list", reduce(_merge, map(_kind, value), _NULL))
    if isinstance(value, dict):
        return _holding("object", {key: _kind(inner) for key, inner in value.items()}) if value else _JSON
    return _TEXT


def _merge(one: Any, other: Any) -> Any:
    if one == other or other == _NULL:
        return one
    if one == _NULL:
        return other
    if isinstance(one, str) and isinstance(other, str):
        return {frozenset((_INT, _LONG)): _LONG, frozenset((_INT, _FLOAT)): _FLOAT}.get(frozenset((one, other)), _JSON)
    if isinstance(one, str) or isinstance(other, str) or one[0] != other[0]:
        return _JSON
    if one[0] == "list":
        return _holding("list", _merge(one[1], other[1]))
    if one[1].keys() != other[1].keys():
        return _JSON
    return _holding("object", {key: _merge(one[1][key], other[1][key]) for key in one[1]})


def _holding(container: str, inner: Any) -> Any:
    """The kind of a list or an object; what holds a value without a type is JSON text as a whole."""
    kinds = inner.values() if isinstance(inner, dict) else [inner]
    return _JSON if _JSON in kinds else (container, inner)


def _arrow(kind: Any) -> Any:
    import pyarrow as pa

    if isinstance(kind, tuple) and kind[0] == "list":
        return pa.list_(_arrow(kind[1]))
    if isinstance(kind, tuple):
        return pa.struct([pa.field(key, _arrow(inner)) for key, inner in kind[1].items()])
    simple = {_NULL: pa.null(), _BOOL: pa.bool_(), _INT: pa.int64(), _LONG: pa.int64(), _FLOAT: pa.float64()}
    return simple.get(kind, pa.string())


def _told(value: object, kind: Any) -> object:
    """A value as its column carries it."""
    if value is None or (kind != _JSON and (kind != _TEXT or isinstance(value, str))):
        return value
    return json.dumps(value, ensure_ascii=False)
