"""Decides whether a difference lasts when one looks within strata, or without the largest: per axis, plain counts.

Arms are the documents with a known outcome; a stratum is the text form of an axis's value, and absent, null or blank is
missing. Formulas: direct standardisation (the effects of comparable strata weighted by their known documents), crude
difference over the same strata, and the difference without the stratum that has most documents of the population.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from docassay.discovery.corpus import Corpus, Strata
from docassay.discovery.submission import Number

__all__ = ["AXES", "MIN_KNOWN_PER_ARM", "Arms", "AxisDetails", "Stratum", "axis_details", "axis_statistics"]

AXES = ("entity_id", "rating", "report_year")
MIN_KNOWN_PER_ARM = 5

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Arms:
    """What the checks look at, as columns over the corpus (bool per document).

    population: the selected documents.
    known: per arm, its documents with a known outcome (for associations: arm by A, with A and B known).
    positive: documents whose outcome is positive (for associations: B).
    """

    population: NDArray[np.bool_]
    known: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    positive: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Stratum:
    """One comparable stratum: its name, the known documents of each arm, and its effect in percentage points."""

    name: str
    arm0_n: int
    arm1_n: int
    delta_pp: float


@dataclass(frozen=True, slots=True)
class AxisDetails:
    """What lies behind the numbers of one axis.

    comparable: strata with at least MIN_KNOWN_PER_ARM known documents in both arms, by name in code-point order.
    removed: the largest stratum's name; None if there is no stratum.
    population_n: documents of the population; missing_n: those that lack the axis.
    """

    comparable: tuple[Stratum, ...]
    removed: str | None
    population_n: int
    missing_n: int


@dataclass(frozen=True, slots=True)
class _Tally:
    """Documents per stratum of one axis (int64, one entry per stratum name); `missing` are those without a stratum."""

    names: tuple[str, ...]
    population: Counts
    known: tuple[Counts, Counts]
    positive: tuple[Counts, Counts]
    population_n: int
    population_missing: int
    known_n: int
    positive_missing: int

    @property
    def largest(self) -> int | None:
        """The stratum with most documents; `argmax` takes the first of equals, the smallest name."""
        return int(np.argmax(self.population)) if self.population.any() else None

    @property
    def comparable(self) -> NDArray[np.intp]:
        return np.flatnonzero((self.known[0] >= MIN_KNOWN_PER_ARM) & (self.known[1] >= MIN_KNOWN_PER_ARM))


def axis_statistics(arms: Arms, corpus: Corpus, axis: str) -> dict[str, Number]:
    """The sixteen numbers of one axis, without their `robustness_{axis}_` prefix; null where a number is undefined."""
    tally = _count(arms, corpus.strata(axis))
    comparable = _comparable(tally)
    covered = sum(stratum.arm0_n + stratum.arm1_n for stratum in comparable)
    effects = [stratum.delta_pp for stratum in comparable]
    retained = _without_largest(tally)
    return {
        "strata_n": int(np.count_nonzero(tally.population)),
        "missing_metadata_n": tally.population_missing,
        "eligible_strata_n": len(comparable),
        "covered_known_n": covered,
        "excluded_known_n": tally.known_n - covered,
        "standardized_delta_pp": _standardized(comparable),
        "covered_crude_delta_pp": _crude(tally),
        "min_stratum_delta_pp": min(effects, default=None),
        "max_stratum_delta_pp": max(effects, default=None),
        "drop_largest_n": 0 if tally.largest is None else int(tally.population[tally.largest]),
        "drop_largest_arm0_n": retained[0],
        "drop_largest_arm1_n": retained[1],
        "drop_largest_delta_pp": _delta_without_largest(tally, retained),
        "support_missing_metadata_n": tally.positive_missing,
        "max_support_share": _support_share(tally),
    }


def axis_details(arms: Arms, corpus: Corpus, axis: str) -> AxisDetails:
    """The comparable strata and the removed one, which a judge is shown beside the numbers."""
    tally = _count(arms, corpus.strata(axis))
    removed = None if tally.largest is None else tally.names[tally.largest]
    return AxisDetails(_comparable(tally), removed, tally.population_n, tally.population_missing)


def _count(arms: Arms, strata: Strata) -> _Tally:
    has_stratum = strata.codes >= 0

    def per_stratum(documents: NDArray[np.bool_]) -> Counts:
        return np.bincount(strata.codes[documents & has_stratum], minlength=len(strata.names)).astype(np.int64)

    known = arms.known[0] | arms.known[1]
    return _Tally(
        names=strata.names,
        population=per_stratum(arms.population),
        known=(per_stratum(arms.known[0]), per_stratum(arms.known[1])),
        positive=(per_stratum(arms.known[0] & arms.positive), per_stratum(arms.known[1] & arms.positive)),
        population_n=int(np.count_nonzero(arms.population)),
        population_missing=int(np.count_nonzero(arms.population & ~has_stratum)),
        known_n=int(np.count_nonzero(known)),
        positive_missing=int(np.count_nonzero(known & arms.positive & ~has_stratum)),
    )


def _comparable(tally: _Tally) -> tuple[Stratum, ...]:
    return tuple(
        Stratum(
            name=tally.names[index],
            arm0_n=int(tally.known[0][index]),
            arm1_n=int(tally.known[1][index]),
            delta_pp=_delta(
                int(tally.positive[0][index]),
                int(tally.known[0][index]),
                int(tally.positive[1][index]),
                int(tally.known[1][index]),
            ),
        )
        for index in tally.comparable
    )


def _delta(positive0: int, known0: int, positive1: int, known1: int) -> float:
    """100 (positive1 / known1 - positive0 / known0), in percentage points."""
    return 100 * (positive1 / known1 - positive0 / known0)


def _standardized(comparable: tuple[Stratum, ...]) -> float | None:
    """Sum of (n0 + n1) effect over sum of (n0 + n1), over comparable strata; None without any."""
    weight = sum(stratum.arm0_n + stratum.arm1_n for stratum in comparable)
    if not weight:
        return None
    return sum((stratum.arm0_n + stratum.arm1_n) * stratum.delta_pp for stratum in comparable) / weight


def _crude(tally: _Tally) -> float | None:
    """The difference over all documents of the comparable strata together; None without any."""
    index = tally.comparable
    if not len(index):
        return None
    positive, known = tally.positive, tally.known
    return _delta(*(int(column[index].sum()) for column in (positive[0], known[0], positive[1], known[1])))


def _without_largest(tally: _Tally) -> tuple[int, int]:
    """Known documents of each arm that have the axis and are not in the largest stratum."""
    largest = tally.largest
    if largest is None:
        return 0, 0
    return tuple(int(column.sum() - column[largest]) for column in tally.known)  # type: ignore[return-value]


def _delta_without_largest(tally: _Tally, retained: tuple[int, int]) -> float | None:
    largest = tally.largest
    if largest is None or min(retained) < MIN_KNOWN_PER_ARM:
        return None
    positive = [int(column.sum() - column[largest]) for column in tally.positive]
    return _delta(positive[0], retained[0], positive[1], retained[1])


def _support_share(tally: _Tally) -> float | None:
    """The largest stratum's share of the known arms' positives that have the axis; None if there are none."""
    positives = tally.positive[0] + tally.positive[1]
    total = int(positives.sum())
    return int(positives.max()) / total if total else None
