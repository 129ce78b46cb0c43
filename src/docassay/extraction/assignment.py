"""Which rows go with which, given what each pair is worth; knows nothing of documents.

Optimal assignment (Kuhn 1955; Jonker and Volgenant 1987, as implemented by scipy.optimize.linear_sum_assignment).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

# Above this many rows on the smaller side scipy is faster; below, importing and calling it costs more than it saves.
_SMALL = 6
_EXACT_DOUBLE = 2**53


def best_assignment(weights: Sequence[Sequence[int]] | NDArray[np.float64]) -> list[tuple[int, int]]:
    """The pairs (row, column) of a maximum-weight assignment; weights are >= 0, and a pair worth 0 is no pair.

    The choice among optima is a function of the matrix alone. Whole numbers of any size are solved exactly; an array
    of doubles must hold weights that doubles can add exactly.
    """
    rows, columns = len(weights), len(weights[0])
    if rows == 1 or columns == 1:
        return _single(weights, rows, columns)
    if not isinstance(weights, np.ndarray) and _in_whole_numbers(weights, rows, columns):
        pairs = _shortest_paths(weights) if rows <= columns else _flipped(weights)
    else:
        matrix = np.asarray(weights, dtype=np.float64)
        chosen_rows, chosen_columns = _solver()(matrix, maximize=True)
        pairs = list(zip(chosen_rows.tolist(), chosen_columns.tolist(), strict=True))
    return [(row, column) for row, column in pairs if weights[row][column] > 0]


@cache
def _solver() -> Callable[..., tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """scipy.optimize.linear_sum_assignment, without the rest of scipy.optimize where that can be had.

    The function is one small extension module; importing the package around it takes longer than scoring hundreds of
    documents. Where the module is not found the package is imported as usual; the function is the same.
    """
    package = find_spec("scipy")
    folders = (
        [str(Path(folder, "optimize")) for folder in (package.submodule_search_locations or ())] if package else []
    )
    spec = PathFinder.find_spec("_lsap", folders)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        found = getattr(module, "linear_sum_assignment", None)
        if callable(found):
            return found  # type: ignore[no-any-return]
    return import_module("scipy.optimize").linear_sum_assignment  # type: ignore[no-any-return]


def _in_whole_numbers(weights: Sequence[Sequence[int]], rows: int, columns: int) -> bool:
    small = min(rows, columns) <= _SMALL and max(rows, columns) <= 4 * _SMALL
    return small or max(map(max, weights)) * min(rows, columns) >= _EXACT_DOUBLE


def _single(weights: Sequence[Sequence[int]] | NDArray[np.float64], rows: int, columns: int) -> list[tuple[int, int]]:
    cells = [(row, column) for row in range(rows) for column in range(columns)]
    best = max(cells, key=lambda cell: (weights[cell[0]][cell[1]], -cell[0], -cell[1]))
    return [best] if weights[best[0]][best[1]] > 0 else []


def _flipped(weights: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    pairs = _shortest_paths([list(column) for column in zip(*weights, strict=True)])
    return [(row, column) for column, row in pairs]


def _shortest_paths(weights: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Successive shortest augmenting paths with potentials, rows <= columns, in whole numbers."""
    columns = len(weights[0])
    owner = [-1] * columns
    row_potential = [0] * len(weights)
    column_potential = [0] * columns
    for start in range(len(weights)):
        _augment(start, weights, owner, row_potential, column_potential)
    return sorted((row, column) for column, row in enumerate(owner) if row >= 0)


def _augment(
    start: int,
    weights: Sequence[Sequence[int]],
    owner: list[int],
    row_potential: list[int],
    column_potential: list[int],
) -> None:
    columns = range(len(owner))
    distance: list[int | None] = [None] * len(owner)
    came_from = [-1] * len(owner)  # the column before on the path, -1 for the start row
    settled: list[int] = []
    is_settled = [False] * len(owner)
    row, last, base = start, -1, 0
    while True:
        own, potential = weights[row], row_potential[row]
        for column in columns:
            if not is_settled[column]:
                length = base - own[column] - potential - column_potential[column]
                known = distance[column]
                if known is None or length < known:
                    distance[column], came_from[column] = length, last
        nearest, length = -1, 0
        for column in columns:
            reached = distance[column]
            if not is_settled[column] and reached is not None and (nearest < 0 or reached < length):
                nearest, length = column, reached
        base = length
        if owner[nearest] < 0:
            break
        settled.append(nearest)
        is_settled[nearest] = True
        last, row = nearest, owner[nearest]
    row_potential[start] += base
    for column in settled:
        reached = distance[column]
        assert reached is not None
        row_potential[owner[column]] += base - reached
        column_potential[column] -= base - reached
    column = nearest
    while column >= 0:
        before = came_from[column]
        owner[column] = owner[before] if before >= 0 else start
        column = before
