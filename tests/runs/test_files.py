"""Holds the reading of documents to its promise: the bytes as they are, or one line on why there are none."""

from __future__ import annotations

import gzip
import os
import threading
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import fsspec
import pytest

from docassay.errors import DocumentError
from docassay.runs import files
from docassay.runs.files import MISSING, UNKNOWN, Surveyor, default_root, read_ahead, read_document, resolve, unpack


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 3_000_000])
def test_a_file_is_read_whole(tmp_path: Path, size: int) -> None:
    data = os.urandom(size)
    (tmp_path / "a").write_bytes(data)
    assert read_document(str(tmp_path / "a")).data == data
    assert read_document(f"file://{tmp_path}/a").data == data


def test_a_file_that_grows_after_it_was_measured_is_read_to_its_end(tmp_path: Path) -> None:
    """As in /proc, whose files say that they are empty."""
    assert b"Name:" in (read_document("/proc/self/status").data or b"")


def test_what_is_no_file_is_told_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    started = time.monotonic()
    assert read_document(str(tmp_path)).error == f"not a file: {tmp_path}"
    assert read_document(str(tmp_path / "pipe")).error == f"not a file: {tmp_path}/pipe"
    assert read_document("/dev/zero").error == "not a file: /dev/zero"
    gone = read_document(str(tmp_path / "gone"))
    assert (gone.error, gone.missing) == (f"no such file: {tmp_path}/gone", True)
    assert "could not be read" in (read_document("a\0b").error or "")
    assert "nonsense" in (read_document("nonsense://a").error or "")
    assert time.monotonic() - started < 1


def test_gzip_is_known_by_its_bytes() -> None:
    assert unpack(b"{}", "x") == b"{}"
    assert unpack(gzip.compress(b"{}") + gzip.compress(b" "), "x") == b"{} "
    for broken in (gzip.compress(b"{}")[:-1], b"\x1f\x8b", gzip.compress(b"{}" * 99)[:-8] + b"\0" * 8):
        with pytest.raises(DocumentError, match="x: broken gzip"):
            unpack(broken, "x")


def test_gzip_that_unpacks_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_UNPACKED", 1 << 20)
    with pytest.raises(DocumentError, match="unpacks to more than"):
        unpack(gzip.compress(b" " * (2 << 20)), "x")


@pytest.mark.parametrize(
    ("path", "root", "expected"),
    [
        ("a/b.json", "/data", "/data/a/b.json"),
        ("a/b.json", "s3://bucket/data/", "s3://bucket/data/a/b.json"),
        ("../b.json", "/data", "/data/../b.json"),
        ("/a/b.json", "s3://bucket", "/a/b.json"),
        ("s3://other/b.json", "/data", "s3://other/b.json"),
    ],
)
def test_relative_paths_start_at_the_root(path: str, root: str, expected: str) -> None:
    assert resolve(path, root) == expected


def test_the_root_is_told_by_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DOCASSAY_ROOT", raising=False)
    monkeypatch.delenv("OEB_ROOT", raising=False)
    monkeypatch.chdir(tmp_path)
    assert default_root() == str(tmp_path)
    monkeypatch.setenv("OEB_ROOT", "/oeb")
    assert default_root() == "/oeb"
    monkeypatch.setenv("DOCASSAY_ROOT", "/own")
    assert default_root() == "/own"


def test_a_fingerprint_changes_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    seen = set()
    for content in (b"one", b"two", b"three"):
        path.write_bytes(content)
        os.utime(path, ns=(1, 1))  # change time cannot be set
        found = Surveyor(list).survey([str(path)])
        assert found.sizes.tolist() == [len(content)]
        seen.add(found.fingerprints[0])
        time.sleep(0.02)
    assert len(seen) == 3
    assert min(seen) >= 0
    gone = Surveyor(list).survey([str(tmp_path / "gone"), None, "a\0b"])
    assert gone.fingerprints.tolist() == [MISSING, MISSING, UNKNOWN]


class SlowFileSystem(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """Files that take a moment, and say how many were being read at once."""

    protocol = "slow"
    cachable = False
    reading = 0
    most = 0
    started: list[str] = []  # noqa: RUF012 - one list for all instances
    guard = threading.Lock()

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        cls = SlowFileSystem
        with cls.guard:
            cls.started.append(path)
            cls.reading += 1
            cls.most = max(cls.most, cls.reading)
        time.sleep(0.02)
        with cls.guard:
            cls.reading -= 1
        return path.encode()


@pytest.fixture
def slow() -> type[SlowFileSystem]:
    SlowFileSystem.most, SlowFileSystem.started = 0, []
    fsspec.register_implementation("slow", SlowFileSystem, clobber=True)
    return SlowFileSystem


def test_remote_files_are_read_ahead_and_come_in_order(slow: type[SlowFileSystem]) -> None:
    paths = [(f"slow://{n}/gold", f"slow://{n}/pred" if n % 3 else None) for n in range(60)]
    started = time.monotonic()
    found = list(read_ahead(paths, [1] * 60))
    assert time.monotonic() - started < 60 * 2 * 0.02 / 4
    assert [gold.data for gold, _ in found if gold] == [f"{n}/gold".encode() for n in range(60)]
    assert [n for n, (_, prediction) in enumerate(found) if prediction is None] == list(range(0, 60, 3))
    assert 4 < slow.most <= 16


def test_reading_ahead_is_bounded_by_size(slow: type[SlowFileSystem]) -> None:
    """Two documents of 40 MB are more than may wait, so one is read while one is worked on."""
    found = read_ahead([(f"slow://{n}",) for n in range(20)], [40 << 20] * 20)
    next(found)
    time.sleep(0.2)
    assert len(slow.started) <= 2
    found.close()  # type: ignore[attr-defined]
    assert len(slow.started) <= 2


def test_small_documents_ahead_are_bounded_in_number(slow: type[SlowFileSystem]) -> None:
    found = read_ahead([(f"slow://{n}",) for n in range(300)], [0] * 300)
    next(found)
    time.sleep(0.3)
    assert len(slow.started) <= 65
    found.close()  # type: ignore[attr-defined]


def test_names_in_memory_are_other_names_each_time() -> None:
    path = f"memory://{uuid4().hex}"
    assert read_document(path).missing
