"""`docassay extract benchmark` as a user runs it: the plan, the question, the leaderboard, the exit code."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from docassay.providers.fake import FakeServer, Fault

SCHEMA = json.dumps({"type": "object", "properties": {"id": {"type": "string"}}})
KEYS = {"DATALAB_API_KEY": "key-4711-never-written", "REDUCTO_API_KEY": "key-4711-never-written"}


def read(document: Any) -> dict[str, Any]:
    return {"id": f"A-{int(document.data.split()[-1])}"}


def folder_of(tmp_path: Path, documents: int) -> Path:
    rows = []
    for index in range(documents):
        (tmp_path / f"{index}.pdf").write_bytes(f"%PDF-1.4 {index}".encode())
        (tmp_path / f"{index}.json").write_text(json.dumps({"id": f"A-{index}"}))
        paths = {"doc_path": f"{index}.pdf", "gt_path": f"{index}.json"}
        rows.append(json.dumps({"doc_id": f"doc-{index}", **paths, "schema": SCHEMA}))
    (tmp_path / "docs.jsonl").write_text("\n".join(rows))
    return tmp_path


def line(fake: FakeServer, folder: Path, *more: str) -> list[str]:
    options = {"datalab": [fake.options("datalab", mode=mode) for mode in ("fast", "accurate")]}
    options |= {"reducto": fake.options("reducto")}  # type: ignore[dict-item]
    return [
        *(sys.executable, "-m", "docassay", "extract", "benchmark"),
        *("--manifest", str(folder / "docs.jsonl"), "--out", str(folder / "runs"), "--root", str(folder)),
        *("--providers", "datalab", "reducto", "--options", json.dumps(options), "--retry-waits", "0.02,0.04,0.06"),
        *more,
    ]


def environment() -> dict[str, str]:
    return {**os.environ, **KEYS, "COLUMNS": "200", "LINES": "50"}


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment(),
        stdin=subprocess.DEVNULL,
    )


def on_terminal(arguments: list[str], keys: bytes) -> tuple[int, str]:
    """Run with a terminal for stdin and stderr, and answer its question; the exit code and what it showed."""
    mine, theirs = pty.openpty()
    process = subprocess.Popen(
        arguments, stdin=theirs, stderr=theirs, stdout=subprocess.DEVNULL, env=environment(), start_new_session=True
    )
    os.close(theirs)
    shown, end = b"", time.monotonic() + 90
    while time.monotonic() < end:
        if select.select([mine], [], [], 0.1)[0]:
            try:
                shown += os.read(mine, 65536)
            except OSError:
                break
        if keys and b"Go ahead?" in shown:
            os.write(mine, keys)
            keys = b""
    os.close(mine)
    return process.wait(timeout=30), shown.decode()


def test_a_whole_benchmark(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 3)
    with FakeServer(read, faults=[Fault("job_failed", vendor="reducto", document="1.pdf")]) as fake:
        done = run(line(fake, folder, "-y"))
        assert done.returncode == 0, done.stderr
        assert "3 documents, 3 with a ground truth to score by " in done.stderr
        assert '"mode": "accurate"' in done.stderr
        assert "unknown; stated afterwards in credits" in done.stderr
        assert "Leaderboard" in done.stdout
        places = [text for text in done.stdout.splitlines() if text.startswith((" datalab-", " reducto-"))]
        assert [text.split()[0].split("-")[0] for text in places] == ["datalab", "datalab", "reducto"]
        assert "100.0%" in places[0]
        assert "$0.075" in places[0]
        assert "66.7%" in places[2]
        assert "2 of 3" in places[2]
        again = run(line(fake, folder, "--json", "-q"))
        assert (again.returncode, again.stderr) == (0, ""), "nothing is left to buy, so nothing is asked"
        board = json.loads(again.stdout)["leaderboard"]
        assert [place["accuracy"]["estimate"] for place in board] == [1.0, 1.0, pytest.approx(2 / 3)]
        assert fake.count(step="submit") == 9


def test_without_a_terminal_it_asks_nothing_and_needs_yes(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 1)
    with FakeServer(read) as fake:
        done = run(line(fake, folder))
        assert done.returncode == 2
        assert "give -y to go ahead" in done.stderr
        assert "1 documents" in done.stderr
        assert (fake.count(), (folder / "runs").exists()) == (0, False)


def test_on_a_terminal_it_asks_before_money_is_spent(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 2)
    with FakeServer(read) as fake:
        code, shown = on_terminal(line(fake, folder), b"n\n")
        assert code == 130
        assert shown.index("2 documents") < shown.index("Go ahead?")
        assert fake.count() == 0
        code, shown = on_terminal(line(fake, folder), b"y\n")
        assert code == 0, shown
        assert fake.count(step="submit") == 6
        for heading in ("done", "ok", "errors", "in flight", "cost", "s/document"):
            assert heading in shown.split("Go ahead?")[1], "live progress"
        assert "2/2" in shown


def test_a_refused_account_is_flagged_and_the_others_go_on(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 2)
    with FakeServer(read, faults=[Fault("status", vendor="reducto", status=402, times=None)]) as fake:
        done = run(line(fake, folder, "-y"))
    assert done.returncode == 1
    assert "reducto refuses the account" in done.stderr
    assert "100.0%" in done.stdout


def test_ctrl_c_and_the_same_command_again(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 12)
    with FakeServer(read, polls=10) as fake:
        process = subprocess.Popen(
            line(fake, folder, "-y", "--workers", "2"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            start_new_session=True,
        )
        end = time.monotonic() + 60
        while fake.count(step="submit") < 6 and time.monotonic() < end:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (130, "")
        assert "the same command does the rest" in err
        assert fake.count(step="submit") < 36
        done = run(line(fake, folder, "-y", "--workers", "2"))
        assert done.returncode == 0
        assert fake.count(step="submit") == 36


def test_a_users_mistake_is_told(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 1)
    command = [sys.executable, "-m", "docassay", "extract", "benchmark", "--manifest", str(folder / "docs.jsonl")]
    done = run([*command, "--out", str(folder / "runs"), "--providers", "datalab", "nobody", "-y"])
    assert done.returncode == 2
    assert "no provider 'nobody'" in done.stderr
    assert "Traceback" not in done.stderr
