"""Starts `llmock`, an OpenAI-compatible server that is not ours, and reads its verdict on the client."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ports import free_port, wait_for

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
    port = free_port()
    program = Path(sys.executable).with_name("llmock")
    command = [str(program), "serve", "-h", "127.0.0.1", "-p", str(port), "--log-level", "warning", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port, process, START_SECONDS, lambda: "llmock")
        yield LlmockServer(port)
    finally:
        process.terminate()
        process.wait(10)
