"""What is peculiar to each vendor's API, as it goes over the wire."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from docassay.providers.asking import extract
from docassay.providers.contract import Budget, Document, ExtractionResult, ExtractionTask, Outcome
from docassay.providers.fake import FakeServer, Fault
from docassay.providers.reducto import merge_passes
from docassay.providers.registry import configure, open_provider

Ask = Callable[..., ExtractionResult]

PDF = b"%PDF-1.4 body"


def test_datalab_sends_one_form(ask: Ask) -> None:
    with FakeServer() as fake:
        ask(fake, "datalab", options={"mode": "accurate"}, data=PDF)
        submit = fake.seen("datalab", "submit")[0]
        assert submit.headers["x-api-key"] == "key-4711-never-written"
        for part in (
            b'name="extraction_mode"\r\n\r\naccurate\r\n',
            b'name="output_format"\r\n\r\njson\r\n',
            b'filename="one.pdf"\r\nContent-Type: application/pdf\r\n\r\n' + PDF,
        ):
            assert part in submit.body


def test_reductos_request(ask: Ask) -> None:
    with FakeServer() as fake:
        ask(fake, "reducto", options={"agentic_table_mode": "default"})
        ask(fake, "reducto", options={"system_prompt": "Read it."})
        plain, prompted = (request.json() for request in fake.seen("reducto", "submit"))
        assert {key: value for key, value in plain.items() if key != "instructions"} == {
            "async": {"priority": False},
            "input": "file-0",
            "parsing": {"enhance": {"agentic": [{"scope": "table", "mode": "default"}]}},
            "settings": {
                "deep_extract": True,
                "citations": {"enabled": False},
                "alpha": {"deep_extract_model": "v2"},
            },
        }
        assert set(plain["instructions"]) == {"schema"}
        assert prompted["instructions"]["system_prompt"] == "Read it."
        assert fake.seen("reducto")[0].headers["authorization"] == "Bearer key-4711-never-written"


def test_reductos_passes_are_one_answer(ask: Ask) -> None:
    with FakeServer({"one.pdf": {"id": "A", "rows": [{"price": 1}]}}, faults=[Fault("passes")]) as fake:
        result = ask(fake, "reducto")
        assert result.extraction == {"id": "A", "rows": [{"price": 1}]}
        assert "[{" in result.exchanges[-1].body


@pytest.mark.parametrize(
    ("passes", "merged"),
    [
        ([], None),
        ([{"a": 1}], {"a": 1}),
        ([{"a": 1, "b": None}, {"a": 2, "b": 3, "c": 4}], {"a": 1, "b": 3, "c": 4}),
        ([{"rows": [1, 2]}, {"rows": [2, 3]}], {"rows": [1, 2, 3]}),
        ([{"o": {"x": ""}}, {"o": {"x": "y"}}], {"o": {"x": "y"}}),
        ([None, {"a": 1}], {"a": 1}),
    ],
)
def test_a_later_pass_fills_and_overrides_nothing(passes: list[object], merged: object) -> None:
    assert merge_passes(passes) == merged


def test_extends_headers_and_request(ask: Ask) -> None:
    environment = {"EXTEND_API_KEY": "key-4711-never-written", "EXTEND_WORKSPACE_ID": "ws_1"}
    with FakeServer() as fake:
        ask(fake, "extend", environment=environment)
        ask(fake, "extend")
        first, second = fake.seen("extend", "submit")
        assert first.headers["x-extend-api-version"] == "2026-02-09"
        assert first.headers["x-extend-workspace-id"] == "ws_1"
        assert "x-extend-workspace-id" not in second.headers
        body = first.json()
        assert body["file"] == {"id": "file-0"}
        assert body["config"]["advancedOptions"] == {"arrayStrategy": {"type": "large_array_max_context"}}


def test_llamaextract_asks_for_the_project_once(ask: Ask) -> None:
    with FakeServer() as fake:
        configured = configure("llamaextract", fake.options("llamaextract"))
        _ask_many(configured, "LLAMAPARSE_API_KEY", 3)
        assert fake.count("llamaextract", "projects") == 1
        submit = fake.seen("llamaextract", "submit")[0]
        assert submit.path.endswith("/api/v2/extract?project_id=project-0")
        assert submit.json()["configuration"] | {"data_schema": None} == {
            "tier": "agentic_plus",
            "extraction_target": "per_doc",
            "data_schema": None,
        }
        assert b'name="purpose"\r\n\r\nextract\r\n' in fake.seen("llamaextract", "upload")[0].body
        assert fake.seen("llamaextract", "poll")[0].path.endswith("?project_id=project-0&expand=metadata")


def test_mistrals_request_holds_the_document(ask: Ask) -> None:
    with FakeServer() as fake:
        ask(fake, "mistral", data=PDF)
        body = fake.seen("mistral", "submit")[0].json()
        encoded = base64.b64encode(PDF).decode()
        assert body["document"] == {"type": "document_url", "document_url": f"data:application/pdf;base64,{encoded}"}
        form = body["document_annotation_format"]
        assert (form["type"], form["json_schema"]["name"], form["json_schema"]["strict"]) == (
            "json_schema",
            "extraction",
            False,
        )


def test_azure_makes_an_analyzer_once_and_waits_until_it_is_ready(ask: Ask) -> None:
    with FakeServer() as fake:
        configured = configure("azure-cu", fake.options("azure-cu"))
        results = _ask_many(configured, "AZURE_CU_KEY", 6)
        assert [result.outcome for result in results] == [Outcome.OK] * 6
        assert fake.count("azure-cu", "analyzer") == 1
        made = fake.seen("azure-cu", "analyzer")[0]
        assert made.json() | {"fieldSchema": None} == {
            "baseAnalyzerId": "prebuilt-documentAnalyzer",
            "config": {"returnDetails": False, "completion": "gpt-4.1-mini"},
            "fieldSchema": None,
        }
        assert made.path.endswith("?api-version=2025-05-01-preview")
        submit = fake.seen("azure-cu", "submit")[0]
        assert (submit.headers["content-type"], submit.body) == ("application/octet-stream", PDF)


def test_an_analyzer_that_exists_may_not_be_ready_yet(ask: Ask) -> None:
    """Another process made it a moment ago: 409, and then it is waited for."""
    with FakeServer(faults=[Fault("reset", step="analyzer-poll")]) as fake:
        assert ask(fake, "azure-cu").outcome is Outcome.OK
        assert ask(fake, "azure-cu").outcome is Outcome.OK
        names = {request.path for request in fake.seen("azure-cu", "analyzer")}
        assert (fake.count("azure-cu", "analyzer"), len(names)) == (2, 1)


def test_what_an_analyzer_is_built_from_is_in_its_name(ask: Ask) -> None:
    with FakeServer() as fake:
        ask(fake, "azure-cu")
        ask(fake, "azure-cu", options={"completion_model": "gpt-4.1"})
        ask(fake, "azure-cu", options={"api_version": "2025-11-01"})
        ask(fake, "azure-cu", schema={"type": "object", "properties": {"other": {"type": "string"}}})
        names = {request.path.partition("?")[0] for request in fake.seen("azure-cu", "analyzer")}
        assert len(names) == 4


def test_azures_key_goes_to_the_endpoint_alone(ask: Ask) -> None:
    with FakeServer() as elsewhere, FakeServer() as fake:
        foreign = elsewhere.url("azure-cu") + "/contentunderstanding/analyzerResults/job-0"
        result = ask(fake, "azure-cu", job_id=foreign)
        assert result.outcome is Outcome.FAILED
        assert "leads away from the endpoint" in str(result.error)
        assert (elsewhere.count(), fake.count()) == (0, 0)


def test_a_schema_that_cannot_be_written_out_fails_before_anything_is_sent(ask: Ask) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"child": {"$ref": "#"}}}
    with FakeServer() as fake:
        result = ask(fake, "extend", schema=schema)
        assert (result.outcome, result.transient, result.schema_sent) == (Outcome.FAILED, False, None)
        assert "'#' refers to itself" in str(result.error)
        assert fake.count() == 0


def test_a_job_id_cannot_lead_to_another_address(ask: Ask) -> None:
    with FakeServer() as fake:
        ask(fake, "datalab", job_id="../../other?x=1")
        assert fake.count("datalab", "poll") == 1
        assert fake.seen("datalab", "poll")[0].path.endswith("/extract/..%2F..%2Fother%3Fx%3D1")


def _ask_many(configured: Any, variable: str, number: int) -> list[ExtractionResult]:
    schema = json.loads('{"type": "object", "properties": {"id": {"type": "string"}}}')

    async def work() -> list[ExtractionResult]:
        provider, credentials = open_provider(configured, environment={variable: "key-4711-never-written"})
        tasks = [
            ExtractionTask(Document(f"doc-{index}", "one.pdf", PDF, schema), Budget(20)) for index in range(number)
        ]
        try:
            return await asyncio.gather(*(extract(provider, task, credentials) for task in tasks))
        finally:
            await provider.aclose()

    return asyncio.run(work())
