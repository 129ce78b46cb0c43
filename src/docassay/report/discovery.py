"""Decides what a report of discovery evaluations says: tasks by status, quality, gates, labels, findings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docassay.errors import RunError
from docassay.pipelines.report_folder import read_labels_table, read_report
from docassay.pipelines.run_data import unique_names
from docassay.report import plots
from docassay.report.options import ReportOptions

DIMENSIONS = ("statistical_validity", "evidence_entailment", "analytical_depth", "calibration")
DISAGREEMENTS = 12
"""Labels listed per finding on which claim and checker differ; the rest is counted."""
FINDINGS_DRAWN = 30


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its bounds; None where it is not known."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class LabelLine:
    """One audited document on which the claim and the checker differ."""

    condition_id: str
    doc_id: str
    claimed: str
    checked: str
    quote: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """How claim and checker agree over the audited documents of a finding."""

    audited: int
    agree: int
    differ: int
    not_both_known: int
    shown: tuple[LabelLine, ...]


@dataclass(frozen=True, slots=True)
class QuoteLine:
    """One quote of the submission, in context."""

    doc_id: str
    role: str
    before: str
    quote: str
    after: str


@dataclass(frozen=True, slots=True)
class ConditionLine:
    """One condition: how it is defined, how it divides the population, and what the labels are worth."""

    condition_id: str
    inclusion: str
    exclusion: str
    positive: int | None
    negative: int | None
    unknown: int | None
    disagreement: Interval
    false_positive: Interval
    false_negative: Interval
    claimed_rate: float | None
    corrected_rate: Interval


@dataclass(frozen=True, slots=True)
class FindingView:
    """One finding under one judge."""

    task_id: str
    finding_id: str
    claim: str
    judge_support: str
    gate_cap: str | None
    effective_support: str
    quality: Interval
    zero_reason: str | None
    dimensions: Mapping[str, float]
    rationale: str
    duplicate_of: str | None
    task_fulfilled: bool
    gate_sentences: tuple[str, ...]
    gate_tests: tuple[str, ...]
    parting: str | None
    """agree, gate_stricter or label_error_stricter; None without a blind check."""
    claim_sentence: str | None
    claim_verdict: str | None
    claimed: float | None
    corrected: Interval
    conditions: tuple[ConditionLine, ...]
    labels: LabelCounts
    evidence: tuple[QuoteLine, ...]
    limitations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaskView:
    """One task under one judge; without a quality, the reason says why."""

    task_id: str
    kind: str
    source: str
    status: str
    reason: str | None
    quality: Interval
    findings: tuple[FindingView, ...]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """All tasks, or those of one kind or source, under one judge."""

    name: str
    summary: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JudgeView:
    """One judge of one report."""

    name: str
    series: int
    method: str
    judge_sha256: str
    groups: tuple[GroupRow, ...]
    """All tasks first."""
    statuses: tuple[tuple[str, int], ...]
    tasks: tuple[TaskView, ...]
    gates: tuple[tuple[str, int], ...]
    controls: tuple[Mapping[str, Any], ...]
    cost: float | None
    calls: int
    plots: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Source:
    """One report folder, for the footer."""

    name: str
    path: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class DiscoveryReport:
    """Everything the template needs, figures unrounded."""

    title: str
    profile: str
    judges: tuple[JudgeView, ...]
    agreement: tuple[Mapping[str, Any], ...]
    sources: tuple[Source, ...]
    options: ReportOptions


def build(paths: Sequence[Path], options: ReportOptions) -> DiscoveryReport:
    """Read evaluations and say what a report of them says.

    Raises:
        RunError: a path that is no evaluation, or evaluations of different profiles.
    """
    values = [read_report(path) for path in paths]
    profiles = {str(value.get("profile")) for value in values}
    if len(profiles) > 1:
        raise RunError(f"the evaluations are of different profiles ({', '.join(sorted(profiles))}); report each alone")
    names = unique_names([path.resolve() for path in paths])
    judges: list[JudgeView] = []
    for path, name, value in zip(paths, names, values, strict=True):
        labels = read_labels_table(path)
        for judge in value["judges"]:
            shown = _judge_name(name, judge["name"], len(paths), len(value["judges"]))
            try:
                judges.append(_judge(judge, shown, len(judges), labels, options))
            except (KeyError, TypeError) as error:
                raise RunError(f"{path} is no discovery report of this version; it lacks {error}") from error
    return DiscoveryReport(
        title=options.title or f"Discovery report: {', '.join(names)}",
        profile=profiles.pop(),
        judges=tuple(judges),
        agreement=tuple(row for value in values for row in value.get("agreement", ())),
        sources=tuple(_source(path, name, value) for path, name, value in zip(paths, names, values, strict=True)),
        options=options,
    )


def _judge_name(report: str, judge: str, reports: int, judges: int) -> str:
    """What tells a judge apart: its own name, or the report's where each report has one judge."""
    if reports == 1:
        return judge
    return report if judges == 1 else f"{report}: {judge}"


def _judge(
    judge: Mapping[str, Any], name: str, series: int, labels: Sequence[Mapping[str, Any]], options: ReportOptions
) -> JudgeView:
    own = _labels_by_finding([row for row in labels if row["judge"] == judge["name"]])
    tasks = tuple(_task(task, own) for task in judge["tasks"])
    groups = [GroupRow("all tasks", judge["summary"])]
    groups += [GroupRow(f"kind {kind}", summary) for kind, summary in judge["by_kind"].items()]
    groups += [GroupRow(f"source {source}", summary) for source, summary in judge["by_source"].items()]
    findings = [finding for task in tasks for finding in task.findings]
    gates = Counter(test for finding in findings for test in finding.gate_tests)
    return JudgeView(
        name=name,
        series=series,
        method=judge["method"],
        judge_sha256=judge["judge_sha256"],
        groups=tuple(groups),
        statuses=tuple(Counter(task.status for task in tasks).most_common()),
        tasks=tasks,
        gates=tuple(gates.most_common()),
        controls=tuple(judge["controls"]),
        cost=judge["costs"]["cost"],
        calls=judge["costs"]["answers"],
        plots=_plots(name, tasks, findings, series),
    )


def _task(task: Mapping[str, Any], labels: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]]) -> TaskView:
    return TaskView(
        task_id=task["task_id"],
        kind=task["kind"],
        source=task["source"],
        status=task["status"],
        reason=task["reason"],
        quality=_quality(task),
        findings=tuple(
            _finding(finding, task["task_id"], labels.get((task["task_id"], finding["finding_id"]), ()))
            for finding in task["findings"]
        ),
    )


def _finding(finding: Mapping[str, Any], task_id: str, labels: Sequence[Mapping[str, Any]]) -> FindingView:
    said, gate, error = finding["assessment"], finding["gate"], finding["label_error"]
    reasons = gate["reasons"] if gate else ()
    claim = error["claim"] if error else None
    return FindingView(
        task_id=task_id,
        finding_id=finding["finding_id"],
        claim=finding["claim"],
        judge_support=said["support"],
        gate_cap=gate["cap"] if gate else None,
        effective_support=finding["quality"]["effective_support"],
        quality=_quality(finding["quality"]),
        zero_reason=finding["quality"]["zero_reason"],
        dimensions={name: said[name] for name in DIMENSIONS},
        rationale=said["rationale"],
        duplicate_of=said["duplicate_of"],
        task_fulfilled=said["task_fulfilled"],
        gate_sentences=tuple(reason["sentence"] for reason in reasons),
        gate_tests=tuple(reason["test"] for reason in reasons),
        parting=finding["gate_and_label_error"],
        claim_sentence=claim["sentence"] if claim else None,
        claim_verdict=claim["verdict"] if claim else None,
        claimed=claim["claimed"] if claim else None,
        corrected=Interval(claim["corrected"]["value"], claim["low"], claim["high"]) if claim else _UNKNOWN,
        conditions=tuple(_conditions(finding)),
        labels=_label_counts(labels),
        evidence=tuple(
            QuoteLine(row["doc_id"], row["role"], row["before"], row["quote"], row["after"])
            for row in finding.get("evidence", ())
        ),
        limitations=tuple(finding.get("limitations", ())),
    )


_UNKNOWN = Interval(None, None, None)


def _quality(record: Mapping[str, Any]) -> Interval:
    return Interval(record["quality"], record["quality_low"], record["quality_high"])


def _conditions(finding: Mapping[str, Any]) -> Iterator[ConditionLine]:
    partitions = {row["condition_id"]: row for row in finding.get("partitions", ())}
    error = finding["label_error"]
    whole = {row["condition_id"]: row for row in (error["conditions"] if error else ()) if row["arm"] is None}
    for definition in finding["definitions"]:
        name = definition["condition_id"]
        parts, estimates = partitions.get(name, {}), whole.get(name, {})
        yield ConditionLine(
            condition_id=name,
            inclusion=definition["inclusion"],
            exclusion=definition["exclusion"],
            positive=parts.get("positive"),
            negative=parts.get("negative"),
            unknown=parts.get("unknown"),
            disagreement=_estimate(estimates.get("stratified")),
            false_positive=_estimate(estimates.get("false_positive")),
            false_negative=_estimate(estimates.get("false_negative")),
            claimed_rate=estimates.get("claimed_rate"),
            corrected_rate=_estimate(estimates.get("corrected_rate")),
        )


def _estimate(value: Mapping[str, Any] | None) -> Interval:
    return _UNKNOWN if value is None else Interval(value["value"], value["low"], value["high"])


def _labels_by_finding(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["task_id"], row["finding_id"]), []).append(row)
    return found


def _label_counts(rows: Sequence[Mapping[str, Any]]) -> LabelCounts:
    differ = [row for row in rows if row["agrees"] is False]
    shown = tuple(
        LabelLine(row["condition_id"], row["doc_id"], row["claimed"], row["checked"], row["quote"], row["excerpt"])
        for row in differ[:DISAGREEMENTS]
    )
    agree = sum(row["agrees"] is True for row in rows)
    return LabelCounts(len(rows), agree, len(differ), len(rows) - agree - len(differ), shown)


def _source(path: Path, name: str, value: Mapping[str, Any]) -> Source:
    names = ("version", "scoring_version", "profile", "release", "tasks_sha256", "references_sha256", "protocol_sha256")
    facts = [(fact, "none" if value.get(fact) is None else str(value[fact])) for fact in names]
    facts.append(("thresholds", json.dumps(value.get("thresholds"))))
    return Source(name, str(path.resolve()), tuple(facts))


def _plots(name: str, tasks: Sequence[TaskView], findings: Sequence[FindingView], series: int) -> dict[str, str]:
    drawn = {}
    bounded = [task for task in tasks if task.quality.low is not None and task.quality.high is not None]
    if bounded:
        drawn["quality"] = plots.intervals(
            [_task_estimate(task, series) for task in bounded[:FINDINGS_DRAWN]],
            title=f"Quality of each task with its bounds, {name}",
            axis="quality",
            scale="plain",
        )
    corrected = [finding for finding in findings if finding.claimed is not None and finding.corrected.low is not None]
    if corrected:
        drawn["claims"] = plots.shifts(
            [_shift(finding) for finding in corrected[:FINDINGS_DRAWN]],
            title=f"Claimed difference and the difference on the checker's labels, of each finding, {name}",
            axis="difference in percentage points",
        )
    return drawn


def _task_estimate(task: TaskView, series: int) -> plots.Estimate:
    return plots.Estimate(task.task_id, task.quality.value, task.quality.low, task.quality.high, series)


def _shift(finding: FindingView) -> plots.Shift:
    assert finding.claimed is not None
    return plots.Shift(
        f"{finding.task_id} {finding.finding_id}",
        finding.claimed,
        finding.corrected.value,
        finding.corrected.low,
        finding.corrected.high,
    )
