"""Finds other Pythons on this machine: `python3.NN` on the path, and pyenv's versions."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path


def interpreter(minor: int) -> str | None:
    """A Python 3.`minor` that starts, or None."""
    if sys.version_info.minor == minor:
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(f"python3.{minor}"), *map(str, sorted(pyenv.glob(f"3.{minor}.*/bin/python")))]
    for path in filter(None, candidates):
        command = [path, "-c", "import sys; print(sys.version_info.minor)"]
        shown = subprocess.run(command, capture_output=True, text=True, check=False)
        if shown.returncode == 0 and shown.stdout.strip() == str(minor):
            return path
    return None
