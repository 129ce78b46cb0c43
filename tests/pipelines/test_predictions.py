"""What a second run makes of what it finds, and how money is held together."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from docassay.errors import DocumentError
from docassay.pipelines.predictions import Step, next_step
from docassay.pipelines.questions import file_name, head_fault, read_question
from docassay.pipelines.spending import Spending
from docassay.providers.contract import Cost, Outcome
from docassay.providers.evidence import Binding, Kept, read_kept
from docassay.providers.fake import FakeServer, Fault

Make = Callable[..., Any]
Reads = Callable[[Any], dict[str, Any]]


def kept(outcome: Outcome, *, transient: bool = False, job_id: str | None = None, usd: float | None = None) -> Kept:
    cost = None if usd is None else Cost(usd, "USD", "x")
    error = None if outcome is Outcome.OK else "reason"
    return Kept(Binding("d", "d.pdf", "0" * 64), outcome, error, transient, False, job_id, cost, 1.0)


STEPS = [
    (None, False, Step(True)),
    (kept(Outcome.OK, job_id="j"), True, Step(False)),
    (kept(Outcome.FAILED, job_id="j"), False, Step(False)),
    (kept(Outcome.FAILED, job_id="j"), True, Step(True)),
    (kept(Outcome.FAILED, transient=True), False, Step(True)),
    (kept(Outcome.FAILED, transient=True, job_id="j"), False, Step(True, "j")),
    (kept(Outcome.TIMEOUT, job_id="j"), False, Step(False, "j")),
    (kept(Outcome.TIMEOUT, job_id="j"), True, Step(True, "j")),
    (kept(Outcome.TIMEOUT), True, Step(False)),
]


@pytest.mark.parametrize(("found", "retry_errors", "step"), STEPS)
def test_what_is_done_about_a_document(found: Kept | None, retry_errors: bool, step: Step) -> None:
    assert next_step(found, retry_errors=retry_errors, collects=True) == step


def test_a_provider_without_jobs_collects_none() -> None:
    assert next_step(kept(Outcome.TIMEOUT, job_id="j"), retry_errors=True, collects=False) == Step(False)
    assert next_step(kept(Outcome.FAILED, transient=True, job_id="j"), retry_errors=False, collects=False) == Step(True)


def test_a_job_whose_polls_failed_is_collected_by_the_next_run(make: Make, reads: Reads) -> None:
    folder = make(1)
    with FakeServer(reads, faults=[Fault("status", step="poll", times=61)]) as fake:
        assert folder.predict(fake).progress.failed == 1
        assert folder.record("doc-0")["transient"] is True
        assert folder.predict(fake).progress.ok == 1
        assert fake.count("datalab", "submit") == 1


def test_a_noted_job_that_the_vendor_forgot_is_asked_afresh(make: Make, reads: Reads) -> None:
    folder = make(2)
    with FakeServer(reads) as fake:
        folder.predict(fake, limit=1)
        digest = folder.record("doc-0")["schema_digest"]
        jobs = folder.root / "preds/jobs"
        jobs.mkdir(exist_ok=True)
        (jobs / "doc-1.json").write_text(json.dumps({"job_id": "job-99", "schema_digest": digest}))
        done = folder.predict(fake)
        assert (done.progress.ok, fake.count("datalab", "submit")) == (2, 2)
        assert folder.record("doc-1")["job_id"] == "job-1"
        assert not list(jobs.iterdir())


def test_a_noted_job_of_another_question_is_not_collected(make: Make, reads: Reads) -> None:
    folder = make(1)
    jobs = folder.root / "preds/jobs"
    jobs.mkdir(parents=True)
    (jobs / "doc-0.json").write_text(json.dumps({"job_id": "job-99", "schema_digest": "other"}))
    with FakeServer(reads) as fake:
        assert folder.predict(fake).progress.ok == 1
        assert fake.seen("datalab", "poll")[0].path.endswith("/job-0")


def test_an_earlier_failure_stands_until_there_is_a_new_answer(make: Make, reads: Reads) -> None:
    folder = make(3)
    busy = Fault("status", step="submit", status=503, body="busy", times=12)
    refused = Fault("status", step="submit", status=402, body="credits are used up", times=None)
    with FakeServer(reads, faults=[busy, refused]) as fake:
        assert folder.predict(fake).progress.failed == 3
        done = folder.predict(fake)
        assert (done.progress.failed, done.progress.in_flight, done.unanswered) == (3, 0, 0)
        assert "refuses the account" in str(done.stopped)
    rows = pq.read_table(done.manifest).to_pylist()
    assert [(row["predict_outcome"], "busy" in row["predict_error"]) for row in rows] == [("failed", True)] * 3
    assert all("busy" in folder.prediction(f"doc-{index}")["__error__"] for index in range(3))


def test_a_prediction_without_its_record_is_not_done(make: Make, reads: Reads) -> None:
    folder = make(2)
    with FakeServer(reads) as fake:
        folder.predict(fake)
        (folder.root / "preds/records/doc-0.json").unlink()
        (folder.root / "preds/predictions/doc-1.json").unlink()
        done = folder.predict(fake)
        assert (done.kept, done.progress.ok, fake.count("datalab", "submit")) == (0, 2, 4)


def test_a_record_that_is_none_is_told(make: Make, reads: Reads) -> None:
    folder = make(1)
    with FakeServer(reads) as fake:
        folder.predict(fake)
        (folder.root / "preds/records/doc-0.json").write_text("{}")
        with pytest.raises(DocumentError, match=r"records/doc-0.json is no prediction record of format 1"):
            folder.predict(fake)
    with pytest.raises(DocumentError, match="no whole prediction record"):
        read_kept(b'{"format": 1}', where="x")


@given(st.lists(st.tuples(st.integers(1, 40), st.booleans()), max_size=60), st.integers(1, 300))
def test_a_limit_holds_whatever_answers_cost(answers: list[tuple[int, bool]], limit: int) -> None:
    """Costs in cents, up to 5 in flight: none is begun that would exceed the limit at the dearest price so far."""
    spending = Spending(limit / 100)
    spent, dearest, flying = 0, 0, 0
    for cents, more in answers:
        if flying < 5 and more and spending.allows(flying):
            assert spent + dearest * (flying + 1) <= limit
            assert dearest > 0 or flying == 0
            flying += 1
        elif flying:
            flying -= 1
            spent, dearest = spent + cents, max(dearest, cents)
            spending.add(kept(Outcome.OK, usd=cents / 100))
    assert spending.spent * 100 == spent


def test_a_free_answer_reserves_nothing() -> None:
    spending = Spending(1.0)
    spending.add(kept(Outcome.OK, usd=0.0))
    assert all(spending.allows(flying) for flying in range(100))


def test_no_limit_allows_everything() -> None:
    assert Spending(None).allows(10**6)


@pytest.mark.parametrize(
    ("path", "name"),
    [("a/b.pdf", "b.pdf"), ("s3://bucket/dir/c.pdf", "c.pdf"), ("/x/y", "y"), ("s3://bucket", "bucket")],
)
def test_the_stated_file_name_is_the_documents(path: str, name: str) -> None:
    assert file_name(path) == name


def test_a_pipe_does_not_block_the_check(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pdf")
    assert head_fault(str(tmp_path / "pipe.pdf")) == f"not a file: {tmp_path}/pipe.pdf"


def test_a_pdf_may_begin_a_little_later(tmp_path: Path) -> None:
    (tmp_path / "late.pdf").write_bytes(b"\n" * 1000 + b"%PDF-1.4")
    (tmp_path / "never.pdf").write_bytes(b"\n" * 1024 + b"%PDF-1.4")
    assert head_fault(str(tmp_path / "late.pdf")) is None
    assert "not a PDF" in str(head_fault(str(tmp_path / "never.pdf")))


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (None, "no schema"),
        ("", "empty"),
        ("[1]", "no object but list"),
        ("{", "not JSON"),
        (5, "JSON text, not 5"),
        ('{"a": NaN}', "no canonical JSON"),
        ('{"a":' * 600 + "1" + "}" * 600, ""),
    ],
)
def test_what_cannot_be_asked_has_its_reason(value: object, fault: str) -> None:
    question = read_question(value)
    assert fault in str(question.fault)
    assert (question.fault is None) == (question.digest is not None)


def test_a_question_is_the_same_however_it_is_spelled() -> None:
    spelled = ['{"type": "object", "default": 1}', b'{"type":"object"}', {"type": "object", "evaluation_config": "x"}]
    questions = [read_question(value) for value in spelled]
    assert len({question.digest for question in questions}) == 1
    assert questions[0].schema == {"type": "object"}
