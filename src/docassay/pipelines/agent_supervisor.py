"""Decides when one agent's processes end: runs a command, ends it at a limit, and leaves no descendant of it behind.

Run by path with the standard library alone (`python -I -S agent_supervisor.py '{"command": …}'`), one per agent. On
Linux it is the reaper of its descendants, so that a child which left its process group and lost its parent is still
found and killed; elsewhere only the agent's process group is. It gives the agent its own stdin, stdout and stderr, and
writes two JSON lines to the descriptor `status_fd`: the agent's process id, then how it ended.

A process that kills its supervisor, or that has rights to escape, gets away: this is no sandbox.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
POLL_SECONDS, MEMORY_SECONDS = 0.02, 0.2
KILL_SECONDS = 5.0
PAGE = resource.getpagesize()
PROC = Path("/proc")


@dataclass(frozen=True)
class Ending:
    """How an agent ended.

    cause: exit, timeout, memory, stopped or not_started.
    code: its exit code; negative for a signal; None if it was ended here.
    detail: why it could not be started.
    survivors: descendants that could not be killed.
    """

    cause: str
    code: int | None
    detail: str
    survivors: int


def main() -> None:
    """Supervise the command of the first argument, a JSON object: command, timeout, memory, parent, status_fd."""
    config = json.loads(sys.argv[1])
    with os.fdopen(config["status_fd"], "w", buffering=1) as status:
        _become_reaper(config["parent"])
        stop = _stop_requests()
        try:
            agent = _start(config)
        except OSError as error:
            _tell(status, asdict(Ending("not_started", None, str(error), 0)))
            return
        _tell(status, {"pid": agent.pid})
        cause, code = _watch(agent, config, stop)
        _tell(status, asdict(Ending(cause, code, "", _kill_all(agent.pid))))


def _become_reaper(parent: int) -> None:
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:  # the runner is gone already
        sys.exit(1)


def _stop_requests() -> list[int]:
    requests: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: requests.append(number))
    return requests


def _start(config: dict[str, Any]) -> subprocess.Popen[bytes]:
    memory = config["memory"]

    def limit() -> None:
        if memory:
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))

    agent = subprocess.Popen(config["command"], start_new_session=True, preexec_fn=limit)
    # The pipes are the agent's alone, so that they end with it.
    for descriptor in (0, 1):
        os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
    return agent


def _watch(agent: subprocess.Popen[bytes], config: dict[str, Any], stop: list[int]) -> tuple[str, int | None]:
    now = time.monotonic()
    deadline, next_look = now + config["timeout"], now
    while True:
        code = _reap(agent.pid)
        if code is not None:
            return "exit", code
        if stop:
            return "stopped", None
        now = time.monotonic()
        if now >= deadline:
            return "timeout", None
        if config["memory"] and now >= next_look:
            next_look = now + MEMORY_SECONDS
            if _resident(_descendants()) > config["memory"]:
                return "memory", None
        time.sleep(POLL_SECONDS)


def _kill_all(agent: int) -> int:
    """Kill every descendant; the number that is still there after KILL_SECONDS."""
    deadline = time.monotonic() + KILL_SECONDS
    _signal(-agent, signal.SIGKILL)
    while time.monotonic() < deadline:
        alive = _descendants()
        if not alive:
            return 0
        # Stopped first: what is stopped cannot fork away from the kill.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in alive:
                _signal(pid, number)
        _reap(agent)
        time.sleep(0.01)
    return len(_descendants())


def _descendants() -> list[int]:
    """Every process under this one that is not a zombie; empty where there is no /proc."""
    children: dict[int, list[int]] = {}
    zombies: set[int] = set()
    for entry in PROC.glob("[0-9]*/stat") if PROC.is_dir() else ():
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, parent = entry.read_text(errors="replace").rpartition(")")[2].split()[:2]
            pid = int(entry.parent.name)
            children.setdefault(int(parent), []).append(pid)
            if state in "ZX":
                zombies.add(pid)
    found: list[int] = []
    pending = [os.getpid()]
    while pending:
        below = children.get(pending.pop(), [])
        found.extend(pid for pid in below if pid not in zombies)
        pending.extend(below)
    return found


def _resident(pids: list[int]) -> int:
    """Bytes of memory that the processes hold together, shared pages counted once each."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (PROC / str(pid) / "statm").read_text().split()
            total += (int(fields[1]) - int(fields[2])) * PAGE
    return total


def _reap(agent: int) -> int | None:
    """Collect every child that has ended, also adopted ones; the agent's exit code if it was among them."""
    code = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            if pid == agent:
                code = os.waitstatus_to_exitcode(status)
    return code


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _tell(status: Any, value: dict[str, Any]) -> None:
    with contextlib.suppress(BrokenPipeError):
        status.write(json.dumps(value) + "\n")


if __name__ == "__main__":
    main()
