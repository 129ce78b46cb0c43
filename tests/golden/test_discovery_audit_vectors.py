"""The reference protocol's vectors: audit samples and evidence gates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from docassay.discovery.blind_check import check_annotations, read_annotations
from docassay.discovery.corpus import Corpus, corpus_from_rows
from docassay.discovery.gates import FindingGate, gate_findings
from docassay.discovery.quality import Support
from docassay.discovery.review import Binding, bind, read_review
from docassay.discovery.sampling import Condition, audit_sample, claimed_states, conditions_of
from docassay.discovery.submission import Submission, parse_submission
from docassay.discovery.tasks import read_task
from docassay.errors import ReviewError


def cases(shared_dir: Path, name: str) -> list[dict[str, Any]]:
    found = json.loads((shared_dir / "vectors" / "discovery" / f"{name}.json").read_text("utf-8"))
    assert found
    return list(found)


def read(given: Mapping[str, Any]) -> tuple[Submission, Corpus]:
    draft = parse_submission(given["submission"], read_task(given["task"]))
    assert draft.submission is not None, [str(fault) for fault in draft.faults]
    return draft.submission, corpus_from_rows(given["documents"])


def test_audit_samples(shared_dir: Path) -> None:
    for case in cases(shared_dir, "audit_sample"):
        given, expected = case["input"], case["expected"]
        submission, corpus = read(given)
        if "error" in expected:
            with pytest.raises(ReviewError) as refused:
                audit_sample(submission, corpus, seed=given["seed"], budget=given["budget"])
            assert refused.value.code == expected["error"], case["id"]
            continue
        sample = audit_sample(submission, corpus, seed=given["seed"], budget=given["budget"])
        assert list(sample.doc_ids) == expected["doc_ids"], case["id"]
        assert [row.doc_id for row in sample.documents if row.quoted] == expected["evidence_doc_ids"], case["id"]
        assert len(corpus) == expected["corpus_documents"]
        assert len(sample.documents) == expected["sample_documents"]
        check_claims(submission, expected)
        assert all(0 < row.inclusion <= 1 for row in sample.documents)
        assert all(row.inclusion == 1 for row in sample.documents if row.quoted)


def check_claims(submission: Submission, expected: Mapping[str, Any]) -> None:
    claims = claimed_states(submission)
    for doc_id, states in expected["claimed_states"].items():
        for condition, claimed in claims.items():
            assert claimed.get(doc_id) == inside(states.get(f"{condition.finding_id}/{condition.condition_id}"))
    for finding_id, conditions in expected["assignment_counts"].items():
        for condition_id, counts in conditions.items():
            labels = list(claims[Condition(finding_id, condition_id)].values())
            assert counts == {state: labels.count(state) for state in ("positive", "negative", "unknown")}


def inside(state: str | None) -> str | None:
    return state if state in ("positive", "negative", "unknown") else None


def test_gates(shared_dir: Path) -> None:
    for case in cases(shared_dir, "gates"):
        given, expected = case["input"], case["expected"]
        if "error" in expected:
            with pytest.raises(ReviewError) as refused:
                gates(given)
            assert refused.value.code == expected["error"], case["id"]
        else:
            found = {gate.finding_id: as_vector(gate) for gate in gates(given)}
            assert found == expected["gates"], case["id"]


def gates(given: Mapping[str, Any]) -> tuple[FindingGate, ...]:
    submission, corpus = read(given)
    check = given["check"]
    sample = audit_sample(submission, corpus, seed=check["seed"], budget=check["budget"])
    annotations = read_annotations(check["annotations"])
    texts = {doc_id: corpus.text(doc_id) for doc_id in sample.doc_ids}
    check_annotations(annotations, texts, len(conditions_of(submission)))
    return gate_findings(submission, annotations)


def as_vector(gate: FindingGate) -> dict[str, Any]:
    fields = gate.as_dict()
    return {
        "support_cap": fields["cap"],
        "conditions": list(fields["conditions"]),
        "supporting_documents": fields["supporting_documents"],
        "blind_supported_documents": fields["confirmed_documents"],
        "blind_contradicted_documents": fields["contradicted_documents"],
    }


def test_bindings(shared_dir: Path) -> None:
    seen = 0
    for case in cases(shared_dir, "scoring"):
        if case["tags"][0] != "binding":
            continue
        seen += 1
        expected = case["expected"]
        if "error" in expected:
            with pytest.raises(ReviewError) as refused:
                bound(case["input"])
            assert refused.value.code == expected["error"], case["id"]
        else:
            quality, status = bound(case["input"])
            assert (quality, status) == (pytest.approx(expected["quality"]), expected["status"]), case["id"]
    assert seen >= 7


def bound(given: Mapping[str, Any]) -> tuple[float | None, str]:
    task = read_task(given["task"])
    submission, _ = read(given)
    binding = Binding(
        task_id=task.task_id,
        task_sha256=task.digest,
        submission_sha256=submission.digest,
        corpus_sha256=task.corpus_sha256,
        reference_sha256=given["reference_sha256"],
        scoring_version=given["scoring_version"],
    )
    caps = {name: Support(cap) for name, cap in given["gate_caps"].items()}
    ids = [finding.finding_id for finding in submission.findings]
    review = read_review(given["review"])
    _, quality = bind(review, binding, caps, ids, profile=task.profile, reference_id=given["reference_id"])
    return quality.quality, quality.status.value
