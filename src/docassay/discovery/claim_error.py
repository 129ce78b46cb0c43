"""Decides what becomes of a finding's claim once the errors of its labels are carried to it, in numbers and in a word.

Survives: the sign holds and the claimed size is within reach. Attenuated: the sign holds, the size does not. Sign not
established: it fails even before sampling doubt. Underpowered: it may hold, but more documents must be audited.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from docassay.core.statistics.estimators import (
    CheckerRates,
    Estimate,
    estimate_from_draws,
    rogan_gladen_joint,
)
from docassay.discovery.label_tables import (
    AuditColumns,
    AuditTables,
    Correction,
    KnownRates,
    LabelTable,
    arm_corrections,
    greatest,
    is_known,
    least,
    number,
    point_rates,
    share_of,
    unchanged,
    widened,
)
from docassay.discovery.population import NEGATIVE, POSITIVE

__all__ = ["ClaimError", "Verdict", "association_error", "difference_error"]

Floats = NDArray[np.float64]

SPLITS = 11
"""Ways in which documents unknown for both conditions are tried between the two cells that move a claim most."""


class Verdict(StrEnum):
    """What becomes of a claim once label error is carried to it."""

    SURVIVES = "survives"
    ATTENUATED = "attenuated"
    SIGN_NOT_ESTABLISHED = "sign not established"
    UNDERPOWERED = "underpowered"


@dataclass(frozen=True, slots=True)
class ClaimError:
    """A finding's difference with label error carried to it, in percentage points.

    measure: delta_known_pp or conditional_difference_pp.
    claimed: as the submission's labels give it; corrected: over documents the checker would know.
    region_low, region_high: with the checker's unknowns at their worst, before sampling doubt.
    low, high: the same with it, 95 %: the interval that the verdict reads.
    joint, lift: corrected joint cells and lift of an association.
    audited: audited documents that bear on it; needed: how many would settle the sign, where more could.
    corrects_checker: whether known errors of the checker are carried through too.
    """

    measure: str
    claimed: float | None
    corrected: Estimate
    region_low: float | None
    region_high: float | None
    low: float | None
    high: float | None
    joint: Mapping[str, Estimate]
    lift: Estimate | None
    audited: int
    needed: int | None
    corrects_checker: bool
    verdict: Verdict | None
    sentence: str


def difference_error(
    audit: AuditTables, table0: LabelTable, table1: LabelTable, rates: KnownRates | None
) -> ClaimError:
    columns = audit.columns
    claimed_rates = [_claimed_rate(columns, arm) for arm in (0, 1)]
    claimed = None if None in claimed_rates else 100 * ((claimed_rates[1] or 0.0) - (claimed_rates[0] or 0.0))
    fixed, drawn_rates = arm_corrections(rates, audit)
    point = _group_effects(table0.both, table1.both, fixed)
    drawn = _group_effects(table0.drawn, table1.drawn, drawn_rates)
    audited = table0.audited + table1.audited
    documents = table0.documents + table1.documents
    return _claim("delta_known_pp", claimed, point, drawn, audited, documents, rates is not None)


def _claimed_rate(columns: AuditColumns, arm: int) -> float | None:
    members = columns.population & (columns.arms == arm)
    known = int((members & is_known(columns.claimed[0])).sum())
    return float((members & (columns.claimed[0] == POSITIVE)).sum()) / known if known else None


def _group_effects(table0: Floats, table1: Floats, corrections: tuple[Correction, Correction]) -> Floats:
    """Difference over known documents, and its lowest and highest with the checker's unknowns; shape (3, draws)."""
    known, low, high = [], [], []
    for table, correct in zip((table0, table1), corrections, strict=True):
        positive, negative, unknown = (table[:, :, state].sum(axis=1) for state in range(3))
        everything = positive + negative + unknown
        known.append(correct(share_of(positive, positive + negative)))
        low.append(correct(share_of(positive, everything)))
        high.append(correct(share_of(positive + unknown, everything)))
    return 100 * np.stack([known[1] - known[0], low[1] - high[0], high[1] - low[0]])


def association_error(audit: AuditTables, known: Sequence[KnownRates | None]) -> ClaimError:
    table = audit.joint()
    rates = [None if each is None else each.overall for each in known]
    fixed, drawn_rates = _joint_corrections(rates, audit)
    point_cells, drawn_cells = table.both.sum(axis=1), table.drawn.sum(axis=1)
    point = _association_effects(point_cells, fixed)
    drawn = _association_effects(drawn_cells, drawn_rates)
    point_joint, drawn_joint = fixed(_known_cells(point_cells)), drawn_rates(_known_cells(drawn_cells))
    names = {"n11": (0, 0), "n10": (0, 1), "n01": (1, 0), "n00": (1, 1)}
    joint = {
        name: estimate_from_draws(number(point_joint[0, i, j]), drawn_joint[:, i, j]) for name, (i, j) in names.items()
    }
    lift = estimate_from_draws(number(_lift(point_joint)[0]), _lift(drawn_joint))
    claimed = _claimed_conditional_difference(audit.columns)
    return _claim(
        "conditional_difference_pp", claimed, point, drawn, table.audited, table.documents,
        any(rate is not None for rate in rates), joint, lift,
    )  # fmt: skip


def _joint_corrections(rates: Sequence[CheckerRates | None], audit: AuditTables) -> tuple[Correction, Correction]:
    if all(rate is None for rate in rates):
        return unchanged, unchanged
    perfect = np.ones(1), np.ones(1)
    fixed = [perfect if rate is None else point_rates(rate) for rate in rates]
    drawn = [(np.ones(audit.draws),) * 2 if rate is None else rate.draw(audit.draws, audit.rng) for rate in rates]

    def with_rates(pairs: Sequence[tuple[Floats, Floats]]) -> Correction:
        def correct(cells: Floats) -> Floats:
            total = cells.sum(axis=(1, 2), keepdims=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.asarray(rogan_gladen_joint(cells / total, pairs[0], pairs[1]) * total)

        return correct

    return with_rates(fixed), with_rates(drawn)


def _association_effects(cells: Floats, correct: Correction) -> Floats:
    """Conditional difference over documents known for both, its lowest and its highest; shape (3, draws)."""
    grid = cells.reshape(-1, 3, 3)
    ups = [_conditional_difference(correct(_completed(grid, t, raising=True))) for t in np.linspace(0, 1, SPLITS)]
    downs = [_conditional_difference(correct(_completed(grid, t, raising=False))) for t in np.linspace(0, 1, SPLITS)]
    known = _conditional_difference(correct(_known_cells(cells)))
    return 100 * np.stack([known, np.fmin.reduce(downs), np.fmax.reduce(ups)])


def _completed(grid: Floats, split: float, *, raising: bool) -> Floats:
    """The joint cells once every unknown is what raises (or lowers) the difference most.

    A document known for one condition goes to the cell on the diagonal (raising) or off it; those unknown for both are
    split between the two. grid: shape (draws, 3, 3), order positive, negative, unknown.
    """
    table = grid[:, :2, :2].copy()
    for known in (0, 1):
        other = known if raising else 1 - known
        table[:, known, other] += grid[:, known, 2]
        table[:, other, known] += grid[:, 2, known]
    first, second = ((0, 0), (1, 1)) if raising else ((0, 1), (1, 0))
    table[:, first[0], first[1]] += split * grid[:, 2, 2]
    table[:, second[0], second[1]] += (1 - split) * grid[:, 2, 2]
    return table


def _known_cells(cells: Floats) -> Floats:
    return cells.reshape(-1, 3, 3)[:, :2, :2]


def _conditional_difference(table: Floats) -> Floats:
    """P(B | A) - P(B | not A); NaN for an empty row."""
    given_a = share_of(table[:, 0, 0], table[:, 0].sum(axis=1))
    return given_a - share_of(table[:, 1, 0], table[:, 1].sum(axis=1))


def _lift(table: Floats) -> Floats:
    total = table.sum(axis=(1, 2))
    return share_of(table[:, 0, 0] * total, table[:, 0].sum(axis=1) * table[:, :, 0].sum(axis=1))


def _claimed_conditional_difference(columns: AuditColumns) -> float | None:
    a, b = columns.claimed
    known = columns.population & is_known(a) & is_known(b)
    cells = [[(known & (a == i) & (b == j)).sum() for j in (POSITIVE, NEGATIVE)] for i in (POSITIVE, NEGATIVE)]
    found = number(_conditional_difference(np.array([cells], dtype=float))[0])
    return None if found is None else 100 * found


def _claim(
    measure: str,
    claimed: float | None,
    point: Floats,
    drawn: Floats,
    audited: int,
    documents: int,
    corrects_checker: bool,
    joint: Mapping[str, Estimate] | None = None,
    lift: Estimate | None = None,
) -> ClaimError:
    corrected, region_low, region_high = (number(value) for value in point[:, 0])
    low = estimate_from_draws(region_low, drawn[1])
    high = estimate_from_draws(region_high, drawn[2])
    effect = _Effect(
        claimed=claimed,
        corrected=corrected,
        region=(region_low, region_high),
        interval=(least(region_low, low.low), greatest(region_high, high.high)),
        audited=audited,
        documents=documents,
    )
    verdict = effect.verdict()
    needed = effect.needed() if verdict is Verdict.UNDERPOWERED else None
    return ClaimError(
        measure=measure,
        claimed=claimed,
        corrected=widened(estimate_from_draws(corrected, drawn[0])),
        region_low=region_low,
        region_high=region_high,
        low=effect.interval[0],
        high=effect.interval[1],
        joint=joint or {},
        lift=lift,
        audited=audited,
        needed=needed,
        corrects_checker=corrects_checker,
        verdict=verdict,
        sentence=effect.sentence(verdict, needed, corrects_checker),
    )


@dataclass(frozen=True, slots=True)
class _Effect:
    """A corrected difference with its region and interval, from which the verdict is read."""

    claimed: float | None
    corrected: float | None
    region: tuple[float | None, float | None]
    interval: tuple[float | None, float | None]
    audited: int
    documents: int

    def verdict(self) -> Verdict | None:
        """None where there is no claim or nothing to hold it against."""
        if not self.claimed or None in self.region or None in self.interval:
            return None
        near, far = self._toward(self.interval)
        if near > 0:
            return Verdict.SURVIVES if abs(self.claimed) <= far else Verdict.ATTENUATED
        return Verdict.UNDERPOWERED if self._toward(self.region)[0] > 0 else Verdict.SIGN_NOT_ESTABLISHED

    def needed(self) -> int | None:
        """Audited documents at which the interval would just leave out zero, if the estimate stayed.

        The half-width shrinks like sqrt(1/n - 1/N): n' solves (margin / half)² (1/n - 1/N) = 1/n' - 1/N.
        """
        margin, half = self._toward(self.region)[0], self._toward(self.region)[0] - self._toward(self.interval)[0]
        if not self.audited or half <= 0:
            return None
        finite = 1 / self.documents
        return min(self.documents, math.ceil(1 / ((margin / half) ** 2 * (1 / self.audited - finite) + finite)))

    def sentence(self, verdict: Verdict | None, needed: int | None, corrects_checker: bool) -> str:
        """The verdict in words."""
        if verdict is None:
            return "There is no claimed difference that label error could be carried to."
        whose = "the checker's labels, its known errors taken out" if corrects_checker else "the checker's labels"
        numbers = (
            f"claimed {self.claimed:+.1f} points; on {whose} {_points(self.corrected)}, and between "
            f"{_points(self.interval[0])} and {_points(self.interval[1])} with sampling doubt and its unknowns (95 %)"
        )
        tail = {
            Verdict.SURVIVES: "the sign holds, and the claimed size is within reach",
            Verdict.ATTENUATED: "the sign holds, but the difference is smaller than claimed",
            Verdict.SIGN_NOT_ESTABLISHED: self._why_not(),
            Verdict.UNDERPOWERED: f"the sign may hold, but {self.audited} audited documents cannot tell; about "
            f"{needed if needed is not None else 'all'} of {self.documents} would",
        }[verdict]
        return f"{verdict.value.capitalize()}: {numbers}; {tail}."

    def _why_not(self) -> str:
        """Why a sign fails even before sampling doubt."""
        if self.corrected is not None and self.claimed and self.corrected * self.claimed <= 0:
            return "the estimate does not have the claimed sign"
        return "what the checker does not know could turn the sign"

    def _toward(self, pair: tuple[float | None, float | None]) -> tuple[float, float]:
        """The pair's near and far end, seen in the direction of the claim."""
        low, high = pair
        assert low is not None
        assert high is not None
        assert self.claimed
        return (low, high) if self.claimed > 0 else (-high, -low)


def _points(value: float | None) -> str:
    return "an unknown difference" if value is None else f"{value:+.1f}"
