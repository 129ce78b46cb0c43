"""Decides how rows are divided among workers: few enough parts, none too heavy, and a heavy document by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from docassay.runs.layout import Rows

__all__ = ["Share", "gaps", "shares"]

MOST_ROWS = 1000
MOST_BYTES = 32 << 20
LEAST_BYTES = 1 << 20
LEAST_ROWS = 64
"""Fewer would take longer to begin and end than to score; unless there are so few that some worker had none."""
SHARES_PER_WORKER = 12
"""Enough that workers end at about the same time, since the last shares are light."""

_ROW_COST = 4096  # what a document costs besides its bytes, as bytes


@dataclass(frozen=True, slots=True)
class Share:
    """Consecutive rows for one worker, and how heavy they are, in bytes."""

    rows: Rows
    size: int


def gaps(rows: int, done: Sequence[Rows]) -> list[Rows]:
    """The rows that are not done; `done` is sorted and without overlaps."""
    found, at = [], 0
    for some in done:
        if some.start > at:
            found.append(Rows(at, some.start))
        at = max(at, some.stop)
    return [*found, Rows(at, rows)] if at < rows else found


def shares(
    missing: Sequence[Rows], sizes: NDArray[np.int64], workers: int, *, most_rows: int | None = None
) -> list[Share]:
    """Divide the missing rows.

    Args:
        sizes: bytes to be read for each row of the manifest, 0 where not known.
        most_rows: rows a share may have at most; chosen for the number of workers if not given.
    """
    costs = sizes + _ROW_COST
    rows = sum(len(some) for some in missing)
    total = int(sum(costs[some.start : some.stop].sum() for some in missing))
    wanted = max(1, workers * SHARES_PER_WORKER)
    least_rows = min(LEAST_ROWS, -(-rows // max(1, workers)))
    limit_rows = most_rows or min(MOST_ROWS, max(1, least_rows, -(-rows // wanted)))
    limit_bytes = min(MOST_BYTES, max(LEAST_BYTES, total // wanted))
    return [share for some in missing for share in _divide(some, costs, limit_rows, limit_bytes)]


def _divide(rows: Rows, costs: NDArray[np.int64], limit_rows: int, limit_bytes: int) -> Iterator[Share]:
    start, size = rows.start, 0
    for row in range(rows.start, rows.stop):
        cost = int(costs[row])
        if row > start and (row - start >= limit_rows or size + cost > limit_bytes):
            yield Share(Rows(start, row), size)
            start, size = row, 0
        size += cost
    if start < rows.stop:
        yield Share(Rows(start, rows.stop), size)
