"""A small world for discovery tests: tasks of every kind, a corpus, and a valid submission of each."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from docassay.discovery.corpus import Corpus, corpus_from_rows
from docassay.discovery.statistics import complete_statistics
from docassay.discovery.tasks import KINDS, Task, read_task
from docassay.discovery.validate import Validation, validate_submission

DOCUMENTS = 60


def row(index: int) -> dict[str, Any]:
    """Document `index`: most tell of a crack, every fifth leaves it open; texts have astral and combining marks."""
    state = ("positive", "positive", "negative", "positive", "unknown")[index % 5]
    sentence = {"positive": "The lid cracked.", "negative": "No crack here.", "unknown": "Cracked? Who knows."}[state]
    opening = ("Plain.", "😀 astral 𝒯.", "Cafe\u0301.", "שלום.", "a\r\nb.")[index % 5 if index % 7 else 1]
    return {
        "doc_id": f"d{index:02d}",
        "text": f"{opening} {sentence} Number {index}.",
        "entity_id": f"E{index % 3}",
        "rating": 1 + index % 5,
        "store": ("north", "south")[index % 2],
        "timestamp": f"20{20 + index % 3}-0{1 + index % 9}-15T08:00:00Z",
    }


def task_value(kind: str, **changes: Any) -> dict[str, Any]:
    return {
        "task_id": f"t-{kind}",
        "source": "demo",
        "kind": kind,
        "question": "What differs?",
        "difficulty": "discovery",
        "discovery_mode": "agent_selected",
        "max_findings": 3,
        "allowed_metadata_fields": ["entity_id", "rating", "store", "timestamp", "report_year"],
        "min_population_n": 10,
        "min_group_n": 5,
        "n_documents": DOCUMENTS,
        "corpus_path": "corpora/demo.jsonl.gz",
        "corpus_sha256": "0" * 64,
        **changes,
    }


@dataclass(frozen=True)
class Case:
    """One kind of task with its corpus and a valid submission; `value` gives a fresh copy to change."""

    task: Task
    corpus: Corpus
    submission: dict[str, Any]

    def value(self) -> dict[str, Any]:
        return copy.deepcopy(self.submission)

    def check(self, submission: object) -> Validation:
        return validate_submission(submission, self.task, self.corpus)

    def codes(self, submission: object) -> list[str]:
        return [str(fault.code) for fault in self.check(submission).faults]

    def restated(self, submission: dict[str, Any]) -> dict[str, Any]:
        """The submission with statistics computed anew after a change."""
        findings = [complete_statistics(finding, self.task, self.corpus) for finding in submission["findings"]]
        return {**submission, "findings": findings}


def make_case(kind: str) -> Case:
    rows = [row(index) for index in range(DOCUMENTS)]
    corpus, task = corpus_from_rows(rows), read_task(task_value(kind))
    finding = {
        "finding_id": "f1",
        "claim": "Lids crack.",
        "kind": kind,
        "scope": "This corpus.",
        "population": {"filters": [{"field": "rating", "op": "gte", "value": 1}]},
        "comparison": comparison(kind),
        "definitions": [definition(name) for name in conditions(kind)],
        "assignments": [assignment(name) for name in conditions(kind)],
        "statistics": {},
        "evidence": evidence(corpus, kind),
        "limitations": ["Few documents."],
    }
    finding = complete_statistics(finding, task, corpus)
    return Case(task, corpus, {"task_id": task.task_id, "findings": [finding], "abstention_reason": ""})


def conditions(kind: str) -> tuple[str, ...]:
    return ("cracked", "even") if kind == "compound_association" else ("cracked",)


def comparison(kind: str) -> dict[str, Any] | None:
    if kind == "compound_association":
        return None
    if kind == "temporal_change":
        return {"field": "timestamp", "cutoff": "2021-01-01"}
    return {"field": "store", "groups": [["north"], ["south"]]}


def definition(name: str) -> dict[str, str]:
    return {"condition_id": name, "inclusion": f"It is {name}.", "exclusion": f"It is not {name}."}


def assignment(name: str) -> dict[str, Any]:
    lists: dict[str, list[str]] = {"positive": [], "negative": [], "unknown": []}
    for index in range(DOCUMENTS):
        state = ("positive", "positive", "negative", "positive", "unknown")[index % 5]
        if name == "even":
            state = "positive" if index % 2 == 0 else "negative"
        lists[state].append(f"d{index:02d}")
    return {"condition_id": name, **{f"{state}_doc_ids": ids for state, ids in lists.items()}}


def evidence(corpus: Corpus, kind: str) -> list[dict[str, Any]]:
    """Three supporting quotes (positive for all conditions, with astral and combining text) and one counterexample."""
    supporting = ("d10", "d16", "d28") if kind == "compound_association" else ("d10", "d21", "d23")
    rows = [quoted(corpus, doc_id, "The lid cracked.", "supporting") for doc_id in supporting]
    against = "d13" if kind == "compound_association" else "d12"
    text = corpus.text(against)
    return [*rows, quoted(corpus, against, text[:8], "counterexample")]


def quoted(corpus: Corpus, doc_id: str, quote: str, role: str) -> dict[str, Any]:
    start = corpus.text(doc_id).index(quote)
    return {"doc_id": doc_id, "start": start, "end": start + len(quote), "quote": quote, "role": role}


@pytest.fixture(params=KINDS)
def case(request: pytest.FixtureRequest) -> Case:
    """A valid submission of each kind of task."""
    return make_case(request.param)


@pytest.fixture
def group_case() -> Case:
    """A valid submission of a group difference."""
    return make_case("group_difference")


@pytest.fixture
def case_of() -> Callable[[str], Case]:
    """Makes the case of one kind."""
    return make_case
