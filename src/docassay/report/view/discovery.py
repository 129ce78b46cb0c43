"""Decides what the local page of a discovery evaluation answers: tasks, findings, and every audited label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docassay.errors import InputError
from docassay.pipelines.report_folder import read_labels_table
from docassay.report import numbers
from docassay.report.discovery import FindingView, Interval, TaskView, build
from docassay.report.options import ReportOptions
from docassay.report.text import visible
from docassay.report.view.query import MAX_ROWS, Query, one, whole

LABEL_COLUMNS = ("judge", "task_id", "finding_id", "condition_id", "doc_id", "claimed", "checked")
AGREEMENT = {True: "agree", False: "differ", None: "not both known"}


@dataclass(frozen=True, slots=True)
class _Found:
    """A finding with where it stands."""

    judge: str
    task: TaskView
    finding: FindingView


class DiscoveryView:
    """One discovery evaluation, ready to be asked; nothing in it changes."""

    title = "discovery"

    def __init__(self, path: Path) -> None:
        self._report = build([path], ReportOptions())
        self._name = path.resolve().name
        self._findings = [
            _Found(judge.name, task, finding)
            for judge in self._report.judges
            for task in judge.tasks
            for finding in task.findings
        ]
        self._labels = [_label(row) for row in read_labels_table(path)]

    def routes(self) -> dict[str, Callable[[Query], Any]]:
        """The questions that are answered in JSON, by name."""
        return {
            "run": lambda query: self.about(),
            "tasks": self.tasks,
            "findings": self.findings,
            "finding": self.finding,
            "labels": self.labels,
        }

    def page_png(self, document: int, page: int) -> bytes | None:
        """Discovery documents are text: there is no page."""
        return None

    def about(self) -> dict[str, Any]:
        """What the evaluation is, and what can be filtered by."""
        judges = self._report.judges
        return {
            "name": visible(self._name),
            "profile": self._report.profile,
            "judges": [judge.name for judge in judges],
            "tasks": [task.task_id for task in judges[0].tasks],
            "findings": len(self._findings),
            "labels": len(self._labels),
            "quality": [
                {
                    "judge": visible(judge.name),
                    "mean": numbers.quality(judge.groups[0].summary["conditional_quality_mean"]),
                }
                for judge in judges
            ],
        }

    def tasks(self, query: Query) -> dict[str, Any]:
        """Every task under every judge, with its status and reason."""
        rows = [
            {
                "judge": judge.name,
                "task": task.task_id,
                "shown_task": visible(task.task_id),
                "kind": task.kind,
                "status": task.status,
                "reason": None if task.reason is None else visible(task.reason),
                "quality": _figure(task.quality),
                "findings": len(task.findings),
            }
            for judge in self._report.judges
            for task in judge.tasks
        ]
        return _paged(rows, query, ("judge", "task"), ("task", "status", "reason", "kind"))

    def findings(self, query: Query) -> dict[str, Any]:
        """Findings in the report's order; filters judge, task, support and text."""
        rows = [
            {
                "id": index,
                "judge": found.judge,
                "task": found.task.task_id,
                "shown_task": visible(found.task.task_id),
                "finding_id": visible(found.finding.finding_id),
                "claim": visible(found.finding.claim),
                "support": found.finding.effective_support,
                "quality": _figure(found.finding.quality),
                "gates": [test.replace("_", " ") for test in found.finding.gate_tests],
                "labels": found.finding.claim_verdict,
            }
            for index, found in enumerate(self._findings)
        ]
        return _paged(rows, query, ("judge", "task", "support"), ("claim", "task", "finding_id", "labels"))

    def finding(self, query: Query) -> dict[str, Any]:
        """One finding with all that is known of it."""
        index = whole(query, "id", -1)
        if not 0 <= index < len(self._findings):
            raise InputError("there is no such finding")
        found = self._findings[index]
        own = found.finding
        return {
            "id": index,
            "judge": visible(found.judge),
            "task": found.task.task_id,
            "finding": own.finding_id,
            "title": f"{visible(found.task.task_id)} {visible(own.finding_id)}",
            "claim": visible(own.claim),
            "quality": _figure(own.quality),
            "supports": {"judge": own.judge_support, "gate": own.gate_cap, "effective": own.effective_support},
            "zero_reason": own.zero_reason,
            "dimensions": [[name.replace("_", " "), value] for name, value in own.dimensions.items()],
            "rationale": visible(own.rationale),
            "gates": [visible(sentence) for sentence in own.gate_sentences],
            "worth": own.claim_sentence and visible(own.claim_sentence),
            "parting": own.parting,
            "conditions": [_condition(condition) for condition in own.conditions],
            "evidence": [
                {
                    "doc": visible(quote.doc_id),
                    "role": quote.role,
                    **{part: visible(getattr(quote, part)) for part in ("before", "quote", "after")},
                }
                for quote in own.evidence
            ],
            "limitations": [visible(limitation) for limitation in own.limitations],
            "labels": {name: getattr(own.labels, name) for name in ("audited", "agree", "differ", "not_both_known")},
        }

    def labels(self, query: Query) -> dict[str, Any]:
        """Audited labels; filters judge, task, finding, claimed, checked, agreement and text."""
        exact = ("judge", "task_id", "finding_id", "condition_id", "claimed", "checked", "agreement")
        answer = _paged(self._labels, query, exact, ("doc_id", "quote", "excerpt"))
        answer["rows"] = [_shown_label(row) for row in answer["rows"]]
        return answer


def _label(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: row[name] for name in (*LABEL_COLUMNS, "quote", "excerpt", "quoted", "inclusion")}
    return {**kept, "agreement": AGREEMENT[row["agrees"]]}


def _shown_label(row: Mapping[str, Any]) -> dict[str, Any]:
    shown = {name: visible(str(row[name])) for name in (*LABEL_COLUMNS, "quote", "excerpt")}
    return {
        **shown,
        "agreement": row["agreement"],
        "quoted": row["quoted"],
        "inclusion": numbers.percent(row["inclusion"]),
    }


def _paged(
    rows: Sequence[Mapping[str, Any]], query: Query, exact: Iterable[str], searched: Iterable[str]
) -> dict[str, Any]:
    """Rows that pass, a stretch of them, and how many rows each value of a filter would show."""
    wanted = {name: one(query, name) for name in exact if one(query, name)}
    text, fields = one(query, "q").casefold(), tuple(searched)
    found = [row for row in rows if not text or any(text in str(row[name] or "").casefold() for name in fields)]

    def passes(row: Mapping[str, Any], without: str = "") -> bool:
        return all(row[name] == value for name, value in wanted.items() if name != without)

    counts = {
        name: [
            [value, visible(str(value)), n] for value, n in _counted(row[name] for row in found if passes(row, name))
        ]
        for name in exact
    }
    kept = [row for row in found if passes(row)]
    offset, limit = whole(query, "offset", 0), max(1, min(whole(query, "limit", 100), MAX_ROWS))
    offset = max(0, min(offset, max(0, len(kept) - 1)))
    return {"total": len(kept), "offset": offset, "rows": kept[offset : offset + limit], "counts": counts}


def _counted(values: Iterable[Any]) -> list[tuple[Any, int]]:
    counts = Counter(value for value in values if value is not None)
    return sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))[:500]


def _figure(quality: Interval) -> dict[str, Any]:
    bounds = None if quality.low == quality.high else numbers.quality_interval(quality.low, quality.high)
    return {"value": None if quality.value is None else numbers.quality(quality.value), "bounds": bounds}


def _condition(condition: Any) -> dict[str, Any]:
    return {
        "id": visible(condition.condition_id),
        "inclusion": visible(condition.inclusion),
        "exclusion": visible(condition.exclusion),
        "partition": [
            numbers.count(condition.positive),
            numbers.count(condition.negative),
            numbers.count(condition.unknown),
        ],
        "claimed": None if condition.claimed_rate is None else numbers.percent(condition.claimed_rate),
        "corrected": _rate(condition.corrected_rate),
        "differ": _rate(condition.disagreement),
    }


def _rate(interval: Interval) -> str | None:
    if interval.value is None:
        return None
    if interval.low is None:
        return numbers.percent(interval.value)
    return f"{numbers.percent(interval.value)} ({numbers.percent_interval(interval.low, interval.high)})"
