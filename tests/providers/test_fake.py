"""The public fake: what it answers without a script, and what it refuses."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import Any

import httpx
import pytest

from docassay.errors import ArgumentValueError
from docassay.providers.fake import VENDORS, FakeServer, Fault, sample


def test_made_up_answers_fit_the_schema() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "text": {"type": ["string", "null"]},
            "kind": {"enum": ["a", "b"]},
            "rows": {"type": "array", "items": {"properties": {"n": {"type": "integer"}, "x": {"type": "number"}}}},
            "either": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        },
    }
    assert sample(schema) == {"text": "text", "kind": "a", "rows": [{"n": 1, "x": 1.5}], "either": True}


def test_a_request_needs_a_key_and_a_known_address() -> None:
    with FakeServer() as fake:
        url = fake.url("mistral") + "/v1/ocr"
        assert httpx.post(url, json={}).status_code == 401
        assert httpx.get(url, headers={"Authorization": "Bearer x"}).status_code == 404
        headers = {"Authorization": "Bearer x"}
        assert httpx.get(fake.url("reducto") + "/job/none", headers=headers).status_code == 404
        unknown = httpx.post(fake.url("reducto") + "/extract_async", headers=headers, json={"input": "file-9"})
        assert (unknown.status_code, unknown.json()) == (404, {"error": "there is no file 'file-9'"})
        assert [request.key for request in fake.seen()] == ["", "x", "x"]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ArgumentValueError, match="no fault 'explode'"):
        Fault("explode")
    with FakeServer() as fake, pytest.raises(ArgumentValueError, match="no vendor 'nobody'"):
        fake.url("nobody")


def test_a_share_of_requests_is_the_same_every_time() -> None:
    def statuses(seed: int) -> list[int]:
        faults = [Fault("status", rate=0.3, times=None)]
        with (
            FakeServer(faults=faults, seed=seed) as fake,
            httpx.Client(headers={"Authorization": "Bearer x"}) as client,
        ):
            url = fake.url("llamaextract") + "/api/v1/projects"
            return [client.get(url).status_code for _ in range(30)]

    assert statuses(1) == statuses(1)
    assert statuses(1) != statuses(2)
    assert 2 <= statuses(1).count(503) <= 18


def test_it_can_be_served_by_itself() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "docassay.providers.fake"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    lines = [process.stdout.readline().split() for _ in VENDORS]
    assert [vendor for vendor, _ in lines] == list(VENDORS)
    url = dict(lines)["llamaextract"] + "/api/v1/projects"  # type: ignore[arg-type]
    assert httpx.get(url, headers={"Authorization": "Bearer x"}).json()[0]["id"] == "project-0"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
