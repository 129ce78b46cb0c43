"""Holds the lock to its promise: one writer at a time, and a dead one stands in nobody's way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import asdict
from pathlib import Path
from uuid import uuid4

import pytest

from docassay.errors import RunLockedError
from docassay.runs.layout import LOCK, OWNER
from docassay.runs.lock import Owner, locked
from docassay.runs.store import Store

BEAT = 0.1


def enter(store: Store) -> None:
    with locked(store, heartbeat=BEAT):
        pass


@pytest.fixture(params=["disk", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return Store(tmp_path / "run") if request.param == "disk" else Store(f"memory://{uuid4().hex}/run")


def test_a_second_writer_is_refused_and_told_who_holds_it(store: Store) -> None:
    with locked(store, heartbeat=BEAT) as check:
        with pytest.raises(RunLockedError, match=f"process {os.getpid()} on "):
            enter(store)
        check()
    enter(store)


def test_nothing_is_left_when_the_lock_is_given_back(store: Store) -> None:
    enter(store)
    assert store.read(OWNER) is None
    if store.local is None:
        assert store.read(LOCK) is None


def test_the_lock_is_given_back_when_the_block_fails(store: Store) -> None:
    def fail() -> None:
        with locked(store, heartbeat=BEAT):
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    enter(store)


def test_of_many_at_once_one_gets_it(store: Store) -> None:
    outcomes: list[str] = []
    start, done = threading.Barrier(8), threading.Event()

    def one() -> None:
        start.wait()
        try:
            with locked(store, heartbeat=BEAT):
                outcomes.append("in")
                done.wait(10)
        except RunLockedError:
            outcomes.append("out")

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 10
    while len(outcomes) < 8 and time.monotonic() < deadline:
        time.sleep(0.01)
    done.set()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["in"] + ["out"] * 7


def test_a_killed_process_gives_the_file_lock_back(tmp_path: Path) -> None:
    code = f"""
        import time
        from docassay.runs.lock import locked
        from docassay.runs.store import Store
        with locked(Store({str(tmp_path)!r})):
            print("ready", flush=True); time.sleep(60)
    """
    holder = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()
    with pytest.raises(RunLockedError, match=f"process {holder.pid} on "):
        enter(Store(tmp_path))
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    enter(Store(tmp_path))


def leave_lock(store: Store, owner: Owner) -> None:
    store.write(LOCK, json.dumps(asdict(owner)).encode())


def test_an_owner_elsewhere_that_is_silent_is_succeeded() -> None:
    store = Store(f"memory://{uuid4().hex}/run")
    leave_lock(store, Owner("other", "another-host", 1, time.time()))
    started = time.monotonic()
    with locked(store, heartbeat=BEAT) as check:
        assert time.monotonic() - started > 3 * BEAT
        time.sleep(3 * BEAT)
        check()


def test_an_owner_on_this_machine_that_has_ended_is_succeeded_at_once() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    store = Store(f"memory://{uuid4().hex}/run")
    leave_lock(store, Owner("other", os.uname().nodename, gone.pid, time.time()))
    started = time.monotonic()
    with locked(store, heartbeat=30):
        assert time.monotonic() - started < 5


def test_an_owner_elsewhere_that_beats_is_respected() -> None:
    store = Store(f"memory://{uuid4().hex}/run")
    stop = threading.Event()

    def beat() -> None:
        count = 0
        while not stop.wait(BEAT / 2):
            count += 1
            leave_lock(store, Owner("other", "another-host", 1, 0.0, count))

    leave_lock(store, Owner("other", "another-host", 1, 0.0))
    thread = threading.Thread(target=beat)
    thread.start()
    try:
        with pytest.raises(RunLockedError, match="another-host"):
            enter(store)
    finally:
        stop.set()
        thread.join()


def test_who_lost_the_lock_finds_out() -> None:
    store = Store(f"memory://{uuid4().hex}/run")
    with locked(store, heartbeat=BEAT) as check:
        leave_lock(store, Owner("other", "another-host", 1, 0.0))
        time.sleep(4 * BEAT)
        with pytest.raises(RunLockedError, match="another-host"):
            check()
    assert json.loads(store.read(LOCK) or b"{}")["id"] == "other"


def test_a_lock_that_cannot_be_read_is_no_owner() -> None:
    store = Store(f"memory://{uuid4().hex}/run")
    store.write(LOCK, b"\xff not json")
    enter(store)
