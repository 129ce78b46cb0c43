"""Adds up tasks into a report's figures: every task accounted for, nothing missing counted as zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from docassay.discovery.quality import TaskStatus
from docassay.errors import ReviewError

__all__ = ["Summary", "TaskLabel", "TaskOutcome", "summarise", "summarise_by"]

_REVIEW_STATES = (TaskStatus.STALE_REVIEW, TaskStatus.INVALID_REVIEW)


@dataclass(frozen=True, slots=True)
class TaskLabel:
    """What a report groups a task by."""

    task_id: str
    kind: str
    source: str
    profile: str


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What became of one task."""

    task_id: str
    status: TaskStatus
    quality: float | None
    quality_low: float | None = None
    quality_high: float | None = None
    reference_coverage: float | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of a report, or of one kind or source in it."""

    tasks: int
    scored_tasks: int
    quality_mean: float | None
    """Mean quality, 0-100; None unless every task has one."""
    conditional_quality_mean: float | None
    """Mean over the scored tasks; None if there is none."""
    reference_coverage_mean: float | None
    valid_submission_rate: float
    abstention_rate: float
    pending_tasks: int
    """Tasks that wait for a usable review, or whose review left a finding uncertain."""
    missing_tasks: int
    invalid_tasks: int
    unresolved_tasks: int
    stale_reviews: int
    invalid_reviews: int
    bounded_tasks: int
    """Tasks that are scored or unresolved: those that `quality_low_mean` and `quality_high_mean` are over."""
    quality_low_mean: float | None
    quality_high_mean: float | None

    def as_dict(self) -> dict[str, float | int | None]:
        """As it stands in a report."""
        return {name: getattr(self, name) for name in self.__slots__}


def summarise(tasks: Sequence[TaskLabel], outcomes: Sequence[TaskOutcome]) -> Summary:
    """The figures over all tasks.

    Raises:
        ReviewError: `no_tasks`; `mixed_profiles`, tasks of different profiles; `task_coverage`, not exactly one
            outcome per task.
    """
    _check(tasks, outcomes)
    return _summary(outcomes)


def summarise_by(field: str, tasks: Sequence[TaskLabel], outcomes: Sequence[TaskOutcome]) -> dict[str, Summary]:
    """The same by `kind` or `source`, in order of first appearance among the tasks."""
    _check(tasks, outcomes)
    by_id = {outcome.task_id: outcome for outcome in outcomes}
    groups: dict[str, list[TaskOutcome]] = {}
    for task in tasks:
        groups.setdefault(str(getattr(task, field)), []).append(by_id[task.task_id])
    return {name: _summary(members) for name, members in groups.items()}


def _check(tasks: Sequence[TaskLabel], outcomes: Sequence[TaskOutcome]) -> None:
    if not tasks:
        raise ReviewError("no_tasks", "a report needs at least one task")
    profiles = sorted({task.profile for task in tasks})
    if len(profiles) > 1:
        raise ReviewError("mixed_profiles", f"one report holds one profile, found {', '.join(profiles)}")
    expected, found = sorted(task.task_id for task in tasks), sorted(outcome.task_id for outcome in outcomes)
    if expected != found:
        odd = sorted(set(expected) ^ set(found)) or "repeated records"
        raise ReviewError("task_coverage", f"a report accounts for every task exactly once; not so: {odd}")


def _summary(outcomes: Sequence[TaskOutcome]) -> Summary:
    total = len(outcomes)
    scores = [outcome.quality for outcome in outcomes if outcome.quality is not None]
    coverages = [outcome.reference_coverage for outcome in outcomes if outcome.reference_coverage is not None]
    lows = [outcome.quality_low for outcome in outcomes if outcome.quality_low is not None]
    highs = [outcome.quality_high for outcome in outcomes if outcome.quality_high is not None]

    def count(*statuses: TaskStatus) -> int:
        return sum(outcome.status in statuses for outcome in outcomes)

    missing, invalid = count(TaskStatus.MISSING), count(TaskStatus.INVALID)
    return Summary(
        tasks=total,
        scored_tasks=len(scores),
        quality_mean=_mean(scores) if len(scores) == total else None,
        conditional_quality_mean=_mean(scores),
        reference_coverage_mean=_mean(coverages) if len(coverages) == total else None,
        valid_submission_rate=1 - (missing + invalid) / total,
        abstention_rate=count(TaskStatus.ABSTAINED) / total,
        pending_tasks=count(TaskStatus.PENDING_REVIEW, TaskStatus.UNRESOLVED, *_REVIEW_STATES),
        missing_tasks=missing,
        invalid_tasks=invalid,
        unresolved_tasks=count(TaskStatus.UNRESOLVED),
        stale_reviews=count(TaskStatus.STALE_REVIEW),
        invalid_reviews=count(TaskStatus.INVALID_REVIEW),
        bounded_tasks=len(lows),
        quality_low_mean=_mean(lows),
        quality_high_mean=_mean(highs),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
