"""The two agents: valid on any corpus in the format, honest about what words are worth, and quick."""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from docassay.discovery.corpus import Corpus, corpus_from_rows
from docassay.discovery.simulate.write import simulate
from docassay.discovery.tasks import KINDS, Task, load_data, read_task
from docassay.discovery.validate import validate_submission
from docassay.examples.agents.lexical_miner import mine
from docassay.examples.agents.words import count_words, stem
from docassay.pipelines.run_agent import AgentRun, RunOptions, run_agent

FIELDS = ["entity_id", "rating", "category", "store", "timestamp", "report_year", "gold_product", "make", "year"]


def task_of(kind: str, documents: int, **changes: Any) -> Task:
    return read_task(
        {
            "task_id": f"t-{kind}",
            "source": "x",
            "kind": kind,
            "question": "?",
            "difficulty": "discovery",
            "discovery_mode": "agent_selected",
            "max_findings": 3,
            "allowed_metadata_fields": FIELDS,
            "min_population_n": min(20, documents),
            "min_group_n": 5,
            "n_documents": documents,
            "corpus_path": "c.jsonl.gz",
            "corpus_sha256": "0" * 64,
            **changes,
        }
    )


def mined(kind: str, corpus: Corpus, **changes: Any) -> dict[str, Any]:
    """What the miner submits; it must be valid whatever the corpus."""
    task = task_of(kind, len(corpus), **changes)
    submission = json.loads(json.dumps(mine(task, corpus)))
    validation = validate_submission(submission, task, corpus)
    assert validation.valid, [str(fault) for fault in validation.faults]
    return submission  # type: ignore[no-any-return]


def run(tmp_path: Path, agent: str, **sizes: int) -> AgentRun:
    data = simulate(tmp_path / "data", **sizes).data
    options = RunOptions((sys.executable, "-m", f"docassay.examples.agents.{agent}"), timeout=120)
    return run_agent(load_data(data), tmp_path / "subs", options)


def test_the_abstainer_abstains(tmp_path: Path) -> None:
    done = run(tmp_path, "abstain", tasks=2, documents=200)
    assert [(outcome.status, outcome.findings) for outcome in done.outcomes] == [("valid", 0)] * 2


def test_the_miner_is_valid_on_every_design(tmp_path: Path) -> None:
    done = run(tmp_path, "lexical_miner", tasks=5, documents=1500)
    assert [outcome.status for outcome in done.outcomes] == ["valid"] * 5
    assert sum(outcome.findings or 0 for outcome in done.outcomes) >= 5


def rows(count: int, text: Any, **fields: Any) -> Corpus:
    return corpus_from_rows(
        {"doc_id": f"d{index}", "text": text(index), **{name: make(index) for name, make in fields.items()}}
        for index in range(count)
    )


def test_it_finds_a_planted_word() -> None:
    corpus = rows(
        400,
        lambda index: "the gasket leaks badly" if index % 2 and index % 3 else f"all fine, number {index}",
        store=lambda index: ("north", "south")[index % 2],
        entity_id=lambda index: f"E{index % 5}",
    )
    submission = mined("group_difference", corpus)
    (finding, *_) = submission["findings"]
    assert finding["comparison"]["field"] == "store"
    words = {"gasket", "leaks", "badly"}
    assert any(word in finding["claim"] for word in words)
    assert abs(finding["statistics"]["delta_known_pp"]) > 60
    assert len(submission["findings"]) == 1, "words that the same documents use are found once"


def test_it_leaves_out_what_only_repeats_the_metadata() -> None:
    """The word of each store is in its texts: that restates the metadata and is no finding."""
    corpus = rows(
        400,
        lambda index: f"visited the {('north', 'south')[index % 2]} shop today, number {index}",
        store=lambda index: ("north", "south")[index % 2],
    )
    assert mined("group_difference", corpus)["findings"] == []


def test_it_leaves_out_what_is_only_composition() -> None:
    """Entity x always says broken and south has mostly x; within entities there is no difference."""
    corpus = rows(
        600,
        lambda index: "broken again" if entity(index) == "x" else "works well",
        store=lambda index: ("north", "south")[index % 2],
        entity_id=entity,
    )
    submission = mined("group_difference", corpus, allowed_metadata_fields=["store"])
    assert submission["findings"] == []
    assert "lasts within" in submission["abstention_reason"]


def entity(index: int) -> str:
    return "x" if (index % 2 and index % 10) or index % 10 == 0 else "y"


def test_chance_is_not_a_finding() -> None:
    """Many words without any difference: a threshold for as many words as were tried lets none through."""
    vocabulary = [a + b + c for a in "bdfgk" for b in "aeiou" for c in ("lar", "mir", "nos", "tup")]
    chance = random.Random(1)
    corpus = rows(
        600,
        lambda index: " ".join(chance.sample(vocabulary, 12)),
        store=lambda index: chance.choice(("north", "south")),
        entity_id=lambda index: chance.choice("abcdef"),
    )
    assert mined("group_difference", corpus)["findings"] == []


CORPORA: Mapping[str, Corpus] = {
    "empty": corpus_from_rows([]),
    "one document": rows(1, lambda index: "hello"),
    "no metadata": rows(200, lambda index: f"word{'abc'[index % 3]} text here"),
    "blank texts": rows(200, lambda index: "" if index % 2 else " \n ", store=lambda index: "ab"[index % 2]),
    "no letters": rows(200, lambda index: f"{index} 😀 !!", store=lambda index: "ab"[index % 2]),
    "other scripts": rows(
        200,
        lambda index: ("שלום עולם טוב", "добрый день всем", "😀 e\u0301te\u0301 combine\u0301s")[index % 3],
        store=lambda index: "ab"[index % 2],
        timestamp=lambda index: f"202{index % 4}-01-01",
    ),
    "odd metadata": rows(
        200,
        lambda index: f"leak {index}" if index % 4 else "dry wood",
        store=lambda index: [None, "", 5, "5", True, [1]][index % 6],
        rating=lambda index: [1, 2.5, "x", None][index % 4],
        timestamp=lambda index: ["bad", None, "2020-01-01", "2021-05-05T01:02:03Z"][index % 4],
    ),
    "one word always": rows(200, lambda index: "leak", store=lambda index: "ab"[index % 2]),
    "long texts": rows(
        60, lambda index: ("leak " if index % 2 else "dust ") * 5000, store=lambda index: "ab"[index % 2]
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CORPORA)
def test_any_corpus_gets_a_valid_answer(name: str, kind: str) -> None:
    mined(kind, CORPORA[name])


@pytest.mark.parametrize("kind", ["group_difference", "temporal_change", "compound_association"])
def test_fixed_comparisons_are_answered_too(kind: str) -> None:
    corpus = CORPORA["other scripts"]
    comparison = {
        "group_difference": {"field": "store", "groups": ["a", "b"]},
        "temporal_change": {"field": "timestamp", "cutoff": "2022-01-01"},
    }.get(kind)
    mined(kind, corpus, discovery_mode="", difficulty="hard", comparison=comparison)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["cfpb_1000_with_14_llm_labels", "nhtsa_complaints_100"])
def test_real_texts(shared_dir: Path, name: str, kind: str) -> None:
    """Complaints as people write them; only the metadata that the files have."""
    lines = (shared_dir / "data" / "discovery" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    documents = [json.loads(line) for line in lines]
    for document in documents:
        document.pop("llm_labels", None)
    submission = mined(kind, corpus_from_rows(documents))
    if name.startswith("cfpb") and kind != "temporal_change":
        assert submission["findings"]


def test_ten_thousand_documents_take_seconds(tmp_path: Path) -> None:
    data = load_data(simulate(tmp_path / "data", tasks=1, documents=10_000).data)
    began = time.monotonic()
    options = RunOptions((sys.executable, "-m", "docassay.examples.agents.lexical_miner"))
    assert run_agent(data, tmp_path / "subs", options).count("valid") == 1
    assert time.monotonic() - began < 60


@pytest.mark.parametrize(
    ("word", "expected"), [("leaks", "leak"), ("leaking", "leak"), ("stalled", "stall"), ("bus", "bus"), ("red", "red")]
)
def test_stems(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_words_are_counted_once_per_document() -> None:
    corpus = rows(4, lambda index: ("Leak leak LEAKS", "leaking", "the dry", "dry")[index])
    table = count_words(corpus, least=1, largest_share=1.0, left_out=())
    counts = dict(zip(table.stems, table.per_word.tolist(), strict=True))
    assert counts == {"leak": 2, "dry": 2}
    assert table.documents(table.stems.index("leak")).tolist() == [True, True, False, False]
    assert count_words(corpus, least=1, largest_share=1.0, left_out=("leak",)).stems == ("dry",)
