"""What benchmarks share: environments of peers, timed work in a process of its own, medians, and tables.

A worker process runs a script that reads one JSON object a line from stdin and answers with one a line on stdout. Times
are taken inside the worker, so that neither starting it nor the pipe is in them.
"""

from __future__ import annotations

import json
import os
import platform
import select
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.pythons import interpreter

REPOSITORY = Path(__file__).resolve().parents[1]
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}


class TooSlowError(Exception):
    """A worker did not answer in time; it has been stopped."""


class WorkerFailedError(Exception):
    """A worker ended instead of answering; the message is the end of its stderr."""


@dataclass(slots=True)
class Worker:
    """A process that answers JSON lines; use it as a context manager, so that it ends."""

    python: str
    script: Path
    arguments: Sequence[str] = ()
    process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Worker:
        command = [self.python, str(self.script), *self.arguments]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=REPOSITORY, env={**os.environ, **ONE_THREAD}
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.communicate()

    def ask(self, question: dict[str, Any], timeout: float) -> dict[str, Any]:
        """The answer to one question; `TooSlowError` after `timeout` seconds."""
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], timeout)[0]:
            raise TooSlowError
        line = self.process.stdout.readline()
        if not line:
            raise WorkerFailedError(self.process.communicate()[1][-2000:])
        answer: dict[str, Any] = json.loads(line)
        return answer


def environment(name: str, packages: Iterable[str], minor: int | None = None) -> str | None:
    """The Python of an environment `.venv-NAME` with these packages, made where it is absent; None where it cannot be.

    `minor` asks for that Python 3 or the next newer one that is here; without it, the Python that runs this is taken.
    """
    found = sys.executable if minor is None else next(filter(None, map(interpreter, range(minor, minor + 4))), None)
    if found is None:
        return None
    folder = REPOSITORY / f".venv-{name}"
    python, uv = folder / "bin" / "python", Path(sys.executable).parent / "uv"
    if not python.exists():
        made = subprocess.run([str(uv), "venv", "--quiet", "--python", found, str(folder)], check=False)
        if made.returncode != 0:
            return None
    install = [str(uv), "pip", "install", "--quiet", "--python", str(python), *packages]
    return str(python) if subprocess.run(install, check=False).returncode == 0 else None


def median(values: Iterable[float]) -> float:
    """The median of some measurements."""
    return statistics.median(values)


def seconds(value: float) -> str:
    """A duration with three digits and a unit."""
    return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s"


def megabytes(kilobytes: float) -> str:
    """A size given in KiB, in whole MB."""
    return f"{kilobytes * 1024 / 1e6:.0f} MB"


def ratio(value: float) -> str:
    """How many times, with two digits below ten."""
    return f"{value:.1f}×" if value < 10 else f"{value:.0f}×"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    lines = [list(header), ["---"] + ["---:"] * (len(header) - 1), *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def machine() -> str:
    """One line that says what the figures were measured on."""
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
