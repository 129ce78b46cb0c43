"""Finds ports for the servers of the tests, and tells when these answer."""

from __future__ import annotations

import random
import socket
import subprocess
import time
from collections.abc import Callable

# Below the ports that systems give outgoing connections, so that none of these takes a port before its server does.
_FIRST, _LAST = 10_000, 32_000


def free_port() -> int:
    """A port of loopback on which nothing listens; another process may still take it first."""
    choose = random.SystemRandom()
    for _ in range(200):
        port = choose.randint(_FIRST, _LAST)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise AssertionError("no free ports")


def wait_for(port: int, server: subprocess.Popen[bytes], seconds: float, what_it_said: Callable[[], str]) -> None:
    """Return when the server accepts connections; AssertionError if it ends, or does not within `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        assert server.poll() is None, f"the server has ended: {what_it_said()}"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert time.monotonic() < deadline, f"port {port} does not answer within {seconds} s: {what_it_said()}"
        time.sleep(0.1)
