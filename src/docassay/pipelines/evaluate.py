"""Joins submissions and reviews into a report: everything recomputed, every task accounted for, nothing overwritten.

A stale, broken or foreign review is its task's status with a reason; it never stops the report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from docassay.core.statistics.estimators import CheckerRates
from docassay.discovery.aggregate import TaskLabel, TaskOutcome, summarise, summarise_by
from docassay.discovery.agreement import agreement
from docassay.discovery.corpus import Corpus, load_corpus
from docassay.discovery.gates import THRESHOLDS
from docassay.discovery.label_error import LabelError, label_error
from docassay.discovery.label_tables import KnownRates, audit_columns
from docassay.discovery.outcome import (
    ControlCount,
    Costs,
    FindingRecord,
    JudgeReport,
    LabelRow,
    Partition,
    QuoteRecord,
    Report,
    RunTotals,
    TaskRecord,
)
from docassay.discovery.quality import TaskStatus
from docassay.discovery.references import References, load_references
from docassay.discovery.review import SCORING_VERSIONS, Judged, judged, protocol_digest, read_review
from docassay.discovery.sampling import OUTSIDE, claimed_states, conditions_of
from docassay.discovery.statistics import columns_of_finding
from docassay.discovery.strict_json import read_json
from docassay.discovery.submission import Assignment, Evidence, Submission
from docassay.discovery.tasks import Task, TaskData
from docassay.errors import ArgumentValueError, DocumentError, ReviewError
from docassay.pipelines.judge_run import JudgeState, read_submission
from docassay.pipelines.review_folder import JudgeRecord, ReviewFolder
from docassay.version import __version__

__all__ = ["EvaluateOptions", "costs_of", "evaluate", "read_checker_rates"]

MOST = 1e15
EXCERPT = 300
"""Code points of a document that go into the table of labels."""

CONTEXT = 160
"""Code points of a document that stand on either side of a quote in the report."""


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """What an evaluation is asked.

    submissions: folder with one file TASK.json per task. reviews: folders of reviews, each by one judge; each is
    reported alone. checker_rates: what is known of the checkers' own errors, to be carried to the claims too.
    average: whether to average quality over judges as well. references: their file, where not the data folder's.
    """

    submissions: Path
    reviews: tuple[Path, ...] = ()
    checker_rates: KnownRates | None = None
    average: bool = False
    references: Path | None = None
    progress: Callable[[str], None] = field(default=lambda task_id: None)


def evaluate(data: TaskData, options: EvaluateOptions) -> Report:
    """The report on a folder of submissions, under every folder of reviews.

    Raises:
        RunError: a folder of reviews is none.
        ReviewError: the tasks are of different profiles.
        TaskDataError: the data folder cannot be used.
    """
    references = load_references(data, options.references)
    folders = _folders(options.reviews)
    records: list[list[TaskRecord]] = [[] for _ in folders]
    for task in data.tasks:
        corpus = load_corpus(data, task)
        submission, outcome = read_submission(options.submissions, task, corpus)
        for (folder, judge), rows in zip(folders, records, strict=True):
            if submission is None:
                assert outcome is not None
                missing = outcome.state is JudgeState.MISSING
                rows.append(_without(task, TaskStatus.MISSING if missing else TaskStatus.INVALID, outcome.message))
            else:
                rows.append(
                    _Scoring(task, submission, corpus, references, folder, judge, options.checker_rates).record()
                )
        options.progress(task.task_id)
    labels = [TaskLabel(task.task_id, task.kind, task.source, task.profile) for task in data.tasks]
    judges = tuple(
        _judge_report(name, folder, judge, labels, rows)
        for name, (folder, judge), rows in zip(_names(folders), folders, records, strict=True)
    )
    profile = data.tasks[0].profile
    return Report(
        version=__version__,
        scoring_version=SCORING_VERSIONS[profile],
        profile=profile,
        tasks_sha256=data.tasks_sha256,
        release=data.release,
        references_sha256=references.sha256,
        protocol_sha256=protocol_digest(),
        thresholds=asdict(THRESHOLDS),
        checker_rates=None if options.checker_rates is None else asdict(options.checker_rates),
        judges=judges,
        agreement=agreement(judges),
        average=_average(judges) if options.average else None,
    )


def read_checker_rates(path: Path) -> KnownRates:
    """A checker's known answers: `{"positives", "positives_right", "negatives", "negatives_right"}`.

    With `arms`, a list of two such objects, differences use each arm's own.

    Raises:
        ArgumentValueError: the file is not that.
    """
    try:
        value = read_json(path)
    except DocumentError as error:
        raise ArgumentValueError(str(error)) from error
    arms = value.pop("arms", None) if isinstance(value, dict) else None
    if arms is not None and (not isinstance(arms, list) or len(arms) != 2):
        raise ArgumentValueError(f"{path}: arms is a list of two objects")
    overall = _checker_rates(value, path)
    return KnownRates(overall, None if arms is None else (_checker_rates(arms[0], path), _checker_rates(arms[1], path)))


def _checker_rates(value: object, path: Path) -> CheckerRates:
    names = ("positives", "positives_right", "negatives", "negatives_right")
    if not isinstance(value, dict) or set(value) != set(names):
        raise ArgumentValueError(f"{path}: expected an object with exactly {', '.join(names)}")
    if any(type(value[name]) is not int or value[name] < 0 for name in names):
        raise ArgumentValueError(f"{path}: every entry is a whole number from 0")
    if value["positives_right"] > value["positives"] or value["negatives_right"] > value["negatives"]:
        raise ArgumentValueError(f"{path}: more items right than there are")
    return CheckerRates(**value)


def _folders(paths: Sequence[Path]) -> list[tuple[ReviewFolder, JudgeRecord]]:
    """Every folder with its judge; without any, one that holds nothing, so that tasks are still accounted for."""
    if not paths:
        return [(ReviewFolder(Path("no-reviews")), JudgeRecord({}, "", "none"))]
    if len({path.resolve() for path in paths}) < len(paths):
        raise ArgumentValueError(f"a folder of reviews is named twice: {', '.join(map(str, paths))}")
    return [(folder, folder.record()) for folder in (ReviewFolder(path) for path in paths)]


@dataclass(frozen=True, slots=True)
class _Scoring:
    """One valid submission under one judge."""

    task: Task
    submission: Submission
    corpus: Corpus
    references: References
    folder: ReviewFolder
    judge: JudgeRecord
    rates: KnownRates | None

    def record(self) -> TaskRecord:
        if self.submission.abstains:
            reason = self.submission.abstention_reason
            return _without(self.task, TaskStatus.ABSTAINED, reason, self.submission.digest)
        path = self.folder.review_path(self.task.task_id, self.submission.digest)
        if not path.exists():
            return self._unreviewed()
        try:
            return self._scored(self._judged(read_json(path)), path)
        except DocumentError as error:
            return self._refused(TaskStatus.INVALID_REVIEW, str(error))
        except ReviewError as error:
            stale = error.code == "binding_mismatch"
            return self._refused(TaskStatus.STALE_REVIEW if stale else TaskStatus.INVALID_REVIEW, str(error))

    def _judged(self, value: object) -> Judged:
        return judged(
            read_review(value),
            self.task,
            self.submission,
            self.corpus,
            reference_sha256=self.references.sha256,
            judge_sha256=self.judge.digest,
            reference_id=self.references.id_of(self.task.task_id),
        )

    def _unreviewed(self) -> TaskRecord:
        others = self.folder.reviews_of(self.task.task_id)
        if others:
            reason = f"the only review is of another submission ({others[-1].name})"
            return self._refused(TaskStatus.STALE_REVIEW, reason)
        failure = self.folder.last_failure(self.task.task_id, self.submission.digest)
        return self._refused(TaskStatus.PENDING_REVIEW, failure or "no review yet")

    def _refused(self, status: TaskStatus, reason: str) -> TaskRecord:
        return _without(self.task, status, reason, self.submission.digest)

    def _scored(self, result: Judged, path: Path) -> TaskRecord:
        quality = result.quality
        errors = self._label_errors(result)
        gates = {gate.finding_id: gate for gate in result.gates}
        rows = zip(self.submission.findings, result.assessments, quality.findings, strict=True)
        uncertain = [row.finding_id for row in quality.findings if row.quality is None]
        return TaskRecord(
            task_id=self.task.task_id,
            kind=self.task.kind,
            source=self.task.source,
            status=quality.status,
            reason=f"uncertain: {', '.join(uncertain)}" if uncertain else None,
            quality=quality.quality,
            quality_low=quality.quality_low,
            quality_high=quality.quality_high,
            reference_coverage=quality.reference_coverage,
            submission_sha256=self.submission.digest,
            review=path.name,
            findings=tuple(
                FindingRecord(
                    finding_id=finding.finding_id,
                    claim=finding.claim,
                    definitions=finding.definitions,
                    assessment=assessment,
                    quality=points,
                    gate=gates.get(finding.finding_id),
                    label_error=errors.get(finding.finding_id),
                    partitions=tuple(_partition(assignment) for assignment in finding.assignments),
                    evidence=tuple(_in_context(one, self.corpus) for one in finding.evidence),
                    limitations=finding.limitations,
                )
                for finding, assessment, points in rows
            ),
            labels=self._labels(result),
            costs=costs_of(result.review.receipts),
        )

    def _label_errors(self, result: Judged) -> dict[str, LabelError]:
        audit, sample = result.review.audit, result.sample
        if audit is None or sample is None:
            return {}
        # The same review always gives the same intervals: the draws depend on nothing else.
        rng = np.random.default_rng(int(self.submission.digest[:16], 16))
        found = {}
        for finding in self.submission.findings:
            columns = columns_of_finding(finding, self.task, self.corpus)
            laid_out = audit_columns(self.submission, finding, columns, self.corpus, sample, audit.annotations)
            names = [definition.condition_id for definition in finding.definitions]
            rates = dict.fromkeys(names, self.rates) if self.rates is not None else None
            found[finding.finding_id] = label_error(finding.finding_id, names, laid_out, rng, rates=rates)
        return found

    def _labels(self, result: Judged) -> tuple[LabelRow, ...]:
        audit, sample = result.review.audit, result.sample
        if audit is None or sample is None:
            return ()
        claims = claimed_states(self.submission)
        documents = {document.doc_id: document for document in sample.documents}
        return tuple(
            LabelRow(
                task_id=self.task.task_id,
                finding_id=condition.finding_id,
                condition_id=condition.condition_id,
                doc_id=annotation.doc_id,
                claimed=claims[condition].get(annotation.doc_id, OUTSIDE),
                checked=annotation.states[place],
                quote=annotation.quotes[place],
                quoted=documents[annotation.doc_id].quoted,
                inclusion=documents[annotation.doc_id].inclusion,
                excerpt=self.corpus.texts[documents[annotation.doc_id].position][:EXCERPT],
            )
            for place, condition in enumerate(conditions_of(self.submission))
            for annotation in audit.annotations
        )


def _partition(assignment: Assignment) -> Partition:
    return Partition(
        assignment.condition_id,
        len(assignment.positive),
        len(assignment.negative),
        len(assignment.unknown),
    )


def _in_context(evidence: Evidence, corpus: Corpus) -> QuoteRecord:
    """A quote with the text around it, so that a reader of the report can judge it without the corpus."""
    text = corpus.text(evidence.doc_id)
    before = text[max(0, evidence.start - CONTEXT) : evidence.start]
    return QuoteRecord(
        evidence.doc_id, evidence.role, evidence.quote, before, text[evidence.end : evidence.end + CONTEXT]
    )


def _without(task: Task, status: TaskStatus, reason: str, submission_sha256: str | None = None) -> TaskRecord:
    """A task without a score: its status, its reason, and null everywhere else."""
    return TaskRecord(
        task_id=task.task_id,
        kind=task.kind,
        source=task.source,
        status=status,
        reason=reason,
        quality=None,
        quality_low=None,
        quality_high=None,
        reference_coverage=None,
        submission_sha256=submission_sha256,
        review=None,
        findings=(),
        labels=(),
        costs=None,
    )


def _names(folders: Sequence[tuple[ReviewFolder, JudgeRecord]]) -> list[str]:
    """Folder names; equal ones of different parents get a number."""
    names = [folder.root.resolve().name for folder, _ in folders]
    return [f"{name} ({index + 1})" if names.count(name) > 1 else name for index, name in enumerate(names)]


def _judge_report(
    name: str, folder: ReviewFolder, judge: JudgeRecord, labels: Sequence[TaskLabel], rows: Sequence[TaskRecord]
) -> JudgeReport:
    outcomes = [
        TaskOutcome(row.task_id, row.status, row.quality, row.quality_low, row.quality_high, row.reference_coverage)
        for row in rows
    ]
    return JudgeReport(
        name=name,
        method=judge.method,
        judge_sha256=judge.digest,
        configuration=judge.configuration,
        summary=summarise(labels, outcomes),
        by_kind=summarise_by("kind", labels, outcomes),
        by_source=summarise_by("source", labels, outcomes),
        tasks=tuple(rows),
        controls=_controls(folder, judge, rows),
        costs=_sum_costs([row.costs for row in rows if row.costs is not None]),
        runs=_run_totals(folder.runs()),
    )


def _controls(folder: ReviewFolder, judge: JudgeRecord, rows: Sequence[TaskRecord]) -> tuple[ControlCount, ...]:
    """Catch counts by kind over the submissions that are reported; a file that cannot be read counts for nothing."""
    items: list[Mapping[str, Any]] = []
    for row in rows:
        path = folder.controls_path(row.task_id, row.submission_sha256 or "")
        if row.submission_sha256 is None or not path.is_file():
            continue
        try:
            value = read_json(path)
        except DocumentError:
            continue
        if (
            isinstance(value, dict)
            and value.get("judge_sha256") == judge.digest
            and isinstance(value.get("items"), list)
        ):
            items += [item for item in value["items"] if isinstance(item, dict)]
    counts = []
    for kind in dict.fromkeys(str(item.get("kind")) for item in items):
        caught = [item.get("caught") for item in items if str(item.get("kind")) == kind]
        answered = [one for one in caught if isinstance(one, bool)]
        counts.append(ControlCount(kind, len(caught), len(answered), sum(answered)))
    return tuple(counts)


def costs_of(receipts: Sequence[Mapping[str, Any]]) -> Costs:
    """What a review took, by its receipts; what is not a number counts as not stated."""
    usage = [used for receipt in receipts if isinstance(used := receipt.get("usage"), Mapping)]
    stated = _amounts([receipt.get("cost") for receipt in receipts])
    return Costs(
        answers=len(receipts),
        input_tokens=_sum([row.get("input_tokens") for row in usage]),
        output_tokens=_sum([row.get("output_tokens") for row in usage]),
        cost=sum(stated) if stated else None,
        answers_without_cost=len(receipts) - len(stated),
    )


def _sum_costs(costs: Sequence[Costs]) -> Costs:
    stated = [row.cost for row in costs if row.cost is not None]
    return Costs(
        answers=sum(row.answers for row in costs),
        input_tokens=_sum([row.input_tokens for row in costs]),
        output_tokens=_sum([row.output_tokens for row in costs]),
        cost=sum(stated) if stated else None,
        answers_without_cost=sum(row.answers_without_cost for row in costs),
    )


def _run_totals(runs: Sequence[Mapping[str, Any]]) -> RunTotals:
    stated = _amounts([run.get("stated") for run in runs])
    return RunTotals(
        runs=len(runs),
        requests=_sum([run.get("calls") for run in runs]) or 0,
        stated_cost=sum(stated),
        answers_without_cost=_sum([run.get("answers_without_cost") for run in runs]) or 0,
    )


def _amounts(values: Sequence[Any]) -> list[float]:
    """Those that can be what an answer took: no text, no boolean, nothing beyond every bill."""
    return [float(value) for value in values if type(value) in (int, float) and 0 <= value <= MOST]


def _sum(values: Sequence[Any]) -> int | None:
    known = [value for value in values if type(value) is int and 0 <= value <= MOST]
    return sum(known) if known else None


def _average(judges: Sequence[JudgeReport]) -> dict[str, float | None]:
    """Task id → mean quality over the judges; None unless every judge has one."""
    found: dict[str, float | None] = {}
    for rows in zip(*(judge.tasks for judge in judges), strict=True):
        known = [row.quality for row in rows if row.quality is not None]
        found[rows[0].task_id] = sum(known) / len(known) if len(known) == len(rows) else None
    return found
