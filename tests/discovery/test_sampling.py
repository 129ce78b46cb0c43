"""Audit samples: certainty, probabilities, and labels that cannot collide."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from docassay.discovery.corpus import Corpus, corpus_from_rows
from docassay.discovery.sampling import Condition, audit_sample, claimed_states, new_seed
from docassay.discovery.submission import Submission, parse_submission
from docassay.discovery.tasks import read_task
from docassay.errors import ReviewError

SIZE = 400


def finding(finding_id: str, condition_id: str, positive: list[str], negative: list[str]) -> dict[str, Any]:
    quotes = [
        {"doc_id": doc_id, "start": 0, "end": 4, "quote": "Text", "role": "supporting"} for doc_id in positive[:3]
    ]
    return {
        "finding_id": finding_id,
        "claim": "A claim.",
        "kind": "group_difference",
        "scope": "Here.",
        "population": {"filters": []},
        "comparison": {"field": "arm", "groups": [["a"], ["b"]]},
        "definitions": [{"condition_id": condition_id, "inclusion": "In.", "exclusion": "Out."}],
        "assignments": [
            {
                "condition_id": condition_id,
                "positive_doc_ids": positive,
                "negative_doc_ids": negative,
                "unknown_doc_ids": [],
            }
        ],
        "statistics": {},
        "evidence": quotes,
        "limitations": ["Small."],
    }


def made(*findings: dict[str, Any]) -> tuple[Submission, Corpus]:
    corpus = corpus_from_rows([{"doc_id": f"d{i:03d}", "text": f"Text {i}.", "arm": "ab"[i % 2]} for i in range(SIZE)])
    task = read_task(
        {
            "task_id": "t",
            "kind": "group_difference",
            "difficulty": "discovery",
            "discovery_mode": "agent_selected",
            "max_findings": 3,
            "allowed_metadata_fields": ["arm"],
            "min_population_n": 1,
            "min_group_n": 1,
            "n_documents": SIZE,
            "corpus_path": "c",
            "corpus_sha256": "0",
        }
    )
    value = {"task_id": "t", "findings": list(findings), "abstention_reason": ""}
    submission = parse_submission(value, task).submission
    assert submission is not None
    return submission, corpus


def rare() -> tuple[Submission, Corpus]:
    ids = [f"d{i:03d}" for i in range(SIZE)]
    return made(finding("f", "c", ids[:40], ids[40:]))


def test_quoted_documents_are_certain_and_others_as_likely_as_they_turn_up() -> None:
    submission, corpus = rare()
    rounds = 400
    taken: Counter[str] = Counter()
    for turn in range(rounds):
        taken.update(audit_sample(submission, corpus, seed=f"seed-{turn}", budget=60).doc_ids)
    stated = {row.doc_id: row.inclusion for row in audit_sample(submission, corpus, seed="x", budget=400).documents}
    assert all(stated[doc_id] == 1 for doc_id in corpus.doc_ids)  # the budget holds the whole corpus
    sample = audit_sample(submission, corpus, seed="seed-0", budget=60)
    for row in sample.documents:
        if row.quoted:
            assert taken[row.doc_id] == rounds
    positives = [f"d{i:03d}" for i in range(3, 40)]
    negatives = [f"d{i:03d}" for i in range(40, SIZE)]
    for members in (positives, negatives):
        seen = sum(taken[doc_id] for doc_id in members) / len(members) / rounds
        probabilities = {row.inclusion for row in sample.documents if row.doc_id in set(members)}
        assert len(probabilities) == 1
        assert seen == pytest.approx(probabilities.pop(), rel=0.1)


def test_a_seed_is_fresh_and_decides_the_sample() -> None:
    submission, corpus = rare()
    assert new_seed() != new_seed()
    assert len(bytes.fromhex(new_seed())) == 32
    first, again, other = (audit_sample(submission, corpus, seed=seed, budget=60).doc_ids for seed in ("a", "a", "b"))
    assert first == again
    assert first != other
    with pytest.raises(ReviewError, match="seed"):
        audit_sample(submission, corpus, seed="", budget=60)


def test_labels_of_two_pairs_with_the_same_joined_text_do_not_collide() -> None:
    ids = [f"d{i:03d}" for i in range(SIZE)]
    submission, _ = made(
        finding("x", "y/z", ids[:40], ids[40:]), finding("x/y", "z", ids[200:240], ids[:200] + ids[240:])
    )
    claims = claimed_states(submission)
    assert claims[Condition("x", "y/z")]["d000"] == "positive"
    assert claims[Condition("x/y", "z")]["d000"] == "negative"


def test_a_budget_too_small_for_the_quotes_says_what_to_do() -> None:
    ids = [f"d{i:03d}" for i in range(SIZE)]
    findings = [finding(f"f{number}", "c", ids[15 * number :], ids[: 15 * number]) for number in range(3)]
    for number, item in enumerate(findings):
        item["evidence"] = [
            {"doc_id": doc_id, "start": 0, "end": 4, "quote": "Text", "role": "context"}
            for doc_id in ids[15 * number : 15 * number + 15]
        ]
    submission, corpus = made(*findings)
    with pytest.raises(ReviewError, match="--audit-documents") as refused:
        audit_sample(submission, corpus, seed="s", budget=60)
    assert refused.value.code == "too_many_evidence_documents"
    assert len(audit_sample(submission, corpus, seed="s", budget=90).documents) == 90
