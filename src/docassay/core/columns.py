"""Decides how a table declares its columns: a name, one of a few types, and what the values mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


class Kind(Enum):
    """The types a declared column may have; every column is nullable, since missing is null and never zero."""

    TEXT = "string"
    NUMBER = "float64"
    COUNT = "int64"
    FLAG = "bool"
    COUNTS = "list<int64>"
    TEXTS = "list<string>"


@dataclass(frozen=True, slots=True)
class Column:
    """One declared column: its name, its type, and what a value of it says."""

    name: str
    kind: Kind
    meaning: str


def names(columns: Iterable[Column]) -> list[str]:
    """The columns' names, in order."""
    return [column.name for column in columns]


@cache
def arrow_type(kind: Kind) -> Any:
    """The Arrow type of a kind."""
    import pyarrow as pa

    return {
        Kind.TEXT: pa.string(),
        Kind.NUMBER: pa.float64(),
        Kind.COUNT: pa.int64(),
        Kind.FLAG: pa.bool_(),
        Kind.COUNTS: pa.list_(pa.int64()),
        Kind.TEXTS: pa.list_(pa.string()),
    }[kind]


@cache
def arrow_schema(columns: tuple[Column, ...]) -> pa.Schema:
    """The columns as an Arrow schema: types as declared, every field nullable."""
    import pyarrow as pa

    return pa.schema([pa.field(column.name, arrow_type(column.kind)) for column in columns])
