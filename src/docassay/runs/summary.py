"""Decides what a run's scores come to: means by suite and over all, each with an interval and with what it rests on.

SUBJECT is the mean over one suite's documents, UNIFIED the mean of the suites' means, the flat mean that over all
documents. Beside each mean over what was scored stands the one that counts a failure as 0, so that failing on hard
documents never pays. A document without anything to score is in neither, since it has no score.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from docassay.core.statistics.intervals import LEVEL, RESAMPLES, Interval, intervals, ratios, resampled_ratios
from docassay.runs.tables import ERROR, NOTHING_TO_SCORE, SCORED

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["METRICS", "RATES", "SEED", "Group", "Summary", "Unified", "summarise", "summary_columns"]

Floats = NDArray[np.float64]

SEED = 0
METRICS = ("accuracy", "precision", "recall", "f1", "addresses_found", "addresses_read_right")
RATES = ("misread", "unfound", "fabricated", "invented_item", "invented_field")
"""Verdicts that are errors; a document's rate is their share of its addresses, and with accuracy they sum to 1."""


@dataclass(frozen=True, slots=True)
class Group:
    """Some documents: all of them, or a suite's."""

    name: str | None
    """The suite; None for all documents."""
    documents: int
    scored: int
    nothing_to_score: int
    errors: int
    coverage: float | None
    """scored / documents."""
    means: Mapping[str, Interval]
    """Of each metric, over the documents that were scored."""
    means_failures_zero: Mapping[str, Interval]
    """Of each metric, with 0 for each document that failed."""
    error_rates: Mapping[str, Interval]
    """`failed`: share of documents that failed; and of each kind of error its mean share of a document's addresses."""


@dataclass(frozen=True, slots=True)
class Unified:
    """The mean of the suites' means; a suite without a mean is left out, and counted."""

    suites: int
    without_mean: int
    means: Mapping[str, Interval]
    means_failures_zero: Mapping[str, Interval]
    error_rates: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run came to: `summary.json`."""

    signature: str
    """Of the scores, and of how the intervals were made."""
    flat: Group
    suites: tuple[Group, ...]
    """By name; documents without a suite are in the flat mean alone."""
    unified: Unified | None
    """None without suites."""

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)

    def as_json(self) -> bytes:
        """The text of `summary.json`."""
        return json.dumps(self.as_dict(), ensure_ascii=False, allow_nan=False, indent=2).encode()


def summary_columns(suite_column: str | None) -> list[str]:
    """The columns of the scores that a summary is made of."""
    return ["status", *METRICS, "total", *RATES, *([suite_column] if suite_column else [])]


def summarise(parts: Iterable[pa.Table], signature: str, suite_column: str | None) -> Summary:
    """Summarise a run's scores, given in parts with `summary_columns`.

    The intervals are seeded, and depend on nothing but the scores and their order.
    """
    table = _Numbers.of(parts, suite_column)
    generator = np.random.default_rng(SEED)
    flat = _Resampled(table, generator)
    by_suite = {name: _Resampled(table.only(rows), generator) for name, rows in sorted(table.suites.items())}
    made = f"{signature} suite:{suite_column or '-'} interval:bootstrap-by-document resamples:{RESAMPLES} seed:{SEED}"
    return Summary(
        signature=f"{made} level:{LEVEL:g}",
        flat=flat.group(None),
        suites=tuple(resampled.group(name) for name, resampled in by_suite.items()),
        unified=_unified(list(by_suite.values())) if suite_column else None,
    )


_COLUMNS = (*METRICS, *(f"{name} or 0" for name in METRICS), "failed", *RATES)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Per document what the means are made of: each is a sum of `numerators` over a sum of `denominators`."""

    status: NDArray[np.str_]
    numerators: Floats
    denominators: Floats
    suites: Mapping[str, NDArray[np.intp]]

    @classmethod
    def of(cls, parts: Iterable[pa.Table], suite_column: str | None) -> _Numbers:
        tops, bottoms = [np.zeros((0, len(_COLUMNS)))], [np.zeros((0, len(_COLUMNS)))]
        statuses: list[NDArray[np.str_]] = []
        suites: list[object] = []
        for part in parts:
            status = np.array(part.column("status").to_pylist(), dtype=np.str_)
            statuses.append(status)
            suites += part.column(suite_column).to_pylist() if suite_column else []
            top, bottom = _sums(part, status)
            tops.append(top)
            bottoms.append(bottom)
        status = np.concatenate(statuses) if statuses else np.array([], dtype=np.str_)
        return cls(status, np.concatenate(tops), np.concatenate(bottoms), _rows_by_suite(suites))

    def only(self, rows: NDArray[np.intp]) -> _Numbers:
        return _Numbers(self.status[rows], self.numerators[rows], self.denominators[rows], {})


def _sums(part: pa.Table, status: NDArray[np.str_]) -> tuple[Floats, Floats]:
    failed = (status == ERROR)[:, None]
    metrics = np.column_stack([_floats(part, name) for name in METRICS])
    total = _floats(part, "total")[:, None]
    shares = np.column_stack([_floats(part, name) for name in RATES])
    known, counted = ~np.isnan(metrics), np.nan_to_num(total) > 0
    values = np.where(known, metrics, 0.0)
    ones = np.ones_like(failed, dtype=np.float64)
    rates = np.divide(shares, total, out=np.zeros_like(shares), where=counted)
    numerators = np.hstack([values, values, failed, rates])
    denominators = np.hstack([known, known | failed, ones, np.repeat(counted, len(RATES), axis=1)])
    return numerators.astype(np.float64), denominators.astype(np.float64)


def _floats(part: pa.Table, name: str) -> Floats:
    return np.array(part.column(name).to_pylist(), dtype=np.float64)  # a null becomes NaN


def _rows_by_suite(suites: Sequence[object]) -> dict[str, NDArray[np.intp]]:
    found: dict[str, list[int]] = {}
    for row, suite in enumerate(suites):
        if suite is not None:
            found.setdefault(str(suite), []).append(row)
    return {name: np.array(rows) for name, rows in found.items()}


class _Resampled:
    """Some documents' means, and the same means in every resample."""

    def __init__(self, numbers: _Numbers, generator: np.random.Generator) -> None:
        self._status = numbers.status
        self.documents = numbers.denominators.sum(axis=0).astype(np.int64)
        self.estimates = ratios(numbers.numerators, numbers.denominators)
        self.draws = resampled_ratios(numbers.numerators, numbers.denominators, generator=generator)

    def group(self, name: str | None) -> Group:
        counts = {status: int((self._status == status).sum()) for status in (SCORED, NOTHING_TO_SCORE, ERROR)}
        documents = len(self._status)
        return Group(
            name=name,
            documents=documents,
            scored=counts[SCORED],
            nothing_to_score=counts[NOTHING_TO_SCORE],
            errors=counts[ERROR],
            coverage=counts[SCORED] / documents if documents else None,
            **_sorted_out(intervals(self.estimates, self.draws, self.documents)),
        )


def _unified(suites: Sequence[_Resampled]) -> Unified:
    """The mean over suites of what each has; a suite that has no value in a column does not count there."""
    if not suites:
        nothing = Interval(0, None, None, None)
        return Unified(0, 0, **_sorted_out([nothing] * len(_COLUMNS)))
    estimates = np.stack([suite.estimates for suite in suites])
    draws = np.stack([suite.draws for suite in suites])
    known = ~np.isnan(estimates)
    documents = np.sum([suite.documents for suite in suites], axis=0)
    made = intervals(_mean(estimates), _mean(draws), documents)
    without = int((~known[:, _COLUMNS.index("accuracy")]).sum())
    return Unified(len(suites), without, **_sorted_out(made))


def _mean(values: Floats) -> Floats:
    """The mean over the first axis of what is there; NaN where nothing is."""
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.asarray(np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0))


def _sorted_out(made: Sequence[Interval]) -> dict[str, dict[str, Interval]]:
    by_name = dict(zip(_COLUMNS, made, strict=True))
    return {
        "means": {name: by_name[name] for name in METRICS},
        "means_failures_zero": {name: by_name[f"{name} or 0"] for name in METRICS},
        "error_rates": {name: by_name[name] for name in ("failed", *RATES)},
    }
