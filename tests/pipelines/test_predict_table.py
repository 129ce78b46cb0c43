"""Predicting a table: every row accounted for, nothing paid for twice, nothing false stored."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from docassay.core.filenames import id_of
from docassay.errors import (
    ArgumentValueError,
    CredentialError,
    DocumentError,
    ManifestError,
    RunLockedError,
    RunMismatchError,
)
from docassay.pipelines.interrupts import Stop
from docassay.pipelines.predict_table import predict_document, predict_table
from docassay.pipelines.score_table import score_table
from docassay.pipelines.spending import Progress
from docassay.providers.contract import Outcome
from docassay.providers.fake import KEYS, FakeServer, Fault

Make = Callable[..., Any]
Reads = Callable[[Any], dict[str, Any]]


def test_a_table_becomes_predictions_records_and_a_score_manifest(make: Make, reads: Reads) -> None:
    folder = make(3, suite="invoices", note="rides along")
    with FakeServer(reads) as fake:
        done = folder.predict(fake)
    assert (done.progress.ok, done.progress.done, done.unanswered, done.stopped) == (3, 3, 0, None)
    assert folder.prediction("doc-1") == {"id": "A-1", "total": 1.5}
    record = folder.record("doc-1")
    assert (record["doc_id"], record["doc_path"], record["outcome"]) == ("doc-1", "1.pdf", "ok")
    assert record["schema_sent"] == {
        "type": "object",
        "properties": {"id": {"type": "string"}, "total": {"type": "number"}},
    }
    table = pq.read_table(done.manifest).to_pylist()
    assert [row["doc_id"] for row in table] == folder.ids
    assert table[1] == {
        "doc_id": "doc-1",
        "doc_path": "1.pdf",
        "gt_path": "1.json",
        "schema": table[1]["schema"],
        "suite": "invoices",
        "note": "rides along",
        "pred_path": str(folder.root / "preds/predictions/doc-1.json"),
        "predict_outcome": "ok",
        "predict_error": None,
        "predict_seconds": pytest.approx(record["seconds"]),
        "predict_cost": 0.025,
        "predict_cost_unit": "USD",
    }


@pytest.mark.parametrize("with_root", [True, False])
def test_predict_then_score_with_nothing_in_between(
    make: Make, reads: Reads, with_root: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(4, suite="s")
    root = folder.root if with_root else None
    if not with_root:
        monkeypatch.chdir(folder.root)
        monkeypatch.delenv("DOCASSAY_ROOT", raising=False)
        monkeypatch.delenv("OEB_ROOT", raising=False)
    with FakeServer(reads, faults=[Fault("job_failed", document="2.pdf")]) as fake:
        done = folder.predict(fake, root=root)
    run = score_table(done.manifest, folder.root / "run", root=root, workers=1)
    flat = run.summary.flat
    assert (flat.documents, flat.scored, flat.errors) == (4, 3, 1)
    assert flat.means["accuracy"].estimate == 1.0
    assert flat.means_failures_zero["accuracy"].estimate == 0.75


def test_a_relative_out_still_gives_absolute_paths(make: Make, reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make(1)
    monkeypatch.chdir(folder.root)
    with FakeServer(reads) as fake:
        done = predict_table(
            "docs.jsonl",
            "out",
            provider="datalab",
            options=fake.options("datalab"),
            environment={KEYS["datalab"]: "k" * 9},
        )
    path = Path(pq.read_table(done.manifest).to_pylist()[0]["pred_path"])
    assert path.is_absolute()
    assert path.exists()


def test_a_failed_document_says_so_where_its_prediction_would_be(make: Make, reads: Reads) -> None:
    folder = make(2)
    with FakeServer(reads, faults=[Fault("job_failed", document="0.pdf", body="unreadable")]) as fake:
        done = folder.predict(fake)
    assert (done.progress.ok, done.progress.failed) == (1, 1)
    assert folder.prediction("doc-0") == {"__error__": "the job failed: unreadable"}
    assert folder.record("doc-0")["outcome"] == "failed"


def test_what_cannot_be_sent_gets_its_row_before_anything_is(make: Make, reads: Reads) -> None:
    schema = json.dumps({"type": "object", "properties": {}})
    rows = [
        {"doc_id": "missing", "doc_path": "missing.pdf", "gt_path": None, "schema": schema},
        {"doc_id": "empty", "doc_path": "empty.pdf", "gt_path": None, "schema": schema},
        {"doc_id": "image", "doc_path": "image.pdf", "gt_path": None, "schema": schema},
        {"doc_id": "folder", "doc_path": "folder.pdf", "gt_path": None, "schema": schema},
        {"doc_id": "no-path", "doc_path": None, "gt_path": None, "schema": schema},
        {"doc_id": "no-schema", "doc_path": "0.pdf", "gt_path": None, "schema": None},
        {"doc_id": "bad-schema", "doc_path": "0.pdf", "gt_path": None, "schema": "{"},
        {"doc_id": "list-schema", "doc_path": "0.pdf", "gt_path": None, "schema": "[]"},
    ]
    folder = make(1, extra=rows)
    (folder.root / "empty.pdf").touch()
    (folder.root / "image.pdf").write_bytes(b"\x89PNG")
    (folder.root / "folder.pdf").mkdir()
    sent_when_errors_were_stored: list[int] = []
    with FakeServer(reads) as fake:

        def watch(progress: Progress) -> None:
            if progress.failed < len(rows):
                sent_when_errors_were_stored.append(fake.count())

        done = folder.predict(fake, watch=watch)
        assert set(sent_when_errors_were_stored) == {0}
        assert fake.count("datalab", "submit") == 1
    assert (done.progress.ok, done.progress.failed) == (1, 8)
    reasons = {row["doc_id"]: row["predict_error"] for row in pq.read_table(done.manifest).to_pylist()}
    for doc_id, reason in {
        "missing": "no such file",
        "empty": "empty file",
        "image": "not a PDF",
        "folder": "not a file",
        "no-path": "no doc_path",
        "no-schema": "no schema",
        "bad-schema": "not JSON",
        "list-schema": "no object but list",
    }.items():
        assert reason in reasons[doc_id]
        assert folder.prediction(doc_id) == {"__error__": reasons[doc_id]}
        assert folder.record(doc_id)["input_fault"] is True


def test_a_fault_of_the_input_is_looked_at_again(make: Make, reads: Reads) -> None:
    row = {"doc_id": "late", "doc_path": "late.pdf", "gt_path": None, "schema": "{"}
    folder = make(1, extra=[row])
    with FakeServer(reads) as fake:
        assert folder.predict(fake).progress.failed == 1
        (folder.root / "late.pdf").write_bytes(b"%PDF-1.4 7")
        lines = folder.manifest.read_text().replace('"{"}', '"{}"}')
        folder.manifest.write_text(lines)
        assert folder.predict(fake).progress.ok == 2
        assert fake.count("datalab", "submit") == 2


def test_running_again_asks_nothing_that_is_answered(make: Make, reads: Reads) -> None:
    folder = make(3)
    with FakeServer(reads) as fake:
        first = folder.predict(fake)
        requests = fake.count()
        before = Path(first.manifest).read_bytes()
        again = folder.predict(fake)
        assert fake.count() == requests
        assert (again.kept, again.progress.ok, again.progress.cost) == (3, 3, {"USD": 0.075})
        assert Path(again.manifest).read_bytes() == before


def test_transient_failures_are_retried_on_resume_and_final_ones_only_when_asked(make: Make, reads: Reads) -> None:
    faults = [
        Fault("status", step="submit", document="0.pdf", status=503, times=4),
        Fault("status", step="submit", document="1.pdf", status=400),
    ]
    folder = make(3)
    with FakeServer(reads, faults=faults) as fake:
        assert folder.predict(fake, workers=1).progress.failed == 2
        second = folder.predict(fake)
        assert (second.progress.ok, second.progress.failed, second.kept) == (2, 1, 2)
        assert folder.prediction("doc-1")["__error__"].startswith("submit: HTTP 400")
        third = folder.predict(fake, retry_errors=True)
        assert (third.progress.ok, third.progress.failed) == (3, 0)


def test_a_timeout_is_never_bought_again_but_can_be_collected(make: Make, reads: Reads) -> None:
    folder = make(1)
    with FakeServer(reads, polls=60) as fake:
        options = fake.options("datalab", poll_interval=0.05)
        done = folder.predict(fake, timeout=1, options=options)
        assert (done.progress.timeouts, folder.record("doc-0")["job_id"]) == (1, "job-0")
        assert folder.prediction("doc-0")["__error__"].startswith(("still running", "no answer"))
        assert folder.predict(fake, options=options).progress.timeouts == 1
        assert fake.count("datalab", "submit") == 1
        collected = folder.predict(fake, retry_errors=True, options=options)
        assert (collected.progress.ok, fake.count("datalab", "submit")) == (1, 1)
    assert folder.prediction("doc-0") == {"id": "A-0", "total": 0.5}


def test_a_timeout_without_a_job_is_not_asked_again(make: Make, reads: Reads) -> None:
    folder = make(1)
    with FakeServer(reads, faults=[Fault("slow", seconds=3)]) as fake:
        folder.predict(fake, provider="mistral", timeout=0.5)
        done = folder.predict(fake, provider="mistral", timeout=0.5, retry_errors=True)
        assert (done.progress.timeouts, fake.count("mistral", "submit")) == (1, 1)


@pytest.mark.parametrize("provider", ["datalab", "reducto", "azure-cu"])
def test_a_refused_account_stores_nothing_false(make: Make, reads: Reads, provider: str) -> None:
    """Five documents are answered, then credits run out."""
    folder = make(12)
    out_of_credit = [
        *[Fault("slow", step="submit") for _ in range(5)],
        Fault("status", step="submit", status=402, body="credits are used up", times=None),
    ]
    with FakeServer(reads, faults=out_of_credit) as fake:
        done = folder.predict(fake, "empty", provider=provider, workers=1)
        assert (done.progress.ok, done.progress.failed, done.unanswered) == (5, 0, 7)
        assert "refuses the account" in str(done.stopped)
        assert fake.count(provider, "submit") == 6
    stored = sorted(path.stem for path in (folder.root / "empty/predictions").iterdir())
    assert stored == sorted(path.stem for path in (folder.root / "empty/records").iterdir())
    assert len(stored) == 5
    rows = pq.read_table(done.manifest).to_pylist()
    assert [row["predict_outcome"] for row in rows] == ["ok"] * 5 + [None] * 7


def test_max_cost_is_never_exceeded(make: Make, reads: Reads) -> None:
    folder = make(20)
    with FakeServer(reads, cost=10) as fake:  # cents
        done = folder.predict(fake, max_cost=0.75)
        assert (done.progress.ok, done.progress.cost, done.unanswered) == (7, {"USD": 0.7}, 13)
        assert "max-cost" in str(done.stopped)
        assert folder.predict(fake, max_cost=0.75).progress.ok == 7
        assert fake.count("datalab", "submit") == 7
        assert folder.predict(fake, max_cost=5).progress.ok == 20


def test_max_cost_stops_where_no_cost_is_stated(make: Make, reads: Reads) -> None:
    folder = make(5)
    with FakeServer(reads, faults=[Fault("no_cost", times=None)]) as fake:
        done = folder.predict(fake, max_cost=1)
        assert (done.progress.ok, done.unanswered) == (1, 4)
        assert "states no cost" in str(done.stopped)


@pytest.mark.parametrize(("provider", "stated"), [("reducto", "costs in credits"), ("llamaextract", "no costs")])
def test_max_cost_is_refused_where_it_cannot_be_kept(make: Make, provider: str, stated: str) -> None:
    folder = make(1)
    with FakeServer() as fake, pytest.raises(ArgumentValueError, match=stated):
        folder.predict(fake, provider=provider, max_cost=1)


def test_costs_are_summed_as_stated(make: Make, reads: Reads) -> None:
    folder = make(3)
    with FakeServer(reads, faults=[Fault("no_cost")]) as fake:
        done = folder.predict(fake, provider="reducto", workers=1)
        assert (done.progress.cost, done.costs_unstated) == ({"credits": 5.0}, 1)


def test_another_setting_is_refused_and_named(make: Make, reads: Reads) -> None:
    folder = make(1)
    with FakeServer(reads) as fake:
        folder.predict(fake)
        with pytest.raises(RunMismatchError, match='mode = "balanced", not "accurate"'):
            folder.predict(fake, options=fake.options("datalab", mode="accurate"))
        with pytest.raises(RunMismatchError, match="provider 'datalab', not 'reducto'"):
            folder.predict(fake, provider="reducto")


def test_another_question_is_refused_and_named(make: Make, reads: Reads) -> None:
    folder = make(2)
    with FakeServer(reads) as fake:
        folder.predict(fake)
        folder.manifest.write_text(folder.manifest.read_text().replace("number", "integer"))
        with pytest.raises(RunMismatchError, match="'doc-0' with another schema_digest"):
            folder.predict(fake)


def test_a_change_of_benchmark_keys_is_no_other_question(make: Make, reads: Reads) -> None:
    folder = make(1)
    with FakeServer(reads) as fake:
        folder.predict(fake)
        folder.manifest.write_text(folder.manifest.read_text().replace('\\"default\\": 0', '\\"default\\": 9'))
        assert folder.predict(fake).kept == 1


def test_a_limit_can_grow(make: Make, reads: Reads) -> None:
    folder = make(5)
    with FakeServer(reads) as fake:
        assert folder.predict(fake, limit=2).progress.total == 2
        done = folder.predict(fake, limit=4)
        assert (done.progress.total, done.kept, fake.count("datalab", "submit")) == (4, 2, 4)


def test_hostile_identifiers_have_files_of_their_own(make: Make, reads: Reads) -> None:
    ids = ["../up", "a/b", "a%2Fb", "a b", "CON", "..", "é", "e\u0301", "x" * 300, "Doc", "doc"]
    folder = make(ids)
    with FakeServer(reads) as fake:
        done = folder.predict(fake)
        assert done.progress.ok == len(ids)
        for row, index in zip(pq.read_table(done.manifest).to_pylist(), range(len(ids)), strict=True):
            path = Path(row["pred_path"])
            assert json.loads(path.read_bytes())["id"] == f"A-{index}"
            relative = path.relative_to(folder.root / "preds/predictions")
            assert id_of(str(relative.with_suffix(""))) == ids[index]
            assert json.loads((folder.root / "preds/records" / relative).read_bytes())["doc_id"] == ids[index]
        assert folder.predict(fake).kept == len(ids)
    assert {path.name for path in folder.root.iterdir() if path.is_dir()} == {"preds"}


def test_documents_and_predictions_go_through_fsspec(make: Make, reads: Reads) -> None:
    folder = make(2)
    for path in folder.root.glob("*.pdf"):
        _memory().pipe_file(f"/docs/{path.name}", path.read_bytes())
    text = folder.manifest.read_text().replace('"0.pdf"', '"memory://docs/0.pdf"').replace('"1.pdf"', '"gone.pdf"')
    folder.manifest.write_text(text)
    with FakeServer(reads) as fake:
        done = predict_table(
            folder.manifest,
            "memory://preds",
            provider="datalab",
            options=fake.options("datalab"),
            root="memory://docs",
            environment={KEYS["datalab"]: "k" * 9},
        )
    assert (done.progress.ok, done.progress.failed) == (1, 1)
    assert json.loads(_memory().cat_file("/preds/predictions/doc-0.json")) == {"id": "A-0", "total": 0.5}
    import pyarrow as pa

    table = pq.read_table(pa.BufferReader(_memory().cat_file("/preds/manifest.parquet"))).to_pylist()
    assert table[0]["pred_path"] == "memory://preds/predictions/doc-0.json"
    _memory().rm("/preds", recursive=True)


def _memory() -> Any:
    import fsspec

    return fsspec.filesystem("memory")


def test_credentials_are_written_nowhere(make: Make, reads: Reads, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    folder = make(5)
    faults = [
        Fault("echo_key", document="1.pdf", step="submit"),
        Fault("job_failed", document="2.pdf", body="key-4711-never-written is not allowed"),
        Fault("status", document="3.pdf", step="submit", body="key-4711-never-written", times=1),
    ]
    with FakeServer(lambda document: {**reads(document)}, faults=faults) as fake:
        done = folder.predict(fake)
        assert {request.key for request in fake.seen()} == {"key-4711-never-written"}
    assert (done.progress.ok, done.progress.failed) == (3, 2)
    files = [path for path in (folder.root / "preds").rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        assert b"never-written" not in path.read_bytes(), path
    assert "never-written" not in caplog.text
    assert "never-written" not in repr(done)
    assert "*** is not allowed" in folder.prediction("doc-2")["__error__"]


def test_a_missing_key_is_told_before_anything_is_written(make: Make) -> None:
    folder = make(1)
    with FakeServer() as fake:
        with pytest.raises(CredentialError, match="set DATALAB_API_KEY"):
            folder.predict(fake, environment={})
        assert fake.count() == 0
    assert not (folder.root / "preds").exists()


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({"workers": 0}, "workers"),
        ({"limit": 0}, "limit"),
        ({"timeout": 0}, "budget"),
        ({"max_cost": 0}, "max-cost"),
        ({"options": {"speed": 1}}, "no option 'speed'"),
    ],
)
def test_impossible_arguments_are_told(make: Make, arguments: dict[str, Any], fault: str) -> None:
    folder = make(1)
    with FakeServer() as fake, pytest.raises(ArgumentValueError, match=fault):
        folder.predict(fake, **arguments)


def test_a_manifest_that_cannot_be_used_is_told(make: Make, tmp_path: Path) -> None:
    folder = make(["same", "same"])
    with FakeServer() as fake:
        with pytest.raises(ManifestError, match="'same' is not unique"):
            folder.predict(fake)
        folder.manifest.write_text('{"doc_id": "a", "path": "b"}\n')
        with pytest.raises(ManifestError, match="doc_path"):
            folder.predict(fake)
        assert fake.count() == 0


def test_a_column_that_could_not_be_scored_later_is_told_before_money_is_spent(make: Make) -> None:
    folder = make(1, status="open")
    with FakeServer() as fake:
        with pytest.raises(ManifestError, match="'status' has the name of an output column"):
            folder.predict(fake)
        assert fake.count() == 0


def test_two_runs_do_not_write_one_directory(make: Make, reads: Reads) -> None:
    folder = make(3)
    begun = threading.Event()
    with FakeServer(reads, faults=[Fault("slow", step="poll", seconds=1)]) as fake:
        first = threading.Thread(target=lambda: folder.predict(fake, watch=lambda progress: begun.set()))
        first.start()
        begun.wait(10)
        with pytest.raises(RunLockedError):
            folder.predict(fake)
        first.join()


def test_a_stop_finishes_what_is_in_flight(make: Make, reads: Reads) -> None:
    folder = make(20)
    stop = Stop()

    def watch(progress: Progress) -> None:
        if progress.ok >= 3:
            stop.request()

    with FakeServer(reads) as fake:
        done = folder.predict(fake, workers=2, watch=watch, stop=stop)
        assert (done.interrupted, done.stopped) == (True, "interrupted")
        assert 3 <= done.progress.ok <= 5
        assert fake.count("datalab", "submit") == done.progress.ok
        assert folder.predict(fake).progress.ok == 20
        assert fake.count("datalab", "submit") == 20


def test_progress_adds_up(make: Make, reads: Reads) -> None:
    folder = make(8)
    seen: list[Progress] = []
    with FakeServer(reads, faults=[Fault("job_failed", document="3.pdf")]) as fake:
        folder.predict(fake, watch=seen.append, workers=2)
    assert all(progress.done + progress.in_flight <= progress.total == 8 for progress in seen)
    assert max(progress.in_flight for progress in seen) == 2
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    last = seen[-1]
    assert (last.done, last.ok, last.failed, last.in_flight) == (8, 7, 1, 0)
    assert last.cost == {"USD": 0.175}
    assert last.seconds is not None


def test_no_more_at_once_than_the_vendor_takes(make: Make, reads: Reads) -> None:
    folder = make(12)
    seen: list[int] = []
    with FakeServer(reads) as fake:
        folder.predict(fake, provider="reducto", workers=50, watch=lambda progress: seen.append(progress.in_flight))
    assert max(seen) == 3


def test_one_document_without_a_table(tmp_path: Path, reads: Reads) -> None:
    path = tmp_path / "invoice.pdf"
    path.write_bytes(b"%PDF-1.4 4")
    schema = {"type": "object", "properties": {"id": {"type": "string", "default": "x"}}}
    with FakeServer(reads) as fake:
        arguments: dict[str, Any] = {
            "provider": "datalab",
            "options": fake.options("datalab"),
            "environment": {KEYS["datalab"]: "k" * 9},
        }
        result = predict_document(path, schema, **arguments)
        assert (result.outcome, result.extraction) == (Outcome.OK, {"id": "A-4", "total": 4.5})
        assert fake.schemas()[0] == {"type": "object", "properties": {"id": {"type": "string"}}}
        for bad, text in ((tmp_path / "none.pdf", "no such file"), (tmp_path, "not a file")):
            with pytest.raises(DocumentError, match=text):
                predict_document(bad, schema, **arguments)
        with pytest.raises(DocumentError, match="schema"):
            predict_document(path, "{", **arguments)
        assert fake.count("datalab", "submit") == 1


@pytest.mark.slow
def test_a_thousand_documents_with_faults_are_all_accounted_for(make: Make, reads: Reads) -> None:
    folder = make(1000)
    rate: dict[str, Any] = {"times": None}
    faults = [
        Fault("status", status=429, retry_after="0", rate=0.01, **rate),
        Fault("status", status=503, rate=0.01, **rate),
        Fault("reset", rate=0.01, **rate),
        Fault("not_json", step="poll", rate=0.01, **rate),
        Fault("job_failed", rate=0.01, **rate),
    ]
    with FakeServer(reads, faults=faults, seed=7) as fake:
        done = folder.predict(fake)
    assert done.progress.done == 1000
    assert done.unanswered == 0
    assert done.progress.ok + done.progress.failed == 1000
    assert done.progress.failed > 0
    rows = pq.read_table(done.manifest).to_pylist()
    assert [row["doc_id"] for row in rows] == folder.ids
    for index, row in enumerate(rows):
        stored = json.loads(Path(row["pred_path"]).read_bytes())
        if row["predict_outcome"] == "ok":
            assert stored == {"id": f"A-{index}", "total": index + 0.5}
        else:
            assert stored == {"__error__": row["predict_error"]}
    assert not list((folder.root / "preds/jobs").iterdir())
