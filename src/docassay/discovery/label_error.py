"""Decides what a submission's labels are worth: how far they disagree with the checker, by condition and arm.

The audit sample over-represents rare cells and quoted documents, so raw shares over it are biased; here they are
weighted by the design. It describes agreement with a checker, not truth, and changes no score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from docassay.core.statistics.estimators import (
    Estimate,
    estimate_from_draws,
    hajek_mean,
    stratified_difference,
)
from docassay.discovery.claim_error import ClaimError, association_error, difference_error
from docassay.discovery.label_tables import (
    AuditColumns,
    AuditTables,
    KnownRates,
    LabelTable,
    is_known,
    number,
    rate_corrections,
    share_of,
    widened,
)
from docassay.discovery.population import NEGATIVE, NO_STATE, POSITIVE, UNKNOWN

__all__ = ["ConditionError", "LabelError", "label_error"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Codes = NDArray[np.int8]

DRAWS = 4000


@dataclass(frozen=True, slots=True)
class ConditionError:
    """The labels of one condition in one arm (None: the whole population), against the checker.

    audited: documents audited; raw_disagreement: their plain disagreement, which the design biases.
    hajek: disagreement among documents known to both, weighted by inclusion; stratified: by claimed state.
    false_positive: of what the checker finds negative, the share claimed positive; false_negative the reverse.
    claimed_rate: positive among known, as claimed; corrected_rate: the same as the checker would label everything.
    corrected_count: by the difference estimator, documents that the checker would find positive, with its interval.
    true_rate: corrected_rate with the checker's known errors taken out; None where they are not known.
    """

    condition_id: str
    arm: int | None
    documents: int
    audited: int
    raw_disagreement: float | None
    hajek: Estimate
    stratified: Estimate
    false_positive: Estimate
    false_negative: Estimate
    claimed_rate: float | None
    corrected_rate: Estimate
    corrected_count: Estimate
    true_rate: Estimate | None


@dataclass(frozen=True, slots=True)
class LabelError:
    """What an audit says of one finding's labels and claim."""

    finding_id: str
    conditions: tuple[ConditionError, ...]
    claim: ClaimError


def label_error(
    finding_id: str,
    condition_ids: Sequence[str],
    columns: AuditColumns,
    rng: np.random.Generator,
    *,
    rates: Mapping[str, KnownRates] | None = None,
    draws: int = DRAWS,
) -> LabelError:
    """Label error of one finding, and what becomes of its claim.

    Args:
        finding_id: For the record.
        condition_ids: One, or two (A, then B) for an association, in the order of the columns.
        columns: See `audit_columns`.
        rng: For the draws that intervals are read from.
        rates: Condition id → what is known of the checker's own errors; they are carried to the claim too.
        draws: How many.
    """
    audit = AuditTables(columns, draws, rng)
    known = [(rates or {}).get(condition_id) for condition_id in condition_ids]
    if len(condition_ids) == 2:
        conditions = tuple(
            _condition(audit, name, place, None, audit.table(place, None), known[place])
            for place, name in enumerate(condition_ids)
        )
        return LabelError(finding_id, conditions, association_error(audit, known))
    tables = {arm: audit.table(0, arm) for arm in (None, 0, 1)}
    conditions = tuple(_condition(audit, condition_ids[0], 0, arm, table, known[0]) for arm, table in tables.items())
    return LabelError(finding_id, conditions, difference_error(audit, tables[0], tables[1], known[0]))


def _condition(
    audit: AuditTables, name: str, place: int, arm: int | None, table: LabelTable, known_rates: KnownRates | None
) -> ConditionError:
    columns, members = audit.columns, audit.members(arm)
    claimed, checked = columns.claimed[place], columns.checked[place]
    compared = members & is_known(claimed) & is_known(checked)
    differs = (claimed != checked).astype(float)
    positive, known = int((members & (claimed == POSITIVE)).sum()), int((members & is_known(claimed)).sum())
    return ConditionError(
        condition_id=name,
        arm=arm,
        documents=table.documents,
        audited=table.audited,
        raw_disagreement=float(differs[compared].mean()) if compared.any() else None,
        hajek=hajek_mean(differs[compared], columns.inclusion[compared]),
        stratified=_estimate(table, lambda t: share_of(t[:, 0, 1] + t[:, 1, 0], t[:, :2, :2].sum(axis=(1, 2)))),
        false_positive=_estimate(table, lambda t: share_of(t[:, 0, 1], t[:, 0, 1] + t[:, 1, 1])),
        false_negative=_estimate(table, lambda t: share_of(t[:, 1, 0], t[:, 1, 0] + t[:, 0, 0])),
        claimed_rate=positive / known if known else None,
        corrected_rate=_estimate(table, _positive_share),
        corrected_count=_corrected_count(columns, claimed, checked, members),
        true_rate=None if known_rates is None else _true_rate(audit, table, arm, known_rates),
    )


def _positive_share(table: Floats) -> Floats:
    """What the checker finds positive of what it knows."""
    return share_of(table[:, :, 0].sum(axis=1), table[:, :, :2].sum(axis=(1, 2)))


def _true_rate(audit: AuditTables, table: LabelTable, arm: int | None, known_rates: KnownRates) -> Estimate:
    own = known_rates.overall if arm is None or known_rates.arms is None else known_rates.arms[arm]
    fixed, drawn = rate_corrections(own, audit)
    value = number(fixed(_positive_share(table.both))[0])
    return widened(estimate_from_draws(value, drawn(_positive_share(table.drawn))))


def _corrected_count(columns: AuditColumns, claimed: Codes, checked: Codes, members: Mask) -> Estimate:
    audited = members & (checked != NO_STATE)
    difference = (checked == POSITIVE).astype(float) - (claimed == POSITIVE)
    certain = audited & columns.quoted
    chance = [members & (claimed == state) & ~columns.quoted for state in (POSITIVE, NEGATIVE, UNKNOWN)]
    return stratified_difference(
        float((members & (claimed == POSITIVE)).sum()),
        [int(stratum.sum()) for stratum in chance],
        [difference[stratum & audited] for stratum in chance],
        float(difference[certain].sum()),
    )


def _estimate(table: LabelTable, formula: Callable[[Floats], Floats]) -> Estimate:
    return widened(estimate_from_draws(number(formula(table.both)[0]), formula(table.drawn)))
