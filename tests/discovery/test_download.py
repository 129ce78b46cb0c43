"""Downloads against a server on loopback that speaks as much of the hub's interface as its client needs."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from docassay.discovery.download import RECORD, download_data
from docassay.discovery.simulate.write import simulate
from docassay.discovery.verify import verify_data
from docassay.errors import ArgumentValueError, RunMismatchError, TaskDataError

pytest.importorskip("huggingface_hub")

REPOSITORY = "someone/findings"
COMMITS = {"main": "a" * 40, "v1": "b" * 40}


class Hub(BaseHTTPRequestHandler):
    """A dataset whose revisions all have the same files."""

    files: Path
    asked: list[str]
    gone = False

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, *, body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        type(self).asked.append(f"{self.command} {path}")
        api, resolve = f"/api/datasets/{REPOSITORY}/", f"/datasets/{REPOSITORY}/resolve/"
        if type(self).gone:
            self.reply(503, b"down", body)
        elif path.startswith(f"{api}revision/"):
            self.revision(path.removeprefix(f"{api}revision/"), body)
        elif path.startswith(f"{api}tree/"):
            self.reply(200, json.dumps(self.tree()).encode(), body)
        elif path.startswith(resolve):
            commit, _, name = path.removeprefix(resolve).partition("/")
            data = (type(self).files / name).read_bytes()
            etag = hashlib.sha256(data).hexdigest()
            self.reply(200, data, body, {"X-Repo-Commit": commit, "ETag": f'"{etag}"'})
        else:
            self.reply(404, b"{}", body, {"X-Error-Code": "RepoNotFound"})

    def revision(self, name: str, body: bool) -> None:
        commit = COMMITS.get(name, name if name in COMMITS.values() else None)
        if commit is None:
            self.reply(404, b"{}", body, {"X-Error-Code": "RevisionNotFound"})
        else:
            self.reply(200, json.dumps({"id": REPOSITORY, "sha": commit, "siblings": []}).encode(), body)

    def tree(self) -> list[dict[str, object]]:
        root = type(self).files
        found = [path for path in sorted(root.rglob("*")) if path.is_file()]
        return [
            {"type": "file", "path": path.relative_to(root).as_posix(), "size": path.stat().st_size, "oid": "0" * 40}
            for path in found
        ]

    def reply(self, status: int, data: bytes, body: bool, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, *arguments: object) -> None:
        """Nothing on stderr."""


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    files = simulate(tmp_path / "published", tasks=2, documents=200).data
    handler = type("Handler", (Hub,), {"files": files, "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub-cache"))
    yield handler
    server.shutdown()
    server.server_close()


def test_a_revision_is_downloaded_pinned_and_whole(hub: type[Hub], tmp_path: Path) -> None:
    done = download_data(f"{REPOSITORY}@v1", tmp_path / "data", quiet=True)
    assert (done.dataset, done.revision, done.commit) == (REPOSITORY, "v1", COMMITS["v1"])
    assert json.loads((tmp_path / "data" / RECORD).read_text())["commit"] == COMMITS["v1"]
    assert verify_data(tmp_path / "data").ok
    files = [line for line in hub.asked if "/resolve/" in line]
    assert files
    assert all(COMMITS["v1"] in line for line in files)


def test_without_a_revision_it_is_main(hub: type[Hub], tmp_path: Path) -> None:
    assert download_data(REPOSITORY, tmp_path / "data", quiet=True).commit == COMMITS["main"]


def test_what_is_there_is_not_fetched_again(hub: type[Hub], tmp_path: Path) -> None:
    download_data(REPOSITORY, tmp_path / "data", quiet=True)
    before = sum(line.startswith("GET /datasets/") for line in hub.asked)
    download_data(REPOSITORY, tmp_path / "data", quiet=True)
    assert sum(line.startswith("GET /datasets/") for line in hub.asked) == before > 0


def test_a_missing_revision_is_one_clear_error(hub: type[Hub], tmp_path: Path) -> None:
    with pytest.raises(TaskDataError, match="has no revision 'v9'") as error:
        download_data(f"{REPOSITORY}@v9", tmp_path / "data", quiet=True)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "data").exists()


def test_a_missing_dataset_is_one_clear_error(hub: type[Hub], tmp_path: Path) -> None:
    with pytest.raises(TaskDataError, match="no dataset 'someone/else'") as error:
        download_data("someone/else", tmp_path / "data", quiet=True)
    assert "\n" not in str(error.value)


def test_a_hub_that_is_down_is_one_clear_error(hub: type[Hub], tmp_path: Path) -> None:
    hub.gone = True
    with pytest.raises(TaskDataError, match="could not be downloaded") as error:
        download_data(REPOSITORY, tmp_path / "data", quiet=True)
    assert "\n" not in str(error.value)


def test_an_unreachable_network_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(TaskDataError, match=r"could not be downloaded from http://127\.0\.0\.1") as error:
            download_data(REPOSITORY, tmp_path / "data", quiet=True)
    assert "\n" not in str(error.value)


def test_a_folder_holds_one_commit(hub: type[Hub], tmp_path: Path) -> None:
    download_data(REPOSITORY, tmp_path / "data", quiet=True)
    with pytest.raises(RunMismatchError, match=COMMITS["main"]):
        download_data(f"{REPOSITORY}@v1", tmp_path / "data", quiet=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(RunMismatchError, match="something else"):
        download_data(REPOSITORY, tmp_path / "other", quiet=True)


def test_a_download_that_broke_off_continues(hub: type[Hub], tmp_path: Path) -> None:
    download_data(REPOSITORY, tmp_path / "data", quiet=True)
    (lost,) = list((tmp_path / "data").glob("corpora/vehicle*"))
    lost.unlink()
    download_data(REPOSITORY, tmp_path / "data", quiet=True)
    assert verify_data(tmp_path / "data").ok


@pytest.mark.parametrize("name", ["", "findings", "a/b/c", "../x/y", "a b/c", "@main"])
def test_what_names_no_dataset(name: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentValueError, match="OWNER/NAME"):
        download_data(name, tmp_path / "data")
