"""Every vendor's API: which address does what, and how an answer is spelled."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from docassay.providers.fake.form import Form, chat_file, dig
from docassay.providers.fake.script import FakeDocument
from docassay.providers.fake.state import Job, State

__all__ = ["Out", "Route", "route"]


@dataclass(frozen=True, slots=True)
class Out:
    """An answer to send."""

    body: object
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Route:
    """Where a request leads."""

    step: str
    """What it is for: upload, submit, poll, projects, analyzer, analyzer-poll."""
    handle: Callable[[State, Form], Out]
    argument: str = ""
    """What the address names: a job, a file, an analyzer."""


def route(vendor: str, method: str, path: str) -> Route | None:
    """Where a request leads; None where the vendor has no such address."""
    for (of, verb, start), (step, handle) in ROUTES.items():
        if of != vendor or verb != method:
            continue
        if start.endswith("/") and path.startswith(start) and path != start:
            return _with_argument(step, handle, path[len(start) :])
        if path == start:
            return Route(step, handle)
    return None


def _with_argument(step: str, handle: Callable[[State, Form], Out], argument: str) -> Route | None:
    """An address that ends with a name; Azure's also say what is to be done with it."""
    if step == "submit":
        name, separator, verb = argument.partition(":")
        return Route(step, handle, name) if separator and verb == "analyze" else None
    return Route(step, handle, argument)


def _datalab_submit(state: State, form: Form) -> Out:
    document = replace(form.uploaded(), schema=form.schema())
    return Out({"success": True, "request_id": state.start(form, document)})


def _datalab_poll(state: State, form: Form) -> Out:
    job = state.job(form.argument)
    if job is None:
        return _unknown(form)
    if job.running:
        return Out({"status": "processing"})
    if job.is_("job_failed"):
        return Out({"status": "error", "error": _said(job)})
    data = state.answer(job.document, job.fault)
    cost: dict[str, object] = {"cost_breakdown": {"final_cost_cents": state.cost}}
    if job.is_("no_cost") or (job.is_("late_cost") and job.polls == job.pending + 1):
        cost = {}
    return Out({"status": "complete", "extraction_schema_json": None if data is None else json.dumps(data), **cost})


def _reducto_upload(state: State, form: Form) -> Out:
    return Out({"file_id": state.store(form.uploaded())})


def _reducto_submit(state: State, form: Form) -> Out:
    document = state.file(form.json().get("input"), form.schema())
    return Out({"job_id": state.start(form, document)})


def _reducto_poll(state: State, form: Form) -> Out:
    job = state.job(form.argument)
    if job is None:
        return _unknown(form)
    if job.running:
        return Out({"status": "Pending"})
    if job.is_("job_failed"):
        return Out({"status": "Failed", "reason": _said(job)})
    data = state.answer(job.document, job.fault)
    if job.is_("passes") and isinstance(data, dict):
        data = [{name: value} for name, value in data.items()]
    usage = {} if job.is_("no_cost") else {"usage": {"credits": state.cost}}
    return Out({"status": "Completed", "result": {"result": data, **usage}})


def _extend_upload(state: State, form: Form) -> Out:
    return Out({"success": True, "file": {"id": state.store(form.uploaded())}})


def _extend_submit(state: State, form: Form) -> Out:
    document = state.file(dig(form.json(), "file", "id"), form.schema())
    return Out({"extractRun": {"id": state.start(form, document), "status": "PENDING"}})


def _extend_poll(state: State, form: Form) -> Out:
    job = state.job(form.argument)
    if job is None:
        return _unknown(form)
    if job.running:
        return Out({"extractRun": {"id": form.argument, "status": "PROCESSING"}})
    if job.is_("job_failed"):
        return Out({"extractRun": {"id": form.argument, "status": "FAILED", "failureMessage": _said(job)}})
    usage = {} if job.is_("no_cost") else {"usage": {"totalCredits": state.cost}}
    output = {"output": {"value": state.answer(job.document, job.fault)}}
    return Out({"extractRun": {"id": form.argument, "status": "PROCESSED", **output, **usage}})


def _llama_projects(state: State, form: Form) -> Out:
    return Out([{"id": "project-0", "name": "Default"}])


def _llama_upload(state: State, form: Form) -> Out:
    return Out({"id": state.store(form.uploaded())})


def _llama_submit(state: State, form: Form) -> Out:
    document = state.file(form.json().get("file_input"), form.schema())
    return Out({"id": state.start(form, document), "status": "PENDING"})


def _llama_poll(state: State, form: Form) -> Out:
    job = state.job(form.argument)
    if job is None:
        return _unknown(form)
    if job.running:
        return Out({"status": "RUNNING"})
    if job.is_("job_failed"):
        return Out({"status": "FAILED", "error_message": _said(job)})
    return Out({"status": "SUCCESS", "extract_result": state.answer(job.document, job.fault)})


def _mistral(state: State, form: Form) -> Out:
    body = form.json()
    data = base64.b64decode(str(dig(body, "document", "document_url")).partition(",")[2])
    document = FakeDocument("mistral", "", data, form.schema())
    fault = state.answer_fault(form, document)
    answer = state.answer(document, fault)
    kind = fault.kind if fault is not None else ""
    text = None if answer is None else _spelled(json.dumps(answer), kind)
    usage = {"pages_processed": 1, **({} if kind == "no_cost" else {"cost": state.cost})}
    return Out({"pages": [], "document_annotation": text, "usage_info": usage})


def _azure_make(state: State, form: Form) -> Out:
    if state.analyzer(form.argument) is not None:
        return Out({"error": {"code": "Conflict", "message": "the analyzer exists"}}, 409)
    state.make(form.argument, form.schema() or {})
    base = f"{state.base}/azure-cu/contentunderstanding/analyzers"
    where = f"{base}/{form.argument}/operations/0?api-version=fake"
    return Out({"analyzerId": form.argument, "status": "creating"}, 201, {"Operation-Location": where})


def _azure_get(state: State, form: Form) -> Out:
    """An analyzer, or the operation that makes it: both are pending for a while."""
    name, _, operation = form.argument.partition("/")
    analyzer = state.analyzer(name)
    if analyzer is None:
        return _unknown(form)
    analyzer.pending -= 1
    if analyzer.pending >= 0:
        return Out({"status": "Running" if operation else "creating"})
    return Out({"status": "Succeeded" if operation else "ready"})


def _azure_submit(state: State, form: Form) -> Out:
    analyzer = state.analyzer(form.argument)
    if analyzer is None or analyzer.pending > 0:
        return Out({"error": {"code": "NotFound", "message": "the analyzer is not ready"}}, 404)
    schema = {"type": "object", "properties": analyzer.fields}
    job_id = state.start(form, FakeDocument("azure-cu", "", form.request.body, schema))
    where = f"{state.base}/azure-cu/contentunderstanding/analyzerResults/{job_id}?api-version=fake"
    return Out({"id": job_id, "status": "Running"}, 202, {"Operation-Location": where})


def _azure_poll(state: State, form: Form) -> Out:
    job = state.job(form.argument)
    if job is None:
        return _unknown(form)
    if job.running:
        return Out({"status": "Running"})
    if job.is_("job_failed"):
        return Out({"status": "Failed", "error": {"message": _said(job)}})
    answer = state.answer(job.document, job.fault)
    contents = [{"fields": _azure_value(answer)["valueObject"]}] if isinstance(answer, dict) else []
    return Out({"status": "Succeeded", "result": {"contents": contents}})


def _azure_value(value: object) -> dict[str, Any]:
    """A JSON value the way Azure spells it."""
    if isinstance(value, dict):
        return {"type": "object", "valueObject": {name: _azure_value(sub) for name, sub in value.items()}}
    if isinstance(value, list):
        return {"type": "array", "valueArray": [_azure_value(item) for item in value]}
    if isinstance(value, bool):
        return {"type": "boolean", "valueBoolean": value}
    if isinstance(value, int | float):
        return {"type": "number", "valueNumber": value}
    return {"type": "string"} if value is None else {"type": "string", "valueString": value}


def _chat(state: State, form: Form) -> Out:
    body = form.json()
    name, data = chat_file(body)
    document = FakeDocument("openai", name, data, form.schema())
    fault = state.answer_fault(form, document)
    kind = fault.kind if fault is not None else ""
    if kind == "no_choices":
        return Out({"choices": None, "error": {"message": fault.body if fault else "", "code": 502}})
    answer = state.answer(document, fault)
    text = _spelled("" if answer is None else json.dumps(answer), kind)
    message = {"role": "assistant", "content": text}
    reason = "length" if kind == "truncated" else "stop"
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    cost = {} if kind == "no_cost" else {"cost": state.cost}
    return Out(
        {
            "id": f"chat-{state.answered}",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {**usage, **cost},
        }
    )


def _spelled(text: str, kind: str) -> str:
    """An answer's text the way a model may spell it."""
    if kind == "fenced":
        return f"Here it is:\n\n```json\n{text}\n```\n"
    if kind == "truncated":
        return text[: len(text) // 2]
    return "I cannot read this document." if kind == "prose" else text


def _said(job: Job) -> str:
    return job.fault.body if job.fault is not None else ""


def _unknown(form: Form) -> Out:
    return Out({"error": f"there is no {form.argument}"}, 404)


ROUTES: Mapping[tuple[str, str, str], tuple[str, Callable[[State, Form], Out]]] = {
    ("datalab", "POST", "/api/v1/extract"): ("submit", _datalab_submit),
    ("datalab", "GET", "/api/v1/extract/"): ("poll", _datalab_poll),
    ("reducto", "POST", "/upload"): ("upload", _reducto_upload),
    ("reducto", "POST", "/extract_async"): ("submit", _reducto_submit),
    ("reducto", "GET", "/job/"): ("poll", _reducto_poll),
    ("extend", "POST", "/files/upload"): ("upload", _extend_upload),
    ("extend", "POST", "/extract_runs"): ("submit", _extend_submit),
    ("extend", "GET", "/extract_runs/"): ("poll", _extend_poll),
    ("llamaextract", "GET", "/api/v1/projects"): ("projects", _llama_projects),
    ("llamaextract", "POST", "/api/v1/beta/files"): ("upload", _llama_upload),
    ("llamaextract", "POST", "/api/v2/extract"): ("submit", _llama_submit),
    ("llamaextract", "GET", "/api/v2/extract/"): ("poll", _llama_poll),
    ("mistral", "POST", "/v1/ocr"): ("submit", _mistral),
    ("azure-cu", "PUT", "/contentunderstanding/analyzers/"): ("analyzer", _azure_make),
    ("azure-cu", "GET", "/contentunderstanding/analyzers/"): ("analyzer-poll", _azure_get),
    ("azure-cu", "POST", "/contentunderstanding/analyzers/"): ("submit", _azure_submit),
    ("azure-cu", "GET", "/contentunderstanding/analyzerResults/"): ("poll", _azure_poll),
    ("openai", "POST", "/v1/chat/completions"): ("submit", _chat),
}
