"""Installs a lock file and this package into the environment of the Python that runs it (`install.py LOCK`).

uv does it in seconds. Where uv cannot be had or cannot reach the index, pip does the same with the same hashes; uv is
told of the index that pip is configured for, since it does not read pip's settings.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
PACKAGE = ("--no-deps", "--editable", ".")


def main() -> None:
    """Install LOCK, then the package; exit with the installer's status."""
    lock = sys.argv[1]
    sys.exit(0 if install_with_uv(lock) or install_with_pip(lock) else 1)


def install_with_uv(lock: str) -> bool:
    """Whether uv installed everything."""
    uv = Path(sys.executable).parent / ("uv.exe" if os.name == "nt" else "uv")
    if not uv.exists() and not succeeds([*PIP, "install", "--quiet", "uv"]):
        return False
    install = [str(uv), "pip", "install", "--python", sys.executable]
    environment = index_of_pip()
    return succeeds([*install, "--require-hashes", "--requirement", lock], environment) and succeeds(
        [*install, "--quiet", *PACKAGE], environment
    )


def install_with_pip(lock: str) -> bool:
    """Whether pip installed everything."""
    print("uv did not manage; trying pip, which takes longer", file=sys.stderr)
    return succeeds([*PIP, "install", "--require-hashes", "--requirement", lock]) and succeeds(
        [*PIP, "install", "--quiet", *PACKAGE]
    )


def index_of_pip() -> dict[str, str]:
    """The environment for uv: ours, plus pip's index where one is configured and uv has none."""
    environment = dict(os.environ)
    shown = subprocess.run([*PIP, "config", "get", "global.index-url"], capture_output=True, text=True, check=False)
    index = os.environ.get("PIP_INDEX_URL") or shown.stdout.strip()
    if index and not environment.keys() & {"UV_DEFAULT_INDEX", "UV_INDEX_URL"}:
        environment["UV_DEFAULT_INDEX"] = index
    return environment


def succeeds(command: list[str], environment: dict[str, str] | None = None) -> bool:
    """Run a command with its output shown; whether it exited with 0."""
    return subprocess.run(command, env=environment, check=False).returncode == 0


if __name__ == "__main__":
    main()
