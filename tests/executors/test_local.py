"""Holds the local engine to its promise with real processes that are killed, hang, fail and lose their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from batch_work import Orders, rows_done, work_of
from docassay.errors import RunError
from docassay.executors.contract import Batch, Lost, Work
from docassay.executors.local import LocalEngine, default_workers
from docassay.executors.supervise import supervise


def settle(engine: LocalEngine, batches: list[Batch]) -> tuple[list[int], dict[int, str]]:
    done: list[int] = []
    lost: dict[int, str] = {}
    with engine:
        for outcome in supervise(engine, batches):
            if isinstance(outcome, Lost):
                lost[outcome.row] = outcome.reason
            else:
                done += range(outcome.start, outcome.stop)
    return sorted(done), lost


def batches(rows: int, each: int) -> list[Batch]:
    return [Batch(start, min(start + each, rows)) for start in range(0, rows, each)]


def test_all_rows_are_done_once(tmp_path: Path) -> None:
    done, lost = settle(LocalEngine(work_of(Orders(str(tmp_path))), 2), batches(100, 7))
    assert done == rows_done(tmp_path) == list(range(100))
    assert lost == {}


def test_a_row_that_kills_its_process_is_lost_and_the_others_are_done(tmp_path: Path) -> None:
    orders = Orders(str(tmp_path), kill=(13,), exit=(31,), kill_once=(50,))
    done, lost = settle(LocalEngine(work_of(orders), 2), batches(60, 20))
    assert done == rows_done(tmp_path) == [row for row in range(60) if row not in (13, 31)]
    assert "killed by SIGKILL" in lost[13]
    assert "exit code 3" in lost[31]


def test_a_row_over_its_time_is_lost_at_once(tmp_path: Path) -> None:
    orders = Orders(str(tmp_path), sleep=((5, 60.0),))
    started = time.monotonic()
    done, lost = settle(LocalEngine(work_of(orders, timeout=0.5), 2), batches(20, 10))
    assert time.monotonic() - started < 15
    assert done == [row for row in range(20) if row != 5]
    assert lost == {5: "took longer than the 0.5 s that a document may take"}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_slow_row_holds_up_no_other(tmp_path: Path, workers: int) -> None:
    """The rows behind the slow one, in its own batch too, are done long before it is."""
    orders = Orders(str(tmp_path), sleep=((5, 6.0),))
    engine = LocalEngine(work_of(orders), workers, patience=0.3)
    finished: dict[int, float] = {}
    started = time.monotonic()
    with engine:
        for outcome in supervise(engine, batches(60, 30)):
            assert not isinstance(outcome, Lost)
            finished |= dict.fromkeys(range(outcome.start, outcome.stop), time.monotonic() - started)
    assert sorted(finished) == list(range(60))
    assert max(finished[row] for row in range(6, 60)) < 5.0 < finished[5]
    assert rows_done(tmp_path) == list(range(60))


def test_what_the_work_raises_ends_the_run_with_its_traceback(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"(?s)a worker failed.*ValueError: no good at 3"):
        settle(LocalEngine(work_of(Orders(str(tmp_path), fail=(3,))), 2), batches(10, 5))


def test_work_that_cannot_be_found_is_an_error_and_no_endless_loop() -> None:
    with pytest.raises(RunError, match="nowhere"):
        settle(LocalEngine(Work("nowhere:at_all", None, lambda batch: ""), 2), batches(4, 2))


def test_no_process_is_left(tmp_path: Path) -> None:
    engine = LocalEngine(work_of(Orders(str(tmp_path), sleep=((0, 60.0),))), 2)
    with engine:
        engine.submit(Batch(0, 2))
        engine.submit(Batch(2, 4))
        deadline = time.monotonic() + 20
        while not rows_done(tmp_path) and time.monotonic() < deadline:
            engine.wait(0.1)
        processes = [worker.process for worker in (*engine._busy, *engine._idle)]
        assert len(processes) == 2
    assert not any(process.is_alive() for process in processes)


def script(folder: Path, guarded: bool) -> str:
    """A program that uses the engine from its top level."""
    helpers = Path(__file__).resolve().parents[1] / "helpers"
    body = f"""
        import sys
        sys.path.insert(0, {str(helpers)!r})
        from batch_work import Orders, work_of
        from docassay.executors.contract import Batch
        from docassay.executors.local import LocalEngine
        from docassay.executors.supervise import supervise
        print("ready", flush=True)
        orders = Orders({str(folder)!r}, sleep=tuple((row, 0.2) for row in range(400)))
        rows = 200 if {guarded} else 2
        with LocalEngine(work_of(orders), 2) as engine:
            for outcome in supervise(engine, [Batch(0, rows), Batch(rows, 2 * rows)]):
                print(outcome, flush=True)
    """
    return textwrap.dedent(body)


def test_a_script_without_a_main_guard_works(tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    (tmp_path / "script.py").write_text(script(tmp_path / "rows", guarded=False))
    found = subprocess.run([sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True, timeout=60)
    assert found.stderr == ""
    assert found.stdout.count("ready") == 1
    assert rows_done(tmp_path / "rows") == [0, 1, 2, 3]


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    (tmp_path / "script.py").write_text(script(tmp_path / "rows", guarded=True))
    parent = subprocess.Popen(
        [sys.executable, str(tmp_path / "script.py")], stdout=subprocess.PIPE, start_new_session=True
    )
    assert parent.stdout is not None
    parent.stdout.readline()
    deadline = time.monotonic() + 30
    while len(members(parent.pid)) < 4 and time.monotonic() < deadline:  # itself, the fork server, two workers
        time.sleep(0.1)
    time.sleep(1.0)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 10
    while members(parent.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert members(parent.pid) == []


def members(session: int) -> list[int]:
    """The living processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def test_there_is_a_worker_for_each_processor() -> None:
    assert 1 <= default_workers() <= (os.cpu_count() or 1)
