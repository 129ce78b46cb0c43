"""Turns a judge's assessments and the gates' caps into quality in points, with bounds where something is uncertain.

Quality = factor · (base + S + E + D + C, each in [0, 1] times its weight), factor 1, 0.5 or 0 by effective support;
what is uncertain has no quality, only bounds. Source: the discovery protocol's scoring rules.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from docassay.errors import ReviewError

__all__ = [
    "DIMENSIONS",
    "FACTORS",
    "WEIGHTS",
    "Assessment",
    "FindingQuality",
    "Support",
    "TaskQuality",
    "TaskStatus",
    "Weights",
    "effective_support",
    "read_assessments",
    "task_quality",
]


class Support(StrEnum):
    """How far a finding is borne out, from the most to the least restrictive."""

    UNSUPPORTED = "unsupported"
    UNCERTAIN = "uncertain"
    PARTIAL = "partial"
    SUPPORTED = "supported"


class TaskStatus(StrEnum):
    """What became of a task. Only `SCORED` has a quality; all others are null, never zero."""

    SCORED = "scored"
    UNRESOLVED = "unresolved"
    """At least one finding is uncertain."""
    ABSTAINED = "abstained"
    PENDING_REVIEW = "pending_review"
    STALE_REVIEW = "stale_review"
    """A review exists, but of another submission, corpus, task or scoring version."""
    INVALID_REVIEW = "invalid_review"
    """A review exists that cannot be used."""
    MISSING = "missing"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Weights:
    """Points of one profile; they sum to 100."""

    base: float
    statistical_validity: float
    evidence_entailment: float
    analytical_depth: float
    calibration: float


WEIGHTS: Mapping[str, Weights] = {
    "standard": Weights(35, 25, 20, 10, 10),
    "hard": Weights(15, 25, 20, 30, 10),
    "discovery": Weights(15, 25, 20, 30, 10),
}
"""Profile name → weights."""

FACTORS: Mapping[Support, float] = {Support.SUPPORTED: 1.0, Support.PARTIAL: 0.5, Support.UNSUPPORTED: 0.0}
"""Effective support → factor; uncertain has none."""

DIMENSIONS = ("statistical_validity", "evidence_entailment", "analytical_depth", "calibration")

_RESTRICTIVE = (Support.UNSUPPORTED, Support.UNCERTAIN, Support.PARTIAL, Support.SUPPORTED)
_KEYS = frozenset(
    ("finding_id", "support", "task_fulfilled", *DIMENSIONS, "duplicate_of", "reference_match", "rationale")
)


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a judge said of one finding."""

    finding_id: str
    support: Support
    task_fulfilled: bool
    statistical_validity: float
    evidence_entailment: float
    analytical_depth: float
    calibration: float
    duplicate_of: str | None
    reference_match: str | None
    rationale: str

    def matching(self, reference_id: str | None) -> Assessment:
        """The same with the reference it matches."""
        return replace(self, reference_match=reference_id)

    def as_dict(self) -> dict[str, object]:
        """The row as it stands in a review file."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class FindingQuality:
    """One finding's points and why."""

    finding_id: str
    judge_support: Support
    gate_cap: Support | None
    """None where the profile has no gate."""
    effective_support: Support
    quality: float | None
    """0-100; None where the effective support is uncertain."""
    quality_low: float
    quality_high: float
    """What resolving an uncertain finding could give at worst and at best; both equal `quality` where it is known."""
    zero_reason: str | None
    """`not_fulfilled` or `duplicate` where that alone makes it zero."""


@dataclass(frozen=True, slots=True)
class TaskQuality:
    """One task's points: the mean over its findings, None if one of them has none."""

    status: TaskStatus
    quality: float | None
    quality_low: float | None
    quality_high: float | None
    reference_coverage: float | None
    findings: tuple[FindingQuality, ...]


def effective_support(judge: Support, cap: Support | None) -> Support:
    """The more restrictive of a judge's support and the gate's cap."""
    return judge if cap is None else min(judge, cap, key=_RESTRICTIVE.index)


def read_assessments(
    rows: object, finding_ids: Sequence[str], reference_id: str | None = None
) -> tuple[Assessment, ...]:
    """A judge's rows, checked, in the order of the submission.

    Raises:
        ReviewError: with code coverage, assessment_shape, judgement_or_rationale, dimension, duplicate_target or
            reference_match.
    """
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ReviewError("assessment_shape", "the assessment is not a list of objects, one per finding")
    answered = [row.get("finding_id") for row in rows]
    if len(rows) != len(finding_ids) or any(answered.count(name) != 1 for name in finding_ids):
        raise ReviewError(
            "coverage", f"every finding is assessed exactly once: expected {list(finding_ids)}, found {answered}"
        )
    by_id = {row["finding_id"]: row for row in rows}
    return tuple(
        _read_assessment(by_id[name], finding_ids[:position], reference_id) for position, name in enumerate(finding_ids)
    )


def task_quality(
    assessments: Sequence[Assessment],
    caps: Mapping[str, Support | None],
    *,
    profile: str = "discovery",
    reference_id: str | None = None,
) -> TaskQuality:
    """Quality of one task from its assessments and the gate's cap per finding id.

    Args:
        assessments: In submission order; none is an abstention.
        caps: Finding id → cap; a finding that is not in it has no gate.
        profile: `standard`, `hard` or `discovery`: which weights hold.
        reference_id: The task's reference, if it has one; else coverage is None.
    """
    if not assessments:
        return TaskQuality(TaskStatus.ABSTAINED, None, None, None, None, ())
    findings = tuple(_finding_quality(row, caps.get(row.finding_id), WEIGHTS[profile]) for row in assessments)
    known = [finding.quality for finding in findings if finding.quality is not None]
    scored = len(known) == len(findings)
    return TaskQuality(
        status=TaskStatus.SCORED if scored else TaskStatus.UNRESOLVED,
        quality=sum(known) / len(known) if scored else None,
        quality_low=sum(finding.quality_low for finding in findings) / len(findings),
        quality_high=sum(finding.quality_high for finding in findings) / len(findings),
        reference_coverage=_coverage(assessments, findings) if scored and reference_id is not None else None,
        findings=findings,
    )


def _finding_quality(row: Assessment, cap: Support | None, weights: Weights) -> FindingQuality:
    effective = effective_support(row.support, cap)
    zero_reason = "not_fulfilled" if not row.task_fulfilled else "duplicate" if row.duplicate_of is not None else None
    points = weights.base + sum(getattr(weights, name) * getattr(row, name) for name in DIMENSIONS)
    if zero_reason is not None:
        quality: float | None = 0.0
        low = high = 0.0
    elif effective is Support.UNCERTAIN:
        quality, low = None, 0.0
        high = points * max(FACTORS[support] for support in FACTORS if _may_resolve_to(support, row.support, cap))
    else:
        quality = low = high = points * FACTORS[effective]
    return FindingQuality(row.finding_id, row.support, cap, effective, quality, low, high, zero_reason)


def _may_resolve_to(support: Support, judge: Support, cap: Support | None) -> bool:
    """Whether an uncertain finding could end there: what is not itself uncertain stays as it is."""
    fixed = [side for side in (judge, cap) if side is not None and side is not Support.UNCERTAIN]
    return all(_RESTRICTIVE.index(support) <= _RESTRICTIVE.index(side) for side in fixed)


def _coverage(assessments: Sequence[Assessment], findings: Sequence[FindingQuality]) -> float:
    pairs = zip(assessments, findings, strict=True)
    matched = (
        row.reference_match is not None
        for row, finding in pairs
        if finding.effective_support is Support.SUPPORTED and finding.zero_reason is None
    )
    return 1.0 if any(matched) else 0.0


def _read_assessment(row: Mapping[str, object], earlier: Sequence[str], reference_id: str | None) -> Assessment:
    where = f"assessment of finding {row.get('finding_id')!r}"
    support = row.get("support")
    if set(row) != _KEYS or not isinstance(support, str) or support not in set(Support):
        extra, lacking = sorted(set(row) - _KEYS), sorted(_KEYS - set(row))
        detail = f"unknown keys {extra}, missing keys {lacking}, support {support!r}"
        raise ReviewError("assessment_shape", f"{where}: not the expected keys or support word ({detail})")
    fulfilled, rationale = row["task_fulfilled"], row["rationale"]
    if not isinstance(fulfilled, bool) or not isinstance(rationale, str) or not rationale.strip():
        raise ReviewError(
            "judgement_or_rationale", f"{where}: task_fulfilled must be true or false and the rationale not blank"
        )
    dimensions = {name: _dimension(row[name], f"{where}: {name}") for name in DIMENSIONS}
    duplicate, match = row["duplicate_of"], row["reference_match"]
    if duplicate is not None and duplicate not in earlier:
        raise ReviewError("duplicate_target", f"{where}: duplicate_of {duplicate!r} is no earlier finding")
    if match is not None and (reference_id is None or match != reference_id):
        raise ReviewError("reference_match", f"{where}: reference_match {match!r} is not this task's reference")
    return Assessment(
        finding_id=str(row["finding_id"]),
        support=Support(support),
        task_fulfilled=fulfilled,
        **dimensions,
        duplicate_of=None if duplicate is None else str(duplicate),
        reference_match=None if match is None else str(match),
        rationale=rationale,
    )


def _dimension(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1 or not math.isfinite(value):
        raise ReviewError("dimension", f"{where} is {value!r}, not a number from 0 to 1")
    return float(value)
