"""Joins submissions and a judge: audit sample, blind check, assessment, review files; keeps what was answered.

Nothing that was answered is asked again: answers are kept by the client as they arrive, seeds before they are used, and
finished reviews are left alone. What fails is one task's failure.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from docassay.discovery.blind_check import Annotation, read_labels
from docassay.discovery.controls import Control, ControlResult, make_controls, read_control
from docassay.discovery.corpus import Corpus, load_corpus
from docassay.discovery.gates import gate_findings
from docassay.discovery.judge import Judge, Question, ask
from docassay.discovery.packet import (
    assessment_question,
    blind_questions,
    match_question,
    read_assessment_answer,
    read_matches,
)
from docassay.discovery.quality import Assessment, Support, effective_support
from docassay.discovery.references import References, load_references
from docassay.discovery.review import Audit, binding_of, judged, read_review, review_value
from docassay.discovery.sampling import (
    DEFAULT_BUDGET,
    AuditSample,
    audit_sample,
    check_budget,
    claimed_states,
    conditions_of,
)
from docassay.discovery.strict_json import read_json
from docassay.discovery.submission import Submission
from docassay.discovery.submission_folder import submission_path
from docassay.discovery.tasks import Task, TaskData
from docassay.discovery.validate import validate_submission
from docassay.errors import (
    AccountError,
    BudgetError,
    CredentialError,
    DocassayError,
    DocumentError,
    ReviewError,
    RunError,
    RunStoppedError,
)
from docassay.pipelines.review_folder import JudgeRecord, ReviewFolder, write_new

__all__ = ["JudgeOptions", "JudgeOutcome", "JudgeState", "judge_submissions", "plan_questions", "read_submission"]

TASKS_AT_ONCE = 4
"""Tasks whose corpora are in memory together; the client bounds the requests."""


class JudgeState(StrEnum):
    """What became of one task in a judge run."""

    REVIEWED = "reviewed"
    KEPT = "kept"
    """A finished review was there."""
    SAMPLED = "sampled"
    """Without a judge: the audit sample is drawn and laid out."""
    ABSTAINED = "abstained"
    MISSING = "missing"
    INVALID = "invalid"
    FAILED = "failed"
    STOPPED = "stopped"
    """A limit was reached; what was answered is kept."""


@dataclass(frozen=True, slots=True)
class JudgeOutcome:
    """One task's outcome, with the reason where there is one."""

    task_id: str
    state: JudgeState
    message: str = ""


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """What a judge run is asked.

    submissions: folder with one file TASK.json per task. out: the folder of reviews.
    budget: documents to audit per submission. controls: planted items per task, 0 for none.
    seeds_from: another folder of reviews, to audit the very documents that it audited.
    references: their file, where it is not the data folder's.
    """

    submissions: Path
    out: Path
    task_ids: tuple[str, ...] = ()
    limit: int | None = None
    budget: int = DEFAULT_BUDGET
    controls: int = 0
    seeds_from: Path | None = None
    references: Path | None = None
    progress: Callable[[JudgeOutcome], None] = field(default=lambda outcome: None)


async def judge_submissions(data: TaskData, judge: Judge | None, options: JudgeOptions) -> tuple[JudgeOutcome, ...]:
    """Review every selected task's submission; one outcome per task, in the tasks' order.

    Args:
        data: The data folder.
        judge: None draws the audit samples and lays them out for a person.
        options: What is asked.

    Raises:
        RunMismatchError: the folder holds reviews of another configuration.
        CredentialError: the judge has no key.
        ReviewError: the budget is out of range.
    """
    run = _Run(data, judge, options, ReviewFolder(options.out), load_references(data, options.references))
    slots = asyncio.Semaphore(TASKS_AT_ONCE)

    async def one(task: Task) -> JudgeOutcome:
        async with slots:
            outcome = await run.task(task)
        options.progress(outcome)
        return outcome

    try:
        async with asyncio.TaskGroup() as group:
            pending = [group.create_task(one(task)) for task in data.select(options.task_ids, options.limit)]
    except* CredentialError as errors:
        no_key = errors.exceptions[0]
    else:
        return tuple(task.result() for task in pending)
    raise no_key


def plan_questions(data: TaskData, options: JudgeOptions) -> tuple[Question, ...]:
    """The questions that a run would ask if no answer needed a repair; asks and writes nothing.

    Seeds that are not yet made are replaced by a fixed one, so that documents, and with them tokens, are an estimate.
    """
    folder, questions = ReviewFolder(options.out), []
    references = load_references(data, options.references)
    for task in data.select(options.task_ids, options.limit):
        corpus = load_corpus(data, task)
        submission, _ = read_submission(options.submissions, task, corpus)
        if submission is None or submission.abstains or folder.review_path(task.task_id, submission.digest).exists():
            continue
        try:
            questions += _planned(task, submission, corpus, folder, options)
        except ReviewError:  # a run would tell it as that task's failure, without asking anything
            continue
        reference = references.by_task.get(task.task_id)
        if reference is not None:
            ids = [finding.finding_id for finding in submission.findings]
            questions.append(match_question(task, submission, ids, reference))
    return tuple(questions)


def read_submission(folder: Path, task: Task, corpus: Corpus) -> tuple[Submission | None, JudgeOutcome | None]:
    """A task's valid submission, or what is wrong with it. Abstentions are valid."""
    path = submission_path(folder, task.task_id)
    if not path.is_file():
        return None, JudgeOutcome(task.task_id, JudgeState.MISSING, f"{path} does not exist")
    try:
        checked = validate_submission(path.read_bytes(), task, corpus)
    except OSError as error:
        return None, JudgeOutcome(task.task_id, JudgeState.INVALID, f"{path}: {error.strerror or error}")
    if checked.valid and checked.submission is not None:
        return checked.submission, None
    more = f" (and {checked.faults_total - 1} more)" if checked.faults_total > 1 else ""
    return None, JudgeOutcome(task.task_id, JudgeState.INVALID, f"{checked.faults[0]}{more}")


class _Run:
    """One judge run over the tasks."""

    def __init__(
        self, data: TaskData, judge: Judge | None, options: JudgeOptions, folder: ReviewFolder, references: References
    ) -> None:
        check_budget(options.budget)
        self.data = data
        self.judge = judge
        self.options = options
        self.folder = folder
        self.references = references
        self.record = self._claim()

    def _claim(self) -> JudgeRecord:
        judge = self.judge
        answers: Mapping[str, Any] = {"judge": "none"} if judge is None else judge.configuration
        configuration = {
            **answers,
            "audit_documents": self.options.budget,
            "tasks_sha256": self.data.tasks_sha256,
            "references_sha256": self.references.sha256,
        }
        return self.folder.claim(configuration, "none" if judge is None else judge.method)

    async def task(self, task: Task) -> JudgeOutcome:
        submission: Submission | None = None
        try:
            corpus = await asyncio.to_thread(load_corpus, self.data, task)
            submission, outcome = await asyncio.to_thread(read_submission, self.options.submissions, task, corpus)
            if submission is None:
                assert outcome is not None
                return outcome
            if submission.abstains:
                return JudgeOutcome(task.task_id, JudgeState.ABSTAINED, submission.abstention_reason)
            return await self._submission(task, submission, corpus)
        except CredentialError:
            raise
        except (BudgetError, AccountError, RunStoppedError) as error:
            return self._failed(task, submission, JudgeState.STOPPED, error)
        except DocassayError as error:
            return self._failed(task, submission, JudgeState.FAILED, error)

    def _failed(
        self, task: Task, submission: Submission | None, state: JudgeState, error: DocassayError
    ) -> JudgeOutcome:
        if submission is not None:
            self.folder.add_failure(task.task_id, submission.digest, str(error))
        return JudgeOutcome(task.task_id, state, str(error))

    async def _submission(self, task: Task, submission: Submission, corpus: Corpus) -> JudgeOutcome:
        path = self.folder.review_path(task.task_id, submission.digest)
        audited = task.profile == "discovery"
        sample = self._sample(submission, corpus) if audited else None
        if self.judge is None:
            return self._lay_out(submission, corpus, sample)
        state = JudgeState.KEPT if self._is_kept(path, task, submission, corpus) else JudgeState.REVIEWED
        if state is JudgeState.REVIEWED:
            write_new(path, await self._review(self.judge, task, submission, corpus, sample))
        if self.options.controls and sample is not None:
            await self._controls(self.judge, task, submission, corpus, sample)
        return JudgeOutcome(task.task_id, state)

    def _sample(self, submission: Submission, corpus: Corpus) -> AuditSample:
        given = None
        if self.options.seeds_from is not None:
            given = ReviewFolder(self.options.seeds_from).kept_seed(submission)
            if given is None:
                raise RunError(f"{self.options.seeds_from}: no seed for the submission to {submission.task_id!r}")
        return audit_sample(submission, corpus, seed=self.folder.seed(submission, given), budget=self.options.budget)

    def _is_kept(self, path: Path, task: Task, submission: Submission, corpus: Corpus) -> bool:
        """Whether a usable review is there; one that cannot be used is an error, since nothing is overwritten."""
        if not path.exists():
            return False
        try:
            self._judged(read_json(path), task, submission, corpus)
        except (ReviewError, DocumentError) as error:
            raise RunError(f"{path} is there and cannot be used ({error}); move it away to judge again") from error
        return True

    def _judged(self, value: object, task: Task, submission: Submission, corpus: Corpus) -> None:
        judged(
            read_review(value),
            task,
            submission,
            corpus,
            reference_sha256=self.references.sha256,
            judge_sha256=self.record.digest,
            reference_id=self.references.id_of(task.task_id),
        )

    async def _review(
        self, judge: Judge, task: Task, submission: Submission, corpus: Corpus, sample: AuditSample | None
    ) -> dict[str, Any]:
        receipts: list[Mapping[str, Any]] = []
        annotations = await _annotate(judge, submission, corpus, sample, receipts) if sample is not None else ()
        gates = gate_findings(submission, annotations) if sample is not None else ()
        question = assessment_question(task, submission, corpus, sample, annotations, gates)
        ids = [finding.finding_id for finding in submission.findings]
        assessments, spent = await ask(judge, question, lambda value: read_assessment_answer(value, ids))
        receipts += spent
        caps = {gate.finding_id: gate.cap for gate in gates}
        assessments = await self._match(judge, task, submission, assessments, caps, receipts)
        audit = None if sample is None else Audit(sample.seed, sample.budget, sample.doc_ids, annotations)
        value = review_value(
            binding_of(task, submission, self.references.sha256),
            reviewer_method=judge.method,
            judge_sha256=self.record.digest,
            audit=audit,
            assessments=assessments,
            receipts=receipts,
        )
        self._judged(value, task, submission, corpus)
        return value

    async def _match(
        self,
        judge: Judge,
        task: Task,
        submission: Submission,
        assessments: tuple[Assessment, ...],
        caps: Mapping[str, Support],
        receipts: list[Mapping[str, Any]],
    ) -> tuple[Assessment, ...]:
        """Compare findings of full support with the task's reference, if it has one."""
        reference = self.references.by_task.get(task.task_id)
        ids = [
            row.finding_id
            for row in assessments
            if row.task_fulfilled
            and row.duplicate_of is None
            and effective_support(row.support, caps.get(row.finding_id)) is Support.SUPPORTED
        ]
        if reference is None or not ids:
            return assessments
        question = match_question(task, submission, ids, reference)
        matched, spent = await ask(judge, question, lambda value: read_matches(value, ids))
        receipts += spent
        return tuple(row.matching(reference.reference_id if row.finding_id in matched else None) for row in assessments)

    def _lay_out(self, submission: Submission, corpus: Corpus, sample: AuditSample | None) -> JudgeOutcome:
        if sample is None:
            return JudgeOutcome(submission.task_id, JudgeState.SAMPLED, "no audit sample in this profile")
        path = self.folder.sample_path(submission.task_id, submission.digest)
        if not path.exists():
            questions = [dict(question.payload) for _, question in blind_questions(submission, corpus, sample)]
            write_new(path, {"doc_ids": list(sample.doc_ids), "batches": questions})
        return JudgeOutcome(submission.task_id, JudgeState.SAMPLED, str(path))

    async def _controls(
        self, judge: Judge, task: Task, submission: Submission, corpus: Corpus, sample: AuditSample
    ) -> None:
        path = self.folder.controls_path(task.task_id, submission.digest)
        if path.exists():
            return
        audit = read_review(read_json(self.folder.review_path(task.task_id, submission.digest))).audit
        assert audit is not None, "a review of an audited task holds its audit"
        controls = make_controls(task, submission, corpus, sample, audit.annotations, self.options.controls)
        results = await _all([_control(judge, control) for control in controls])
        write_new(
            path,
            {
                "task_id": task.task_id,
                "submission_sha256": submission.digest,
                "judge_sha256": self.record.digest,
                "items": [item.as_dict() for result in results for item in result],
            },
        )


async def _annotate(
    judge: Judge, submission: Submission, corpus: Corpus, sample: AuditSample, receipts: list[Mapping[str, Any]]
) -> tuple[Annotation, ...]:
    """The blind check. Batches are asked together; one that fails lets the others finish, so that they are kept."""
    conditions = len(conditions_of(submission))
    asked = [
        ask(judge, question, lambda value, batch=batch: read_labels(value, batch, conditions))  # type: ignore[misc]
        for batch, question in blind_questions(submission, corpus, sample)
    ]
    annotations: list[Annotation] = []
    for labels, spent in await _all(asked):
        annotations += labels
        receipts += spent
    return tuple(annotations)


async def _all(asked: Sequence[Awaitable[Any]]) -> list[Any]:
    """Every answer, or the first error once all have ended."""
    results = await asyncio.gather(*asked, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


async def _control(judge: Judge, control: Control) -> tuple[ControlResult, ...]:
    try:
        answer, _ = await ask(judge, control.question, lambda value: read_control(control, value))
    except ReviewError as error:
        return control.unanswered(str(error))
    return answer


def _planned(
    task: Task, submission: Submission, corpus: Corpus, folder: ReviewFolder, options: JudgeOptions
) -> list[Question]:
    if task.profile != "discovery":
        return [assessment_question(task, submission, corpus)]
    sample = audit_sample(submission, corpus, seed=folder.kept_seed(submission) or "plan", budget=options.budget)
    claims = claimed_states(submission)
    # As if the checker agreed everywhere: about as long as what it will say.
    agreed = tuple(
        Annotation(
            doc_id,
            tuple(claims[condition].get(doc_id, "negative") for condition in conditions_of(submission)),
            ("",) * len(conditions_of(submission)),
        )
        for doc_id in sample.doc_ids
    )
    blind = [question for _, question in blind_questions(submission, corpus, sample)]
    gates = gate_findings(submission, agreed)
    controls = make_controls(task, submission, corpus, sample, agreed, options.controls)
    assessment = assessment_question(task, submission, corpus, sample, agreed, gates)
    return [*blind, assessment, *(control.question for control in controls)]
