"""The reference protocol's vectors: segments, batches, blind answers, scores and reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from docassay.discovery.aggregate import TaskLabel, TaskOutcome, summarise, summarise_by
from docassay.discovery.blind_check import BlindBatch, read_labels
from docassay.discovery.quality import Support, TaskStatus, read_assessments, task_quality
from docassay.discovery.segments import batches, segments
from docassay.errors import ReviewError

BLANK_EVIDENCE = "blank_segment_as_evidence"
"""The reference lets a blank segment prove a positive; here it is no evidence (a named departure)."""


def cases(shared_dir: Path, name: str) -> list[dict[str, Any]]:
    found = json.loads((shared_dir / "vectors" / "discovery" / f"{name}.json").read_text("utf-8"))
    assert found
    return list(found)


def test_segments(shared_dir: Path) -> None:
    for case in cases(shared_dir, "segments"):
        assert list(segments(case["input"]["text"])) == case["expected"]["segments"], case["id"]


def test_batches(shared_dir: Path) -> None:
    for case in cases(shared_dir, "batches"):
        documents = case["input"]["documents"]
        lengths = [sum(len(part) * count for part, count in document["text_parts"]) for document in documents]
        found = [[documents[i]["doc_id"] for i in members] for members in batches(lengths)]
        assert found == case["expected"]["batches"], case["id"]


def test_blind_responses(shared_dir: Path) -> None:
    departed = 0
    for case in cases(shared_dir, "blind_responses"):
        given = case["input"]
        ids = tuple(document["doc_id"] for document in given["documents"])
        batch = BlindBatch(0, ids, tuple(segments(document["text"]) for document in given["documents"]))
        if "error" in case["expected"] or BLANK_EVIDENCE in case["tags"]:
            departed += BLANK_EVIDENCE in case["tags"]
            with pytest.raises(ReviewError):
                read_labels(given["response"], batch, given["condition_count"])
        else:
            found = read_labels(given["response"], batch, given["condition_count"])
            assert [annotation.as_dict() for annotation in found] == case["expected"]["annotations"], case["id"]
    assert departed == 1


def test_scores(shared_dir: Path) -> None:
    for case in cases(shared_dir, "scoring"):
        if case["tags"][0] != "score":
            continue
        given, expected = case["input"], case["expected"]
        if "error" in expected:
            with pytest.raises(ReviewError) as refused:
                read_assessments(given["assessments"], given["finding_ids"], given["reference_id"])
            assert refused.value.code == expected["error"], case["id"]
            continue
        rows = read_assessments(given["assessments"], given["finding_ids"], given["reference_id"])
        caps = {name: None if cap is None else Support(cap) for name, cap in given["gate_caps"].items()}
        found = task_quality(rows, caps, profile=given["profile"], reference_id=given["reference_id"])
        assert found.status == expected["status"], case["id"]
        assert found.quality == (None if expected["quality"] is None else pytest.approx(expected["quality"], abs=1e-9))
        assert found.reference_coverage == expected["reference_coverage"], case["id"]
        for finding, row in zip(found.findings, expected["findings"], strict=True):
            score = None if row["score"] is None else pytest.approx(row["score"], abs=1e-9)
            assert (finding.finding_id, finding.quality) == (row["finding_id"], score), case["id"]
            assert finding.effective_support == row["effective_support"], case["id"]


def test_reports(shared_dir: Path) -> None:
    seen = 0
    for case in cases(shared_dir, "scoring"):
        if case["tags"][0] != "aggregate":
            continue
        seen += 1
        tasks = [
            TaskLabel(row["task_id"], row["kind"], row["source"], row.get("difficulty", "standard"))
            for row in case["input"]["tasks"]
        ]
        outcomes = [
            TaskOutcome(
                row["task_id"], TaskStatus(row["status"]), row["quality"], reference_coverage=row["reference_coverage"]
            )
            for row in case["input"]["records"]
        ]
        expected = case["expected"]
        if "error" in expected:
            with pytest.raises(ReviewError) as refused:
                summarise(tasks, outcomes)
            assert refused.value.code == expected["error"], case["id"]
            continue
        agrees(summarise(tasks, outcomes).as_dict(), expected, case["id"])
        for field in ("kind", "source"):
            groups = summarise_by(field, tasks, outcomes)
            assert list(groups) == list(expected[f"by_{field}"]), case["id"]
            for name, group in groups.items():
                agrees(group.as_dict(), expected[f"by_{field}"][name], case["id"])
    assert seen > 5


def agrees(found: dict[str, Any], expected: dict[str, Any], case_id: str) -> None:
    for name, value in expected.items():
        if name not in ("by_kind", "by_source", "difficulty"):
            same = None if value is None else pytest.approx(value, abs=1e-9)
            assert found[name] == same, (case_id, name)
