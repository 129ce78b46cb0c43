"""Holds the functions that run on Modal to their promise through their local call, and the entry point to its words."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batch_work import Orders, rows_done, work_of
from docassay.errors import ArgumentValueError, CredentialError, RunError
from docassay.executors.contract import Batch, Lost, Receipt
from docassay.executors.supervise import supervise
from docassay.pipelines.score_table import score_table
from score_tables import Folder, same_run

pytest.importorskip("modal", reason="Modal is not installed")
modal_engine: Any = pytest.importorskip("docassay.executors.modal")


def settle(engine: Any, batches: list[Batch]) -> tuple[list[int], dict[int, str]]:
    done: list[int] = []
    lost: dict[int, str] = {}
    with engine:
        for outcome in supervise(engine, batches):
            if isinstance(outcome, Lost):
                lost[outcome.row] = outcome.reason
            else:
                done += range(outcome.start, outcome.stop)
    return sorted(done), lost


def one_at_a_time(work: Any) -> Any:
    """An engine whose container is this process: one call at a time, as its inner engine serves one batch."""
    return modal_engine.ModalEngine(work, 1, call=modal_engine.score_rows.local)


def test_a_batch_is_worked_off_in_a_container(tmp_path: Path) -> None:
    orders = Orders(str(tmp_path), kill=(7,))
    done, lost = settle(one_at_a_time(work_of(orders)), [Batch(0, 10), Batch(10, 20)])
    assert done == rows_done(tmp_path) == [row for row in range(20) if row != 7]
    assert "killed by SIGKILL" in lost[7]


def test_the_time_of_a_document_counts_in_a_container(tmp_path: Path) -> None:
    orders = Orders(str(tmp_path), sleep=((3, 30.0),))
    started = time.monotonic()
    done, lost = settle(one_at_a_time(work_of(orders, timeout=0.5)), [Batch(0, 6)])
    assert time.monotonic() - started < 20
    assert (done, list(lost)) == ([0, 1, 2, 4, 5], [3])


def test_an_error_of_the_work_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no good at 2"):
        settle(one_at_a_time(work_of(Orders(str(tmp_path), fail=(2,)))), [Batch(0, 6)])


def test_a_container_that_dies_costs_its_batch_once(tmp_path: Path) -> None:
    died: list[Batch] = []

    def call(parcel: Any, batch: Batch, payload: Any) -> tuple[Receipt | Lost, ...]:
        if not died:
            died.append(batch)
            raise ConnectionError("the container is gone")
        return (Receipt(batch.start, batch.stop, 0),)

    engine = modal_engine.ModalEngine(work_of(Orders(str(tmp_path))), 2, call=call)
    assert settle(engine, [Batch(0, 8), Batch(8, 16)]) == (list(range(16)), {})


def test_a_cloud_that_always_fails_ends_the_run_and_blames_no_document(tmp_path: Path) -> None:
    def call(parcel: Any, batch: Batch, payload: Any) -> tuple[Receipt | Lost, ...]:
        raise ConnectionError("no credit")

    engine = modal_engine.ModalEngine(work_of(Orders(str(tmp_path))), 4, call=call)
    with pytest.raises(RunError, match=r"batches in a row died.*no credit"):
        settle(engine, [Batch(start, start + 16) for start in range(0, 640, 16)])


def test_the_driver_gives_the_summary(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add_many(40)
    manifest = folder.manifest()
    options = {"engine": "local", "batch_rows": 16, "root": str(tmp_path), "workers": 2}
    summary = modal_engine.drive.local(str(manifest), str(tmp_path / "run"), options)
    assert summary["flat"]["scored"] == 40
    score_table(manifest, tmp_path / "whole", root=tmp_path)
    assert same_run(tmp_path / "run", tmp_path / "whole")


@pytest.fixture
def no_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    monkeypatch.setenv("MODAL_CONFIG_PATH", str(tmp_path / "none.toml"))
    monkeypatch.delenv("MODAL_TOKEN_ID", raising=False)
    monkeypatch.delenv("MODAL_TOKEN_SECRET", raising=False)
    return lambda: None


def test_without_a_token_it_is_said_at_once(no_token: Any, tmp_path: Path) -> None:
    with (
        pytest.raises(CredentialError, match="modal token new"),
        modal_engine.ModalEngine(work_of(Orders(str(tmp_path)))),
    ):
        pass


def test_paths_that_no_container_can_see_are_refused() -> None:
    with pytest.raises(ArgumentValueError, match=r"jobs\.parquet, file:///run: .* give a URI"):
        modal_engine.refuse_local("jobs.parquet", "s3://bucket/run", "file:///run")


@pytest.mark.slow
def test_the_entry_point_is_one_that_modal_finds(no_token: Any) -> None:
    """`modal run` reads the module, finds the entry point and its options, and asks for a token."""
    command = [sys.executable, "-m", "modal", "run", "-m", "docassay.executors.modal"]
    told = subprocess.run([*command, "--help"], capture_output=True, text=True, timeout=120)
    assert told.returncode == 0, told.stderr
    for option in ("--manifest", "--out", "--rows", "--containers", "--overwrite"):
        assert option in told.stdout
    asked = subprocess.run(
        [*command, "--manifest", "s3://b/m.parquet", "--out", "s3://b/run", "--rows", "16"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert asked.returncode != 0
    assert "token" in (asked.stdout + asked.stderr).lower()


def test_containers_get_the_named_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from docassay.executors import modal as m; print(len(m._secrets), m._packages())"
    for value, count in (("my-bucket", "1"), ("", "0")):
        monkeypatch.setenv("DOCASSAY_MODAL_SECRET", value)
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert found.stdout.startswith(f"{count} [")
        assert "s3fs" in found.stdout
        assert "pyarrow" in found.stdout
