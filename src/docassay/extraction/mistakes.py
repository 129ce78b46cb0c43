"""Says what went wrong in one scored document: each wrong address with its reason, and the fields that cost most."""

from __future__ import annotations

from dataclasses import dataclass

from docassay.errors import ArgumentValueError
from docassay.extraction.metric import Score
from docassay.extraction.values import Comparison, explain
from docassay.extraction.verdicts import Counts, Verdict

__all__ = ["FieldLoss", "Mistake", "mistakes", "reason", "worst_fields"]

_REASONS = {
    "unfound": "the prediction states nothing here",
    "fabricated": "the ground truth states nothing here",
    "invented_item": "the row goes with no row of the ground truth",
    "invented_field": "the schema has no such field",
}


@dataclass(frozen=True, slots=True)
class Mistake:
    """One address that is not matched, and why."""

    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True)
class FieldLoss:
    """One schema field with its counts; `lost` is how many of its addresses are not matched."""

    field: str
    counts: Counts

    @property
    def lost(self) -> int:
        return self.counts.total - self.counts.matched


def mistakes(score: Score) -> tuple[Mistake, ...]:
    """Every address that is not matched, in reading order; needs a score made with `verdicts=True`."""
    if score.verdicts is None:
        raise ArgumentValueError("the score holds no verdicts; make it with score(..., verdicts=True)")
    wrong = (verdict for verdict in score.verdicts if verdict.verdict in {*_REASONS, "misread"})
    return tuple(Mistake(verdict, reason(verdict, metric=score.metric)) for verdict in wrong)


def reason(verdict: Verdict, *, metric: str) -> str:
    """Why an address has its verdict, in one sentence; for a misread one, why the two values differ."""
    if verdict.verdict in _REASONS:
        return _REASONS[verdict.verdict]
    comparison = explain(verdict.gold_raw, verdict.pred_raw, metric=metric)
    assert isinstance(comparison, Comparison)
    return comparison.reason


def worst_fields(score: Score, limit: int | None = None) -> tuple[FieldLoss, ...]:
    """The fields with anything lost, the most lost first, then by name; needs a score made with `verdicts=True`."""
    losses = [FieldLoss(field, counts) for field, counts in score.by_field().items()]
    ranked = sorted((loss for loss in losses if loss.lost), key=lambda loss: (-loss.lost, loss.field))
    return tuple(ranked[:limit])
