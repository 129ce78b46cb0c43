"""Decides which rows of one array are written alike, or cannot be told apart by a metric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docassay.errors import SchemaError
from docassay.extraction.address import Steps
from docassay.extraction.flatten import Flattener
from docassay.extraction.lint.finding import LintFinding, finding
from docassay.extraction.metric import OMNI, SOUND, Metric
from docassay.extraction.places import Place, Places
from docassay.extraction.rows import Row, Rows
from docassay.extraction.schema import SchemaNode, read_schema
from docassay.extraction.space import Space
from docassay.extraction.values import rules, shown

_SHOWN = 10


def repeated_rows(document: dict[str, Any], root: SchemaNode, schema: dict[str, Any]) -> Iterator[LintFinding]:
    """Groups of rows that are the same under sound/1, and those that are so under omni/1 only.

    Rows are objects, or hold arrays; a value that occurs twice in a list of values is no fault.
    """
    seen: set[tuple[Steps, tuple[int, ...]]] = set()
    for steps, same, written_alike in _groups(document, root, SOUND):
        seen.add((steps, same))
        yield _repeated("duplicate_rows" if written_alike else "rows_alike", steps, same, "")
    try:
        published = read_schema(schema, OMNI.reader)
    except SchemaError:
        return
    for steps, same, _ in _groups(document, published, OMNI):
        if (steps, same) not in seen:
            yield _repeated("rows_alike", steps, same, " under omni/1 only")


def _repeated(code: str, steps: Steps, same: tuple[int, ...], whose: str) -> LintFinding:
    listed = ", ".join(map(str, same[:_SHOWN])) + (", …" if len(same) > _SHOWN else "")
    advice = "check the document: a row read twice, or rows that need another field to tell them apart"
    return finding(code, (*steps, same[0]), f"{len(same)} rows{whose}: {listed}", advice)


def _groups(
    document: dict[str, Any], root: SchemaNode, metric: Metric
) -> Iterator[tuple[Steps, tuple[int, ...], bool]]:
    """Each array's path, positions of rows there that are the same, and whether they are written the same."""
    space = Space(Places(root, metric.preparation, frozenset()), rules(metric.name))
    both_sides = metric.preparation.sidecars_on_both_sides
    flattener = Flattener(space, drop_sidecars=both_sides, keep_raw=True)
    yield from _below(flattener.document(document), (), space.item_places)


def _below(row: Row, prefix: Steps, places: list[Place]) -> Iterator[tuple[Steps, tuple[int, ...], bool]]:
    for place, rows in row.arrays.items():
        here = prefix + place.steps()[len(prefix) :]
        yield from _same(rows, here, places)
        for inner in rows.rows:
            yield from _below(inner, (*here, inner.position), places)


def _same(rows: Rows, here: Steps, places: list[Place]) -> Iterator[tuple[Steps, tuple[int, ...], bool]]:
    repeated = {content for content, count in rows.content.counts.items() if count > 1}
    members: dict[int, list[Row]] = {}
    for row in rows.rows:
        if row.content in repeated and (row.content.is_object or row.content.arrays):
            members.setdefault(row.content.id, []).append(row)
    for same in members.values():
        yield here, tuple(row.position for row in same), len({repr(_written(row, places)) for row in same}) == 1


def _written(row: Row, places: list[Place]) -> object:
    own = row.raws_at([places[item] for item in row.content.items])
    below = [(place.id, [_written(inner, places) for inner in rows.rows]) for place, rows in row.arrays.items()]
    return sorted((place.id, shown(raw)) for place, raw in own.items()), below
