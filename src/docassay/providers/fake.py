"""A server on loopback that speaks every vendor's API, with scripted answers and faults: for tests of pipelines.

    with FakeServer(answers={"invoice.pdf": {"total": 5}}, faults=[Fault("status", status=503, times=2)]) as fake:
        options = fake.options("datalab")   # base_url and a short poll_interval
        ...
        assert fake.count("datalab", "submit") == 3

Keys are not checked, only that one is sent. Nothing leaves the machine. `python -m docassay.providers.fake` serves one
until it is interrupted.
"""

from __future__ import annotations

import base64
import contextlib
import email.parser
import email.policy
import hashlib
import json
import random
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from docassay.errors import ArgumentValueError

__all__ = ["KEYS", "VENDORS", "FakeDocument", "FakeServer", "Fault", "Seen", "sample"]

Vendor = Literal["datalab", "reducto", "extend", "llamaextract", "mistral", "azure-cu", "openai"]

KEYS: Mapping[str, str] = {
    "datalab": "DATALAB_API_KEY",
    "reducto": "REDUCTO_API_KEY",
    "extend": "EXTEND_API_KEY",
    "llamaextract": "LLAMA_CLOUD_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "azure-cu": "AZURE_CU_KEY",
    "openai": "OPENAI_API_KEY",
}
"""The environment variable of each vendor's key."""

VENDORS = tuple(KEYS)

KINDS = (
    "status",
    "reset",
    "not_json",
    "slow",
    "echo_key",
    "never_ends",
    "empty",
    "job_failed",
    "no_cost",
    "late_cost",
    "passes",
    "fenced",
    "truncated",
    "no_choices",
    "prose",
)
ANSWER_KINDS = frozenset({"never_ends", "empty", "job_failed", "no_cost", "late_cost", "passes", "fenced", "truncated"})
ANSWER_KINDS |= {"no_choices", "prose"}


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong, and for which requests.

    Kinds that spoil one request: `status` (answers `status`, with `retry_after` and `body` where given), `reset` (the
    connection breaks), `not_json` (HTTP 200 with a page), `slow` (answers after `seconds`), `echo_key` (HTTP 400 whose
    body repeats the key).
    Kinds that spoil a document's answer: `never_ends`, `empty` (ends well, without data), `job_failed` (ends badly,
    saying `body`), `no_cost`, `late_cost` (states its cost one poll later), `passes` (a list with one object per
    field), and of chat answers also `fenced`, `prose`, `truncated` and `no_choices`.
    """

    kind: str
    vendor: str | None = None
    """Only this vendor."""
    step: str | None = None
    """Only this step: upload, submit, poll, projects, analyzer, analyzer-poll."""
    document: str | None = None
    """Only the document with this file name, where the request tells it."""
    times: int | None = 1
    """How many requests or answers it spoils; None: all."""
    rate: float = 1.0
    """The share of requests it spoils, drawn from the server's seeded generator."""
    status: int = 503
    retry_after: str | None = None
    body: str = "scripted fault"
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ArgumentValueError(f"there is no fault {self.kind!r}; there are {', '.join(KINDS)}")


@dataclass(frozen=True, slots=True)
class FakeDocument:
    """A document as the server received it."""

    vendor: str
    name: str
    """The stated file name; empty where the API takes none."""
    data: bytes = field(repr=False)
    schema: Any = field(default=None, repr=False)
    """The schema as it came over the wire; None until it came."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One request that the server got."""

    vendor: str
    step: str
    method: str
    path: str
    key: str
    """The credential that was sent."""
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    at: float
    """Seconds on the monotonic clock."""
    schema: Any = field(default=None, repr=False)
    """The schema in the request, parsed, where it carries one."""

    def json(self) -> Any:
        """The request's JSON body."""
        return json.loads(self.body)


Answers = Mapping[str, object] | Callable[[FakeDocument], object]


class FakeServer:
    """Serves all vendors below one address, in threads; a context manager.

    Args:
        answers: the extraction by file name or by SHA-256 of the document, or a function of the document. Without one,
            a made-up answer that fits the schema.
        faults: what goes wrong; the first that applies to a request is used up on it.
        polls: how many polls a job is pending for.
        cost: what each answer states: cents, credits or dollars, as the vendor does.
        seed: of the generator behind `Fault.rate`.
        port: 0 takes a free one.
    """

    def __init__(
        self,
        answers: Answers | None = None,
        faults: Sequence[Fault] = (),
        *,
        polls: int = 1,
        cost: object = 2.5,
        seed: int = 0,
        port: int = 0,
    ) -> None:
        self.answers = answers
        self.polls = polls
        self.cost = cost
        self.requests: list[Seen] = []
        self.lock = threading.Lock()
        self._faults = [_Pending(fault, fault.times) for fault in faults]
        self._random = random.Random(seed)
        self._files: dict[str, FakeDocument] = {}
        self._jobs: dict[str, _Job] = {}
        self._analyzers: dict[str, _Analyzer] = {}
        self._http = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def url(self, vendor: str) -> str:
        """The base address of one vendor's API; of any `org/model`, that of the OpenAI-compatible one."""
        vendor = "openai" if "/" in vendor else vendor
        if vendor not in KEYS:
            raise ArgumentValueError(f"there is no vendor {vendor!r}; there are {', '.join(VENDORS)}")
        tail = "/v1" if vendor == "openai" else ""
        return f"http://127.0.0.1:{self._http.server_address[1]}/{vendor}{tail}"

    def options(self, vendor: str, **more: object) -> dict[str, object]:
        """Options that point a provider here and poll without waiting long."""
        where = {"endpoint" if vendor == "azure-cu" else "base_url": self.url(vendor)}
        polled = vendor not in ("mistral", "openai") and "/" not in vendor
        return {**where, **({"poll_interval": 0.01} if polled else {}), **more}

    def seen(self, vendor: str | None = None, step: str | None = None) -> list[Seen]:
        """The requests so far, of one vendor and step where given."""
        with self.lock:
            return [r for r in self.requests if vendor in (None, r.vendor) and step in (None, r.step)]

    def count(self, vendor: str | None = None, step: str | None = None) -> int:
        """How many requests there were."""
        return len(self.seen(vendor, step))

    def schemas(self, vendor: str | None = None) -> list[Any]:
        """The schemas that came over the wire, in order."""
        return [request.schema for request in self.seen(vendor) if request.schema is not None]

    # What the handlers below use. Everything runs under `lock` but for waiting and sending.

    def fault(self, request: Seen, document: str, *, of_answers: bool) -> Fault | None:
        """The fault that spoils this request, or this document's answer, used up by asking."""
        for entry in self._faults:
            fault = entry.fault
            if (fault.kind in ANSWER_KINDS) is not of_answers or entry.left == 0:
                continue
            if not _applies(fault, request, document) or self._random.random() >= fault.rate:
                continue
            entry.left = None if entry.left is None else entry.left - 1
            return fault
        return None

    def store(self, document: FakeDocument) -> str:
        """Keep an uploaded file; its id."""
        self._files[file_id := f"file-{len(self._files)}"] = document
        return file_id

    def file(self, file_id: object, schema: object) -> FakeDocument:
        """An uploaded file, now with its question."""
        return replace(self._files[str(file_id)], schema=schema)

    def start(self, document: FakeDocument, fault: Fault | None) -> str:
        """Start a job; its id."""
        self._jobs[job_id := f"job-{len(self._jobs)}"] = _Job(document, self.polls, fault)
        return job_id

    def job(self, job_id: str) -> _Job | None:
        """A job, one poll older."""
        job = self._jobs.get(job_id)
        if job is not None:
            job.polls += 1
        return job

    def analyzer(self, name: str) -> _Analyzer | None:
        """An analyzer that was made."""
        return self._analyzers.get(name)

    def make(self, name: str, fields: Mapping[str, Any]) -> None:
        """Start to make an analyzer."""
        self._analyzers[name] = _Analyzer(fields, min(self.polls, 1))

    def answer(self, document: FakeDocument, fault: Fault | None) -> object:
        """The extraction for a document; None for one that comes back empty."""
        if fault is not None and fault.kind == "empty":
            return None
        if callable(self.answers):
            return self.answers(document)
        scripted = self.answers or {}
        for key in (document.name, hashlib.sha256(document.data).hexdigest()):
            if key in scripted:
                return scripted[key]
        return sample(document.schema)


def sample(schema: object) -> object:
    """A made-up value that fits a schema, the same every time: text `text`, number 1.5, one row per array."""
    if not isinstance(schema, Mapping):
        return "text"
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return sample(schema[key][0])
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" or "properties" in schema:
        return {name: sample(sub) for name, sub in (schema.get("properties") or {}).items()}
    if kind == "array":
        return [sample(schema.get("items"))]
    return {"number": 1.5, "integer": 1, "boolean": True, "null": None}.get(str(kind), "text")


@dataclass(slots=True)
class _Pending:
    """A fault and how often it is still to come."""

    fault: Fault
    left: int | None


@dataclass(slots=True)
class _Job:
    document: FakeDocument
    pending: int
    fault: Fault | None
    polls: int = 0

    @property
    def running(self) -> bool:
        return self.polls <= self.pending or (self.fault is not None and self.fault.kind == "never_ends")

    def is_(self, kind: str) -> bool:
        return self.fault is not None and self.fault.kind == kind


@dataclass(slots=True)
class _Analyzer:
    fields: Mapping[str, Any]
    pending: int


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], fake: FakeServer) -> None:
        self.fake = fake
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no error of a server."""


class _Gone(Exception):  # noqa: N818 - no error: the scripted end of a connection
    """The connection was reset, as scripted."""


@dataclass(frozen=True, slots=True)
class _Out:
    """An answer to send."""

    body: object
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class _Handler(BaseHTTPRequestHandler):
    """One request: who asks for what, is it spoiled, else the vendor's answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each answer waits 40 ms for an acknowledgement
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Silent; `FakeServer.requests` is the log."""

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        vendor, _, rest = urlsplit(self.path).path.lstrip("/").partition("/")
        route = _route(vendor, self.command, f"/{rest}")
        if route is None:
            self._send(_Out({"error": f"no such address: {self.command} {self.path}"}, 404))
            return
        step, handle, argument = route
        request = self._note(vendor, step, body)
        fake = self.server.fake
        if not request.key:
            self._send(_Out({"error": "no key"}, 401))
            return
        form = _Form(request, argument)
        with fake.lock:
            fault = fake.fault(request, form.document_name(fake), of_answers=False)
        try:
            if not self._spoil(fault, request):
                with fake.lock:
                    out = handle(fake, form)
                self._send(out)
        except _Gone:
            return

    def _note(self, vendor: str, step: str, body: bytes) -> Seen:
        headers = {name.lower(): value for name, value in self.headers.items()}
        key = headers.get("authorization", "").removeprefix("Bearer ")
        key = headers.get("x-api-key") or headers.get("ocp-apim-subscription-key") or key
        seen = Seen(vendor, step, self.command, self.path, key, headers, body, time.monotonic())
        seen = replace(seen, schema=_Form(seen, "").schema())
        with self.server.fake.lock:
            self.server.fake.requests.append(seen)
        return seen

    def _spoil(self, fault: Fault | None, request: Seen) -> bool:
        """Do what the fault says; whether the request is answered by that."""
        if fault is None:
            return False
        time.sleep(fault.seconds)
        if fault.kind == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
            raise _Gone
        if fault.kind == "status":
            headers = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
            self._send(_Out({"error": fault.body}, fault.status, headers))
        elif fault.kind == "echo_key":
            self._send(_Out({"error": f"the key {request.key} may not do this"}, 400))
        elif fault.kind == "not_json":
            self._send(_Out("<html><body>Service page</body></html>"))
        return fault.kind != "slow"

    def _send(self, out: _Out) -> None:
        data = out.body.encode() if isinstance(out.body, str) else json.dumps(out.body).encode()
        try:
            self.send_response(out.status)
            for name, value in out.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "text/html" if isinstance(out.body, str) else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            self.close_connection = True


class _Form:
    """A request's content, however it is packed."""

    def __init__(self, request: Seen, argument: str) -> None:
        self.request = request
        self.argument = argument
        """What the address names: a job, a file, an analyzer."""

    def parts(self) -> dict[str, tuple[str, bytes]]:
        """A multipart body: field -> (file name, content)."""
        kind = self.request.headers.get("content-type", "")
        if not kind.startswith("multipart/form-data"):
            return {}
        head = f"Content-Type: {kind}\r\n\r\n".encode()
        message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + self.request.body)
        found = {}
        for part in message.iter_parts():
            name = part.get_param("name", header="content-disposition")
            data = part.get_payload(decode=True)
            found[str(name)] = (part.get_filename() or "", data if isinstance(data, bytes) else b"")
        return found

    def json(self) -> Any:
        """A JSON body, else an empty object."""
        if not self.request.headers.get("content-type", "").startswith("application/json"):
            return {}
        try:
            return json.loads(self.request.body)
        except ValueError:
            return {}

    def uploaded(self) -> FakeDocument:
        """The file in a multipart body."""
        name, data = self.parts().get("file", ("", b""))
        return FakeDocument(self.request.vendor, name, data)

    def schema(self) -> Any:
        """The schema that the request carries, wherever the vendor's API puts it."""
        vendor, step = self.request.vendor, self.request.step
        if vendor == "datalab" and step == "submit":
            return json.loads(self.parts().get("page_schema", ("", b"null"))[1])
        if (vendor, step) not in SCHEMA_PATHS:
            return None
        value = self.json()
        for key in SCHEMA_PATHS[vendor, step]:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def document_name(self, fake: FakeServer) -> str:
        """The file name of the document that the request is about, as far as it tells."""
        body = self.json()
        if self.request.vendor == "openai":
            return _chat_file(body)[0]
        file_id = body.get("input") or body.get("file_input") or _get(body, "file", "id") if body else None
        if file_id in fake._files:
            return fake._files[file_id].name
        job = fake._jobs.get(self.argument)
        return job.document.name if job is not None else self.uploaded().name


SCHEMA_PATHS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("reducto", "submit"): ("instructions", "schema"),
    ("extend", "submit"): ("config", "schema"),
    ("llamaextract", "submit"): ("configuration", "data_schema"),
    ("mistral", "submit"): ("document_annotation_format", "json_schema", "schema"),
    ("azure-cu", "analyzer"): ("fieldSchema", "fields"),
    ("openai", "submit"): ("response_format", "json_schema", "schema"),
}

_Handle = Callable[[FakeServer, _Form], _Out]


def _applies(fault: Fault, request: Seen, document: str) -> bool:
    return (
        fault.vendor in (None, request.vendor)
        and fault.step in (None, request.step)
        and fault.document in (None, document)
    )


def _get(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _route(vendor: str, method: str, path: str) -> tuple[str, _Handle, str] | None:
    """The step, the handler and what the address names; None where the vendor has no such address."""
    for (of, verb, start), (step, handle) in ROUTES.items():
        if of != vendor or verb != method:
            continue
        if start.endswith("/") and path.startswith(start) and path != start:
            return _azure(step, handle, path[len(start) :])
        if path == start:
            return step, handle, ""
    return None


def _azure(step: str, handle: _Handle, argument: str) -> tuple[str, _Handle, str] | None:
    """Azure has two addresses for POST below one path; of the others the argument is the last part."""
    if step == "submit":
        name, separator, verb = argument.partition(":")
        return (step, handle, name) if separator and verb == "analyze" else None
    return step, handle, argument


def _datalab_submit(fake: FakeServer, form: _Form) -> _Out:
    document = replace(form.uploaded(), schema=form.schema())
    return _Out({"success": True, "request_id": _start(fake, form, document)})


def _datalab_poll(fake: FakeServer, form: _Form) -> _Out:
    job = fake.job(form.argument)
    if job is None:
        return _unknown(form)
    if job.running:
        return _Out({"status": "processing"})
    if job.is_("job_failed"):
        return _Out({"status": "error", "error": _said(job)})
    data = fake.answer(job.document, job.fault)
    cost: dict[str, object] = {"cost_breakdown": {"final_cost_cents": fake.cost}}
    if job.is_("no_cost") or (job.is_("late_cost") and job.polls == job.pending + 1):
        cost = {}
    return _Out({"status": "complete", "extraction_schema_json": None if data is None else json.dumps(data), **cost})


def _reducto_upload(fake: FakeServer, form: _Form) -> _Out:
    return _Out({"file_id": fake.store(form.uploaded())})


def _reducto_submit(fake: FakeServer, form: _Form) -> _Out:
    document = fake.file(form.json().get("input"), form.schema())
    return _Out({"job_id": _start(fake, form, document)})


def _reducto_poll(fake: FakeServer, form: _Form) -> _Out:
    job = fake.job(form.argument)
    if job is None:
        return _unknown(form)
    if job.running:
        return _Out({"status": "Pending"})
    if job.is_("job_failed"):
        return _Out({"status": "Failed", "reason": _said(job)})
    data = fake.answer(job.document, job.fault)
    if job.is_("passes") and isinstance(data, dict):
        data = [{name: value} for name, value in data.items()]
    usage = {} if job.is_("no_cost") else {"usage": {"credits": fake.cost}}
    return _Out({"status": "Completed", "result": {"result": data, **usage}})


def _extend_upload(fake: FakeServer, form: _Form) -> _Out:
    return _Out({"success": True, "file": {"id": fake.store(form.uploaded())}})


def _extend_submit(fake: FakeServer, form: _Form) -> _Out:
    document = fake.file(_get(form.json(), "file", "id"), form.schema())
    return _Out({"extractRun": {"id": _start(fake, form, document), "status": "PENDING"}})


def _extend_poll(fake: FakeServer, form: _Form) -> _Out:
    job = fake.job(form.argument)
    if job is None:
        return _unknown(form)
    if job.running:
        return _Out({"extractRun": {"id": form.argument, "status": "PROCESSING"}})
    if job.is_("job_failed"):
        return _Out({"extractRun": {"id": form.argument, "status": "FAILED", "failureMessage": _said(job)}})
    usage = {} if job.is_("no_cost") else {"usage": {"totalCredits": fake.cost}}
    output = {"output": {"value": fake.answer(job.document, job.fault)}}
    return _Out({"extractRun": {"id": form.argument, "status": "PROCESSED", **output, **usage}})


def _llama_projects(fake: FakeServer, form: _Form) -> _Out:
    return _Out([{"id": "project-0", "name": "Default"}])


def _llama_upload(fake: FakeServer, form: _Form) -> _Out:
    return _Out({"id": fake.store(form.uploaded())})


def _llama_submit(fake: FakeServer, form: _Form) -> _Out:
    document = fake.file(form.json().get("file_input"), form.schema())
    return _Out({"id": _start(fake, form, document), "status": "PENDING"})


def _llama_poll(fake: FakeServer, form: _Form) -> _Out:
    job = fake.job(form.argument)
    if job is None:
        return _unknown(form)
    if job.running:
        return _Out({"status": "RUNNING"})
    if job.is_("job_failed"):
        return _Out({"status": "FAILED", "error_message": _said(job)})
    return _Out({"status": "SUCCESS", "extract_result": fake.answer(job.document, job.fault)})


def _mistral(fake: FakeServer, form: _Form) -> _Out:
    body = form.json()
    data = base64.b64decode(str(_get(body, "document", "document_url")).partition(",")[2])
    document = FakeDocument("mistral", "", data, form.schema())
    fault = fake.fault(form.request, "", of_answers=True)
    answer = fake.answer(document, fault)
    kind = fault.kind if fault is not None else ""
    text = None if answer is None else _spelled(json.dumps(answer), kind)
    usage = {"pages_processed": 1, **({} if kind == "no_cost" else {"cost": fake.cost})}
    return _Out({"pages": [], "document_annotation": text, "usage_info": usage})


def _azure_make(fake: FakeServer, form: _Form) -> _Out:
    if fake.analyzer(form.argument) is not None:
        return _Out({"error": {"code": "Conflict", "message": "the analyzer exists"}}, 409)
    fake.make(form.argument, form.schema() or {})
    base = f"{fake.url('azure-cu')}/contentunderstanding/analyzers"
    where = f"{base}/{form.argument}/operations/0?api-version=fake"
    return _Out({"analyzerId": form.argument, "status": "creating"}, 201, {"Operation-Location": where})


def _azure_get(fake: FakeServer, form: _Form) -> _Out:
    """An analyzer, or the operation that makes it: both are pending for a while."""
    name, _, operation = form.argument.partition("/")
    analyzer = fake.analyzer(name)
    if analyzer is None:
        return _unknown(form)
    analyzer.pending -= 1
    if analyzer.pending >= 0:
        return _Out({"status": "Running" if operation else "creating"})
    return _Out({"status": "Succeeded" if operation else "ready"})


def _azure_submit(fake: FakeServer, form: _Form) -> _Out:
    analyzer = fake.analyzer(form.argument)
    if analyzer is None or analyzer.pending > 0:
        return _Out({"error": {"code": "NotFound", "message": "the analyzer is not ready"}}, 404)
    schema = {"type": "object", "properties": analyzer.fields}
    job_id = _start(fake, form, FakeDocument("azure-cu", "", form.request.body, schema))
    where = f"{fake.url('azure-cu')}/contentunderstanding/analyzerResults/{job_id}?api-version=fake"
    return _Out({"id": job_id, "status": "Running"}, 202, {"Operation-Location": where})


def _azure_poll(fake: FakeServer, form: _Form) -> _Out:
    job = fake.job(form.argument)
    if job is None:
        return _unknown(form)
    if job.running:
        return _Out({"status": "Running"})
    if job.is_("job_failed"):
        return _Out({"status": "Failed", "error": {"message": _said(job)}})
    answer = fake.answer(job.document, job.fault)
    contents = [{"fields": _azure_value(answer)["valueObject"]}] if isinstance(answer, dict) else []
    return _Out({"status": "Succeeded", "result": {"contents": contents}})


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


def _chat(fake: FakeServer, form: _Form) -> _Out:
    body = form.json()
    name, data = _chat_file(body)
    fault = fake.fault(form.request, name, of_answers=True)
    kind = fault.kind if fault is not None else ""
    if kind == "no_choices":
        return _Out({"choices": None, "error": {"message": fault.body if fault else "", "code": 502}})
    answer = fake.answer(FakeDocument("openai", name, data, form.schema()), fault)
    text = _spelled("" if answer is None else json.dumps(answer), kind)
    message = {"role": "assistant", "content": text}
    reason = "length" if kind == "truncated" else "stop"
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    cost = {} if kind == "no_cost" else {"cost": fake.cost}
    return _Out(
        {
            "id": f"chat-{len(fake.requests)}",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {**usage, **cost},
        }
    )


def _chat_file(body: Any) -> tuple[str, bytes]:
    for message in body.get("messages") or ():
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            if part.get("type") == "file":
                encoded = str(_get(part, "file", "file_data")).partition(",")[2]
                return str(_get(part, "file", "filename")), base64.b64decode(encoded)
    return "", b""


def _spelled(text: str, kind: str) -> str:
    """An answer's text the way a model may spell it."""
    if kind == "fenced":
        return f"Here it is:\n\n```json\n{text}\n```\n"
    if kind == "truncated":
        return text[: len(text) // 2]
    return "I cannot read this document." if kind == "prose" else text


def _start(fake: FakeServer, form: _Form, document: FakeDocument) -> str:
    return fake.start(document, fake.fault(form.request, document.name, of_answers=True))


def _said(job: _Job) -> str:
    return job.fault.body if job.fault is not None else ""


def _unknown(form: _Form) -> _Out:
    return _Out({"error": f"there is no {form.argument}"}, 404)


ROUTES: Mapping[tuple[str, str, str], tuple[str, _Handle]] = {
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


def main() -> None:
    """Serve until interrupted: `python -m docassay.providers.fake [PORT]`; prints each vendor's address."""
    with FakeServer(port=int(sys.argv[1]) if len(sys.argv) > 1 else 0) as fake:
        for vendor in VENDORS:
            print(f"{vendor:14}{fake.url(vendor)}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
