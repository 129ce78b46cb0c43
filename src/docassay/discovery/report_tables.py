"""Decides the columns of `findings.parquet` and `labels.parquet`, and the rows that a report gives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docassay.core.columns import Column, Kind
from docassay.discovery.outcome import FindingRecord, JudgeReport, Report, TaskRecord
from docassay.discovery.quality import DIMENSIONS

__all__ = ["FINDINGS", "LABELS", "finding_rows", "label_rows"]

FINDINGS = (
    Column("judge", Kind.TEXT, "the folder of reviews"),
    Column("task_id", Kind.TEXT, "the task"),
    Column("kind", Kind.TEXT, "the task's kind"),
    Column("source", Kind.TEXT, "the task's source"),
    Column("task_status", Kind.TEXT, "scored or unresolved"),
    Column("finding_id", Kind.TEXT, "the finding"),
    Column("claim", Kind.TEXT, "as submitted"),
    Column("judge_support", Kind.TEXT, "what the judge said"),
    Column("gate_cap", Kind.TEXT, "what the fixed gates allow at most; null without a blind check"),
    Column("gate_tests", Kind.TEXTS, "the tests that fired, the strongest first"),
    Column("effective_support", Kind.TEXT, "the more restrictive of the two"),
    Column("task_fulfilled", Kind.FLAG, "the judge's word"),
    Column("duplicate_of", Kind.TEXT, "an earlier finding"),
    *(Column(name, Kind.NUMBER, "the judge's score, 0-1") for name in DIMENSIONS),
    Column("quality", Kind.NUMBER, "0-100; null where the finding is uncertain"),
    Column("quality_low", Kind.NUMBER, "the least that resolving it could give"),
    Column("quality_high", Kind.NUMBER, "the most"),
    Column("zero_reason", Kind.TEXT, "not_fulfilled or duplicate, where that alone makes it zero"),
    Column("reference_match", Kind.TEXT, "the reference that it says the same as"),
    Column("measure", Kind.TEXT, "the claimed difference's name"),
    Column("claimed_pp", Kind.NUMBER, "the difference by the submission's labels, percentage points"),
    Column("corrected_pp", Kind.NUMBER, "by the checker's, estimated"),
    Column("corrected_low_pp", Kind.NUMBER, "95 % interval with the checker's unknowns at their worst"),
    Column("corrected_high_pp", Kind.NUMBER, "its upper end"),
    Column("audited", Kind.COUNT, "audited documents that bear on it"),
    Column("needed", Kind.COUNT, "audited documents that would settle the sign, where more could"),
    Column("verdict", Kind.TEXT, "survives, attenuated, sign not established or underpowered"),
    Column("gate_and_label_error", Kind.TEXT, "agree, gate_stricter or label_error_stricter"),
    Column("rationale", Kind.TEXT, "the judge's reasons"),
)

LABELS = (
    Column("judge", Kind.TEXT, "the folder of reviews"),
    Column("task_id", Kind.TEXT, "the task"),
    Column("finding_id", Kind.TEXT, "the finding"),
    Column("condition_id", Kind.TEXT, "the condition"),
    Column("doc_id", Kind.TEXT, "the audited document"),
    Column("claimed", Kind.TEXT, "the submission's label, or outside (its population does not hold it)"),
    Column("checked", Kind.TEXT, "the blind checker's label"),
    Column("agrees", Kind.FLAG, "null unless both know"),
    Column("quote", Kind.TEXT, "the segment the checker cited"),
    Column("quoted", Kind.FLAG, "whether the submission quotes the document: such are audited for certain"),
    Column("inclusion", Kind.NUMBER, "probability of being audited"),
    Column("excerpt", Kind.TEXT, "how the document begins"),
)


def finding_rows(report: Report) -> Iterator[dict[str, Any]]:
    """One row per finding and judge."""
    for judge, task, finding in report.findings():
        yield _finding_row(judge, task, finding)


def label_rows(report: Report) -> Iterator[dict[str, Any]]:
    """One row per audited document, condition and judge."""
    for judge in report.judges:
        for task in judge.tasks:
            for row in task.labels:
                yield {"judge": judge.name, "agrees": row.agrees} | {
                    column.name: getattr(row, column.name)
                    for column in LABELS
                    if column.name not in ("judge", "agrees")
                }


def _finding_row(judge: JudgeReport, task: TaskRecord, finding: FindingRecord) -> dict[str, Any]:
    said, points, gate = finding.assessment, finding.quality, finding.gate
    claim = None if finding.label_error is None else finding.label_error.claim
    return {
        "judge": judge.name,
        "task_id": task.task_id,
        "kind": task.kind,
        "source": task.source,
        "task_status": task.status.value,
        "finding_id": finding.finding_id,
        "claim": finding.claim,
        "judge_support": said.support.value,
        "gate_cap": None if gate is None else gate.cap.value,
        "gate_tests": None if gate is None else [reason.test for reason in gate.reasons],
        "effective_support": points.effective_support.value,
        "task_fulfilled": said.task_fulfilled,
        "duplicate_of": said.duplicate_of,
        **{name: getattr(said, name) for name in DIMENSIONS},
        "quality": points.quality,
        "quality_low": points.quality_low,
        "quality_high": points.quality_high,
        "zero_reason": points.zero_reason,
        "reference_match": said.reference_match,
        "measure": None if claim is None else claim.measure,
        "claimed_pp": None if claim is None else claim.claimed,
        "corrected_pp": None if claim is None else claim.corrected.value,
        "corrected_low_pp": None if claim is None else claim.low,
        "corrected_high_pp": None if claim is None else claim.high,
        "audited": None if claim is None else claim.audited,
        "needed": None if claim is None else claim.needed,
        "verdict": None if claim is None or claim.verdict is None else claim.verdict.value,
        "gate_and_label_error": finding.gate_and_label_error,
        "rationale": said.rationale,
    }
