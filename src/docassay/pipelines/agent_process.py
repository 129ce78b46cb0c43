"""Decides what one agent process is given and what is taken from it: stdin, environment, a bounded answer and log."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

__all__ = ["Limits", "Output", "agent_environment", "is_secret", "run_process"]

Cause = Literal["exit", "timeout", "memory", "output", "stopped", "not_started", "lost"]

PIECE = 1 << 16
MARGIN_SECONDS = 15.0
"""How long after an agent's own timeout its supervisor may take to end it."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"://[^/\s:@]+:[^/\s@]+@")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one agent may use.

    timeout: seconds of wall-clock time. output: bytes of stdout. log: bytes of stderr that are kept.
    memory: bytes; each process may not allocate more, nor all of them together hold more; None for no limit.
    """

    timeout: float
    output: int
    log: int
    memory: int | None


@dataclass(frozen=True, slots=True)
class Output:
    """What came of one process.

    cause: exit, timeout, memory, output (too much of it), stopped (by the runner), not_started, or lost (its supervisor
        was killed).
    code: exit code, negative for a signal, None if the process was ended.
    stdout: what it wrote, at most the limit. detail: why it could not be started.
    survivors: descendants that could not be killed. seconds: how long it took.
    """

    cause: Cause
    code: int | None
    stdout: bytes
    detail: str
    survivors: int
    seconds: float


def is_secret(name: str, value: str) -> bool:
    """Whether a variable is named like a key, token, secret, password or login, or is a URL with a password in it."""
    return bool(_SECRET_NAME.search(name) or _SECRET_VALUE.search(value))


def agent_environment(environment: Mapping[str, str], passed: Iterable[str] = ()) -> dict[str, str]:
    """The variables an agent gets: all that are no secret, and those named in `passed`."""
    kept = set(passed)
    return {name: value for name, value in environment.items() if name in kept or not is_secret(name, value)}


def run_process(
    command: Sequence[str],
    stdin: bytes,
    log: Path,
    limits: Limits,
    environment: Mapping[str, str],
    stop: threading.Event,
) -> Output:
    """Run one agent to its end or a limit; returns when no descendant of it is left (see `agent_supervisor`).

    `log` receives its stderr; setting `stop` ends it.
    """
    began = time.monotonic()
    status_read, status_write = os.pipe()
    supervisor = _start(command, limits, environment, status_write)
    os.close(status_write)
    with contextlib.ExitStack() as stack:
        status = stack.enter_context(os.fdopen(status_read, "rb"))
        log_file = stack.enter_context(log.open("wb"))
        flooded = threading.Event()
        answer = _Answer(limits.output, flooded)
        told = _Log(log_file, limits.log)
        assert supervisor.stdout is not None
        assert supervisor.stderr is not None
        workers = [
            _thread(_feed, supervisor, stdin),
            _thread(_drain, supervisor.stdout, answer.take),
            _thread(_drain, supervisor.stderr, told.take),
        ]
        _await(supervisor, limits.timeout + MARGIN_SECONDS, (stop, flooded))
        ending = _ending(status.read())
        for worker in workers:
            worker.join(timeout=2.0)
        told.finish()
    cause: Cause = "output" if flooded.is_set() else ending["cause"]
    return Output(
        cause=cause,
        code=ending["code"],
        stdout=bytes(answer.data),
        detail=ending["detail"],
        survivors=ending["survivors"],
        seconds=time.monotonic() - began,
    )


def _start(
    command: Sequence[str], limits: Limits, environment: Mapping[str, str], status: int
) -> subprocess.Popen[bytes]:
    config = {
        "command": list(command),
        "timeout": limits.timeout,
        "memory": limits.memory,
        "parent": os.getpid(),
        "status_fd": status,
    }
    script = str(Path(__file__).with_name("agent_supervisor.py"))
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-I", "-S", script, json.dumps(config)],
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=dict(environment),
        pass_fds=(status,),
        start_new_session=True,  # an interrupt on the terminal reaches the runner alone, which then ends the agents
    )


def _await(supervisor: subprocess.Popen[bytes], longest: float, requests: tuple[threading.Event, ...]) -> None:
    """Wait for the supervisor; tell it to stop on request, and kill it if it does not end in time."""
    deadline = time.monotonic() + longest
    asked = False
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            supervisor.wait(0.05)
            return
        if not asked and any(request.is_set() for request in requests):
            asked = True
            supervisor.terminate()
            deadline = min(deadline, time.monotonic() + MARGIN_SECONDS)
        if time.monotonic() >= deadline:
            supervisor.kill()


def _ending(status: bytes) -> dict[str, Any]:
    """The supervisor's last word; if it has none, its agent's process group is killed here."""
    lines = [json.loads(line) for line in status.splitlines()]
    if lines and "cause" in lines[-1]:
        ending: dict[str, Any] = lines[-1]
        return ending
    if lines:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(lines[0]["pid"], 9)
    return {"cause": "lost", "code": None, "detail": "", "survivors": 0}


def _thread(work: Any, *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


def _feed(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ValueError, OSError), process.stdin:
        process.stdin.write(data)


def _drain(pipe: IO[bytes], take: Any) -> None:
    with contextlib.suppress(ValueError, OSError), pipe:
        while piece := os.read(pipe.fileno(), PIECE):
            take(piece)


class _Answer:
    """Keeps stdout up to a limit; what is beyond it sets `flooded` and is thrown away."""

    def __init__(self, limit: int, flooded: threading.Event) -> None:
        self.data = bytearray()
        self.limit = limit
        self.flooded = flooded

    def take(self, piece: bytes) -> None:
        room = self.limit - len(self.data)
        self.data += piece[:room]
        if len(piece) > room:
            self.flooded.set()


class _Log:
    """Writes the first half of its limit at once and keeps the last half, since both ends of a log tell most."""

    def __init__(self, file: IO[bytes], limit: int) -> None:
        self.file = file
        self.half = max(1, limit // 2)
        self.written = 0
        self.tail = bytearray()
        self.dropped = 0
        self.lock = threading.Lock()

    def take(self, piece: bytes) -> None:
        with self.lock:
            if self.file.closed:
                return
            head = piece[: max(0, self.half - self.written)]
            self.file.write(head)
            self.file.flush()
            self.written += len(head)
            self.tail += piece[len(head) :]
            surplus = len(self.tail) - self.half
            if surplus > 0:
                del self.tail[:surplus]
                self.dropped += surplus

    def finish(self) -> None:
        with self.lock:
            if self.dropped:
                self.file.write(f"\n[… {self.dropped:,} bytes left out …]\n".encode())
            self.file.write(self.tail)
            self.file.flush()
