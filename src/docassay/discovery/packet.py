"""Decides what a judge sees of a submission, and how its answers are read: the blind check, the assessment, the match.

What the blind checker sees is built in `blind_check`. The judge of findings sees the task, the audited documents with
claimed and checked labels, the submission with counts in place of id lists, strata, and gate results, no references.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from docassay.discovery.blind_check import (
    Annotation,
    BlindBatch,
    BlindDefinition,
    answer_schema,
    blind_batches,
    blind_contract,
    blind_payload,
)
from docassay.discovery.corpus import Corpus
from docassay.discovery.gates import FindingGate
from docassay.discovery.judge import Question, Stage, Subject
from docassay.discovery.prompting import Prompt, prompt_text
from docassay.discovery.quality import DIMENSIONS, Assessment, Support, read_assessments
from docassay.discovery.references import Reference
from docassay.discovery.sampling import AuditSample, Condition, claimed_states, conditions_of
from docassay.discovery.statistics import columns_of_finding, robustness_details
from docassay.discovery.submission import Submission
from docassay.discovery.tasks import Task
from docassay.errors import ReviewError

__all__ = [
    "assessment_question",
    "blind_questions",
    "match_question",
    "read_assessment_answer",
    "read_matches",
]


def blind_questions(
    submission: Submission, corpus: Corpus, sample: AuditSample
) -> tuple[tuple[BlindBatch, Question], ...]:
    """The blind check of a sample, batch by batch."""
    definitions = [
        BlindDefinition(definition.inclusion, definition.exclusion)
        for finding in submission.findings
        for definition in finding.definitions
    ]
    subject = Subject(submission.task_id, submission.digest)
    batches = blind_batches(sample.doc_ids, [corpus.texts[document.position] for document in sample.documents])
    return tuple(
        (
            batch,
            Question(
                stage=Stage.BLIND,
                label=f"blind check of {submission.task_id}, batch {batch.number + 1} of {len(batches)}",
                subject=subject,
                system=prompt_text(Prompt.BLIND_CHECK),
                payload=blind_payload(definitions, batch),
                contract=blind_contract(len(definitions), len(batch.doc_ids)),
                schema=answer_schema(len(definitions)),
            ),
        )
        for batch in batches
    )


def assessment_question(
    task: Task,
    submission: Submission,
    corpus: Corpus,
    sample: AuditSample | None = None,
    annotations: Sequence[Annotation] = (),
    gates: Sequence[FindingGate] = (),
) -> Question:
    """The assessment of a submission's findings. Without a sample (fixed comparisons) the whole corpus is shown."""
    payload: dict[str, Any] = {"task": dict(task.value), "submission": _submission(submission)}
    if task.audited:
        payload["strata"] = _strata(task, submission, corpus)
    if sample is None:
        payload["documents"] = [_plain_document(corpus, position) for position in range(len(corpus))]
    else:
        payload["audit"] = {
            "corpus_documents": len(corpus),
            "audited_documents": len(sample.documents),
            "quoted_documents": sum(document.quoted for document in sample.documents),
        }
        payload["gates"] = [gate.as_dict() for gate in gates]
        payload["documents"] = _audited_documents(submission, corpus, sample, annotations)
    return Question(
        stage=Stage.ASSESSMENT,
        label=f"assessment of {task.task_id}",
        subject=Subject(task.task_id, submission.digest),
        system=_assessment_prompt(task),
        payload=payload,
        contract="",
        schema=_assessment_schema(),
    )


def read_assessment_answer(value: object, finding_ids: Sequence[str]) -> tuple[Assessment, ...]:
    """The assessments in a judge's answer; it may not speak of references, which it has not seen.

    Raises:
        ReviewError: as `read_assessments`, or answer_shape.
    """
    rows = _only(value, "findings")
    if any(isinstance(row, dict) and "reference_match" in row for row in rows):
        raise ReviewError("assessment_shape", "an assessment holds no reference_match: no reference was shown")
    return read_assessments(
        [{**row, "reference_match": None} if isinstance(row, dict) else row for row in rows], finding_ids
    )


def match_question(task: Task, submission: Submission, finding_ids: Sequence[str], reference: Reference) -> Question:
    """Which of the named findings say the same as the reference."""
    return Question(
        stage=Stage.MATCH,
        label=f"reference match of {task.task_id}",
        subject=Subject(task.task_id, submission.digest),
        system=prompt_text(Prompt.REFERENCE_MATCH),
        payload={
            "reference": dict(reference.value),
            "findings": [
                finding for finding in _submission(submission)["findings"] if finding["finding_id"] in finding_ids
            ],
        },
        contract="",
        schema=_match_schema(),
    )


def read_matches(value: object, finding_ids: Sequence[str]) -> frozenset[str]:
    """The findings that match. Raises ReviewError (answer_shape, coverage)."""
    rows = _only(value, "matches")
    shaped = all(
        isinstance(row, dict) and set(row) == {"finding_id", "matches"} and isinstance(row["matches"], bool)
        for row in rows
    )
    if not shaped:
        raise ReviewError("answer_shape", "each match is {finding_id, matches: true or false}")
    if sorted(str(row["finding_id"]) for row in rows) != sorted(finding_ids):
        raise ReviewError("coverage", f"every finding is matched exactly once: expected {list(finding_ids)}")
    return frozenset(row["finding_id"] for row in rows if row["matches"])


def _only(value: object, key: str) -> list[Any]:
    if not isinstance(value, dict) or set(value) != {key} or not isinstance(value[key], list):
        raise ReviewError("answer_shape", f'the answer is not an object with the one key "{key}", a list')
    rows: list[Any] = value[key]
    return rows


def _assessment_prompt(task: Task) -> str:
    parts = [Prompt.ASSESSMENT]
    if task.audited:
        parts.append(Prompt.ASSESSMENT_AUDITED)
    if task.profile == "discovery":
        parts.append(Prompt.ASSESSMENT_DISCOVERY)
    return "".join(prompt_text(part) for part in (*parts, Prompt.ASSESSMENT_ANSWER))


def _submission(submission: Submission) -> dict[str, Any]:
    """The submission as submitted, but with counts in place of the lists of document ids."""
    return {**submission.value, "findings": [_with_counts(finding) for finding in submission.value["findings"]]}


def _with_counts(finding: Mapping[str, Any]) -> dict[str, Any]:
    counts = [
        {
            "condition_id": assignment["condition_id"],
            "positive": len(assignment["positive_doc_ids"]),
            "negative": len(assignment["negative_doc_ids"]),
            "unknown": len(assignment["unknown_doc_ids"]),
        }
        for assignment in finding["assignments"]
    ]
    return {**finding, "assignments": counts}


def _strata(task: Task, submission: Submission, corpus: Corpus) -> dict[str, Any]:
    return {
        finding.finding_id: {
            axis: asdict(details)
            for axis, details in robustness_details(columns_of_finding(finding, task, corpus), task, corpus).items()
        }
        for finding in submission.findings
    }


def _plain_document(corpus: Corpus, position: int) -> dict[str, Any]:
    return {
        "doc_id": corpus.doc_ids[position],
        "metadata": corpus.metadata(position),
        "text": corpus.texts[position],
    }


def _audited_documents(
    submission: Submission, corpus: Corpus, sample: AuditSample, annotations: Sequence[Annotation]
) -> list[dict[str, Any]]:
    claims, conditions = claimed_states(submission), conditions_of(submission)
    checked = {annotation.doc_id: annotation for annotation in annotations}
    return [
        {
            **_plain_document(corpus, document.position),
            "quoted": document.quoted,
            "claimed": _nested(
                conditions, [claims[c].get(document.doc_id, "outside the population") for c in conditions]
            ),
            "checked": _checked(conditions, checked.get(document.doc_id)),
        }
        for document in sample.documents
    ]


def _checked(conditions: Sequence[Condition], annotation: Annotation | None) -> dict[str, Any]:
    if annotation is None:
        return {}
    pairs = zip(annotation.states, annotation.quotes, strict=True)
    return _nested(conditions, [{"state": state, "quote": quote} for state, quote in pairs])


def _nested(conditions: Sequence[Condition], values: Sequence[Any]) -> dict[str, Any]:
    """Finding id → condition id → value; never under a joined text, where two pairs could collide."""
    result: dict[str, dict[str, Any]] = {}
    for condition, value in zip(conditions, values, strict=True):
        result.setdefault(condition.finding_id, {})[condition.condition_id] = value
    return result


def _assessment_schema() -> dict[str, Any]:
    properties: dict[str, Any] = {
        "finding_id": {"type": "string"},
        "support": {"type": "string", "enum": [support.value for support in Support]},
        "task_fulfilled": {"type": "boolean"},
        **{name: {"type": "number", "minimum": 0, "maximum": 1} for name in DIMENSIONS},
        "duplicate_of": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "rationale": {"type": "string"},
    }
    return _list_of("findings", properties)


def _match_schema() -> dict[str, Any]:
    return _list_of("matches", {"finding_id": {"type": "string"}, "matches": {"type": "boolean"}})


def _list_of(key: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    row = {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {key: {"type": "array", "items": row}},
        "required": [key],
        "additionalProperties": False,
    }
