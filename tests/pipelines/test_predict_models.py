"""Predicting a table with a model instead of a vendor: the same directory, the same evidence, no key in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from docassay.providers.fake import FakeServer, Fault

Make = Callable[..., Any]
Reads = Callable[[Any], dict[str, Any]]


def test_a_model_predicts_a_table(make: Make, reads: Reads) -> None:
    folder = make(3)
    faults = [Fault("fenced", document="1.pdf"), Fault("status", step="submit", status=429, retry_after="0")]
    with FakeServer(reads, faults=faults, cost=0.25) as fake:
        done = folder.predict(fake, provider="openai/gpt-5")
        assert (done.progress.ok, done.progress.cost) == (3, {"USD": 0.75})
        schema = fake.schemas("openai")[0]
    record = folder.record("doc-1")
    assert folder.prediction("doc-1") == {"id": "A-1", "total": 1.5}
    assert record["details"]["response_format"] == "json_schema"
    assert "```json" in record["details"]["answers"][0]["text"]
    assert record["schema_sent"] == schema


def test_a_model_out_of_quota_stops_and_a_key_stays_out(make: Make, reads: Reads) -> None:
    folder = make(4)
    faults = [
        Fault("echo_key", document="0.pdf", step="submit"),
        Fault("status", document="2.pdf", step="submit", status=429, body="insufficient_quota", times=None),
    ]
    with FakeServer(reads, faults=faults) as fake:
        done = folder.predict(fake, provider="openai/gpt-5", workers=1)
    assert (done.progress.ok, done.progress.failed, done.unanswered) == (1, 1, 2)
    assert "insufficient_quota" in str(done.stopped)
    for path in (folder.root / "preds").rglob("*"):
        assert not path.is_file() or b"never-written" not in path.read_bytes(), path
