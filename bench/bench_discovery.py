"""Loads, validates and verifies discovery data of growing size: CPU time, memory, and how both grow."""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import harness
from docassay.core.digest import digest_file
from docassay.discovery.corpus import load_corpus
from docassay.discovery.population import NEGATIVE, POSITIVE, UNKNOWN
from docassay.discovery.simulate.scene import Scene, make_scene, task_value
from docassay.discovery.simulate.write import simulate
from docassay.discovery.statistics import complete_statistics
from docassay.discovery.tasks import load_data
from docassay.discovery.verify import verify_data

WORKER = Path(__file__).with_name("discovery_worker.py")
BASE = 1000
"""Documents that are written once; larger corpora repeat them with other ids and endings."""


@dataclass(frozen=True, slots=True)
class Size:
    """What one size needed: bytes on disk, seconds, and KiB of memory that loading added."""

    documents: int
    corpus_bytes: int
    submission_bytes: int
    load: float
    memory: float
    validate: float
    statistics: float


def run(arguments: list[str]) -> Iterator[str]:
    """Measure, and report piece by piece."""
    options = parse(arguments)
    yield f"# Discovery\n\n{harness.machine()}; each size in a new process, seconds of CPU (one thread).\n"
    sizes = []
    for documents in options.documents:
        sizes.append(measure(documents, options.repeats))
        print(f"{documents} documents: {sizes[-1]}", file=sys.stderr)
    yield size_table(sizes)
    yield verify_report(options.tasks)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench discovery", description=__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=5, help="validations of each size, of which the median is shown")
    parser.add_argument("--tasks", type=int, default=50, help="tasks of 10,000 documents that are verified")
    return parser.parse_args(arguments)


def measure(documents: int, repeats: int) -> Size:
    """One size: a corpus and a submission of three findings over all of its documents."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scene = make_scene(0, BASE, 0)
        corpus = write_data(folder, scene, documents)
        submission = write_submission(folder, scene)
        command = [sys.executable, str(WORKER), str(folder), str(submission), str(repeats)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        times: dict[str, Any] = json.loads(done.stdout)
        return Size(
            documents=documents,
            corpus_bytes=corpus.stat().st_size,
            submission_bytes=submission.stat().st_size,
            load=times["load"],
            memory=times["memory"],
            validate=harness.median(times["validate"]),
            statistics=harness.median(times["statistics"]),
        )


def write_data(folder: Path, scene: Scene, documents: int) -> Path:
    """A data folder with one task."""
    path = folder / "corpora" / "corpus.jsonl.gz"
    path.parent.mkdir()
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as file:
        for index in range(documents):
            file.write(json.dumps(row(scene, index), ensure_ascii=False) + "\n")
    value = task_value(scene, "corpora/corpus.jsonl.gz", digest_file(path))
    value |= {"n_documents": documents, "min_population_n": 100, "min_group_n": 20}
    (folder / "tasks.json").write_text(json.dumps([value]))
    return path


def row(scene: Scene, index: int) -> Mapping[str, Any]:
    base = scene.rows[index % BASE]
    return {**base, "doc_id": doc_id(index), "text": f"{base['text']} Number {index}."}


def doc_id(index: int) -> str:
    return f"document-{index:07d}"


def write_submission(folder: Path, scene: Scene) -> Path:
    """Three findings, each of which labels every document under one condition."""
    data = load_data(folder)
    corpus = load_corpus(data, data.tasks[0])
    names = [condition.planted.condition_id for condition in scene.world.conditions]
    drafts = [draft(scene, name, len(corpus)) for name in names[:3]]
    findings = [complete_statistics(finding, data.tasks[0], corpus) for finding in drafts]
    path = folder / "submission.json"
    path.write_text(json.dumps({"task_id": data.tasks[0].task_id, "findings": findings, "abstention_reason": ""}))
    return path


def draft(scene: Scene, name: str, documents: int) -> dict[str, Any]:
    states = scene.truth[name]
    lists: dict[int, list[int]] = {POSITIVE: [], NEGATIVE: [], UNKNOWN: []}
    for index in range(documents):
        lists[int(states[index % BASE])].append(index)
    quoted = [(index, "supporting") for index in lists[POSITIVE][:4]] + [(lists[NEGATIVE][0], "counterexample")]
    return {
        "finding_id": name,
        "claim": "Measured, not judged.",
        "kind": scene.design.kind,
        "scope": "All documents.",
        "population": {"filters": []},
        "comparison": {"field": "store", "groups": [["north"], ["south"]]},
        "definitions": [{"condition_id": name, "inclusion": "As labelled.", "exclusion": "Else."}],
        "assignments": [
            {
                "condition_id": name,
                "positive_doc_ids": [doc_id(index) for index in lists[POSITIVE]],
                "negative_doc_ids": [doc_id(index) for index in lists[NEGATIVE]],
                "unknown_doc_ids": [doc_id(index) for index in lists[UNKNOWN]],
            }
        ],
        "evidence": [quote(scene, index, role) for index, role in quoted],
        "limitations": ["None of this is meant."],
    }


def quote(scene: Scene, index: int, role: str) -> dict[str, Any]:
    text = row(scene, index)["text"]
    return {"doc_id": doc_id(index), "start": 0, "end": 20, "quote": text[:20], "role": role}


def size_table(sizes: list[Size]) -> str:
    header = ["documents", "corpus", "load", "memory", "submission", "validate, three findings", "statistics, one"]
    rows = [
        [
            f"{size.documents:,}",
            f"{size.corpus_bytes / 1e6:.1f} MB",
            harness.seconds(size.load),
            harness.megabytes(size.memory),
            f"{size.submission_bytes / 1e6:.1f} MB",
            harness.seconds(size.validate),
            harness.seconds(size.statistics),
        ]
        for size in sizes
    ]
    return harness.table(header, rows)


def verify_report(tasks: int) -> str:
    """How long whole data take to verify."""
    with tempfile.TemporaryDirectory() as name:
        made = simulate(Path(name) / "data", tasks=tasks, documents=10_000)
        began = time.process_time()
        report = verify_data(made.data)
        taken = time.process_time() - began
    assert report.ok, report.problems
    each = harness.seconds(taken / tasks)
    return f"\n{tasks} tasks of 10,000 documents are verified in {harness.seconds(taken)}, {each} each.\n"
