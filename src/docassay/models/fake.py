"""A scripted OpenAI-compatible server on loopback, for tests of whatever talks to a model; it calls no model.

    with FakeModel([rate_limited(retry_after=1), answer({"total": 12})]) as server:
        endpoint = Endpoint(server.base_url)
        ...
        assert len(server.asked) == 2

Each request first meets the `rules` (what this server refuses), then takes the next reply of the script, and once the
script is used up the `default` reply. What was asked is kept, in the order in which it arrived.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

__all__ = [
    "Asked",
    "FakeModel",
    "Reply",
    "Rule",
    "answer",
    "breaks_on_mode",
    "broken_body",
    "connection_reset",
    "error",
    "insufficient_quota",
    "mode_of",
    "needs_key",
    "not_json",
    "rate_limited",
    "refuses_mode",
    "refuses_parameter",
    "slow",
    "upstream_failed",
]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it arrived."""

    body: dict[str, Any]
    headers: Mapping[str, str]
    """Names in lower case."""
    path: str
    at: float
    """Monotonic seconds."""

    @property
    def text(self) -> str:
        """All text of all messages, joined by line ends."""
        return "\n".join(_texts(self.body))


@dataclass(frozen=True, slots=True)
class Reply:
    """One scripted answer."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    delay: float = 0.0
    """Seconds before anything is sent."""
    fault: Literal["none", "reset", "cut"] = "none"
    """`reset`: the connection is reset instead of an answer; `cut`: it is closed in the middle of the body."""


Rule = Callable[[Asked], Reply | None]
"""A reply for requests that this server refuses, else None."""


class FakeModel:
    """The server; a context manager that listens on 127.0.0.1 while it is entered.

    Args:
        script: replies in order, one per request that no rule refused.
        default: the reply after the script, or what makes one of a request.
        rules: tried in order before the script.
    """

    def __init__(
        self,
        script: Iterable[Reply] = (),
        *,
        default: Reply | Callable[[Asked], Reply] | None = None,
        rules: Iterable[Rule] = (),
    ) -> None:
        self.asked: list[Asked] = []
        """Every request, in order of arrival."""
        self.most_at_once = 0
        """The most requests that were open at one time."""
        self._script = list(script)
        self._default = answer({}) if default is None else default
        self._rules = tuple(rules)
        self._lock = threading.Lock()
        self._open = 0
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def base_url(self) -> str:
        """What an `Endpoint` takes; valid while entered."""
        assert self._server is not None, "enter the fake before asking for its address"
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def reply_to(self, asked: Asked) -> Reply:
        """Note a request and decide its reply."""
        with self._lock:
            self.asked.append(asked)
            refused = next((reply for rule in self._rules if (reply := rule(asked)) is not None), None)
            if refused is not None:
                return refused
            if self._script:
                return self._script.pop(0)
        return self._default if isinstance(self._default, Reply) else self._default(asked)

    @contextlib.contextmanager
    def open_request(self) -> Any:
        """Count a request as open."""
        with self._lock:
            self._open += 1
            self.most_at_once = max(self.most_at_once, self._open)
        try:
            yield
        finally:
            with self._lock:
                self._open -= 1

    def __enter__(self) -> Self:
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        assert self._thread is not None
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def answer(
    content: object,
    *,
    usage: tuple[int, int] | None = (100, 20),
    cost: float | None = None,
    finish_reason: str | None = "stop",
    delay: float = 0.0,
    **message: object,
) -> Reply:
    """An answer with `content`: text as it is, anything else as JSON.

    Args:
        usage: input and output tokens; None states none.
        cost: `usage.cost` in USD.
        message: further fields of the message, such as `reasoning_content` or `refusal`.
    """
    text = content if isinstance(content, str | None) else json.dumps(content, ensure_ascii=False)
    body: dict[str, Any] = {
        "id": "fake-1",
        "object": "chat.completion",
        "model": "fake-model",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": finish_reason,
            }
        ],
    }
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        body["usage"] |= {} if cost is None else {"cost": cost}
    return Reply(body=_json(body), delay=delay)


def error(
    status: int, message: str = "scripted failure", *, code: str | None = None, param: str | None = None
) -> Reply:
    """An error in OpenAI's shape."""
    described = {"message": message, "type": "scripted", "code": code, "param": param}
    return Reply(status, _json({"error": described}))


def rate_limited(retry_after: float | str | None = None) -> Reply:
    """429, with Retry-After where one is given (seconds, or an HTTP date as text)."""
    headers = () if retry_after is None else (("retry-after", str(retry_after)),)
    return replace(error(429, "rate limit reached", code="rate_limit_exceeded"), headers=headers)


def insufficient_quota() -> Reply:
    """429 that says the account is used up, which no waiting helps."""
    return error(429, "You exceeded your current quota.", code="insufficient_quota")


def upstream_failed(message: str = "provider returned error", code: int | None = 502) -> Reply:
    """200 with `choices` null and a top-level `error`, as relaying hosts answer."""
    return Reply(body=_json({"id": "fake-1", "choices": None, "error": {"message": message, "code": code}}))


def not_json(text: str = "<html>busy</html>") -> Reply:
    """200 with a body that is not JSON."""
    return Reply(body=text.encode("utf-8"))


def broken_body(whole: Reply | None = None) -> Reply:
    """A body that is cut off, although its length was stated."""
    return replace(whole or answer({}), fault="cut")


def connection_reset() -> Reply:
    """The connection is reset instead of an answer."""
    return Reply(fault="reset")


def slow(reply: Reply, seconds: float) -> Reply:
    """`reply`, `seconds` later."""
    return replace(reply, delay=seconds)


def mode_of(body: Mapping[str, Any]) -> str:
    """How structured output was asked for: `json_schema`, `json_object+schema`, `json_object` or `text`."""
    asked = body.get("response_format") or {}
    kind = str(asked.get("type", "text"))
    return f"{kind}+schema" if kind == "json_object" and "schema" in asked else kind


def refuses_mode(*modes: str) -> Rule:
    """Refuses requests in one of `modes` (see `mode_of`) with 400."""

    def rule(asked: Asked) -> Reply | None:
        mode = mode_of(asked.body)
        if mode not in modes:
            return None
        return error(400, f"'response_format' of type {mode!r} is not supported", param="response_format")

    return rule


def breaks_on_mode(*modes: str) -> Rule:
    """Answers requests in one of `modes` with 500 and no reason."""
    return lambda asked: error(500, "internal error") if mode_of(asked.body) in modes else None


def refuses_parameter(name: str, message: str | None = None) -> Rule:
    """Refuses requests that set the top-level parameter `name` with 400."""
    said = message or f"Unsupported parameter: '{name}' is not supported with this model."
    return lambda asked: error(400, said, code="unsupported_parameter", param=name) if name in asked.body else None


def needs_key(key: str) -> Rule:
    """Refuses requests without the bearer `key` with 401, and quotes what was sent."""

    def rule(asked: Asked) -> Reply | None:
        sent = asked.headers.get("authorization", "")
        return None if sent == f"Bearer {key}" else error(401, f"Incorrect API key provided: {sent}")

    return rule


@dataclass(frozen=True)
class _Incoming:
    asked: Asked
    reply: Reply = field(repr=False)


class _Server(ThreadingHTTPServer):
    """Keeps its connections, so that leaving the fake closes them all."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, fake: FakeModel) -> None:
        self.fake = fake
        self._connections: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._guard:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._guard:
            self._connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        with self._guard:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no fault of the fake's."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        with self.server.fake.open_request():
            incoming = self._receive()
            if incoming.reply.delay:
                time.sleep(incoming.reply.delay)
            self._send(incoming.reply)

    def log_message(self, format: str, *args: object) -> None:
        """Silent: what was asked is kept in `FakeModel.asked`."""

    def _receive(self) -> _Incoming:
        data = self.rfile.read(int(self.headers.get("content-length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(json.loads(data), headers, self.path, time.monotonic())
        return _Incoming(asked, self.server.fake.reply_to(asked))

    def _send(self, reply: Reply) -> None:
        if reply.fault == "reset":
            self._reset()
            return
        self.send_response(reply.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(reply.body)))
        for name, value in reply.headers:
            self.send_header(name, value)
        self.end_headers()
        if reply.fault == "cut":
            self.wfile.write(reply.body[: len(reply.body) // 2])
            self.close_connection = True
            return
        self.wfile.write(reply.body)

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True


def _json(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8")


def _texts(body: Mapping[str, Any]) -> list[str]:
    contents = [message["content"] for message in body["messages"]]
    return [
        text
        for content in contents
        for text in ([content] if isinstance(content, str) else [part.get("text", "") for part in content])
    ]
