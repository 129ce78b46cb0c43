"""Starts `llmock`, an OpenAI-compatible server that is not ours, and reads its verdict on the client."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

START_SECONDS = 30


@dataclass(frozen=True)
class LlmockServer:
    """A running server."""

    port: int

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def verdict(self) -> dict[str, Any]:
        """What it says of every client that connected: calls, attempts, faults, findings."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/_llmock/verdict", timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def script(self, *behaviours: dict[str, Any]) -> None:
        """Queue behaviours that the next requests meet."""
        body = json.dumps({"behaviors": behaviours}).encode()
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}/_llmock/scenario", body, timeout=10).close()


@contextlib.contextmanager
def llmock(*options: str) -> Iterator[LlmockServer]:
    """`llmock serve` with `options` on a free port; the test is skipped where it is not installed."""
    pytest.importorskip("llmock")
    port = _free_port()
    program = Path(sys.executable).with_name("llmock")
    command = [str(program), "serve", "-h", "127.0.0.1", "-p", str(port), "--log-level", "warning", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, process)
        yield LlmockServer(port)
    finally:
        process.terminate()
        process.wait(10)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return
        time.sleep(0.1)
    raise RuntimeError(f"llmock did not listen on port {port} within {START_SECONDS} s")
