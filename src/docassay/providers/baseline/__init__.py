"""The floor: reads a PDF's text layer and fills the schema by labels near values; no key, no network, no model.

Field names, titles and short descriptions are matched to printed labels; what stands beside or below a label is read as
the field's type; a table whose header names an array's fields gives its rows. What it does not find is null, or an
empty list. It knows nothing of layouts, languages other than English labels, nested tables, or scans.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from docassay.errors import ProviderError
from docassay.providers.baseline.fields import Field, field_tree, leaves
from docassay.providers.baseline.labels import fill_by_labels
from docassay.providers.baseline.pages import Line, read_lines
from docassay.providers.baseline.tables import Table, find_table
from docassay.providers.contract import ExtractionResult, ExtractionTask, Outcome, ProviderSpec, Setup

__all__ = ["PROVIDER", "Baseline", "BaselineConfig", "fill"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineConfig:
    """The baseline has no options."""


class Baseline:
    """Implements `docassay.providers.contract.Provider` on this machine."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup

    async def extract(self, task: ExtractionTask) -> ExtractionResult:
        """Answer one document; see `docassay.providers.contract.Provider`."""
        document = task.document
        try:
            async with asyncio.timeout(task.budget.remaining):
                extraction = await asyncio.to_thread(fill, document.data, document.schema)
        except TimeoutError:
            return ExtractionResult(Outcome.TIMEOUT, error=f"not done after {task.budget.seconds:g} s")
        except ProviderError as error:
            return ExtractionResult(Outcome.FAILED, error=str(error), seconds=task.budget.elapsed)
        return ExtractionResult(Outcome.OK, extraction, attempts=1, seconds=task.budget.elapsed)

    async def aclose(self) -> None:
        """Nothing is open."""


def fill(data: bytes, schema: Mapping[str, Any]) -> object:
    """The JSON that the text layer of a PDF gives for `schema`.

    Raises:
        ProviderError: the PDF cannot be read, or a reference in the schema cannot be resolved.
    """
    root = field_tree(schema)
    lines = read_lines(data)
    if root.kind == "array":
        return _rows(find_table(root, lines, []))
    tables, rest = _tables(root, lines)
    values = {item.field.path: item.value for item in fill_by_labels(root, rest)}
    rows = {path: _rows(table) for path, table in tables.items()}
    return _assemble(root, {**values, **rows})


def _tables(root: Field, lines: tuple[Line, ...]) -> tuple[dict[tuple[str, ...], Table], tuple[Line, ...]]:
    """Tables for arrays, the best fitting first, and the lines that belong to none."""
    arrays = [leaf for leaf in leaves(root) if leaf.kind == "array"]
    others = [leaf for leaf in leaves(root) if leaf.is_scalar]
    found: dict[tuple[str, ...], Table] = {}
    while arrays:
        tables = [(array, table) for array in arrays if (table := find_table(array, lines, others)) is not None]
        if not tables:
            break
        array, table = max(tables, key=lambda item: item[1].fit)
        found[array.path] = table
        arrays.remove(array)
        lines = _without(lines, table.lines)
    return found, lines


def _without(lines: tuple[Line, ...], taken: frozenset[int]) -> tuple[Line, ...]:
    left = [line for line in lines if line.number not in taken]
    return tuple(Line(line.page, number, line.spans) for number, line in enumerate(left))


def _rows(table: Table | None) -> list[object]:
    return [] if table is None else [_nest(row) for row in table.rows]


def _nest(row: Mapping[tuple[str, ...], object]) -> dict[str, object]:
    """Values by path below an array's items, as nested objects."""
    shortest = min((len(path) for path in row), default=1)
    nested: dict[str, object] = {}
    for path, value in row.items():
        inner = nested
        for name in path[shortest - 1 : -1]:
            inner = inner.setdefault(name, {})  # type: ignore[assignment]
        inner[path[-1]] = value
    return nested


def _assemble(field: Field, values: Mapping[tuple[str, ...], object]) -> object:
    if field.kind == "object":
        return {child.name: _assemble(child, values) for child in field.properties}
    return values.get(field.path, [] if field.kind == "array" else None)


PROVIDER = ProviderSpec(
    name="baseline",
    summary="Labels near values in the PDF's text layer; offline, needs no key.",
    config=BaselineConfig,
    open=Baseline,
    concurrency=1,
    free=True,
    requires={"pypdfium2": "predict"},
)
