"""Killing `judge` at random moments: no answer that arrived is lost, or asked again."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from docassay.pipelines.evaluate import EvaluateOptions, evaluate

CONCURRENCY = 4
MOST_KILLS = 6


def command(world: Any, scripted: Any, out: Path) -> list[str]:
    return [
        sys.executable, "-m", "docassay", "discover", "judge", "-q", "--data", str(world.data.root),
        "--submissions", str(world.submissions("right")), "--out", str(out), "--model", "scripted",
        "--base-url", scripted.url, "--concurrency", str(CONCURRENCY),
    ]  # fmt: skip


def kept(out: Path) -> set[str]:
    """The messages of every question whose answer is in the file of answers."""
    path = out / "answers.sqlite"
    if not path.exists():
        return set()
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute("SELECT question FROM answers").fetchall()
    except sqlite3.OperationalError:  # killed before the table was made
        return set()
    finally:
        connection.close()
    return {messages(json.loads(row[0])) for row in rows}


def messages(question: dict[str, Any]) -> str:
    return json.dumps([message["content"] for message in question["messages"]])


def wait_for_requests(scripted: Any, process: subprocess.Popen[bytes], count: int) -> None:
    deadline = time.monotonic() + 60
    while len(scripted.seen) < count and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_killed_at_random_moments(world: Any, scripted: Any, tmp_path: Path, ending: signal.Signals) -> None:
    out, dice = tmp_path / "reviews", random.Random(11)
    scripted.delay = 0.05
    seeds: dict[str, str] = {}
    for _ in range(MOST_KILLS):
        before, known = len(scripted.seen), kept(out)
        process = subprocess.Popen(command(world, scripted, out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        wait_for_requests(scripted, process, before + dice.randint(3, 10))
        time.sleep(dice.random() * 0.08)
        process.send_signal(ending)
        _, trouble = process.communicate(timeout=60)
        assert b"Traceback" not in trouble, trouble.decode()
        asked = {messages(body) for body in scripted.seen[before:]}
        assert not asked & known, "an answer that was kept was asked for again"
        for path in (out / "seeds").glob("*.json"):
            seed = json.loads(path.read_text())["seed"]
            assert seeds.setdefault(path.name, seed) == seed
        if process.returncode == 0:
            break
    known, before = kept(out), len(scripted.seen)
    done = subprocess.run(command(world, scripted, out), capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    assert not {messages(body) for body in scripted.seen[before:]} & known
    repeated = len(scripted.seen) - len({messages(body) for body in scripted.seen})
    allowed = MOST_KILLS * CONCURRENCY if ending is signal.SIGKILL else 0
    assert repeated <= allowed, "only what was in flight when the process died may be asked again"
    report = evaluate(world.data, EvaluateOptions(world.submissions("right"), (out,)))
    assert [task.quality for task in report.judges[0].tasks] == [pytest.approx(83.5)] * 3


@pytest.mark.slow
def test_a_second_interrupt_stops_at_once_and_says_so(world: Any, scripted: Any, tmp_path: Path) -> None:
    scripted.delay = 20
    process = subprocess.Popen(
        command(world, scripted, tmp_path / "reviews"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    wait_for_requests(scripted, process, 2)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, trouble = process.communicate(timeout=10)
    assert process.returncode == 130
    assert b"Traceback" not in trouble
    scripted.delay = 0
