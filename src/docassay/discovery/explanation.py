"""Decides how a finding's number is told in words: arithmetic, judge, gate, label error, and the documents in dispute.

It reads a written report (`report.json` and the rows of `labels.parquet`): what is explained is what was reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from docassay.discovery.quality import DIMENSIONS, FACTORS, WEIGHTS, Support, Weights
from docassay.discovery.report_text import number, percent
from docassay.errors import ArgumentValueError

__all__ = ["Dispute", "Explanation", "explain_finding"]


@dataclass(frozen=True, slots=True)
class Dispute:
    """An audited document on which claim and checker differ."""

    condition_id: str
    doc_id: str
    claimed: str
    checked: str
    quote: str
    excerpt: str
    quoted: bool

    def __str__(self) -> str:
        cited = f' The checker cites: "{_flat(self.quote)}"' if self.quote else ""
        quoted = " (quoted by the submission)" if self.quoted else ""
        return (
            f"{self.doc_id}{quoted}, condition {self.condition_id}: claimed {self.claimed}, checked {self.checked}."
            f'{cited} It begins: "{_flat(self.excerpt)}"'
        )


@dataclass(frozen=True, slots=True)
class Explanation:
    """How one finding's number came about under one judge; every entry of `steps` is a sentence."""

    judge: str
    task_id: str
    finding_id: str
    claim: str
    quality: float | None
    steps: tuple[str, ...]
    disputes: tuple[Dispute, ...]


def explain_finding(
    report: Mapping[str, Any],
    labels: Iterable[Mapping[str, Any]],
    finding_id: str,
    *,
    task_id: str | None = None,
    judge: str | None = None,
) -> tuple[Explanation, ...]:
    """The explanations of a finding, one per judge (and per task, where ids repeat and no task is named).

    Args:
        report: The JSON of a report.
        labels: The rows of its table of labels.
        finding_id: As submitted, or `TASK/FINDING`.
        task_id: Only of this task.
        judge: Only under this judge.

    Raises:
        ArgumentValueError: there is no such finding; the message names those there are.
    """
    rows = list(labels)
    weights = WEIGHTS[report["profile"]]
    found = [
        _explanation(weights, judge_value, task, finding, rows)
        for judge_value in report["judges"]
        for task in judge_value["tasks"]
        for finding in task["findings"]
        if finding_id in (finding["finding_id"], f"{task['task_id']}/{finding['finding_id']}")
        and task_id in (None, task["task_id"])
        and judge in (None, judge_value["name"])
    ]
    if not found:
        raise ArgumentValueError(_no_such(report, finding_id, task_id, judge))
    return tuple(found)


def _explanation(
    weights: Weights,
    judge: Mapping[str, Any],
    task: Mapping[str, Any],
    finding: Mapping[str, Any],
    labels: Sequence[Mapping[str, Any]],
) -> Explanation:
    steps = [
        _arithmetic(weights, finding),
        _support(finding),
        *_gates(finding),
        f"The judge's reasons: {_flat(finding['assessment']['rationale'])}",
        *_label_error(finding),
        _task(task),
    ]
    own = [
        row
        for row in labels
        if (row["judge"], row["task_id"], row["finding_id"]) == (judge["name"], task["task_id"], finding["finding_id"])
    ]
    disputes = tuple(_dispute(row) for row in own if row["agrees"] is False)
    if own:
        compared = sum(row["agrees"] is not None for row in own)
        steps.append(
            f"Of {len(own)} audited labels, {compared} are known to both sides and {len(disputes)} of these differ."
        )
    return Explanation(
        judge=judge["name"],
        task_id=task["task_id"],
        finding_id=finding["finding_id"],
        claim=finding["claim"],
        quality=finding["quality"]["quality"],
        steps=tuple(steps),
        disputes=disputes,
    )


def _arithmetic(weights: Weights, finding: Mapping[str, Any]) -> str:
    points, said = finding["quality"], finding["assessment"]
    terms = " + ".join(f"{getattr(weights, name):g} x {said[name]:g} ({name.replace('_', ' ')})" for name in DIMENSIONS)
    total = weights.base + sum(getattr(weights, name) * said[name] for name in DIMENSIONS)
    sum_text = f"{weights.base:g} + {terms} = {total:g}"
    if points["zero_reason"] == "not_fulfilled":
        return f"Quality 0: the judge finds that it does not fulfil the task. (Its scores would sum to {sum_text}.)"
    if points["zero_reason"] == "duplicate":
        return f"Quality 0: it repeats finding {said['duplicate_of']}. (Its scores would sum to {sum_text}.)"
    if points["quality"] is None:
        return (
            f"No quality: the finding is uncertain. Resolved, it could get {number(points['quality_low'])} to "
            f"{number(points['quality_high'])}; its scores sum to {sum_text}."
        )
    factor = FACTORS[Support(points["effective_support"])]
    return f"Quality {points['quality']:g} = {factor:g} ({points['effective_support']}) x ({sum_text})."


def _support(finding: Mapping[str, Any]) -> str:
    points = finding["quality"]
    if points["gate_cap"] is None:
        return f"Support is {points['effective_support']}, as the judge says; this profile has no blind check."
    return (
        f"Support is {points['effective_support']}: the judge says {points['judge_support']}, the gates allow at most "
        f"{points['gate_cap']}, and the more restrictive holds."
    )


def _gates(finding: Mapping[str, Any]) -> list[str]:
    gate = finding["gate"]
    if gate is None:
        return []
    if gate["reasons"]:
        return [f"Gate ({reason['cap']}): {reason['sentence']}." for reason in gate["reasons"]]
    confirmed, supporting = gate["confirmed_documents"], gate["supporting_documents"]
    return [f"No gate fired; the checker confirms {confirmed} of {supporting} supporting documents."]


def _label_error(finding: Mapping[str, Any]) -> list[str]:
    error = finding["label_error"]
    if error is None:
        return []
    whole = [row for row in error["conditions"] if row["arm"] is None]
    rates = [_disagreement(row) for row in whole]
    odd = {
        "gate_stricter": ["The fixed gate is stricter than label error would be; the gate decides."],
        "label_error_stricter": ["Label error speaks more strongly against it than the fixed gate; the gate decides."],
    }
    return [*rates, error["claim"]["sentence"], *odd.get(finding["gate_and_label_error"], [])]


def _disagreement(row: Mapping[str, Any]) -> str:
    weighted = row["stratified"]
    if weighted["value"] is None:
        return f"Condition {row['condition_id']}: no audited document is known to both sides."
    return (
        f"Condition {row['condition_id']}: weighted by the design, claim and checker disagree on "
        f"{percent(weighted['value'])} of the known documents ({percent(weighted['low'])} to "
        f"{percent(weighted['high'])}); raw, over the sample, {percent(row['raw_disagreement'])}."
    )


def _task(task: Mapping[str, Any]) -> str:
    over = "its one finding" if len(task["findings"]) == 1 else f"its {len(task['findings'])} findings"
    if task["quality"] is not None:
        return f"The task's quality is {task['quality']:g}, the mean over {over}."
    low, high = number(task["quality_low"]), number(task["quality_high"])
    return f"The task has no quality ({task['reason']}); it lies between {low} and {high} over {over}."


def _dispute(row: Mapping[str, Any]) -> Dispute:
    return Dispute(**{name: row[name] for name in Dispute.__slots__})


def _no_such(report: Mapping[str, Any], finding_id: str, task_id: str | None, judge: str | None) -> str:
    there = [
        f"{task['task_id']}/{finding['finding_id']}"
        for judge_value in report["judges"]
        for task in judge_value["tasks"]
        for finding in task["findings"]
    ]
    names = list(dict.fromkeys(there))
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    where = "".join([f" of task {task_id!r}" if task_id else "", f" under judge {judge!r}" if judge else ""])
    return f"no judged finding {finding_id!r}{where} in the report; there are {shown or 'none'}"


def _flat(text: str) -> str:
    return " ".join(text.split())
