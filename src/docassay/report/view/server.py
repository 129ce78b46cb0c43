"""Decides how the local page is served: 127.0.0.1, a free port, a token in the address, everything read-only."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from docassay.errors import DocassayError, InputError, MissingDependencyError
from docassay.report.view.guard import Guard, new_token

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

ASSETS = {
    "theme.css": "text/css",
    "view.css": "text/css",
    "view.js": "text/javascript",
    "view-common.js": "text/javascript",
    "discovery.js": "text/javascript",
}


class View(Protocol):
    """What a page asks of a run."""

    title: str

    def routes(self) -> Mapping[str, Callable[[Mapping[str, list[str]]], Any]]:
        """The questions that are answered in JSON, by name."""

    def page_png(self, document: int, page: int) -> bytes | None:
        """A page of a document as PNG; None where there is none."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a page is served."""

    port: int
    token: str

    @property
    def url(self) -> str:
        """What a browser opens."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"


class Server:
    """A local page, bound when made; `run` serves until it is told to stop."""

    def __init__(self, view: View) -> None:
        try:
            import uvicorn
        except ImportError as error:
            raise MissingDependencyError("uvicorn", "report") from error
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(128)  # from here on a browser may connect; it is answered as soon as `run` serves
        self.address = Address(self._socket.getsockname()[1], new_token())
        app = Guard(application(view), self.address.token, self.address.port)
        config = uvicorn.Config(
            app, log_level="error", access_log=False, lifespan="off", server_header=False, ws="none"
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until interrupted or stopped; then the port is free again."""
        try:
            asyncio.run(self._server.serve(sockets=[self._socket]))
        except KeyboardInterrupt:
            pass
        finally:
            self._socket.close()

    def stop(self) -> None:
        """Make `run` return."""
        self._server.should_exit = True


def open_view(run: str | Path, *, docs: bool = False, root: str | None = None) -> View:
    """Load a finished run for its local page.

    Args:
        docs: show the documents' own pages; needs a column `doc_path` in the run's manifest.
        root: where relative paths of documents start; by default the root that the run recorded.

    Raises:
        InputError: a path that is no finished run, or `docs` without paths.
    """
    from docassay.pipelines.run_data import open_runs
    from docassay.report.build import kind_of
    from docassay.report.view.discovery import DiscoveryView
    from docassay.report.view.extraction import ExtractionView

    path = Path(run)
    if kind_of(path) == "discovery":
        if docs:
            raise InputError(f"{path} is a discovery evaluation; its documents are text, so --docs shows nothing")
        return DiscoveryView(path)
    return ExtractionView(open_runs([path])[0], docs=docs, root=root)


def application(view: View) -> ASGIApp:
    """The page and what it asks, without the guard around them."""
    try:
        from starlette.applications import Starlette
        from starlette.routing import Route
    except ImportError as error:
        raise MissingDependencyError("starlette", "report") from error
    routes = [
        Route("/", _page(view), methods=["GET"]),
        Route("/assets/{name}", _asset, methods=["GET"]),
        Route("/pages/{document:int}/{page:int}.png", _image(view), methods=["GET"]),
        *(Route(f"/api/{name}", _answer(question), methods=["GET"]) for name, question in view.routes().items()),
    ]
    return Starlette(routes=routes)


def _page(view: View) -> Callable[[Request], Response]:
    from docassay.report.render import Asset

    html = Asset(f"view-{view.title}.html").text()

    def page(request: Request) -> Response:
        return _response(html.encode(), "text/html")

    return page


def _asset(request: Request) -> Response:
    from docassay.report.render import Asset

    name = request.path_params["name"]
    if name not in ASSETS:
        return _response(b"there is no such file\n", "text/plain", 404)
    return _response(Asset(name).text().encode(), ASSETS[name])


def _image(view: View) -> Callable[[Request], Response]:
    def image(request: Request) -> Response:
        try:
            png = view.page_png(request.path_params["document"], request.path_params["page"])
        except DocassayError as error:
            return _response(f"{error}\n".encode(), "text/plain", 404)
        if png is None:
            return _response(b"there is no such page\n", "text/plain", 404)
        return _response(png, "image/png")

    return image


def _answer(question: Callable[[Mapping[str, list[str]]], Any]) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        params = request.query_params
        query = {name: params.getlist(name) for name in params}
        try:
            return _response(orjson.dumps(question(query)), "application/json")
        except InputError as error:
            return _response(orjson.dumps({"error": str(error)}), "application/json", 400)

    return answer


def _response(content: bytes, media_type: str, status: int = 200) -> Response:
    from starlette.responses import Response as Plain

    return Plain(content, status_code=status, media_type=media_type)
