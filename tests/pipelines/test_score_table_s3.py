"""Holds a run on an object store to the same promises, against two servers: nothing of it touches a disk."""

from __future__ import annotations

import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from docassay.errors import RunLockedError, RunMismatchError
from docassay.pipelines.score_table import score_table
from docassay.runs.files import UNKNOWN, Surveyor, read_document
from docassay.runs.lock import locked
from docassay.runs.store import Store
from s3_servers import S3, moto, swift
from score_tables import Folder

BUCKET = "bucket"


@pytest.fixture(scope="module", params=["moto", pytest.param("swift", marks=pytest.mark.slow)])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    folder = tmp_path_factory.mktemp(str(request.param))
    with {"moto": moto, "swift": swift}[request.param](folder) as running:
        running.client().mkdir(BUCKET)
        yield running


@pytest.fixture
def client(server: S3, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of its own; meanwhile the environment names the server, as a user's would."""
    import s3fs

    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    yield server.client()
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture
def place(client: Any, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A prefix of the bucket that holds the documents of `folder`."""
    return f"s3://{BUCKET}/{tmp_path.name}"


def upload(folder: Folder, client: Any, place: str) -> str:
    """Documents and manifest, with paths relative to the place; the manifest's URI."""
    folder.manifest()
    client.put(f"{folder.root}/", f"{place}/", recursive=True)
    return f"{place}/jobs.parquet"


def read(client: Any, run: str, table: str) -> pa.Table:
    parts = sorted(client.glob(f"{run}/{table}.parquet/part-*.parquet"))
    tables = [pq.ParquetFile(client.open(part)).read().replace_schema_metadata(None) for part in parts]
    return pa.concat_tables(tables)


def same(client: Any, run: str, local: Path) -> bool:
    """Whether a run on the store holds the rows of a local one."""
    ours = read(client, run, "scores").drop_columns("seconds")
    theirs = pq.read_table(local / "scores.parquet").replace_schema_metadata(None).drop_columns("seconds")
    summary = json.loads(client.cat_file(f"{run}/summary.json"))
    return bool(
        ours.equals(theirs)
        and read(client, run, "verdicts").equals(
            pq.read_table(local / "verdicts.parquet").replace_schema_metadata(None)
        )
        and summary == json.loads((local / "summary.json").read_text())
    )


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "files")
    made.add_many(24)
    made.add("gone", {"vendor": "x"}, None, suite="s1")
    return made


def test_a_run_on_the_store_equals_one_on_a_disk(folder: Folder, client: Any, place: str, tmp_path: Path) -> None:
    manifest = upload(folder, client, place)
    score_table(folder.root / "jobs.parquet", tmp_path / "local", root=place, workers=2)
    made = score_table(manifest, f"{place}/run", root=place, workers=2, batch_rows=9)
    assert made.path == f"{place}/run"
    assert same(client, f"{place}/run", tmp_path / "local")
    assert not client.exists(f"{place}/run/.lock")
    errors = [row["error"] for row in read(client, f"{place}/run", "scores").to_pylist() if row["status"] == "error"]
    assert errors == [f"pred_path: no such file: {place}/pred/gone.json"]


def test_a_run_on_the_store_is_continued_refused_and_overwritten(
    folder: Folder, client: Any, place: str, tmp_path: Path
) -> None:
    manifest = upload(folder, client, place)
    run = f"{place}/run"
    score_table(folder.root / "jobs.parquet", tmp_path / "local", root=place, workers=2)
    score_table(manifest, run, root=place, workers=2, batch_rows=9)
    client.rm_file(f"{run}/scores.parquet/part-0000000009.parquet")
    kept = client.info(f"{run}/scores.parquet/part-0000000018.parquet")
    score_table(manifest, run, root=place, workers=2)
    assert client.info(f"{run}/scores.parquet/part-0000000018.parquet")["LastModified"] == kept["LastModified"]
    assert same(client, run, tmp_path / "local")

    client.pipe_file(f"{place}/pred/d00000.json", client.cat_file(f"{place}/pred/d00000.json"))
    score_table(manifest, run, root=place)  # written anew, but with the same content
    client.pipe_file(f"{place}/pred/d00001.json", b"{}")
    with pytest.raises(RunMismatchError, match=r"'d00001': pred_path pred/d00001\.json has changed"):
        score_table(manifest, run, root=place)
    with pytest.raises(RunMismatchError, match="verdicts was true, is false"):
        score_table(manifest, run, root=place, verdicts=False)
    score_table(manifest, run, root=place, workers=2, overwrite=True)
    assert read(client, run, "scores").to_pylist()[1]["matched"] == 0


@pytest.mark.slow
def test_a_run_killed_on_the_store_is_continued(folder: Folder, client: Any, place: str, tmp_path: Path) -> None:
    folder.add_many(120)
    manifest = upload(folder, client, place)
    run = f"{place}/run"
    score_table(folder.root / "jobs.parquet", tmp_path / "local", root=place, workers=2)
    command = [
        *(sys.executable, "-m", "docassay", "extract", "score", "--manifest", manifest, "--root", place),
        *("--out", run, "--workers", "2", "-q", "--json", "--batch-rows", "8"),
    ]
    for wait in (1, 4):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=tmp_path)
        deadline = time.monotonic() + 60
        while len(client.glob(f"{run}/scores.parquet/part-*")) < wait and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not client.exists(f"{run}/summary.json")
    assert client.exists(f"{run}/.lock")  # of a process on this machine that is gone: taken over at once
    assert subprocess.run(command, stdout=subprocess.DEVNULL, cwd=tmp_path).returncode == 0
    assert same(client, run, tmp_path / "local")


def test_a_second_writer_on_the_store_is_refused(folder: Folder, client: Any, place: str) -> None:
    manifest = upload(folder, client, place)
    with locked(Store(f"{place}/run"), heartbeat=0.2), pytest.raises(RunLockedError, match=f"process {os.getpid()}"):
        score_table(manifest, f"{place}/run", root=place)
    assert client.glob(f"{place}/run/*") == []


def test_of_many_writers_on_the_store_one_gets_the_lock(client: Any, place: str) -> None:
    outcomes: list[str] = []
    done = threading.Event()

    def one() -> None:
        try:
            with locked(Store(f"{place}/contested"), heartbeat=0.2):
                outcomes.append("in")
                done.wait(30)
        except RunLockedError:
            outcomes.append("out")

    threads = [threading.Thread(target=one) for _ in range(6)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 30
    while len(outcomes) < 6 and time.monotonic() < deadline:
        time.sleep(0.05)
    done.set()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["in"] + ["out"] * 5


def test_a_failed_write_publishes_nothing(client: Any, place: str) -> None:
    store = Store(f"{place}/run")
    for size in (1000, 60 << 20):  # one request, and several

        def fail(size: int = size) -> None:
            with store.writing("big") as file:
                file.write(b"x" * size)
                raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            fail()
        assert not client.exists(f"{place}/run/big")
    with store.writing("big") as file:
        for _ in range(60):
            file.write(b"y" * (1 << 20))
        assert not client.exists(f"{place}/run/big")
    assert client.size(f"{place}/run/big") == 60 << 20


def test_sizes_and_fingerprints_come_from_a_listing_or_one_by_one(
    client: Any, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        client.pipe_file(f"{place}/many/{number}.json", b"x" * number)
    paths = [f"{place}/many/{number}.json" for number in range(31)]
    asked = Surveyor(lambda: [paths]).survey(paths)
    monkeypatch.setattr("docassay.runs.files.LISTING_PAYS", 10)
    listed = Surveyor(lambda: [paths]).survey(paths)
    assert asked.sizes.tolist() == listed.sizes.tolist() == [*range(30), 0]
    assert asked.fingerprints.tolist() == listed.fingerprints.tolist()
    assert UNKNOWN not in asked.fingerprints
    assert len(set(asked.fingerprints.tolist())) == 31


class Faulty(http.server.BaseHTTPRequestHandler):
    """A server that answers each path with the status that it names, or serves `{}` after so many of it."""

    counts: ClassVar[dict[str, int]] = {}

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        status, _, times = name.partition("-")
        seen = Faulty.counts[name] = Faulty.counts.get(name, 0) + 1
        code = int(status) if not times or seen <= int(times) else 200
        body = (
            b"{}"
            if code == 200
            else b"<Error><Code>" + {503: b"SlowDown", 403: b"AccessDenied"}[code] + b"</Code></Error>"
        )
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return None


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import s3fs

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Faulty)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    settings = S3(f"http://127.0.0.1:{server.server_port}", "a", "b").environment()
    for name, value in (settings | {"AWS_MAX_ATTEMPTS": "1"}).items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    yield
    s3fs.S3FileSystem.clear_instance_cache()
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_busy_store_is_asked_again(faulty: None) -> None:
    assert read_document("s3://b/503-3").data == b"{}"


def test_a_store_that_stays_busy_or_refuses_is_a_reason(faulty: None, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add("busy", {}, None, pred_path="s3://b/503")
    folder.add("forbidden", {}, None, pred_path="s3://b/403")
    score_table(folder.manifest(), tmp_path / "run", root=tmp_path, workers=1)
    busy, forbidden = pq.read_table(tmp_path / "run" / "scores.parquet").to_pylist()
    assert busy["status"] == forbidden["status"] == "error"
    assert busy["error"].startswith("pred_path: could not be read: s3://b/503: ")
    assert "\n" not in busy["error"]
    assert forbidden["error"] == "pred_path: permission denied: s3://b/403"
