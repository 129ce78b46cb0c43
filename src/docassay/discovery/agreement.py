"""Decides how far several judges agree: Krippendorff's alpha over findings and labels that they both rated."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Literal

import numpy as np

from docassay.core.statistics.estimators import krippendorff_alpha
from docassay.discovery.outcome import Agreement, FindingRecord, JudgeReport
from docassay.discovery.quality import DIMENSIONS

__all__ = ["agreement", "alpha_of"]

Ratings = Mapping[Hashable, str | float]
"""What one judge said, by what it was said of."""


def agreement(judges: Sequence[JudgeReport]) -> tuple[Agreement, ...]:
    """Agreement on support, effective support, every dimension and every label; empty for a single judge.

    Labels are compared on documents that at least two judges audited under the same definition.
    """
    if len(judges) < 2:
        return ()
    nominal = [
        alpha_of("support", "nominal", [_findings(judge, lambda f: f.assessment.support.value) for judge in judges]),
        alpha_of(
            "effective_support",
            "nominal",
            [_findings(judge, lambda f: f.quality.effective_support.value) for judge in judges],
        ),
        alpha_of("labels", "nominal", [_labels(judge) for judge in judges]),
    ]
    interval = [
        alpha_of(name, "interval", [_findings(judge, _dimension(name)) for judge in judges]) for name in DIMENSIONS
    ]
    return (*nominal, *interval)


def alpha_of(what: str, level: Literal["nominal", "interval"], ratings: Sequence[Ratings]) -> Agreement:
    """Agreement of several raters, each of whom may have rated other units."""
    units = list(dict.fromkeys(unit for rater in ratings for unit in rater))
    shared = [unit for unit in units if sum(unit in rater for rater in ratings) > 1]
    code: dict[str, float] = {}
    table = np.full((len(ratings), len(shared)), np.nan)
    for row, rater in enumerate(ratings):
        for column, unit in enumerate(shared):
            if unit in rater:
                said = rater[unit]
                table[row, column] = code.setdefault(said, len(code)) if isinstance(said, str) else said
    same = [np.unique(column[~np.isnan(column)]).size == 1 for column in table.T]
    return Agreement(
        what=what,
        level=level,
        judges=len(ratings),
        units=len(shared),
        identical=sum(same) / len(same) if same else None,
        alpha=krippendorff_alpha(table, level),
    )


def _findings(judge: JudgeReport, said: Callable[[FindingRecord], str | float]) -> Ratings:
    return {
        (task.task_id, task.submission_sha256, finding.finding_id): said(finding)
        for task in judge.tasks
        for finding in task.findings
    }


def _dimension(name: str) -> Callable[[FindingRecord], float]:
    def said(finding: FindingRecord) -> float:
        value: float = getattr(finding.assessment, name)
        return value

    return said


def _labels(judge: JudgeReport) -> Ratings:
    return {
        (task.task_id, task.submission_sha256, row.finding_id, row.condition_id, row.doc_id): row.checked
        for task in judge.tasks
        for row in task.labels
    }
