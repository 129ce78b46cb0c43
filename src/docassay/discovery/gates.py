"""Decides how far the blind check lets a finding's support reach: a cap, recomputed at every evaluation.

Fixed rules over sampled documents of the finding's population. A gate only caps; it never raises a score.
Source: the discovery protocol's evidence gates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from docassay.discovery.blind_check import Annotation
from docassay.discovery.quality import Support
from docassay.discovery.sampling import Condition, claimed_states, conditions_of
from docassay.discovery.submission import Finding, Submission

__all__ = ["THRESHOLDS", "ConditionCounts", "FindingGate", "GateReason", "GateThresholds", "gate_findings"]


@dataclass(frozen=True, slots=True)
class GateThresholds:
    """Every number the gates decide by. The protocol's digest is computed from this very record."""

    severe_positives: int = 5
    """Fewest claimed positives audited for the severe test."""
    severe_share: float = 0.5
    """Contradicted share of them from which on the finding is unsupported."""
    confirmed_supports: int = 3
    """Supporting documents that the checker must confirm."""
    unknown_share: float = 0.2
    """Share of checker-unknowns above which the finding is uncertain."""
    compared: int = 20
    """Fewest documents compared for the disagreement test."""
    disagreement_share: float = 0.1
    """Disagreement above which the finding is partial."""
    partial_positives: int = 8
    """Fewest claimed positives audited for the partial test."""
    partial_share: float = 0.15
    """Contradicted share of them above which the finding is partial."""


THRESHOLDS = GateThresholds()


@dataclass(frozen=True, slots=True)
class ConditionCounts:
    """Audited documents of a finding's population, under one condition."""

    condition_id: str
    checked: int
    known_compared: int
    """Known to claim and checker."""
    disagreements: int
    """Of those, labelled differently."""
    claimed_positive_checked: int
    """Claimed positive and audited, whatever the checker said."""
    positive_contradictions: int
    """Of those, negative to the checker."""
    checker_unknown: int


@dataclass(frozen=True, slots=True)
class GateReason:
    """One test that fired, with the counts it fired on."""

    test: str
    """severe_contradictions, supports_contradicted, nothing_checked, checker_unknown, supports_unconfirmed,
    disagreement or contradictions."""
    cap: Support
    sentence: str


@dataclass(frozen=True, slots=True)
class FindingGate:
    """The cap on one finding, all counts, and every test that fired (also those a stronger one overrides)."""

    finding_id: str
    cap: Support
    conditions: tuple[ConditionCounts, ...]
    supporting_documents: int
    confirmed_documents: int
    """Supporting documents that the checker finds positive for every condition."""
    contradicted_documents: int
    """Supporting documents that it finds negative for any."""
    reasons: tuple[GateReason, ...]

    def as_dict(self) -> dict[str, Any]:
        """As it stands in packets and reports."""
        return asdict(self)


def gate_findings(
    submission: Submission, annotations: Sequence[Annotation], thresholds: GateThresholds = THRESHOLDS
) -> tuple[FindingGate, ...]:
    """The gate of each finding, in order.

    Args:
        submission: Valid.
        annotations: The checker's, one per sampled document; states in the order of `conditions_of`.
        thresholds: The fixed ones, unless a study asks for others.
    """
    claims = claimed_states(submission)
    place = {condition: number for number, condition in enumerate(conditions_of(submission))}
    return tuple(_gate(finding, claims, place, annotations, thresholds) for finding in submission.findings)


def _gate(
    finding: Finding,
    claims: Mapping[Condition, Mapping[str, str]],
    place: Mapping[Condition, int],
    annotations: Sequence[Annotation],
    limits: GateThresholds,
) -> FindingGate:
    conditions = [Condition(finding.finding_id, definition.condition_id) for definition in finding.definitions]
    counts = tuple(_counts(condition, claims[condition], place[condition], annotations) for condition in conditions)
    supporting = {row.doc_id for row in finding.evidence if row.role == "supporting"}
    checked = [
        [annotation.states[place[condition]] for condition in conditions]
        for annotation in annotations
        if annotation.doc_id in supporting
    ]
    confirmed = sum(all(state == "positive" for state in states) for states in checked)
    contradicted = sum(any(state == "negative" for state in states) for states in checked)
    reasons = [reason for row in counts for reason in _condition_reasons(row, limits)]
    reasons += _support_reasons(len(supporting), confirmed, contradicted, limits)
    order = (Support.UNSUPPORTED, Support.UNCERTAIN, Support.PARTIAL)
    reasons.sort(key=lambda reason: order.index(reason.cap))
    cap = reasons[0].cap if reasons else Support.SUPPORTED
    return FindingGate(finding.finding_id, cap, counts, len(supporting), confirmed, contradicted, tuple(reasons))


def _counts(
    condition: Condition, claims: Mapping[str, str], place: int, annotations: Sequence[Annotation]
) -> ConditionCounts:
    pairs = [
        (claims[annotation.doc_id], annotation.states[place])
        for annotation in annotations
        if annotation.doc_id in claims
    ]
    compared = [(claim, check) for claim, check in pairs if "unknown" not in (claim, check)]
    return ConditionCounts(
        condition_id=condition.condition_id,
        checked=len(pairs),
        known_compared=len(compared),
        disagreements=sum(claim != check for claim, check in compared),
        claimed_positive_checked=sum(claim == "positive" for claim, _ in pairs),
        positive_contradictions=sum(pair == ("positive", "negative") for pair in pairs),
        checker_unknown=sum(check == "unknown" for _, check in pairs),
    )


def _condition_reasons(row: ConditionCounts, limits: GateThresholds) -> list[GateReason]:
    name, positives, against = row.condition_id, row.claimed_positive_checked, row.positive_contradictions
    of_positives = f"condition {name}: the checker contradicts {against} of {positives} audited claimed positives"
    reasons = []
    if positives >= limits.severe_positives and against / positives >= limits.severe_share:
        reasons.append(GateReason("severe_contradictions", Support.UNSUPPORTED, f"{of_positives}, half or more"))
    if not row.checked:
        sentence = f"condition {name}: no audited document lies in the population"
        reasons.append(GateReason("nothing_checked", Support.UNCERTAIN, sentence))
    elif row.checker_unknown / row.checked > limits.unknown_share:
        sentence = (
            f"condition {name}: the checker cannot decide {row.checker_unknown} of {row.checked} audited documents, "
            f"more than {limits.unknown_share:.0%}"
        )
        reasons.append(GateReason("checker_unknown", Support.UNCERTAIN, sentence))
    if row.known_compared >= limits.compared and row.disagreements / row.known_compared > limits.disagreement_share:
        sentence = (
            f"condition {name}: claim and checker differ on {row.disagreements} of {row.known_compared} documents "
            f"known to both, more than {limits.disagreement_share:.0%}"
        )
        reasons.append(GateReason("disagreement", Support.PARTIAL, sentence))
    if positives >= limits.partial_positives and against / positives > limits.partial_share:
        sentence = f"{of_positives}, more than {limits.partial_share:.0%}"
        reasons.append(GateReason("contradictions", Support.PARTIAL, sentence))
    return reasons


def _support_reasons(supporting: int, confirmed: int, contradicted: int, limits: GateThresholds) -> list[GateReason]:
    if confirmed >= limits.confirmed_supports:
        return []
    if contradicted == supporting:
        sentence = f"the checker contradicts all {supporting} supporting documents"
        return [GateReason("supports_contradicted", Support.UNSUPPORTED, sentence)]
    sentence = (
        f"the checker confirms {confirmed} of {supporting} supporting documents, fewer than {limits.confirmed_supports}"
    )
    return [GateReason("supports_unconfirmed", Support.UNCERTAIN, sentence)]
