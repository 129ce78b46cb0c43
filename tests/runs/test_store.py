"""Holds a run's directory to its promise: a file is there whole or not at all, on a disk and on an object store."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from uuid import uuid4

import pytest

from docassay.errors import RunError
from docassay.runs.store import Store, file_system, is_uri


@pytest.fixture(params=["disk", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return Store(tmp_path / "run") if request.param == "disk" else Store(f"memory://{uuid4().hex}/run")


def test_what_is_written_is_read(store: Store) -> None:
    store.write("a.json", b"one")
    store.write("folder/b", b"two")
    store.write("a.json", b"three")
    assert (store.read("a.json"), store.read("folder/b"), store.read("c")) == (b"three", b"two", None)
    assert (store.exists("a.json"), store.exists("c")) == (True, False)
    assert store.list("folder") == ["b"]
    assert store.list("nowhere") == []
    with store.open("a.json") as file:
        file.seek(2)
        assert file.read() == b"ree"


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write("a", b"old")

    def fail() -> None:
        with store.writing("a") as file:
            file.write(b"half of the n")
            raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        fail()
    assert store.read("a") == b"old"
    assert store.list(".tmp") == []


def test_nothing_is_seen_of_a_file_before_it_is_whole(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.writing("a") as file:
        file.write(b"x" * 100_000)
        assert not store.exists("a")
    assert store.read("a") == b"x" * 100_000


def test_create_refuses_what_is_there(store: Store) -> None:
    store.write("folder/x", b"")
    assert store.create("folder/lock", b"1")
    assert not store.create("folder/lock", b"2")
    assert store.read("folder/lock") == b"1"


def test_remove_takes_what_is_there(store: Store) -> None:
    store.write("a", b"1")
    store.remove(["a", "gone"])
    assert store.read("a") is None


def test_a_killed_writer_leaves_only_what_clean_removes(tmp_path: Path) -> None:
    code = f"""
        import sys, time
        from docassay.runs.store import Store
        with Store({str(tmp_path)!r}).writing("a") as file:
            file.write(b"half"); file.flush(); print("ready", flush=True); time.sleep(60)
    """
    writer = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    writer.stdout.readline()
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    store = Store(tmp_path)
    assert store.read("a") is None
    assert len(store.list(".tmp")) == 1
    store.clean()
    assert store.list(".tmp") == []


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("s3://b/k", True),
        ("hf://datasets/a", True),
        ("memory://x", True),
        ("/a/b", False),
        ("a/b", False),
        ("a b://c", False),
        ("://x", False),
        ("a://", True),
    ],
)
def test_uris_are_told_from_paths(path: str, uri: bool) -> None:
    assert is_uri(path) is uri


def test_unknown_storage_is_told() -> None:
    with pytest.raises(RunError, match="nonsense"):
        file_system("nonsense://a")


def test_storage_whose_package_is_missing_names_it() -> None:
    code = """
        import sys
        sys.modules["s3fs"] = None
        from docassay.errors import MissingDependencyError
        from docassay.runs.store import Store
        try:
            Store("s3://bucket/run")
        except MissingDependencyError as error:
            print(error)
    """
    found = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "s3fs is not installed; install it with: pip install 'docassay[s3]'"


def test_many_files_leave_nothing_in_memory() -> None:
    store = Store(f"memory://{uuid4().hex}/run")
    started = time.monotonic()
    for number in range(50):
        store.write(f"f{number}", b"x")
    assert len(store.system.transaction.files) == 0
    assert time.monotonic() - started < 5
