"""`docassay extract predict` as a user runs it: exit codes, interruptions, one document, a killed process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from docassay.providers.fake import FakeServer, Fault

KEY = "key-4711-never-written"
SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}}}


def read(document: Any) -> dict[str, Any]:
    return {"id": f"A-{int(document.data.split()[-1])}"}


def folder_of(tmp_path: Path, documents: int) -> Path:
    with (tmp_path / "docs.csv").open("w") as table:
        table.write("doc_id,doc_path,schema\n")
        for index in range(documents):
            (tmp_path / f"{index}.pdf").write_bytes(f"%PDF-1.4 {index}".encode())
            schema = json.dumps(SCHEMA).replace('"', '""')
            table.write(f'doc-{index},{index}.pdf,"{schema}"\n')
    return tmp_path


def line(fake: FakeServer, *more: str, poll_interval: float = 0.01) -> list[str]:
    options = json.dumps(fake.options("datalab", poll_interval=poll_interval))
    command = [sys.executable, "-m", "docassay", "extract", "predict", "--provider", "datalab", "--options", options]
    return [*command, "--retry-waits", "0.02,0.04,0.06", *more]


def table(folder: Path) -> list[str]:
    return ["--manifest", str(folder / "docs.csv"), "--out", str(folder / "preds"), "--root", str(folder)]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "COLUMNS": "120", "DATALAB_API_KEY": KEY, **more}


def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
    )


@contextmanager
def started(arguments: list[str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=30)


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def test_a_table(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 3)
    with FakeServer(read, faults=[Fault("job_failed", document="1.pdf")]) as fake:
        done = run(*line(fake, *table(folder)))
        assert (done.returncode, done.stdout) == (0, f"{folder}/preds/manifest.parquet\n")
        assert "datalab: 3/3 done, 2 ok, 1 failed, 0 timed out, 0 in flight, $0.05" in done.stderr
        quiet = run(*line(fake, *table(folder), "-q", "--json"))
        assert quiet.stderr == ""
        told = json.loads(quiet.stdout)
        assert (told["ok"], told["failed"], told["kept"], told["unanswered"]) == (2, 1, 3, 0)
    for path in folder.rglob("*"):
        assert not path.is_file() or b"never-written" not in path.read_bytes()
    assert "never-written" not in done.stdout + done.stderr + quiet.stdout


def test_one_document_goes_to_stdout(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 2)
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    document = ["--doc", str(folder / "1.pdf"), "--schema", str(folder / "schema.json")]
    with FakeServer(read, faults=[Fault("job_failed", document="0.pdf", body="unreadable")]) as fake:
        done = run(*line(fake, *document))
        assert (done.returncode, json.loads(done.stdout), done.stderr) == (0, {"id": "A-1"}, "")
        record = json.loads(run(*line(fake, *document, "--json")).stdout)
        assert (record["extraction"], record["outcome"], record["schema_sent"]) == ({"id": "A-1"}, "ok", SCHEMA)
        document[1] = str(folder / "0.pdf")
        failed = run(*line(fake, *document))
        assert (failed.returncode, failed.stdout) == (1, "")
        assert "failed: the job failed: unreadable" in failed.stderr
    assert {path.name for path in folder.iterdir()} == {"0.pdf", "1.pdf", "docs.csv", "schema.json"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--provider", "datalab"], "give --manifest and --out, or --doc and --schema"),
        (["--provider", "datalab", "--doc", "a.pdf"], "--doc needs --schema"),
        (
            ["--provider", "datalab", "--doc", "a.pdf", "--schema", "s.json", "--out", "x"],
            "--doc does not go with --out",
        ),
        (["--provider", "datalab", "--manifest", "none.csv", "--out", "x"], "none.csv: no such manifest"),
        (["--provider", "datalab", "--manifest", "m", "--out", "x", "--options", "{"], "--options is no JSON"),
        (["--provider", "datalab", "--manifest", "m", "--out", "x", "--options", "[]"], "--options is a JSON object"),
        (
            ["--provider", "datalab", "--manifest", "m", "--out", "x", "--options", '{"api_key": "k"}'],
            "no option 'api_key'",
        ),
        (["--provider", "nobody", "--manifest", "m", "--out", "x"], "no provider 'nobody'"),
        (["--provider", "mistral", "--manifest", "docs.csv", "--out", "x"], "set MISTRAL_API_KEY in the environment"),
    ],
)
def test_a_users_mistake_is_one_line(
    tmp_path: Path, arguments: list[str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_of(tmp_path, 1)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    done = run(sys.executable, "-m", "docassay", "extract", "predict", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x").exists()


def test_a_refused_account_is_flagged(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 4)
    with FakeServer(read, faults=[Fault("status", step="submit", status=402, times=None)]) as fake:
        done = run(*line(fake, *table(folder)))
    assert done.returncode == 1
    assert "4 documents are not answered: datalab refuses the account: submit: HTTP 402" in done.stderr


def test_a_killed_run_loses_only_what_was_in_flight(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 60)
    records = folder / "preds/records"
    with FakeServer(read, polls=2) as fake:
        with started(line(fake, *table(folder), "--workers", "4", poll_interval=0.05)) as process:
            wait_for(lambda: records.is_dir() and len(list(records.iterdir())) >= 10)
            os.killpg(process.pid, signal.SIGKILL)
        kept = {path.name: path.read_bytes() for path in records.iterdir()}
        assert 10 <= len(kept) < 60
        submitted = fake.count("datalab", "submit")
        assert submitted - len(kept) <= 4
        done = run(*line(fake, *table(folder), poll_interval=0.05))
        assert done.returncode == 0
        assert 60 <= fake.count("datalab", "submit") <= 60 + 4
    assert all((records / name).read_bytes() == data for name, data in kept.items())
    rows = pq.read_table(folder / "preds/manifest.parquet").to_pylist()
    assert [row["predict_outcome"] for row in rows] == ["ok"] * 60
    assert all(json.loads(Path(row["pred_path"]).read_bytes()) == {"id": f"A-{i}"} for i, row in enumerate(rows))
    assert not list((folder / "preds/jobs").iterdir())
    assert not [path for path in (folder / "preds").rglob("*.tmp") if path.is_file()]


def test_jobs_that_were_bought_before_a_kill_are_collected(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 4)
    jobs = folder / "preds/jobs"
    with FakeServer(read, polls=60) as fake:
        with started(line(fake, *table(folder), poll_interval=0.05)) as process:
            wait_for(lambda: jobs.is_dir() and len(list(jobs.iterdir())) == 4)
            os.killpg(process.pid, signal.SIGKILL)
        assert not (folder / "preds/records").exists()
        assert run(*line(fake, *table(folder), poll_interval=0.05)).returncode == 0
        assert fake.count("datalab", "submit") == 4
    rows = pq.read_table(folder / "preds/manifest.parquet").to_pylist()
    assert [json.loads(Path(row["pred_path"]).read_bytes())["id"] for row in rows] == ["A-0", "A-1", "A-2", "A-3"]


def test_ctrl_c_finishes_what_is_in_flight_and_says_so(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 30)
    records = folder / "preds/records"
    with FakeServer(read, polls=3) as fake:
        with started(line(fake, *table(folder), "--workers", "3", poll_interval=0.1)) as process:
            wait_for(lambda: records.is_dir() and len(list(records.iterdir())) >= 3)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "finishing what is in flight; Ctrl-C again stops at once" in err
        assert "documents are not answered: interrupted" in err
        assert out == f"{folder}/preds/manifest.parquet\n"
        answered = len(list(records.iterdir()))
        assert fake.count("datalab", "submit") == answered < 30
        rows = pq.read_table(folder / "preds/manifest.parquet").to_pylist()
        assert [row["predict_outcome"] for row in rows].count("ok") == answered
        assert run(*line(fake, *table(folder), poll_interval=0.1)).returncode == 0
        assert fake.count("datalab", "submit") == 30


def test_a_second_ctrl_c_stops_at_once(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 10)
    with FakeServer(read, faults=[Fault("never_ends", times=None)]) as fake:
        with started(line(fake, *table(folder), "--timeout", "100", poll_interval=0.05)) as process:
            wait_for(lambda: fake.count("datalab", "poll") >= 20)
            process.send_signal(signal.SIGINT)
            time.sleep(1)
            assert process.poll() is None, "the first one finishes what is in flight"
            sent = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
            assert time.monotonic() - sent < 5
        assert process.returncode == 130
        assert "Traceback" not in err
        assert err.rstrip().endswith("interrupted")
        submitted = fake.count("datalab", "submit")
    assert not list((folder / "preds").glob("records/*"))
    assert len(list((folder / "preds/jobs").iterdir())) == submitted
