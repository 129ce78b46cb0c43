"""A small simulated world with known answers, and a scripted judge behind a real socket."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from docassay.discovery.corpus import load_corpus
from docassay.discovery.prompting import from_data
from docassay.discovery.segments import segments
from docassay.discovery.simulate.layout import load_labels, load_planted
from docassay.discovery.simulate.write import simulate
from docassay.discovery.tasks import TaskData, load_data

Brain = Callable[[dict[str, Any]], Any]
"""What the scripted judge answers to a payload: JSON values, or a str that is sent as it is."""


@dataclass(frozen=True)
class World:
    """Simulated tasks, their planted answers, and submissions of one quality as a folder."""

    data: TaskData
    planted: Path

    def submissions(self, quality: str) -> Path:
        return self.planted / "submissions" / quality


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    root = tmp_path_factory.mktemp("world")
    made = simulate(root / "data", tasks=3, documents=300, seed=5)
    return World(load_data(made.data), made.planted)


@pytest.fixture
def submissions(world: World, tmp_path: Path) -> Path:
    """A copy of the right submissions that a test may change."""
    return Path(shutil.copytree(world.submissions("right"), tmp_path / "subs"))


@dataclass
class Scripted:
    """A judge's endpoint: every request it saw, and what it does with the next ones."""

    url: str
    brain: Brain
    delay: float = 0.0
    seen: list[dict[str, Any]] = field(default_factory=list)
    answered: int = 0
    statuses: list[int] = field(default_factory=list)
    """Answered instead, one per request, until used up."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def payloads(self) -> list[dict[str, Any]]:
        """The data of every request, in order of arrival."""
        return [payload_of(body) for body in self.seen]


def payload_of(body: dict[str, Any]) -> dict[str, Any]:
    user = body["messages"][1]["content"]
    value = from_data(user[: user.index("\n</data>") + len("\n</data>")])
    assert isinstance(value, dict)
    return value


@pytest.fixture
def scripted(world: World) -> Iterator[Scripted]:
    script = Scripted("", honest(world))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with script.lock:
                script.seen.append(body)
                status = script.statuses.pop(0) if script.statuses else 200
            time.sleep(script.delay)
            self.reply(status, completion(script.brain(payload_of(body))) if status == 200 else {"error": "no"})

        def reply(self, status: int, value: object) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            with script.lock:
                script.answered += 1

        def log_message(self, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *args: object) -> None:
            pass  # a client that was killed in the middle is what some tests are about

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield script
    server.shutdown()
    server.server_close()
    thread.join()


def completion(answer: object) -> dict[str, Any]:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return {
        "id": "resp-1",
        "model": "scripted-1",
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.001},
    }


def honest(world: World) -> Brain:
    """Labels as planted; every finding is supported with the scores of the worked example."""
    planted = load_planted(world.planted)
    documents: dict[tuple[str, ...], dict[str, str]] = {}
    conditions: dict[tuple[str, str], str] = {}
    for task in world.data.tasks:
        corpus, labels = load_corpus(world.data, task), load_labels(world.planted, task.task_id)
        documents |= {segments(text): labels[doc_id] for text, doc_id in zip(corpus.texts, corpus.doc_ids, strict=True)}
        for name, condition in planted.tasks[task.task_id].conditions.items():
            conditions[condition.inclusion, condition.exclusion] = name

    def answer(payload: dict[str, Any]) -> Any:
        if "definitions" not in payload:
            return assessed(payload)
        names = [conditions[item["inclusion"], item["exclusion"]] for item in payload["definitions"]]
        return {"labels": [row(document, names) for document in payload["documents"]]}

    def row(document: dict[str, Any], names: list[str]) -> list[Any]:
        states = documents.get(tuple(text for _, text in document["segments"]), {})
        found: list[Any] = [document["index"]]
        for name in names:
            state = states.get(name, "negative")
            found += [state, 0 if state == "positive" else None]
        return found

    return answer


def assessed(payload: dict[str, Any], **changes: Any) -> Any:
    if "reference" in payload:
        return {"matches": [{"finding_id": row["finding_id"], "matches": True} for row in payload["findings"]]}
    scores = {
        "support": "supported",
        "task_fulfilled": True,
        "statistical_validity": 0.8,
        "evidence_entailment": 0.9,
        "analytical_depth": 0.75,
        "calibration": 0.8,
        "duplicate_of": None,
        "rationale": "The labels and quotes bear it out.",
    }
    return {
        "findings": [
            {"finding_id": row["finding_id"], **scores, **changes} for row in payload["submission"]["findings"]
        ]
    }
