"""Decides what a corpus holds: documents as columns, each metadata field as codes into its distinct values.

A filter, a comparison or a stratum is then worked out once per distinct value and spread over the documents by numpy.
"""

from __future__ import annotations

import gzip
import re
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docassay.core.digest import canonical_json, digest_file
from docassay.discovery.strict_json import parse_line
from docassay.discovery.tasks import Task, TaskData
from docassay.errors import DocumentError, TaskDataError

__all__ = [
    "ABSENT",
    "NO_DAY",
    "NULL",
    "Column",
    "Corpus",
    "Strata",
    "corpus_file",
    "corpus_from_rows",
    "load_corpus",
    "read_corpus",
]

ABSENT = -1
"""Code of a document that lacks the field."""
NULL = -2
"""Code of a document whose field is null."""
NO_DAY = np.iinfo(np.int32).min
"""Day of a document whose timestamp begins with no date."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_REPORT_YEAR = "report_year"


@dataclass(frozen=True, slots=True)
class Column:
    """One metadata field over all documents.

    codes: int32, one per document; an index into `values`, or ABSENT, or NULL.
    values: the distinct values; 1, 1.0 and true are distinct here.
    """

    codes: NDArray[np.int32]
    values: tuple[Any, ...]

    def where(self, hits: Iterable[bool]) -> NDArray[np.bool_]:
        """The documents whose value is hit; `hits` has one entry per distinct value. Missing values are never hit."""
        # The negative codes of missing values index from the end, so the table ends with two misses.
        table = np.array([*hits, False, False], dtype=np.bool_)
        hit: NDArray[np.bool_] = table[self.codes]
        return hit

    def value(self, position: int) -> Any:
        """One document's value; None if it is absent or null."""
        code = int(self.codes[position])
        return None if code < 0 else self.values[code]


@dataclass(frozen=True, slots=True)
class Strata:
    """One axis of the robustness checks over all documents.

    codes: int32, one per document; an index into `names`, or -1 where the axis is missing.
    names: the strata's names in code-point order, so that lower codes come first.
    """

    codes: NDArray[np.int32]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Corpus:
    """The documents of one task, in the file's order; position i is the same document in every column.

    doc_ids, texts: one per document.
    columns: metadata fields by name; use `column` to read one.
    sha256: SHA-256 of the corpus file; None for documents that came from no file.
    """

    doc_ids: tuple[str, ...]
    texts: tuple[str, ...] = field(repr=False)
    columns: Mapping[str, Column] = field(repr=False)
    sha256: str | None = None

    def __len__(self) -> int:
        return len(self.doc_ids)

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Position of each document id."""
        return {doc_id: position for position, doc_id in enumerate(self.doc_ids)}

    def text(self, doc_id: str) -> str:
        """One document's text. Raises KeyError for an unknown id."""
        return self.texts[self.positions[doc_id]]

    def metadata(self, position: int) -> dict[str, Any]:
        """One document's metadata as the file has it: null kept, absent left out."""
        return {
            name: column.value(position) for name, column in self.columns.items() if column.codes[position] != ABSENT
        }

    def column(self, name: str, *, derived: bool = True) -> Column:
        """A field's column (all absent if no document has it).

        `report_year` is the year of the timestamp whatever is stored; with `derived=False` it is what is stored.
        """
        if derived and name == _REPORT_YEAR:
            return self.report_years
        if name in self.columns:
            return self.columns[name]
        if name in ("doc_id", "text"):
            return _column_of(self.doc_ids if name == "doc_id" else self.texts)
        return Column(np.full(len(self), ABSENT, dtype=np.int32), ())

    @cached_property
    def days(self) -> NDArray[np.int32]:
        """Each document's day as a proleptic Gregorian ordinal; NO_DAY where the timestamp begins with no date."""
        column = self.column("timestamp")
        ordinals = [_ordinal(value) for value in column.values]
        table = np.array([*ordinals, NO_DAY, NO_DAY], dtype=np.int32)
        days: NDArray[np.int32] = table[column.codes]
        return days

    @cached_property
    def report_years(self) -> Column:
        """The year of each document's day, as integers; absent where there is no day."""
        days, inverse = np.unique(self.days, return_inverse=True)
        years = [None if day == NO_DAY else date.fromordinal(int(day)).year for day in days]
        names = sorted({year for year in years if year is not None})
        code = {year: index for index, year in enumerate(names)}
        table = np.array([ABSENT if year is None else code[year] for year in years], dtype=np.int32)
        return Column(table[inverse.reshape(-1)], tuple(names))

    def strata(self, axis: str) -> Strata:
        """The strata of an axis: the text form of each value; absent, null and blank are missing. Kept once made."""
        if axis not in self._strata:
            self._strata[axis] = _strata(self.column(axis))
        return self._strata[axis]

    @cached_property
    def _strata(self) -> dict[str, Strata]:
        return {}


def load_corpus(data: TaskData | Path | str, task: Task) -> Corpus:
    """Read and check a task's corpus in a data folder: path inside the folder, SHA-256, count, unique ids.

    Raises TaskDataError naming the file, the line and what is wrong.
    """
    path = corpus_file(data.root if isinstance(data, TaskData) else Path(data), task)
    found = digest_file(path)
    if found != task.corpus_sha256:
        raise TaskDataError(f"{path}: SHA-256 is {found}, task {task.task_id!r} says {task.corpus_sha256}")
    corpus = read_corpus(path, sha256=found)
    if len(corpus) != task.n_documents:
        raise TaskDataError(f"{path}: {len(corpus)} documents, task {task.task_id!r} says {task.n_documents}")
    return corpus


def corpus_file(folder: Path, task: Task) -> Path:
    """The corpus file of a task. Raises TaskDataError if it is missing or lies outside the data folder."""
    root = folder.resolve()
    path = (root / task.corpus_path).resolve()
    if not path.is_relative_to(root):
        raise TaskDataError(f"task {task.task_id!r}: corpus_path {task.corpus_path!r} leads out of {root}")
    if not path.is_file():
        raise TaskDataError(f"task {task.task_id!r}: {path} does not exist")
    return path


def read_corpus(path: Path, *, sha256: str | None = None) -> Corpus:
    """Read a `.jsonl.gz` line by line, so that memory holds the columns and one line.

    Raises TaskDataError naming the line for what is not gzip, not strict JSON, no document, or an id that came before.
    """
    return _build(_rows_of(path), sha256)


def corpus_from_rows(rows: Iterable[Mapping[str, Any]], *, where: str = "documents") -> Corpus:
    """A corpus of documents already in memory; raises TaskDataError as `read_corpus` does."""
    return _build(((f"{where}[{index}]", row) for index, row in enumerate(rows)), None)


def _rows_of(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        with gzip.open(path, "rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    where = f"{path}: line {number}"
                    yield where, parse_line(line, where=where)
    except (OSError, EOFError, zlib.error) as error:
        raise TaskDataError(f"{path}: not readable as gzip: {error}") from error
    except DocumentError as error:
        raise TaskDataError(str(error)) from error


def _build(rows: Iterable[tuple[str, Any]], sha256: str | None) -> Corpus:
    doc_ids: dict[str, None] = {}
    texts: list[str] = []
    encoders: dict[str, _Encoder] = {}
    for position, (where, row) in enumerate(rows):
        doc_id, text = _identity(row, where)
        if doc_id in doc_ids:
            raise TaskDataError(f"{where}: doc_id {doc_id!r} came before")
        doc_ids[doc_id] = None
        texts.append(text)
        for name, value in row.items():
            if name not in ("doc_id", "text"):
                encoder = encoders.get(name)
                if encoder is None:
                    encoder = encoders[name] = _Encoder()
                encoder.put(position, value)
    columns = {name: encoder.column(len(texts)) for name, encoder in encoders.items()}
    return Corpus(tuple(doc_ids), tuple(texts), columns, sha256)


def _identity(row: object, where: str) -> tuple[str, str]:
    if not isinstance(row, Mapping):
        raise TaskDataError(f"{where}: a document is an object, not {type(row).__name__}")
    doc_id, text = row.get("doc_id"), row.get("text")
    if not isinstance(doc_id, str) or not doc_id:
        raise TaskDataError(f"{where}: doc_id is {doc_id!r}; expected a text")
    if not isinstance(text, str):
        raise TaskDataError(f"{where}: document {doc_id!r} has no text")
    return doc_id, text


class _Encoder:
    """Collects one field's values as codes; documents passed over in between lack the field."""

    def __init__(self) -> None:
        self.codes = array("i")
        self.texts: dict[str, int] = {}
        self.others: dict[tuple[type, object], int] = {}
        self.values: list[Any] = []

    def put(self, position: int, value: Any) -> None:
        if len(self.codes) < position:
            self.codes.extend([ABSENT] * (position - len(self.codes)))
        self.codes.append(self._code(value))

    def column(self, length: int) -> Column:
        self.codes.extend([ABSENT] * (length - len(self.codes)))
        return Column(np.array(self.codes, dtype=np.int32), tuple(self.values))

    def _code(self, value: Any) -> int:
        if value is None:
            return NULL
        known: dict[Any, int] = self.texts if type(value) is str else self.others
        key = value if type(value) is str else (type(value), _distinct(value))
        code = known.get(key)
        if code is None:
            code = known[key] = len(self.values)
            self.values.append(value)
        return code


def _distinct(value: Any) -> object:
    """What tells values of one type apart; 0.0 and -0.0 are equal, yet differ as text."""
    return value if isinstance(value, int) else repr(value) if isinstance(value, float) else canonical_json(value)


def _column_of(values: Sequence[str]) -> Column:
    encoder = _Encoder()
    for position, value in enumerate(values):
        encoder.put(position, value)
    return encoder.column(len(values))


def _ordinal(value: object) -> int:
    """The day that a timestamp's first ten characters name; only YYYY-MM-DD is a date, on every Python version."""
    day = value[:10] if isinstance(value, str) else ""
    if not _DAY.fullmatch(day):
        return int(NO_DAY)
    try:
        return date.fromisoformat(day).toordinal()
    except ValueError:
        return int(NO_DAY)


def _strata(column: Column) -> Strata:
    texts = [str(value) for value in column.values]
    names = sorted({text for text in texts if text.strip()})
    code = {name: index for index, name in enumerate(names)}
    table = np.array([*(code.get(text, -1) for text in texts), -1, -1], dtype=np.int32)
    return Strata(table[column.codes], tuple(names))
