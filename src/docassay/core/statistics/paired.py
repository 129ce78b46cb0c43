"""Decides whether two systems, measured on the same documents, differ: paired bootstrap, permutation, corrections.

Everything here is computed from per-document sufficient statistics, many columns (fields, suites, metrics) at once, and
with a generator that is passed in. A document is the unit that is resampled, since values of one document err together.

Sources: Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 13; Hesterberg (2015), What Teachers
Should Know About the Bootstrap, section 3.4 (the expanded percentile interval); Fisher (1935), The Design of
Experiments, section 21 (sign flips); Phipson and Smyth (2010) (the +1 of a sampled permutation p-value); Holm (1979);
Benjamini and Hochberg (1995).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from docassay.core.statistics.intervals import intervals
from docassay.errors import ArgumentValueError

Floats = NDArray[np.float64]

MIN_DOCUMENTS = 10
"""On fewer documents no interval and no p-value is given: the answer is "too few"."""

SMALL_STRATUM = 5
"""Strata with fewer documents are resampled as if they were one."""

RESAMPLES = 4000
PERMUTATIONS = 9999
_CHUNK = 4_000_000  # elements of one block of resampling weights: 32 MB


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How far `new` lies from `base` in one column; what was not computed is None, and `reason` says why."""

    documents: int
    """Documents that both sides have in this column."""
    base: float | None
    new: float | None
    difference: float | None
    """new - base, in the column's unit."""
    low: float | None
    high: float | None
    """The bootstrap interval of the difference at the level asked for."""
    p_value: float | None
    """Two-sided permutation test that the two labels are exchangeable within each document; uncorrected."""
    reason: str | None
    """Why the interval and the p-value are absent."""

    @property
    def nothing_differs(self) -> bool:
        """Whether every document was found to be the same on both sides, so that there is nothing to test."""
        return self.p_value == 1 and self.low == 0 and self.high == 0


def paired_means(
    base: Floats,
    new: Floats,
    *,
    generator: np.random.Generator,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    permutations: int = PERMUTATIONS,
    strata: Sequence[object] | None = None,
    min_documents: int = MIN_DOCUMENTS,
) -> list[PairedDifference]:
    """Difference of the means over documents, for each column.

    Args:
        base, new: shape (documents, columns); NaN where a document has no value. A document counts in a column where
            both sides have one.
        generator: the only source of randomness.
        level: of the interval, in (0, 1).
        strata: one label per document; given, the statistic is the mean over strata of the stratum means, and documents
            are resampled within their stratum. Strata of fewer than SMALL_STRATUM documents are resampled together,
            since resampling one document shows no variance at all.
        min_documents: on fewer, a column gets neither interval nor p-value.

    Raises:
        ArgumentValueError: shapes that do not agree, or a level outside (0, 1).
    """
    _check_shapes(base, new)
    present = ~(np.isnan(base) | np.isnan(new))
    left, right = np.where(present, base, 0.0), np.where(present, new, 0.0)
    sides = [_Sums(left, present.astype(float)), _Sums(right, present.astype(float))]
    return _compare(
        sides, present, _groups(strata, len(base)), generator, level, resamples, permutations, min_documents
    )


def paired_ratios(
    base: tuple[Floats, Floats],
    new: tuple[Floats, Floats],
    *,
    generator: np.random.Generator,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    permutations: int = PERMUTATIONS,
    min_documents: int = MIN_DOCUMENTS,
) -> list[PairedDifference]:
    """Difference of pooled ratios (sum of numerators over sum of denominators), for each column.

    Args:
        base, new: (numerators, denominators), each of shape (documents, columns), such as matched and total addresses.
            A document counts in a column where either side has a denominator above zero.

    Raises:
        ArgumentValueError: shapes that do not agree, or a level outside (0, 1).
    """
    for array in (*base, *new):
        _check_shapes(base[0], array)
    present = (base[1] > 0) | (new[1] > 0)
    sides = [_Sums(*base), _Sums(*new)]
    return _compare(
        sides, present, _groups(None, len(base[0])), generator, level, resamples, permutations, min_documents
    )


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p-values (family-wise error); a None stays None and is no member of the family."""

    def adjust(ordered: Floats) -> Floats:
        factors = np.arange(len(ordered), 0, -1)
        return np.maximum.accumulate(ordered * factors)

    return _adjusted(p_values, adjust)


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Benjamini and Hochberg's adjusted p-values (false discovery rate); a None stays None, outside the family."""

    def adjust(ordered: Floats) -> Floats:
        factors = len(ordered) / np.arange(1, len(ordered) + 1)
        return np.minimum.accumulate((ordered * factors)[::-1])[::-1]

    return _adjusted(p_values, adjust)


CORRECTIONS: dict[str, Callable[[Sequence[float | None]], list[float | None]]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
}


@dataclass(frozen=True, slots=True)
class _Sums:
    """One side: the statistic of a column is sum(numerators) / sum(denominators), per group, averaged over groups."""

    numerators: Floats
    denominators: Floats

    def ratio(self, weights: Floats, groups: list[NDArray[np.intp]]) -> Floats:
        """Shape (weights, columns); a group without a denominator is left out, NaN where that leaves none."""
        parts = [_divide(weights[:, g] @ self.numerators[g], weights[:, g] @ self.denominators[g]) for g in groups]
        return _mean_of_groups(parts)


def _compare(
    sides: list[_Sums],
    present: NDArray[np.bool_],
    groups: list[NDArray[np.intp]],
    generator: np.random.Generator,
    level: float,
    resamples: int,
    permutations: int,
    min_documents: int,
) -> list[PairedDifference]:
    if not 0 < level < 1:
        raise ArgumentValueError(f"level is {level}; it must lie between 0 and 1")
    documents = present.sum(axis=0)
    ones = np.ones((1, len(present)))
    base, new = (side.ratio(ones, groups)[0] for side in sides)
    testable = (documents >= min_documents) & ~np.isnan(new - base)
    columns = np.flatnonzero(testable)
    if not len(columns):
        return [_record(int(documents[c]), min_documents, base[c], new[c], None) for c in range(present.shape[1])]
    some = [_Sums(side.numerators[:, columns], side.denominators[:, columns]) for side in sides]
    ends = _bootstrap(some, groups, documents[columns], generator, level, resamples)
    p_values = _permute(some, groups, generator, permutations)
    tested = {int(c): (*ends[i], float(p_values[i])) for i, c in enumerate(columns)}
    return [_record(int(documents[c]), min_documents, base[c], new[c], tested.get(c)) for c in range(present.shape[1])]


def _record(
    documents: int, least: int, base: float, new: float, tested: tuple[float | None, float | None, float] | None
) -> PairedDifference:
    values = [None if np.isnan(x) else float(x) for x in (base, new, new - base)]
    if tested is not None:
        return PairedDifference(documents, values[0], values[1], values[2], *tested, None)
    reason = f"too few documents ({documents} of at least {least})"
    if documents >= least:
        reason = "one side has no value to compare"
    return PairedDifference(documents, values[0], values[1], values[2], None, None, None, reason)


def _bootstrap(
    sides: list[_Sums],
    groups: list[NDArray[np.intp]],
    documents: NDArray[np.int64],
    generator: np.random.Generator,
    level: float,
    resamples: int,
) -> list[tuple[float | None, float | None]]:
    """The expanded percentile interval of each column's difference."""
    total = len(sides[0].numerators)
    draws = np.concatenate(
        [
            sides[1].ratio(weights, groups) - sides[0].ratio(weights, groups)
            for weights in _bootstrap_weights(generator, _resampled(groups), total, resamples)
        ]
    )
    found = intervals(np.zeros(draws.shape[1]), draws, documents, level=level)
    return [(one.low, one.high) for one in found]


def _resampled(groups: list[NDArray[np.intp]]) -> list[NDArray[np.intp]]:
    """The sets of documents within which is resampled: the large groups, and all small ones as one."""
    small = [group for group in groups if len(group) < SMALL_STRATUM]
    large = [group for group in groups if len(group) >= SMALL_STRATUM]
    return [*large, np.concatenate(small)] if small else large


def _bootstrap_weights(
    generator: np.random.Generator, groups: list[NDArray[np.intp]], total: int, resamples: int
) -> Iterator[Floats]:
    """How often each document is drawn, within its group; blocks of shape (resamples in this block, documents)."""
    for size in _blocks(resamples, total):
        weights = np.zeros((size, total))
        for group in groups:
            share = np.full(len(group), 1 / len(group))
            weights[:, group] = generator.multinomial(len(group), share, size=size)
        yield weights


def _permute(
    sides: list[_Sums], groups: list[NDArray[np.intp]], generator: np.random.Generator, permutations: int
) -> Floats:
    """Two-sided p per column: swap the two labels within documents; exact where all swaps can be tried."""
    base, new = sides
    differs = (base.numerators != new.numerators) | (base.denominators != new.denominators)
    moving = differs.sum(axis=0)
    exact = 2.0**moving <= permutations
    p_values = np.ones(len(moving))
    for column in np.flatnonzero(exact & (moving > 0)):
        p_values[column] = _exact(sides, groups, int(column), np.flatnonzero(differs[:, column]))
    sampled = np.flatnonzero(~exact)
    if len(sampled):
        some = [_Sums(side.numerators[:, sampled], side.denominators[:, sampled]) for side in sides]
        p_values[sampled] = _sampled(some, groups, generator, permutations)
    return p_values


def _exact(sides: list[_Sums], groups: list[NDArray[np.intp]], column: int, moving: NDArray[np.intp]) -> float:
    codes = np.arange(2 ** len(moving))[:, None]
    swaps = np.zeros((len(codes), len(sides[0].numerators)))
    swaps[:, moving] = (codes >> np.arange(len(moving))) & 1
    one = [_Sums(side.numerators[:, [column]], side.denominators[:, [column]]) for side in sides]
    return float(_extreme(one, groups, swaps).mean())


def _sampled(
    sides: list[_Sums], groups: list[NDArray[np.intp]], generator: np.random.Generator, permutations: int
) -> Floats:
    total, columns = sides[0].numerators.shape
    hits = np.zeros(columns)
    for size in _blocks(permutations, total):
        swaps = generator.integers(0, 2, size=(size, total)).astype(float)
        hits += _extreme(sides, groups, swaps).sum(axis=0)
    return np.asarray((hits + 1) / (permutations + 1), dtype=np.float64)


def _extreme(sides: list[_Sums], groups: list[NDArray[np.intp]], swaps: Floats) -> NDArray[np.bool_]:
    """Whether the difference after each swap is at least as far from zero as the one observed."""
    observed = _swapped_difference(sides, groups, np.zeros((1, swaps.shape[1])))
    permuted = _swapped_difference(sides, groups, swaps)
    slack = 1e-12 + 1e-9 * np.abs(observed)  # equal up to the order of a sum
    return np.asarray(np.abs(permuted) >= np.abs(observed) - slack)


def _swapped_difference(sides: list[_Sums], groups: list[NDArray[np.intp]], swaps: Floats) -> Floats:
    base, new = sides
    parts = []
    for group in groups:
        taken, kept = swaps[:, group], 1 - swaps[:, group]
        first = _divide(
            kept @ base.numerators[group] + taken @ new.numerators[group],
            kept @ base.denominators[group] + taken @ new.denominators[group],
        )
        second = _divide(
            kept @ new.numerators[group] + taken @ base.numerators[group],
            kept @ new.denominators[group] + taken @ base.denominators[group],
        )
        parts.append(second - first)
    # A swap that leaves one side without any denominator says nothing either way.
    return np.nan_to_num(_mean_of_groups(parts))


def _mean_of_groups(parts: list[Floats]) -> Floats:
    """The mean over the groups that have a value; NaN where none has."""
    if len(parts) == 1:
        return parts[0]
    stacked = np.stack(parts)
    known = ~np.isnan(stacked)
    return _divide(np.where(known, stacked, 0.0).sum(axis=0), known.sum(axis=0).astype(float))


def _adjusted(p_values: Sequence[float | None], adjust: Callable[[Floats], Floats]) -> list[float | None]:
    known = [i for i, p in enumerate(p_values) if p is not None]
    result: list[float | None] = [None] * len(p_values)
    if not known:
        return result
    values = np.array([p_values[i] for i in known], dtype=np.float64)
    order = np.argsort(values, kind="stable")
    for rank, value in zip(order, adjust(values[order]), strict=True):
        result[known[rank]] = float(min(value, 1.0))
    return result


def _divide(numerators: Floats, denominators: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominators > 0, numerators / denominators, np.nan)


def _blocks(total: int, width: int) -> Iterator[int]:
    size = max(1, min(total, _CHUNK // max(1, width)))
    for start in range(0, total, size):
        yield min(size, total - start)


def _groups(strata: Sequence[object] | None, documents: int) -> list[NDArray[np.intp]]:
    if strata is None:
        return [np.arange(documents)]
    if len(strata) != documents:
        raise ArgumentValueError(f"strata has {len(strata)} labels for {documents} documents")
    labels = {label: i for i, label in enumerate(dict.fromkeys(strata))}
    codes = np.array([labels[label] for label in strata])
    return [np.flatnonzero(codes == code) for code in range(len(labels))]


def _check_shapes(one: Floats, other: Floats) -> None:
    if one.shape != other.shape or one.ndim != 2:
        raise ArgumentValueError(f"arrays of shape {one.shape} and {other.shape}; two tables of one shape are needed")
