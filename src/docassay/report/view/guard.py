"""Decides who may talk to the local page: only a browser on this machine that knows the token, and only to read."""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


def new_token() -> str:
    """A token that cannot be guessed: 192 random bits, fit for a URL."""
    return secrets.token_urlsafe(24)


class Guard:
    """Lets a request through to `app`, without the token in its path, or refuses it.

    Refused are: other methods than GET and HEAD; a Host that is not this server (a rebound name); an Origin that is
    another page; a cross-site request other than following a link; a path without the token.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app = app
        self._token = token.encode()
        self._hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        prefix = f"/{self._token.decode()}"
        inner = {**scope, "path": scope["path"].removeprefix(prefix) or "/", "root_path": ""}
        await self.app(inner, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"")
        if scope["method"] not in ("GET", "HEAD"):
            return 405, "this page can only be read"
        if host not in self._hosts:
            return 421, "this is another host"
        if headers.get(b"origin", b"http://" + host) != b"http://" + host:
            return 403, "this page answers no other origin"
        if not _same_site(headers):
            return 403, "this page answers no other site"
        first = scope["path"].encode("utf-8", "surrogateescape").split(b"/", 2)[1:2]
        if not hmac.compare_digest(first[0] if first else b"", self._token):
            return 403, "the token is missing or wrong; open the address that docassay view printed"
        return None


def _same_site(headers: dict[bytes, bytes]) -> bool:
    """Browsers say where a request comes from; a link that is followed may come from anywhere, nothing else may."""
    if headers.get(b"sec-fetch-site", b"none") in (b"none", b"same-origin"):
        return True
    return headers.get(b"sec-fetch-mode") == b"navigate" and headers.get(b"sec-fetch-dest") == b"document"


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = f"{reason}\n".encode()
    headers = [*HEADERS, (b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return sending
