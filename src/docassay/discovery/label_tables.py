"""Lays a finding and its audit out over the corpus, and estimates the table of claimed by checked states.

Each claimed state (within an arm) is a stratum of known size: what was audited is counted, what was not is drawn from
what the audit says of its stratum. Documents count by their inclusion probability; quoted ones only for themselves,
since they were picked and not drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from docassay.core.statistics.estimators import CheckerRates, Estimate, draw_stratum, rogan_gladen
from docassay.discovery.blind_check import Annotation
from docassay.discovery.corpus import Corpus
from docassay.discovery.population import NEGATIVE, NO_STATE, POSITIVE, STATES
from docassay.discovery.sampling import AuditSample, Condition, conditions_of
from docassay.discovery.statistics import Columns
from docassay.discovery.submission import Finding, Submission

__all__ = [
    "AuditColumns",
    "AuditTables",
    "Correction",
    "KnownRates",
    "LabelTable",
    "arm_corrections",
    "audit_columns",
    "greatest",
    "is_known",
    "least",
    "number",
    "point_rates",
    "rate_corrections",
    "share_of",
    "unchanged",
    "widened",
]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Codes = NDArray[np.int8]

Correction = Callable[[Floats], Floats]
"""Apparent rates (or joint cells) in, true ones out; arrays of draws."""

KNOWN_PRIOR = 0.5
"""Jeffreys mass per known state; the checker's unknowns get none, so that they are only where it gave some."""


@dataclass(frozen=True, slots=True)
class AuditColumns:
    """A finding and its audit as columns over the corpus.

    population, quoted: bool per document.
    arms: int8, 0 or 1, -1 for neither (all -1 for associations).
    claimed: per condition int8, the submission's state, NO_STATE outside the population.
    checked: per condition int8, the checker's state, NO_STATE where the document was not audited.
    inclusion: probability of being audited; only read where it was.
    """

    population: Mask
    quoted: Mask
    arms: Codes
    claimed: tuple[Codes, ...]
    checked: tuple[Codes, ...]
    inclusion: Floats


@dataclass(frozen=True, slots=True)
class LabelTable:
    """Documents by claimed (rows) and checked (columns) state: as estimated, and as drawn.

    point: shape (rows, columns); drawn: shape (draws, rows, columns); documents, audited: how many there are.
    """

    point: Floats
    drawn: Floats
    documents: int
    audited: int

    @property
    def both(self) -> Floats:
        """The estimate as one more draw, shape (1, rows, columns), so that one formula serves both."""
        return self.point[None]


class AuditTables:
    """Makes tables: one stratum per row, whose size is known because the claim labels every document."""

    def __init__(self, columns: AuditColumns, draws: int, rng: np.random.Generator) -> None:
        self.columns = columns
        self.draws = draws
        self.rng = rng

    def members(self, arm: int | None) -> Mask:
        """The documents of an arm, or of the whole population."""
        columns = self.columns
        return columns.population if arm is None else columns.population & (columns.arms == arm)

    def table(self, number: int, arm: int | None) -> LabelTable:
        """3 claimed states by 3 checked states of one condition."""
        columns = self.columns
        prior = np.array([KNOWN_PRIOR, KNOWN_PRIOR, 0.0])
        return self._table(columns.claimed[number] - 1, columns.checked[number] - 1, self.members(arm), prior)

    def joint(self) -> LabelTable:
        """9 claimed pairs of states by 9 checked ones; a pair's place is 3·A + B."""
        columns = self.columns
        a, b = columns.checked
        checked = np.where((a == NO_STATE) | (b == NO_STATE), -1, 3 * (a - 1) + (b - 1))
        claimed = 3 * (columns.claimed[0] - 1) + (columns.claimed[1] - 1)
        known = np.array([1.0, 1.0, 0.0])
        # The four known cells share the mass that one known state has twice: a prior of one document in all.
        prior = np.outer(known, known).ravel() * KNOWN_PRIOR / 2
        return self._table(claimed, checked, columns.population, prior)

    def _table(self, rows: NDArray[np.int8], cells: NDArray[np.int8], members: Mask, prior: Floats) -> LabelTable:
        strata = [self._stratum(members & (rows == row), rows == row, cells, prior) for row in range(prior.size)]
        return LabelTable(
            point=np.array([point for point, _ in strata]),
            drawn=np.stack([drawn for _, drawn in strata], axis=1),
            documents=int(members.sum()),
            audited=int((members & (cells >= 0)).sum()),
        )

    def _stratum(self, members: Mask, wider: Mask, cells: NDArray[np.int8], prior: Floats) -> tuple[Floats, Floats]:
        size = prior.size
        audited = members & (cells >= 0)
        seen = np.bincount(cells[audited], minlength=size).astype(float)
        unseen = int(members.sum() - audited.sum())
        counts = self._weighted(audited, cells, size)
        share = counts if counts.sum() else self._weighted(self.columns.population & wider & (cells >= 0), cells, size)
        share = share if share.sum() else prior
        point = seen + unseen * share / share.sum()
        return point, draw_stratum(counts, seen, unseen, prior, self.draws, self.rng)

    def _weighted(self, audited: Mask, cells: NDArray[np.int8], size: int) -> Floats:
        """Effective counts of the documents that chance took: weighted shares times Kish's effective number."""
        chance = audited & ~self.columns.quoted
        weights = 1 / self.columns.inclusion[chance]
        if not weights.size:
            return np.zeros(size)
        effective = weights.sum() ** 2 / np.sum(weights**2)
        shares = np.bincount(cells[chance], weights=weights, minlength=size) / weights.sum()
        return np.asarray(shares * effective)


def audit_columns(
    submission: Submission,
    finding: Finding,
    columns: Columns,
    corpus: Corpus,
    sample: AuditSample,
    annotations: Sequence[Annotation],
) -> AuditColumns:
    """Lay a finding, its audit sample and the checker's annotations out over the corpus."""
    place = {condition: number for number, condition in enumerate(conditions_of(submission))}
    quoted, inclusion = np.zeros(len(corpus), dtype=np.bool_), np.ones(len(corpus))
    for document in sample.documents:
        quoted[document.position] = document.quoted
        inclusion[document.position] = document.inclusion
    return AuditColumns(
        population=columns.population,
        quoted=quoted,
        arms=columns.arms,
        claimed=columns.states,
        checked=tuple(
            _checked(place[Condition(finding.finding_id, definition.condition_id)], corpus, annotations)
            for definition in finding.definitions
        ),
        inclusion=inclusion,
    )


@dataclass(frozen=True, slots=True)
class KnownRates:
    """What is known of a checker's own errors under one condition.

    overall: over the population. arms: per arm, where that is known; a checker that errs differently in the two arms
    moves the difference itself, which rates that hold for both cannot take out.
    """

    overall: CheckerRates
    arms: tuple[CheckerRates, CheckerRates] | None = None


def rate_corrections(rates: CheckerRates | None, audit: AuditTables) -> tuple[Correction, Correction]:
    """Rogan-Gladen with the rates' point values, and with draws of them; without rates nothing is changed."""
    if rates is None:
        return unchanged, unchanged
    sensitivity, specificity = rates.draw(audit.draws, audit.rng)
    fixed = point_rates(rates)
    return (lambda q: rogan_gladen(q, *fixed)), (lambda q: rogan_gladen(q, sensitivity, specificity))


def arm_corrections(
    known: KnownRates | None, audit: AuditTables
) -> tuple[tuple[Correction, Correction], tuple[Correction, Correction]]:
    """The same for both arms, fixed and drawn: the same draws for both, unless each arm has rates of its own."""
    if known is None or known.arms is None:
        fixed, drawn = rate_corrections(None if known is None else known.overall, audit)
        return (fixed, fixed), (drawn, drawn)
    (fixed0, drawn0), (fixed1, drawn1) = (rate_corrections(rates, audit) for rates in known.arms)
    return (fixed0, fixed1), (drawn0, drawn1)


def point_rates(rates: CheckerRates) -> tuple[Floats, Floats]:
    """Sensitivity and specificity for the estimate, shape (1,) each; NaN without a single known item."""
    pair = (rates.sensitivity, rates.specificity)
    sensitivity, specificity = (np.full(1, np.nan if value is None else value) for value in pair)
    return sensitivity, specificity


def unchanged(values: Floats) -> Floats:
    """No correction."""
    return values


def share_of(part: Floats, whole: Floats) -> Floats:
    """part / whole, NaN where there is nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(whole > 0, part / whole, np.nan))


def is_known(codes: Codes) -> Mask:
    """Which documents have a state that is not unknown."""
    return np.asarray((codes == POSITIVE) | (codes == NEGATIVE))


def number(value: float) -> float | None:
    """A finite number as a float, everything else None."""
    return float(value) if math.isfinite(value) else None


def least(first: float | None, second: float | None) -> float | None:
    """The smaller of two, or the one there is."""
    return second if first is None else first if second is None else min(first, second)


def greatest(first: float | None, second: float | None) -> float | None:
    """The larger of two, or the one there is."""
    return second if first is None else first if second is None else max(first, second)


def widened(estimate: Estimate) -> Estimate:
    """An interval that holds its own value: with no disagreement seen, every draw has a little."""
    return Estimate(estimate.value, least(estimate.value, estimate.low), greatest(estimate.value, estimate.high))


def _checked(place: int, corpus: Corpus, annotations: Sequence[Annotation]) -> Codes:
    column: Codes = np.full(len(corpus), NO_STATE, dtype=np.int8)
    code = {name: number for number, name in enumerate(STATES, POSITIVE)}
    for annotation in annotations:
        column[corpus.positions[annotation.doc_id]] = code[annotation.states[place]]
    return column
