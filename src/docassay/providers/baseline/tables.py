"""The rows of a table with a header row, as an array of objects; simple tables only."""

from __future__ import annotations

from dataclasses import dataclass

from docassay.providers.baseline.fields import Field, leaves, words
from docassay.providers.baseline.pages import Line, Span
from docassay.providers.baseline.values import read_value

__all__ = ["Table", "find_table"]

LEAST_FOR_A_COLUMN = 0.5
LEAST_COLUMNS = 2
OUT_OF_COLUMN = 60.0
"""Points by which a cell may miss its column's edges and middle."""
END_OF_TABLE = 1.9
"""A gap of so many row heights ends a table."""
IS_A_LABEL = 0.8
CLOSING = frozenset({"total", "subtotal", "sum"})


@dataclass(frozen=True, slots=True)
class Table:
    """A table that was found."""

    rows: tuple[dict[tuple[str, ...], object], ...]
    """Values by the path of the item's field."""
    lines: frozenset[int]
    """Numbers of the lines that it takes, header included."""
    fit: float
    """How well the header names the columns: the sum of their likenesses."""


@dataclass(frozen=True, slots=True)
class _Header:
    line: Line
    columns: tuple[Field | None, ...]
    """The field of each span; None for a column that the schema does not ask for."""
    fit: float


def find_table(array: Field, lines: tuple[Line, ...], others: list[Field]) -> Table | None:
    """The table whose header names the fields of `array`'s items best.

    Args:
        others: fields outside the array; a row that begins with the label of one ends the table.
    """
    if array.items is None or array.items.kind != "object":
        return None
    columns = [leaf for leaf in leaves(array.items) if _fits_a_cell(leaf)]
    headers = [header for line in lines if (header := _header(line, columns)) is not None]
    best = max(headers, key=lambda header: (header.fit, -header.line.number), default=None)
    return None if best is None else _read(best, lines, columns, others)


def _fits_a_cell(leaf: Field) -> bool:
    return leaf.is_scalar or (leaf.items is not None and leaf.items.is_scalar)


def _header(line: Line, columns: list[Field]) -> _Header | None:
    labels = [words(span.text) for span in line.spans]
    pairs = [(leaf.likeness(label), place, leaf) for place, label in enumerate(labels) for leaf in columns]
    chosen: dict[int, Field] = {}
    fit = 0.0
    for like, place, leaf in sorted(pairs, key=lambda pair: -pair[0]):
        if like >= LEAST_FOR_A_COLUMN and place not in chosen and leaf not in chosen.values():
            chosen[place] = leaf
            fit += like
    if len(chosen) < min(LEAST_COLUMNS, len(columns)) or 2 * len(chosen) < len(line.spans):
        return None
    return _Header(line, tuple(chosen.get(place) for place in range(len(line.spans))), fit)


def _read(header: _Header, lines: tuple[Line, ...], columns: list[Field], others: list[Field]) -> Table:
    rows: list[dict[tuple[str, ...], object]] = []
    used = {header.line.number}
    repeated = [line.number for line in lines if _is_same(line, header.line) and line.number >= header.line.number]
    for start in repeated:
        used.add(start)
        _read_block(_Block(header, lines, start, others), rows, used)
    missing: dict[tuple[str, ...], object] = {leaf.path: [] if leaf.kind == "array" else None for leaf in columns}
    return Table(tuple({**missing, **row} for row in rows), frozenset(used), header.fit)


@dataclass(frozen=True, slots=True)
class _Block:
    """One part of a table below one print of its header."""

    header: _Header
    lines: tuple[Line, ...]
    start: int
    others: list[Field]


def _read_block(block: _Block, rows: list[dict[tuple[str, ...], object]], used: set[int]) -> None:
    previous = block.lines[block.start]
    pitch: float | None = None
    for line in block.lines[block.start + 1 :]:
        gap = line.top - previous.top
        if line.page != previous.page or (pitch is not None and gap > END_OF_TABLE * pitch):
            return
        cells = _cells(block.header, line)
        if cells is None or _closes(line, block.others):
            return
        values = _values(cells, block.header)
        if values is None:
            return
        if _continues(cells, block.header) and rows:
            _append(rows[-1], cells, block.header)
        elif len(values) >= min(LEAST_COLUMNS, len([c for c in block.header.columns if c])):
            rows.append(values)
        else:
            return
        pitch = gap if pitch is None and len(rows) > 1 else pitch
        used.add(line.number)
        previous = line


def _cells(header: _Header, line: Line) -> dict[int, str] | None:
    """The text of each column; None where a span stands in none."""
    cells: dict[int, str] = {}
    for span in line.spans:
        off, place = min((_off(span, label), place) for place, label in enumerate(header.line.spans))
        if off > OUT_OF_COLUMN:
            return None
        cells[place] = f"{cells[place]} {span.text}" if place in cells else span.text
    return cells


def _off(span: Span, label: Span) -> float:
    """How far a cell is from standing under a label: at its left, at its right, or in its middle."""
    return min(abs(span.left - label.left), abs(span.right - label.right), abs(span.middle - label.middle))


def _values(cells: dict[int, str], header: _Header) -> dict[tuple[str, ...], object] | None:
    """The cells by field; None where one does not read as its field's type."""
    values: dict[tuple[str, ...], object] = {}
    for place, text in cells.items():
        leaf = header.columns[place]
        if leaf is None:
            continue
        value = read_value(leaf, text)
        if value is None and leaf.kind in ("number", "integer") and any(char.isalnum() for char in text):
            return None
        if value is not None:
            values[leaf.path] = value
    return values


def _continues(cells: dict[int, str], header: _Header) -> bool:
    """Whether a line only goes on with the text of the row above: one text cell, and not the first column."""
    (place, *more) = cells
    leaf = header.columns[place]
    return not more and place > 0 and leaf is not None and leaf.kind == "string" and not leaf.format


def _append(row: dict[tuple[str, ...], object], cells: dict[int, str], header: _Header) -> None:
    ((place, text),) = cells.items()
    leaf = header.columns[place]
    assert leaf is not None
    row[leaf.path] = f"{row.get(leaf.path) or ''} {text}".strip()


def _closes(line: Line, others: list[Field]) -> bool:
    """Whether a line is the table's sum, or the label of another field."""
    label = words(line.spans[0].text)
    return bool(label & CLOSING) or any(field.likeness(label) >= IS_A_LABEL for field in others)


def _is_same(line: Line, header: Line) -> bool:
    return [span.text for span in line.spans] == [span.text for span in header.spans]
