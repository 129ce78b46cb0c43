"""The records of a report: what became of each task, finding and label, under each judge, and what judges agree on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from docassay.discovery.aggregate import Summary
from docassay.discovery.claim_error import Verdict
from docassay.discovery.gates import FindingGate
from docassay.discovery.label_error import LabelError
from docassay.discovery.quality import Assessment, FindingQuality, Support, TaskStatus
from docassay.discovery.submission import Definition

__all__ = [
    "REPORT_FORMAT",
    "Agreement",
    "ControlCount",
    "Costs",
    "FindingRecord",
    "JudgeReport",
    "LabelRow",
    "Partition",
    "QuoteRecord",
    "Report",
    "RunTotals",
    "TaskRecord",
    "as_json",
]

REPORT_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Costs:
    """What the reviews took, as far as the endpoints stated it.

    answers: that went into reviews; tokens and cost (USD) are sums over those that stated them, None if none did.
    """

    answers: int
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    answers_without_cost: int


@dataclass(frozen=True, slots=True)
class RunTotals:
    """What all judge runs into a folder sent, whether or not it went into a review.

    requests: HTTP requests. stated_cost: USD that endpoints stated.
    """

    runs: int
    requests: int
    stated_cost: float
    answers_without_cost: int


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One audited document under one condition: what was claimed, what the checker said, and why it was audited.

    claimed: `outside` where the finding's population does not hold it. inclusion: probability of being audited.
    excerpt: how the document begins.
    """

    task_id: str
    finding_id: str
    condition_id: str
    doc_id: str
    claimed: str
    checked: str
    quote: str
    quoted: bool
    inclusion: float
    excerpt: str

    @property
    def agrees(self) -> bool | None:
        """Whether claim and checker agree; None unless both know."""
        known = {"positive", "negative"}
        return self.claimed == self.checked if self.claimed in known and self.checked in known else None


@dataclass(frozen=True, slots=True)
class Partition:
    """How a submission divides its population under one condition, in documents."""

    condition_id: str
    positive: int
    negative: int
    unknown: int


@dataclass(frozen=True, slots=True)
class QuoteRecord:
    """One quote of a submission with the text around it.

    before, after: up to 160 code points of the document on either side.
    """

    doc_id: str
    role: str
    quote: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """One finding: what was claimed, what the judge said, what the gate said, and what is left.

    gate, label_error: None for fixed-comparison tasks, which have no blind check.
    """

    finding_id: str
    claim: str
    definitions: tuple[Definition, ...]
    assessment: Assessment
    quality: FindingQuality
    gate: FindingGate | None
    label_error: LabelError | None
    partitions: tuple[Partition, ...] = ()
    evidence: tuple[QuoteRecord, ...] = ()
    limitations: tuple[str, ...] = ()

    @property
    def gate_and_label_error(self) -> str | None:
        """Where the fixed gate and the label-error verdict part: agree, gate_stricter or label_error_stricter."""
        if self.gate is None or self.label_error is None or self.label_error.claim.verdict is None:
            return None
        capped = self.gate.cap is not Support.SUPPORTED
        doubted = self.label_error.claim.verdict is not Verdict.SURVIVES
        return "agree" if capped == doubted else "gate_stricter" if capped else "label_error_stricter"


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """One task under one judge; `reason` says why it has no quality, where it has none."""

    task_id: str
    kind: str
    source: str
    status: TaskStatus
    reason: str | None
    quality: float | None
    quality_low: float | None
    quality_high: float | None
    reference_coverage: float | None
    submission_sha256: str | None
    review: str | None
    findings: tuple[FindingRecord, ...]
    labels: tuple[LabelRow, ...]
    costs: Costs | None


@dataclass(frozen=True, slots=True)
class ControlCount:
    """Planted items of one kind: how many were answered, and how many of them the judge caught."""

    kind: str
    items: int
    answered: int
    caught: int

    @property
    def catch_rate(self) -> float | None:
        """Caught share of the answered items."""
        return self.caught / self.answered if self.answered else None


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """Everything under one folder of reviews."""

    name: str
    method: str
    judge_sha256: str
    configuration: Mapping[str, Any]
    summary: Summary
    by_kind: Mapping[str, Summary]
    by_source: Mapping[str, Summary]
    tasks: tuple[TaskRecord, ...]
    controls: tuple[ControlCount, ...]
    costs: Costs
    runs: RunTotals


@dataclass(frozen=True, slots=True)
class Agreement:
    """Krippendorff's alpha over what several judges said of the same things.

    alpha: None if fewer than two judges share a unit, or nobody ever differs from anybody (no disagreement expected).
    units: findings or labels that at least two judges rated. identical: share of them on which all agree.
    """

    what: str
    level: str
    judges: int
    units: int
    identical: float | None
    alpha: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """One evaluation: every task accounted for, each judge alone.

    average: mean quality per task over judges, only where it was asked for.
    """

    version: str
    scoring_version: str
    profile: str
    tasks_sha256: str
    release: str | None
    references_sha256: str
    protocol_sha256: str
    thresholds: Mapping[str, float]
    checker_rates: Mapping[str, Any] | None
    judges: tuple[JudgeReport, ...]
    agreement: tuple[Agreement, ...]
    average: Mapping[str, float | None] | None

    def findings(self) -> Iterator[tuple[JudgeReport, TaskRecord, FindingRecord]]:
        """Every finding with its task and judge."""
        for judge in self.judges:
            for task in judge.tasks:
                for finding in task.findings:
                    yield judge, task, finding


def as_json(report: Report) -> dict[str, Any]:
    """The report as JSON values. Labels are left to `labels.parquet`, judge packets to the reviews."""
    value: dict[str, Any] = {"format": REPORT_FORMAT, **_plain(asdict(report))}
    for judge_value, judge in zip(value["judges"], report.judges, strict=True):
        for task_value, task in zip(judge_value["tasks"], judge.tasks, strict=True):
            del task_value["labels"]
            for finding_value, finding in zip(task_value["findings"], task.findings, strict=True):
                finding_value["gate_and_label_error"] = finding.gate_and_label_error
        for control_value, control in zip(judge_value["controls"], judge.controls, strict=True):
            control_value["catch_rate"] = control.catch_rate
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, str) else value
