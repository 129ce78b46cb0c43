"""Answers survive whatever ends the process, and two processes may share them."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

import ask_many
from docassay.errors import ModelError
from docassay.models import AnswerCache, Endpoint
from docassay.models.cache import StoredAnswer
from docassay.models.fake import FakeModel, answer

QUESTIONS = 60
CONCURRENCY = 6


def start(server: FakeModel, cache: Path) -> subprocess.Popen[str]:
    command = [sys.executable, ask_many.__file__, server.base_url, str(cache), str(QUESTIONS), str(CONCURRENCY)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def asked_counts(server: FakeModel) -> Counter[str]:
    return Counter(asked.text for asked in server.asked)


@pytest.mark.parametrize("seed", range(2))
def test_kills_lose_nothing_that_arrived(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    path = tmp_path / "answers.sqlite"
    answered: set[str] = set()
    kills = 0
    with FakeModel(default=lambda asked: answer({"to": asked.text}, delay=0.05)) as server:
        while len(answered) < QUESTIONS and kills < 30:
            before = asked_counts(server)
            printed, killed = run_and_kill(server, path, answers=rng.randint(1, 25), later=rng.random() / 10)
            kills += killed
            after = asked_counts(server)
            again = [f"question {n}" for n in answered if after[f"question {n}"] != before[f"question {n}"]]
            assert not again, "an answer that was handed out is never asked again"
            answered |= printed
            with AnswerCache(path) as cache:
                assert all(ask_many.request(int(n)).digest(Endpoint(server.base_url)) in cache for n in answered)
        assert len(answered) == QUESTIONS
        assert kills >= 1
        assert len(server.asked) <= QUESTIONS + kills * CONCURRENCY, "only what was in flight at a kill is asked again"


def run_and_kill(server: FakeModel, cache: Path, *, answers: int, later: float) -> tuple[set[str], bool]:
    """Kill a run some time after its first few new answers; what it printed, and whether the kill met it alive."""
    with start(server, cache) as process:
        assert process.stdout is not None
        known = set()
        with AnswerCache(cache) as stored:
            first_new = len(stored) + answers
        while len(known) < first_new and (line := process.stdout.readline()):
            known.add(line.split()[0])
        time.sleep(later)
        process.kill()
        rest = process.stdout.read().splitlines()
    return known | {line.split()[0] for line in rest if len(line.split()) == 2}, process.returncode != 0


def test_a_finished_run_asks_nothing_more(tmp_path: Path) -> None:
    with FakeModel() as server:
        for _ in range(2):
            finish(server, tmp_path / "a.sqlite")
        assert len(server.asked) == QUESTIONS


def finish(server: FakeModel, cache: Path) -> None:
    with start(server, cache) as process:
        process.communicate(timeout=60)
    assert process.returncode == 0


def test_two_processes_share_one_file(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    with FakeModel(default=lambda asked: answer({"to": asked.text}, delay=0.02)) as server:
        processes = [start(server, path) for _ in range(2)]
        for process in processes:
            process.communicate(timeout=60)
            assert process.returncode == 0
        with AnswerCache(path) as cache:
            assert len(cache) == QUESTIONS
        assert max(asked_counts(server).values()) <= 2


def test_the_one_file_is_whole_between_answers(tmp_path: Path) -> None:
    with AnswerCache(tmp_path / "deep" / "a.sqlite") as cache:
        cache.put("d", {"q": "é"}, StoredAnswer(b"\x00\xff", {"mode": "text"}))
        copied = tmp_path / "copy.sqlite"
        copied.write_bytes(cache.path.read_bytes())
        assert [path.name for path in cache.path.parent.iterdir()] == ["a.sqlite"]
    with AnswerCache(copied) as cache:
        assert cache.get("d") == StoredAnswer(b"\x00\xff", {"mode": "text"})
        assert cache.get("e") is None


def test_the_first_answer_stands(tmp_path: Path) -> None:
    with AnswerCache(tmp_path / "a.sqlite") as cache:
        cache.put("d", {}, StoredAnswer(b"1", {}))
        cache.put("d", {}, StoredAnswer(b"2", {}))
        assert cache.get("d") == StoredAnswer(b"1", {})


def test_a_file_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database at all, and longer than a header" * 9)
    with pytest.raises(ModelError, match=r"notes\.txt"):
        AnswerCache(text)
    assert text.read_text().startswith("not a database")
    foreign = tmp_path / "foreign.sqlite"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE answers (x)")
    connection.close()
    with pytest.raises(ModelError, match="another kind or format"):
        AnswerCache(foreign)
    with pytest.raises(ModelError, match="cannot open"):
        AnswerCache(text / "below")


def test_a_writer_waits_for_another(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with AnswerCache(path) as cache:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        writer = threading.Thread(target=cache.put, args=("d", {}, StoredAnswer(b"1", {})))
        writer.start()
        time.sleep(0.2)
        other.execute("COMMIT")
        other.close()
        writer.join(10)
        assert "d" in cache
