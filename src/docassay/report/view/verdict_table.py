"""Decides how a run's verdicts are filtered, sorted, counted and stepped through fast enough to feel like nothing.

The rows live in DuckDB. What is asked of all rows at once (document, field, verdict) is also held as one small code a
row, so that a filter is a comparison of arrays; text is searched by DuckDB, values are fetched only for rows on show.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from docassay.errors import ArgumentValueError
from docassay.pipelines.run_data import VERDICTS, Documents, Run, attach, connect, read_documents

if TYPE_CHECKING:
    import duckdb

Mask = NDArray[np.bool_]
Ids = NDArray[np.int64]
Kept = TypeVar("Kept")

SORTS = ("doc_id", "address", "field", "verdict", "gold_raw", "pred_raw")
"""Columns that rows can be sorted by; without one they stand in reading order."""
STEPS = ("row", "error", "document", "field")
SHOWN = 300
"""Characters of a value in a list of rows; one row alone shows all of it."""
FACET_VALUES = 300
"""Fields and documents counted for a filter list, the most frequent first."""
_KEPT = 24  # masks and orders kept; each is 1 or 8 bytes a row


@dataclass(frozen=True, slots=True)
class Filters:
    """What rows are asked for; what is empty asks for nothing."""

    verdicts: tuple[str, ...] = ()
    field: str = ""
    suite: str = ""
    document: str = ""
    text: str = ""
    """Found anywhere in the document's id, the address or a value, whatever the case."""


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One verdict in a list, its values cut at `SHOWN` characters."""

    id: int
    doc_id: str
    address: str
    field: str
    verdict: str
    gold: str | None
    predicted: str | None
    gold_more: int
    predicted_more: int
    """Characters that are left out."""


@dataclass(frozen=True, slots=True)
class FullVerdict:
    """One verdict with its whole values."""

    id: int
    doc_id: str
    address: str
    field: str
    verdict: str
    gold_raw: str | None
    pred_raw: str | None
    gold_canon: str | None
    pred_canon: str | None


@dataclass(frozen=True, slots=True)
class Page:
    """A stretch of the rows that pass the filters."""

    total: int
    offset: int
    rows: tuple[VerdictRow, ...]


@dataclass(frozen=True, slots=True)
class Facet:
    """How many rows each value of one column has, all other filters applied."""

    values: tuple[tuple[str, int], ...]
    more: int
    """Values that are not listed."""


class VerdictTable:
    """The verdicts of one run; safe to be called from several threads."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._lock = threading.RLock()
        self._connection = connect()
        attach(self._connection, [run])
        self.documents: Documents = read_documents(self._connection, [run])[0]
        self._place = {doc: place for place, doc in enumerate(self.documents.doc_id)}
        _load(self._connection)
        codes = self._connection.execute(
            "SELECT enum_code(doc_id) AS doc_id, enum_code(field) AS field, enum_code(verdict) AS verdict FROM rows"
        ).fetchnumpy()
        self._codes = {name: np.ma.getdata(column) for name, column in codes.items()}
        self._names = {name: _enum_names(self._connection, name) for name in ("doc_id", "field", "verdict")}
        suites = dict(zip(self.documents.doc_id, self.documents.suite, strict=True))
        self._suites = [suites.get(name) or "" for name in self._names["doc_id"]]
        self._masks: OrderedDict[tuple[str, object], Mask] = OrderedDict()
        self._orders: OrderedDict[object, Ids] = OrderedDict()
        self._searchable = threading.Thread(target=_make_searchable, args=[self._connection.cursor()], daemon=True)
        self._searchable.start()

    def __len__(self) -> int:
        return len(self._codes["verdict"])

    def place_of(self, doc_id: str) -> int | None:
        """The row of a document in the scores table."""
        return self._place.get(doc_id)

    def page(self, filters: Filters, sort: str, offset: int, limit: int) -> Page:
        """Rows `offset` to `offset + limit` of what passes the filters.

        Args:
            sort: one of SORTS, with `-` in front for descending; empty for reading order.
        """
        with self._lock:
            ids = self._selected(filters, sort)
            offset = max(0, min(offset, max(0, len(ids) - 1)))
            return Page(len(ids), offset, tuple(self._fetch(ids[offset : offset + limit])))

    def facets(self, filters: Filters, wanted: Mapping[str, str]) -> dict[str, Facet]:
        """For each filter its values and how many rows each would show.

        Args:
            wanted: for `field` and `document` the text that a listed value contains.
        """
        with self._lock:
            return {
                "verdicts": self._verdict_facet(filters),
                "field": self._facet(filters, "field", "field", wanted.get("field", "")),
                "document": self._facet(filters, "document", "doc_id", wanted.get("document", "")),
                "suite": self._suite_facet(filters),
            }

    def step(
        self, filters: Filters, sort: str, current: int | None, kind: str, forward: bool
    ) -> tuple[int, int] | None:
        """The next or previous row, error, document or field among what passes the filters: its id and its place."""
        if kind not in STEPS:
            raise ArgumentValueError(f"step is {kind!r}; it must be one of {', '.join(STEPS)}")
        with self._lock:
            ids = self._selected(filters, sort)
            at = _position(ids, current)
            found = self._next(ids, at, kind, forward)
            return None if found is None else (int(ids[found]), found)

    def position(self, filters: Filters, sort: str, row: int) -> int | None:
        """The place of a row among what passes the filters."""
        with self._lock:
            return _position(self._selected(filters, sort), row)

    def full(self, row: int) -> FullVerdict | None:
        """One row with its whole values; None where there is no such row."""
        if not 0 <= row < len(self):
            return None
        with self._lock:
            columns = ", ".join(field.name for field in fields(FullVerdict) if field.name != "id")
            found = self._connection.execute(f"SELECT {columns} FROM rows WHERE rowid = $1", [row]).fetchone()
        assert found is not None
        return FullVerdict(row, *found)

    def of_document(self, doc_id: str) -> list[VerdictRow]:
        """Every verdict of a document, in reading order."""
        with self._lock:
            return list(self._fetch(np.flatnonzero(self._mask("document", doc_id))))

    def _fetch(self, ids: Ids) -> list[VerdictRow]:
        rows = self._connection.execute(
            f"SELECT rowid, doc_id, address, field, verdict, left(gold_raw, {SHOWN}), left(pred_raw, {SHOWN}), "
            f"greatest(0, coalesce(length(gold_raw), 0) - {SHOWN}), "
            f"greatest(0, coalesce(length(pred_raw), 0) - {SHOWN}) FROM rows WHERE {_where(ids)}",
            [] if _contiguous(ids) else [ids.tolist()],
        ).fetchall()
        by_id = {row[0]: VerdictRow(*row) for row in rows}
        return [by_id[i] for i in ids.tolist()]

    def _selected(self, filters: Filters, sort: str) -> Ids:
        mask = self._all(filters)
        if not sort:
            return self._kept(self._orders, ("filtered", filters), lambda: np.flatnonzero(mask))
        order = self._kept(self._orders, sort, lambda: self._order(sort))
        return self._kept(self._orders, (sort, filters), lambda: order[mask[order]])

    def _all(self, filters: Filters, without: str = "") -> Mask:
        mask = np.ones(len(self), dtype=bool)
        for name in ("verdicts", "field", "suite", "document", "text"):
            value = getattr(filters, name)
            if value and name != without:
                mask &= self._mask(name, value)
        return mask

    def _mask(self, name: str, value: Any) -> Mask:
        makers: dict[str, Callable[[Any], Mask]] = {
            "verdicts": self._verdict_mask,
            "field": lambda field: self._codes["field"] == self._code("field", field),
            "document": lambda doc: self._codes["doc_id"] == self._code("doc_id", doc),
            "suite": self._suite_mask,
            "text": self._text_mask,
        }
        return self._kept(self._masks, (name, value), lambda: makers[name](value))

    def _kept(self, store: OrderedDict[Any, Kept], key: object, make: Callable[[], Kept]) -> Kept:
        if key not in store:
            store[key] = make()
            while len(store) > _KEPT:
                store.popitem(last=False)
        store.move_to_end(key)
        return store[key]

    def _code(self, column: str, name: str) -> int:
        """The code of a value; -1, which no row has, for one that does not occur."""
        try:
            return self._names[column].index(name)
        except ValueError:
            return -1

    def _verdict_mask(self, verdicts: Sequence[str]) -> Mask:
        wanted = [self._code("verdict", verdict) for verdict in verdicts]
        return np.isin(self._codes["verdict"], wanted)

    def _suite_mask(self, suite: str) -> Mask:
        inside = np.array([name == suite for name in self._suites], dtype=bool)
        return inside[self._codes["doc_id"]] if len(inside) else np.zeros(len(self), dtype=bool)

    def _text_mask(self, text: str) -> Mask:
        folded = text.casefold()
        documents = np.array([folded in name.casefold() for name in self._names["doc_id"]], dtype=bool)
        mask = documents[self._codes["doc_id"]] if len(documents) else np.zeros(len(self), dtype=bool)
        self._searchable.join()
        found = self._connection.execute(
            "SELECT rowid FROM searchable WHERE contains(text, lower($1))", [text]
        ).fetchnumpy()["rowid"]
        mask[np.asarray(found)] = True
        return mask

    def _order(self, sort: str) -> Ids:
        column, direction = sort.lstrip("-"), "DESC" if sort.startswith("-") else "ASC"
        if column not in SORTS:
            raise ArgumentValueError(f"sort is {sort!r}; it must be one of {', '.join(SORTS)}, or one with - in front")
        # Enumerations sort by their codes, which were given in the order of the text.
        found = self._connection.execute(f"SELECT rowid FROM rows ORDER BY {column} {direction} NULLS LAST, rowid")
        return np.asarray(found.fetchnumpy()["rowid"], dtype=np.int64)

    def _verdict_facet(self, filters: Filters) -> Facet:
        counts = self._counts(filters, "verdicts", "verdict")
        return Facet(tuple((name, counts.get(name, 0)) for name in VERDICTS), 0)

    def _facet(self, filters: Filters, name: str, column: str, wanted: str) -> Facet:
        folded = wanted.casefold()
        counts = {value: n for value, n in self._counts(filters, name, column).items() if folded in value.casefold()}
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return Facet(tuple(ranked[:FACET_VALUES]), max(0, len(ranked) - FACET_VALUES))

    def _suite_facet(self, filters: Filters) -> Facet:
        counts: dict[str, int] = {}
        suites = dict(zip(self._names["doc_id"], self._suites, strict=True))
        for doc_id, n in self._counts(filters, "suite", "doc_id").items():
            if suites[doc_id]:
                counts[suites[doc_id]] = counts.get(suites[doc_id], 0) + n
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return Facet(tuple(ranked[:FACET_VALUES]), max(0, len(ranked) - FACET_VALUES))

    def _counts(self, filters: Filters, without: str, column: str) -> dict[str, int]:
        codes = self._codes[column][self._all(filters, without)]
        counts = np.bincount(codes, minlength=len(self._names[column]))
        return {name: int(n) for name, n in zip(self._names[column], counts, strict=True) if n}

    def _next(self, ids: Ids, at: int | None, kind: str, forward: bool) -> int | None:
        if not len(ids):
            return None
        if at is None:
            at = -1 if forward else len(ids)
        if kind == "row":
            place = at + 1 if forward else at - 1
            return place if 0 <= place < len(ids) else None
        if kind == "error":
            return _first(self._codes["verdict"][ids] != self._code("verdict", "matched"), at, forward)
        codes = self._codes["doc_id" if kind == "document" else "field"][ids]
        if not 0 <= at < len(ids):
            return 0 if forward else len(ids) - 1
        other = _first(codes != codes[at], at, forward)
        # Going back lands on the first row of the group before, not on its last.
        return other if other is None or forward else _start_of_group(codes, other)


def _load(connection: duckdb.DuckDBPyConnection) -> None:
    """Bring the verdicts into memory in reading order; columns of few values become enumerations."""
    for column in ("doc_id", "field", "verdict"):
        connection.execute(
            f"CREATE TYPE {column}_values AS ENUM (SELECT {column} FROM verdicts_0 GROUP BY {column} ORDER BY {column})"
        )
    connection.execute(
        "CREATE TABLE rows AS SELECT doc_id::doc_id_values AS doc_id, address, field::field_values AS field, "
        "verdict::verdict_values AS verdict, gold_raw, pred_raw, gold_canon, pred_canon FROM verdicts_0"
    )


def _make_searchable(connection: duckdb.DuckDBPyConnection) -> None:
    """One small-letter text for each row, to search in; made while the first page is looked at."""
    connection.execute(
        "CREATE TABLE searchable AS SELECT lower(concat_ws(chr(31), address, gold_raw, "
        "CASE WHEN pred_raw IS DISTINCT FROM gold_raw THEN pred_raw END)) AS text FROM rows"
    )


def _enum_names(connection: duckdb.DuckDBPyConnection, column: str) -> list[str]:
    row = connection.execute(f"SELECT enum_range(NULL::{column}_values)").fetchone()
    assert row is not None
    return list(row[0])


def _contiguous(ids: Ids) -> bool:
    return len(ids) > 0 and int(ids[-1] - ids[0]) == len(ids) - 1 and bool(np.all(np.diff(ids) == 1))


def _where(ids: Ids) -> str:
    """A range is read faster than a list of rows."""
    if _contiguous(ids):
        return f"rowid BETWEEN {int(ids[0])} AND {int(ids[-1])}"
    return "rowid IN (SELECT unnest($1::BIGINT[]))"


def _position(ids: Ids, row: int | None) -> int | None:
    if row is None:
        return None
    found = np.flatnonzero(ids == row)
    return int(found[0]) if len(found) else None


def _first(wanted: Mask, at: int, forward: bool) -> int | None:
    """The nearest place after (or before) `at` where `wanted` holds."""
    places = np.flatnonzero(wanted[at + 1 :]) + at + 1 if forward else np.flatnonzero(wanted[: max(at, 0)])
    if not len(places):
        return None
    return int(places[0] if forward else places[-1])


def _start_of_group(codes: NDArray[Any], place: int) -> int:
    others = np.flatnonzero(codes[:place] != codes[place])
    return int(others[-1]) + 1 if len(others) else 0
