"""Decides how sure a mean over documents is: percentile bootstrap by document, all columns at once.

A document is the unit that is resampled, since the values of one document err together. A statistic is a ratio of sums
(a mean is a sum over a count), so a resample is one matrix product over per-document sums and scores nothing again.

Sources: Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 13; Hesterberg (2015), What Teachers
Should Know About the Bootstrap, section 3.4 (the expanded percentile interval).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from threading import Thread

import numpy as np
from numpy.typing import NDArray

from docassay.errors import ArgumentValueError

__all__ = ["LEVEL", "RESAMPLES", "Interval", "intervals", "mean_intervals", "prepare", "ratios", "resampled_ratios"]

Floats = NDArray[np.float64]

RESAMPLES = 1000
LEVEL = 0.95
_MOST_RESAMPLES = 128
_WEIGHTS = 1 << 27  # bytes of weights at once
_SLICE = 1 << 15


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate over documents and how sure it is; None where there is nothing to say."""

    documents: int
    """Documents that the estimate rests on."""
    estimate: float | None
    low: float | None
    high: float | None
    """The interval; None on fewer than two documents, which cannot vary."""


def prepare() -> None:
    """Import, beside whatever this process waits for, what intervals need; importing takes longer than making them."""
    Thread(target=import_module, args=("scipy.special",), daemon=True).start()


def mean_intervals(
    values: Floats, *, generator: np.random.Generator, resamples: int = RESAMPLES, level: float = LEVEL
) -> list[Interval]:
    """The mean of each column with its interval.

    Args:
        values: shape (documents, columns); NaN where a document has no value.
        generator: the only source of randomness.
    """
    present = ~np.isnan(values)
    numerators, denominators = np.where(present, values, 0.0), present.astype(np.float64)
    draws = resampled_ratios(numerators, denominators, generator=generator, resamples=resamples)
    return intervals(ratios(numerators, denominators), draws, present.sum(axis=0), level=level)


def ratios(numerators: Floats, denominators: Floats) -> Floats:
    """Sum of numerators over sum of denominators, per column; NaN where the denominators sum to nothing."""
    return _divide(numerators.sum(axis=0), denominators.sum(axis=0))


def resampled_ratios(
    numerators: Floats, denominators: Floats, *, generator: np.random.Generator, resamples: int = RESAMPLES
) -> Floats:
    """The ratios of sums in each resample of the documents.

    Args:
        numerators, denominators: shape (documents, columns), nothing missing.

    Returns:
        Shape (resamples, columns); NaN where a resample has no denominator.

    Raises:
        ArgumentValueError: shapes that do not agree.
    """
    if numerators.shape != denominators.shape or numerators.ndim != 2:
        found = f"{numerators.shape} and {denominators.shape}"
        raise ArgumentValueError(f"arrays of shape {found}; two tables of one shape are needed")
    documents, columns = numerators.shape
    if documents == 0:
        return np.full((resamples, columns), np.nan)
    both = np.hstack([numerators, denominators])
    sums = np.concatenate([_weighted_sums(weights, both) for weights in _weights(documents, generator, resamples)])
    return _divide(sums[:, :columns], sums[:, columns:])


def intervals(
    estimates: Floats, draws: Floats, documents: NDArray[np.int64], *, level: float = LEVEL
) -> list[Interval]:
    """The expanded percentile interval of each column.

    Args:
        estimates: shape (columns,); NaN where there is none.
        draws: shape (resamples, columns); NaN where a resample has none.
        documents: shape (columns,); how many documents each estimate rests on.

    Raises:
        ArgumentValueError: a level outside (0, 1).
    """
    if not 0 < level < 1:
        raise ArgumentValueError(f"level is {level}; it must lie between 0 and 1")
    return [
        _interval(float(estimate), draws[:, column], int(documents[column]), level)
        for column, estimate in enumerate(estimates)
    ]


def _weights(documents: int, generator: np.random.Generator, resamples: int) -> Iterator[NDArray[np.uint8]]:
    """How often each document is drawn, many resamples at a time, since one large product of matrices is faster."""
    block = min(resamples, _MOST_RESAMPLES, max(1, _WEIGHTS // documents))
    weights = np.empty((block, documents), dtype=np.uint8)  # n draws from n take none 256 times
    for start in range(0, resamples, block):
        count = min(block, resamples - start)
        for row in range(count):
            weights[row] = np.bincount(generator.integers(0, documents, size=documents), minlength=documents)
        yield weights[:count]


def _weighted_sums(weights: NDArray[np.uint8], values: Floats) -> Floats:
    sums = np.zeros((len(weights), values.shape[1]))
    for start in range(0, len(values), _SLICE):
        part = slice(start, start + _SLICE)
        sums += weights[:, part].astype(np.float64) @ values[part]
    return sums


def _interval(estimate: float, draws: Floats, documents: int, level: float) -> Interval:
    if np.isnan(estimate):
        return Interval(documents, None, None, None)
    known = draws[~np.isnan(draws)]
    if documents < 2 or len(known) == 0:
        return Interval(documents, estimate, None, None)
    tail = _expanded_tail(documents, level)
    low, high = np.quantile(known, [tail, 1 - tail])
    return Interval(documents, estimate, float(low), float(high))


@lru_cache(maxsize=256)
def _expanded_tail(documents: int, level: float) -> float:
    """The tail at which a percentile interval is as wide as a t interval, which a small sample needs."""
    from scipy import special

    t = special.stdtrit(documents - 1, (1 - level) / 2)
    return float(special.ndtr(np.sqrt(documents / (documents - 1)) * t))


def _divide(numerators: Floats, denominators: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominators > 0, numerators / denominators, np.nan)
