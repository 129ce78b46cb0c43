"""Decides what a review is bound to, and whether one that lies in a folder may still be used.

A review binds task, submission, corpus, reference and scoring version by digest, the judge's configuration, the
checker's protocol, and the audit sample by seed, budget and ids. What does not bind is not used, and says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from docassay.core.digest import digest_object
from docassay.discovery.blind_check import Annotation, check_annotations, read_annotations
from docassay.discovery.corpus import Corpus
from docassay.discovery.gates import THRESHOLDS, FindingGate, gate_findings
from docassay.discovery.prompting import Prompt, prompt_digests
from docassay.discovery.quality import Assessment, Support, TaskQuality, read_assessments, task_quality
from docassay.discovery.sampling import AuditSample, audit_sample, conditions_of
from docassay.discovery.segments import LIMITS
from docassay.discovery.submission import Submission
from docassay.discovery.tasks import Task
from docassay.errors import ReviewError

__all__ = [
    "REVIEW_FORMAT",
    "SCORING_VERSIONS",
    "Audit",
    "Binding",
    "Judged",
    "Review",
    "bind",
    "binding_of",
    "check_binding",
    "judged",
    "protocol_digest",
    "read_review",
    "review_value",
]

REVIEW_FORMAT = 1

SCORING_VERSIONS: Mapping[str, str] = {
    "standard": "docassay-findings-standard/1",
    "hard": "docassay-findings-hard/1",
    "discovery": "docassay-findings-discovery-audited/1",
}
"""Profile → the version of everything that turns a review into points."""


@dataclass(frozen=True, slots=True)
class Binding:
    """What a review must have been made of."""

    task_id: str
    task_sha256: str
    submission_sha256: str
    corpus_sha256: str
    reference_sha256: str
    scoring_version: str


@dataclass(frozen=True, slots=True)
class Audit:
    """The blind check of a review: how the sample was drawn, what it held, what the checker said."""

    seed: str
    budget: int
    doc_ids: tuple[str, ...]
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """A review as it lies in a file; only its shape is certain, see `bind`.

    reviewer_method: who judged, in a line. judge_sha256: digest of the judge's configuration.
    protocol_sha256: digest of thresholds, limits and the checker's prompts.
    audit: None for fixed-comparison tasks. assessments: rows as the judge gave them, with reference matches.
    receipts: one per answer that went into it.
    """

    binding: Mapping[str, Any]
    reviewer_method: str
    judge_sha256: str
    protocol_sha256: str
    audit: Audit | None
    assessments: Sequence[Any]
    receipts: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """A review that binds, with everything that follows from it."""

    review: Review
    assessments: tuple[Assessment, ...]
    quality: TaskQuality
    sample: AuditSample | None
    gates: tuple[FindingGate, ...]


def protocol_digest() -> str:
    """Digest of the checker's protocol, from the very thresholds, limits and prompts that are used."""
    prompts = prompt_digests((Prompt.BLIND_CHECK, Prompt.BLIND_REPAIR))
    return digest_object({"thresholds": asdict(THRESHOLDS), "limits": asdict(LIMITS), "prompts": prompts})


def binding_of(task: Task, submission: Submission, reference_sha256: str) -> Binding:
    """What a review of this submission is bound to."""
    return Binding(
        task_id=task.task_id,
        task_sha256=task.digest,
        submission_sha256=submission.digest,
        corpus_sha256=task.corpus_sha256,
        reference_sha256=reference_sha256,
        scoring_version=SCORING_VERSIONS[task.profile],
    )


def review_value(
    binding: Binding,
    *,
    reviewer_method: str,
    judge_sha256: str,
    audit: Audit | None,
    assessments: Sequence[Assessment],
    receipts: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """The JSON object of a review file."""
    return {
        "format": REVIEW_FORMAT,
        **asdict(binding),
        "reviewer_method": reviewer_method,
        "judge_sha256": judge_sha256,
        "protocol_sha256": protocol_digest(),
        "prompts": prompt_digests(),
        "audit": None if audit is None else _audit_value(audit),
        "findings": [assessment.as_dict() for assessment in assessments],
        "receipts": [dict(receipt) for receipt in receipts],
    }


def read_review(value: object) -> Review:
    """A review out of a file's JSON. Raises ReviewError (review_shape, annotation_shape, reviewer_method)."""
    if not isinstance(value, Mapping):
        raise ReviewError("review_shape", "a review is a JSON object")
    method = value.get("reviewer_method")
    if not isinstance(method, str) or not method.strip():
        raise ReviewError("reviewer_method", "the review does not say who judged (reviewer_method)")
    rows, receipts = value.get("findings"), value.get("receipts", value.get("provider_receipts", []))
    if not isinstance(rows, list) or not isinstance(receipts, list):
        raise ReviewError("review_shape", "findings and receipts are lists")
    return Review(
        binding=value,
        reviewer_method=method,
        judge_sha256=str(value.get("judge_sha256", "")),
        protocol_sha256=str(value.get("protocol_sha256", "")),
        audit=_read_audit(value.get("audit")),
        assessments=rows,
        receipts=tuple(receipt for receipt in receipts if isinstance(receipt, Mapping)),
    )


def check_binding(review: Review, binding: Binding) -> None:
    """That a review was made of exactly this. Raises ReviewError (binding_mismatch) naming what differs."""
    differs = [name for name, wanted in asdict(binding).items() if review.binding.get(name) != wanted]
    if differs:
        raise ReviewError("binding_mismatch", f"the review was made of something else: {', '.join(differs)} differ")


def bind(
    review: Review, binding: Binding, caps: Mapping[str, Support | None], finding_ids: Sequence[str],
    *, profile: str, reference_id: str | None = None,
) -> tuple[tuple[Assessment, ...], TaskQuality]:  # fmt: skip
    """Assessments and quality of a review that binds, given the gates' caps.

    Raises:
        ReviewError: binding_mismatch, or what `read_assessments` finds.
    """
    check_binding(review, binding)
    assessments = read_assessments(list(review.assessments), finding_ids, reference_id)
    return assessments, task_quality(assessments, caps, profile=profile, reference_id=reference_id)


def judged(
    review: Review,
    task: Task,
    submission: Submission,
    corpus: Corpus,
    *,
    reference_sha256: str,
    judge_sha256: str,
    reference_id: str | None = None,
) -> Judged:
    """Everything that follows from a review: binding, sample and gates are recomputed, nothing is taken on trust.

    Raises:
        ReviewError: binding_mismatch (stale or foreign), or any code of what is unusable.
    """
    binding = binding_of(task, submission, reference_sha256)
    check_binding(review, binding)
    if review.judge_sha256 != judge_sha256:
        raise ReviewError("binding_mismatch", "the review was made with another judge configuration than the folder's")
    if review.protocol_sha256 != protocol_digest():
        raise ReviewError("binding_mismatch", "the review was made under another version of the blind check")
    sample, gates = _gates(review, task, submission, corpus)
    caps: dict[str, Support | None] = {gate.finding_id: gate.cap for gate in gates}
    ids = [finding.finding_id for finding in submission.findings]
    assessments, quality = bind(review, binding, caps, ids, profile=task.profile, reference_id=reference_id)
    return Judged(review, assessments, quality, sample, gates)


def _gates(
    review: Review, task: Task, submission: Submission, corpus: Corpus
) -> tuple[AuditSample | None, tuple[FindingGate, ...]]:
    if task.profile != "discovery":
        return None, ()
    audit = review.audit
    if audit is None:
        raise ReviewError("review_shape", "the review holds no blind check")
    sample = audit_sample(submission, corpus, seed=audit.seed, budget=audit.budget)
    if sample.doc_ids != audit.doc_ids:
        raise ReviewError("binding_mismatch", "the audited documents are not those that seed and budget draw")
    texts = {document.doc_id: corpus.texts[document.position] for document in sample.documents}
    check_annotations(audit.annotations, texts, len(conditions_of(submission)))
    return sample, gate_findings(submission, audit.annotations)


def _audit_value(audit: Audit) -> dict[str, Any]:
    return {
        "seed": audit.seed,
        "budget": audit.budget,
        "doc_ids": list(audit.doc_ids),
        "annotations": [annotation.as_dict() for annotation in audit.annotations],
    }


def _read_audit(value: object) -> Audit | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or not isinstance(value.get("seed"), str):
        raise ReviewError("review_shape", "the review's audit is not {seed, budget, doc_ids, annotations}")
    ids = value.get("doc_ids")
    if not isinstance(ids, list) or not all(isinstance(item, str) for item in ids):
        raise ReviewError("review_shape", "the review's audit does not list its documents")
    budget: Any = value.get("budget")
    return Audit(value["seed"], budget, tuple(ids), read_annotations(value.get("annotations")))
