"""Older tasks, whose comparison is fixed: judged on the whole corpus, without a blind check, by their own weights."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from docassay.core.digest import digest_file
from docassay.discovery.corpus import corpus_from_rows
from docassay.discovery.statistics import complete_statistics
from docassay.discovery.tasks import load_data, read_task
from docassay.models import Endpoint
from docassay.pipelines.evaluate import EvaluateOptions, evaluate
from docassay.pipelines.judge_run import JudgeOptions
from docassay.pipelines.judge_session import Limits, judge_with_model
from docassay.pipelines.model_judge import ModelSettings

ROWS = [
    {
        "doc_id": f"d{i:02d}",
        "text": f"The lid {'cracked' if i % 3 else 'held'}. Number {i}.",
        "store": ("north", "south")[i % 2],
    }
    for i in range(40)
]
IDS = {state: [row["doc_id"] for row in ROWS if ("cracked" in row["text"]) is state] for state in (True, False)}


def write_world(root: Path, difficulty: str | None) -> tuple[Path, Path]:
    corpus = root / "data" / "corpora" / "c.jsonl.gz"
    corpus.parent.mkdir(parents=True)
    corpus.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode()))
    task = {
        "task_id": "t1", "source": "demo", "kind": "group_difference", "question": "Which lids crack?",
        "max_findings": 3, "n_documents": len(ROWS), "corpus_path": "corpora/c.jsonl.gz",
        "corpus_sha256": digest_file(corpus), "comparison": {"field": "store", "groups": ["north", "south"]},
        **({} if difficulty is None else {"difficulty": difficulty}),
    }  # fmt: skip
    (root / "data" / "tasks.json").write_text(json.dumps([task]))
    (root / "data" / "release.json").write_text('{"version": "old-1"}')
    quotes = [
        {"doc_id": doc_id, "start": 0, "end": 7, "quote": "The lid", "role": role}
        for role, ids in (("supporting", IDS[True][:3]), ("counterexample", IDS[False][:1]))
        for doc_id in ids
    ]
    finding = {
        "finding_id": "f1", "claim": "Lids crack.", "kind": "group_difference", "scope": "Here.",
        "definitions": [{"condition_id": "c", "inclusion": "It cracked.", "exclusion": "It held."}],
        "assignments": [
            {
                "condition_id": "c", "positive_doc_ids": IDS[True], "negative_doc_ids": IDS[False],
                "unknown_doc_ids": [],
            }
        ],
        "statistics": {}, "evidence": quotes, "limitations": ["Few."],
    }  # fmt: skip
    finding = complete_statistics(finding, read_task(task), corpus_from_rows(ROWS))
    subs = root / "subs"
    subs.mkdir()
    (subs / "t1.json").write_text(json.dumps({"task_id": "t1", "findings": [finding], "abstention_reason": ""}))
    return root / "data", subs


@pytest.mark.parametrize(
    ("difficulty", "expected"), [(None, 35 + 20 + 18 + 7.5 + 8), ("hard", 83.5)], ids=["standard", "hard"]
)
def test_the_whole_corpus_is_judged(scripted: Any, tmp_path: Path, difficulty: str | None, expected: float) -> None:
    root, subs = write_world(tmp_path, difficulty)
    data, out = load_data(root), tmp_path / "reviews"
    settings = ModelSettings(model="scripted", endpoint=Endpoint(scripted.url))
    run = judge_with_model(data, settings, JudgeOptions(submissions=subs, out=out), Limits())
    assert [outcome.state.value for outcome in run.outcomes] == ["reviewed"]
    (packet,) = scripted.payloads()
    assert [document["doc_id"] for document in packet["documents"]] == [row["doc_id"] for row in ROWS]
    assert ("strata" in packet) == (difficulty == "hard")
    assert "gates" not in packet
    report = evaluate(data, EvaluateOptions(subs, (out,)))
    (task,) = report.judges[0].tasks
    assert task.quality == pytest.approx(expected)
    assert task.findings[0].gate is None
    assert task.findings[0].label_error is None
    assert report.profile == (difficulty or "standard")
    longer = ModelSettings(model="scripted", endpoint=Endpoint(scripted.url), max_input_characters=500)
    refused = judge_with_model(data, longer, JudgeOptions(submissions=subs, out=tmp_path / "short"), Limits())
    assert "more than the limit of 500" in refused.outcomes[0].message
    assert len(scripted.payloads()) == 1
