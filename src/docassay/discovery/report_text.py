"""Decides how a report reads: Markdown for people; what is missing is a dash, never a zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from docassay.discovery.aggregate import Summary
from docassay.discovery.label_error import ConditionError
from docassay.discovery.outcome import Agreement, FindingRecord, JudgeReport, Report, TaskRecord
from docassay.discovery.quality import DIMENSIONS

__all__ = ["number", "percent", "report_markdown", "summary_lines"]

DASH = "–"
STATUS_WORDS = {
    "scored": "scored",
    "unresolved": "unresolved (a finding is uncertain)",
    "abstained": "abstained",
    "pending_review": "pending review",
    "stale_review": "stale review",
    "invalid_review": "invalid review",
    "missing": "no submission",
    "invalid": "invalid submission",
}


def report_markdown(report: Report) -> str:
    """The whole report as Markdown."""
    parts = ["# Discovery report", "", *_head(report)]
    for judge in report.judges:
        parts += _judge(judge)
    parts += _agreement(report.agreement)
    parts += _average(report.average)
    parts += _notes()
    return "\n".join(parts).rstrip() + "\n"


def number(value: float | None, digits: int = 1) -> str:
    """A figure, or a dash where there is none."""
    return DASH if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    """A share as a percentage, or a dash."""
    return DASH if value is None else f"{100 * value:.1f} %"


def summary_lines(row: Summary) -> tuple[tuple[str, str], ...]:
    """A summary for a terminal: what, and its figure; a dash where there is none."""
    bounds = f"{number(row.quality_low_mean)} to {number(row.quality_high_mean)} ({row.bounded_tasks} tasks)"
    return (
        ("quality, all tasks", number(row.quality_mean)),
        ("quality, scored tasks", number(row.conditional_quality_mean)),
        ("bounds", bounds if row.bounded_tasks else DASH),
        ("reference coverage", number(row.reference_coverage_mean, 2)),
        ("tasks", str(row.tasks)),
        ("scored", str(row.scored_tasks)),
        ("pending (unresolved, stale, invalid review)", _pending(row)),
        ("no submission", str(row.missing_tasks)),
        ("invalid submission", str(row.invalid_tasks)),
        ("valid submissions", percent(row.valid_submission_rate)),
        ("abstained", percent(row.abstention_rate)),
    )


def _pending(row: Summary) -> str:
    return f"{row.pending_tasks} ({row.unresolved_tasks}, {row.stale_reviews}, {row.invalid_reviews})"


def _head(report: Report) -> list[str]:
    return [
        f"Profile {report.profile}, scoring {report.scoring_version}, docassay {report.version}.",
        "",
        f"Tasks `{report.tasks_sha256[:16]}`, release {report.release or DASH}, "
        f"references `{report.references_sha256[:16]}`, blind check `{report.protocol_sha256[:16]}`.",
        "",
    ]


def _judge(judge: JudgeReport) -> list[str]:
    lines = [f"## {_cell(judge.name)}: {_cell(judge.method)}", ""]
    lines += [f"Judge configuration `{judge.judge_sha256[:16] or 'none'}`.", ""]
    lines += _summaries(judge)
    lines += ["### Tasks", "", "| task | status | quality | bounds | why |", "| --- | --- | ---: | ---: | --- |"]
    lines += [_task_row(task) for task in judge.tasks]
    lines.append("")
    lines += _controls(judge)
    for task in judge.tasks:
        for finding in task.findings:
            lines += _finding(task, finding)
    return lines


def _summaries(judge: JudgeReport) -> list[str]:
    header = (
        "| | tasks | scored | quality, all tasks | quality, scored tasks | bounds (over) | valid | abstained | pending "
        "| missing | invalid | coverage |"
    )
    lines = [header, "| --- |" + " ---: |" * 11, _summary_row("all", judge.summary)]
    for title, groups in (("kind", judge.by_kind), ("source", judge.by_source)):
        lines += [_summary_row(f"{title} {name}", summary) for name, summary in groups.items()]
    return [*lines, "", *_costs(judge)]


def _summary_row(name: str, row: Summary) -> str:
    bounds = f"{number(row.quality_low_mean)} to {number(row.quality_high_mean)} ({row.bounded_tasks})"
    cells = (
        _cell(name),
        row.tasks,
        row.scored_tasks,
        number(row.quality_mean),
        number(row.conditional_quality_mean),
        bounds if row.bounded_tasks else DASH,
        percent(row.valid_submission_rate),
        percent(row.abstention_rate),
        row.pending_tasks,
        row.missing_tasks,
        row.invalid_tasks,
        number(row.reference_coverage_mean, 2),
    )
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _costs(judge: JudgeReport) -> list[str]:
    costs = judge.costs
    if not costs.answers:
        return []
    tokens = f"{_count(costs.input_tokens)} input and {_count(costs.output_tokens)} output tokens"
    stated = DASH if costs.cost is None else f"${costs.cost:.4f}"
    unstated = f" ({costs.answers_without_cost} answers stated no cost)" if costs.answers_without_cost else ""
    went = f"{costs.answers} answers went into these reviews: {tokens}, stated cost {stated}{unstated}."
    runs = judge.runs
    sent = f"All {runs.runs} runs together sent {runs.requests} requests, stated cost ${runs.stated_cost:.4f}."
    return [went, *([sent] if runs.requests else []), ""]


def _count(value: int | None) -> str:
    return DASH if value is None else f"{value:,}"


def _task_row(task: TaskRecord) -> str:
    bounds = DASH if task.quality_low is None else f"{number(task.quality_low)} to {number(task.quality_high)}"
    cells = (task.task_id, STATUS_WORDS[task.status.value], number(task.quality), bounds, task.reason or "")
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _controls(judge: JudgeReport) -> list[str]:
    if not judge.controls:
        return []
    lines = ["### Planted controls", "", "Items with known answers; they count for nothing but this table.", ""]
    lines += ["| planted | items | answered | caught |", "| --- | ---: | ---: | ---: |"]
    lines += [
        f"| {row.kind.replace('_', ' ')} | {row.items} | {row.answered} | {row.caught} ({percent(row.catch_rate)}) |"
        for row in judge.controls
    ]
    return [*lines, ""]


def _finding(task: TaskRecord, finding: FindingRecord) -> list[str]:
    points, said = finding.quality, finding.assessment
    lines = [f"### {_cell(task.task_id)} / {_cell(finding.finding_id)}", "", f"> {_cell(finding.claim)}", ""]
    lines.append(
        f"Quality {number(points.quality)} (bounds {number(points.quality_low)} to {number(points.quality_high)}): "
        f"judge {points.judge_support.value}, gate {points.gate_cap.value if points.gate_cap else DASH}, effective "
        f"{points.effective_support.value}{f', zero because {points.zero_reason}' if points.zero_reason else ''}."
    )
    scores = ", ".join(f"{name.replace('_', ' ')} {number(getattr(said, name), 2)}" for name in DIMENSIONS)
    lines += ["", f"Scores: {scores}.", "", f"Rationale: {_cell(said.rationale)}", ""]
    if finding.gate is not None:
        lines += [f"- gate, {reason.cap.value}: {_cell(reason.sentence)}" for reason in finding.gate.reasons]
        lines += ["- gate: no test fired"] if not finding.gate.reasons else []
        lines.append("")
    return lines + _label_error(finding)


def _label_error(finding: FindingRecord) -> list[str]:
    error = finding.label_error
    if error is None:
        return []
    lines = [_cell(error.claim.sentence), ""]
    if finding.gate_and_label_error not in (None, "agree"):
        stricter = "The fixed gate" if finding.gate_and_label_error == "gate_stricter" else "Label error"
        lines += [f"{stricter} is the stricter of the two here; the gate decides the score.", ""]
    header = (
        "| condition | documents | audited | raw disagreement | weighted | false positive | false negative | rate |"
    )
    lines += [header, "| --- |" + " ---: |" * 7]
    return [*lines, *(_condition_row(row) for row in error.conditions), ""]


def _condition_row(row: ConditionError) -> str:
    arm = "" if row.arm is None else f", arm {row.arm}"
    cells = (
        _cell(row.condition_id) + arm,
        str(row.documents),
        str(row.audited),
        percent(row.raw_disagreement),
        _interval(row.stratified.value, row.stratified.low, row.stratified.high),
        _interval(row.false_positive.value, row.false_positive.low, row.false_positive.high),
        _interval(row.false_negative.value, row.false_negative.low, row.false_negative.high),
        f"{percent(row.claimed_rate)} claimed, "
        + _interval(row.corrected_rate.value, row.corrected_rate.low, row.corrected_rate.high),
    )
    return "| " + " | ".join(cells) + " |"


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    return f"{percent(value)} ({percent(low)} to {percent(high)})"


def _agreement(rows: Sequence[Agreement]) -> list[str]:
    if not rows:
        return []
    lines = ["## Agreement between judges", "", "Krippendorff's alpha: 1 full agreement, 0 as by chance.", ""]
    lines += ["| what | level | units | all agree | alpha |", "| --- | --- | ---: | ---: | ---: |"]
    for row in rows:
        cells = (row.what.replace("_", " "), row.level, row.units, percent(row.identical), number(row.alpha, 3))
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return [*lines, ""]


def _average(average: Mapping[str, float | None] | None) -> list[str]:
    if average is None:
        return []
    lines = ["## Averaged over judges, as asked", "", "| task | quality |", "| --- | ---: |"]
    return [*lines, *(f"| {_cell(task)} | {number(value)} |" for task, value in average.items()), ""]


def _notes() -> list[str]:
    return [
        "## How to read this",
        "",
        "Quality is 0 to 100; a dash means that there is none, which is not zero. The fixed gates decide how far",
        "support reaches. Label error describes agreement with the blind checker, by the design's weights and with",
        "95 % intervals; it changes no score. Raw disagreement over an audit sample is biased, since rare labels and",
        "quoted documents are over-represented.",
    ]


def _cell(text: str) -> str:
    """Text of a submission or a judge inside Markdown: one line, and nothing in it is markup."""
    flat = " ".join(text.split())
    for mark in ("\\", "|", "`", "*", "_", "[", "]", "<", ">", "#", "!"):
        flat = flat.replace(mark, f"\\{mark}")
    return flat
