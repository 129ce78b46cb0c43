"""Holds a run to its promise under fire: killed at any moment it goes on, and a bad document costs only its row."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from docassay.pipelines.score_table import score_table
from score_tables import Folder, same_run, scores, verdicts

SLOW = {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object"}}}}


def command(folder: Folder, out: Path, *options: str) -> list[str]:
    manifest = folder.root / "jobs.parquet"
    return [
        *(
            sys.executable,
            "-m",
            "docassay",
            "extract",
            "score",
            "--manifest",
            str(manifest),
            "--root",
            str(folder.root),
        ),
        *("--out", str(out), "--workers", "2", "-q", "--json", *options),
    ]


def kill_again_and_again(folder: Folder, out: Path, kills: int, seed: int) -> None:
    """Start the command and kill it at a random moment, so many times; then let it end.

    Half of the moments are counted from the start, half from the first part that it writes.
    """
    choose = random.Random(seed)
    for _ in range(kills):
        process = subprocess.Popen(command(folder, out, "--batch-rows", "10"), stdout=subprocess.DEVNULL)
        if choose.random() < 0.5:
            wait_for_parts(out, process, more_than=len(list(out.glob("scores.parquet/part-*"))))
            time.sleep(choose.uniform(0.0, 0.3))
        else:
            time.sleep(choose.uniform(0.0, 3.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert subprocess.run(command(folder, out), stdout=subprocess.DEVNULL).returncode == 0


def whole_run(folder: Folder) -> Path:
    score_table(folder.manifest(), folder.root / "whole", root=folder.root, workers=2)
    return folder.root / "whole"


def test_a_run_killed_again_and_again_equals_one_that_was_not(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add_many(400)
    whole = whole_run(folder)
    kill_again_and_again(folder, tmp_path / "run", kills=4, seed=1)
    assert same_run(tmp_path / "run", whole)
    assert list((tmp_path / "run" / ".tmp").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 5))
def test_runs_killed_at_many_moments_equal_one_that_was_not(tmp_path: Path, seed: int) -> None:
    folder = Folder(tmp_path)
    folder.add_many(600, seed=seed)
    for number in range(3):
        folder.add(f"bad-{number}", {"vendor": "x"}, None)
    whole = whole_run(folder)
    kill_again_and_again(folder, tmp_path / "run", kills=20, seed=seed)
    assert same_run(tmp_path / "run", whole)


def test_an_interrupt_ends_with_130_and_nothing_left_behind(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add_many(1200)
    whole = whole_run(folder)
    arguments = command(folder, tmp_path / "run", "--batch-rows", "10")
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wait_for_parts(tmp_path / "run", process)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    assert process.stderr is not None
    assert process.stderr.read().strip() == b"interrupted"
    process.stderr.close()
    assert not (tmp_path / "run" / "summary.json").exists()
    assert subprocess.run(command(folder, tmp_path / "run"), stdout=subprocess.DEVNULL).returncode == 0
    assert same_run(tmp_path / "run", whole)


def wait_for_parts(run: Path, process: subprocess.Popen[bytes], more_than: int = 0) -> None:
    """Until the run has more parts, or its process has ended."""
    deadline = time.monotonic() + 60
    while len(list(run.glob("scores.parquet/part-*"))) <= more_than and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_two_at_once_and_the_second_is_refused(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add_many(1200)
    folder.manifest()
    first = subprocess.Popen(command(folder, tmp_path / "run", "--batch-rows", "10"), stdout=subprocess.DEVNULL)
    wait_for_parts(tmp_path / "run", first)
    first.send_signal(signal.SIGSTOP)  # or it might be done before the second has begun
    second = subprocess.run(command(folder, tmp_path / "run"), capture_output=True, text=True)
    assert second.returncode == 2
    assert f"another process is writing this run (process {first.pid} on " in second.stderr
    first.send_signal(signal.SIGCONT)
    assert first.wait(timeout=60) == 0


def slow_document(rows: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Rows that all resemble each other, so that the pairing has much to weigh."""
    choose = random.Random(0)

    def one(shift: int) -> dict[str, Any]:
        return {f"k{k}": choose.randrange(40) + shift * (k % 7 == 0) for k in range(12)}

    return {"rows": [one(0) for _ in range(rows)]}, {"rows": [one(1) for _ in range(rows)]}


def test_a_document_over_its_time_costs_only_its_row(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add_many(20)
    gold, prediction = slow_document(6000)
    folder.add("slow", gold, prediction, schema=json.dumps(SLOW))
    folder.add_many(20)
    score_table(folder.manifest(), tmp_path / "run", root=tmp_path, workers=2, timeout=1.0)
    table = scores(tmp_path / "run").to_pylist()
    assert [row["doc_id"] for row in table if row["status"] == "error"] == ["slow"]
    assert table[20]["error"] == "took longer than the 1 s that a document may take"
    assert len(set(verdicts(tmp_path / "run").column("doc_id").to_pylist())) == 40


def test_a_worker_killed_from_outside_costs_nothing(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add_many(1500)
    whole = whole_run(folder)
    process = subprocess.Popen(
        command(folder, tmp_path / "run", "--batch-rows", "50"), stdout=subprocess.DEVNULL, start_new_session=True
    )
    killed: set[int] = set()
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        for worker in workers_of(process.pid) - killed if len(killed) < 6 else set():
            time.sleep(0.2)
            try:
                os.kill(worker, signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed.add(worker)
        time.sleep(0.05)
    assert process.wait(timeout=10) == 0
    assert len(killed) >= 3
    assert same_run(tmp_path / "run", whole)


def workers_of(session: int) -> set[int]:
    """The worker processes of a session: children of its fork server."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    return {pid for pid, parent in parents.items() if parent != session and parents.get(parent) == session}


@pytest.mark.slow
def test_a_document_that_needs_more_memory_than_there_is_costs_only_its_row(tmp_path: Path) -> None:
    """The limit on a process's memory stands in for the system's; what ends the process is the same to us."""
    folder = Folder(tmp_path)
    folder.add_many(30)
    folder.add("heavy", {"vendor": "x"}, b'{"lines": [' + b",".join([b'{"item": "a"}'] * 9_000_000) + b"]}")
    folder.add_many(30)
    folder.manifest()
    limit = 2_500_000_000
    found = subprocess.run(
        command(folder, tmp_path / "run"),
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert found.returncode == 0, found.stderr
    table = scores(tmp_path / "run").to_pylist()
    assert [row["doc_id"] for row in table if row["status"] == "error"] == ["heavy"]
    assert "memory" in table[30]["error"] or "worker process" in table[30]["error"]


@pytest.mark.slow
def test_a_very_large_prediction_is_scored_beside_small_ones(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add_many(200)
    rows = b",".join(b'{"item": "item %d", "price": %d, "note": "%s"}' % (i, i, b"x" * 900) for i in range(200_000))
    folder.add("large", {"vendor": "x", "lines": [{"item": "item 7", "price": 7}]}, b'{"lines": [' + rows + b"]}")
    assert (tmp_path / "pred" / "large.json").stat().st_size > 180_000_000
    started = time.monotonic()
    done: dict[int, float] = {}

    def note(progress: Any) -> None:
        done.setdefault(progress.done, time.monotonic() - started)

    score_table(folder.manifest(), tmp_path / "run", root=tmp_path, workers=2, progress=note)
    table = scores(tmp_path / "run").to_pylist()
    assert [row["status"] for row in table] == ["scored"] * 201
    assert (table[200]["matched"], table[200]["gold"]) == (2, 3)
    assert table[200]["asserted"] == 600_000
    assert done[200] < done[201]


def test_a_slow_document_does_not_keep_the_others_waiting(tmp_path: Path) -> None:
    """While it is scored the parts of all others appear, also with a single worker."""
    folder = Folder(tmp_path)
    folder.add_many(30)
    gold, prediction = slow_document(8000)
    folder.add("slow", gold, prediction, schema=json.dumps(SLOW))
    folder.add_many(30)
    done: list[int] = []
    score_table(
        folder.manifest(),
        tmp_path / "run",
        root=tmp_path,
        workers=1,
        timeout=8.0,
        progress=lambda progress: done.append(progress.done),
    )
    assert [row["status"] for row in scores(tmp_path / "run").to_pylist()].count("scored") >= 60
    assert 60 in done
