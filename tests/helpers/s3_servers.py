"""Starts S3 servers on loopback: moto's, and OpenStack Swift with its S3 API, which is independent and checks more."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class S3:
    """A server, and what a client needs to know of it."""

    endpoint: str
    key: str
    secret: str

    def environment(self) -> dict[str, str]:
        """The variables that any S3 client reads."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def client(self) -> Any:
        """A file system that knows nothing of the one under test."""
        import s3fs

        return s3fs.S3FileSystem(
            key=self.key,
            secret=self.secret,
            endpoint_url=self.endpoint,
            use_listings_cache=False,
            skip_instance_cache=True,
        )


@contextmanager
def moto(folder: Path) -> Iterator[S3]:
    """moto's server."""
    port = _free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with _running(command, port, folder / "moto.log"):
        yield S3(f"http://127.0.0.1:{port}", "testing", "testing")


@contextmanager
def swift(folder: Path, shared: Path) -> Iterator[S3]:
    """OpenStack Swift; skips the test where it is not installed."""
    script = shared / "tools" / "swift_s3.py"
    if find_spec("swift") is None or not script.is_file():
        pytest.skip("OpenStack Swift is not installed")
    port = _free_port(following=3)
    with _running([sys.executable, str(script), str(folder), str(port)], port, folder / "swift.log"):
        yield S3(f"http://127.0.0.1:{port}", "test:tester", "testing")


@contextmanager
def _running(command: list[str], port: int, log: Path) -> Iterator[None]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
    with log.open("w") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        try:
            deadline = time.monotonic() + 180
            while not _answers(port):
                assert server.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.1)
            yield
        finally:
            server.terminate()
            server.wait(timeout=20)


def _free_port(following: int = 0) -> int:
    """A port, free together with some that follow it."""
    for _ in range(50):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port: int = one.getsockname()[1]
        if port + following < 65536 and not any(_answers(port + step) for step in range(following + 1)):
            return port
    raise AssertionError("no free ports")


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
