"""The HTTP of the fake: one thread per connection, and a log of every request."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from docassay.errors import ArgumentValueError
from docassay.providers.fake.form import Form, Seen
from docassay.providers.fake.script import KEYS, VENDORS, Answers, Fault
from docassay.providers.fake.state import State
from docassay.providers.fake.vendors import Out, Route, route

__all__ = ["FakeServer"]


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
        self.requests: list[Seen] = []
        self.lock = threading.Lock()
        self.state = State(answers, faults, polls, cost, seed)
        self._http = _Server(("127.0.0.1", port), self)
        self.state.base = f"http://127.0.0.1:{self._http.server_address[1]}"
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
        return f"{self.state.base}/{vendor}{tail}"

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
        found = route(vendor, self.command, f"/{rest}")
        if found is None:
            self._send(Out({"error": f"no such address: {self.command} {self.path}"}, 404))
            return
        form = Form(self._note(vendor, found.step, body), found.argument)
        if not form.request.key:
            self._send(Out({"error": "no key"}, 401))
            return
        fake = self.server.fake
        with fake.lock:
            fault = fake.state.request_fault(form)
        try:
            if not self._spoil(fault, form.request):
                self._send(self._answer(found, form))
        except _Gone:
            return

    def _answer(self, found: Route, form: Form) -> Out:
        with self.server.fake.lock:
            try:
                return found.handle(self.server.fake.state, form)
            except LookupError as error:
                return Out({"error": f"there is no file {error}"}, 404)

    def _note(self, vendor: str, step: str, body: bytes) -> Seen:
        headers = {name.lower(): value for name, value in self.headers.items()}
        key = headers.get("authorization", "").removeprefix("Bearer ")
        key = headers.get("x-api-key") or headers.get("ocp-apim-subscription-key") or key
        seen = Seen(vendor, step, self.command, self.path, key, headers, body, time.monotonic())
        seen = replace(seen, schema=Form(seen, "").schema())
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
            self._send(Out({"error": fault.body}, fault.status, headers))
        elif fault.kind == "echo_key":
            self._send(Out({"error": f"the key {request.key} may not do this"}, 400))
        elif fault.kind == "not_json":
            self._send(Out("<html><body>Service page</body></html>"))
        return fault.kind != "slow"

    def _send(self, out: Out) -> None:
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
