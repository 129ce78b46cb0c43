"""Runs the scorer's tests on every newer Python found on this machine, each in a light environment `.venv-3.NN`.

Where there is none, that is said and nothing fails.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.pythons import interpreter

NEWER = (12, 13, 14)
TESTS = ("tests/extraction", "tests/golden", "tests/laws")
TOOLS = ("pytest", "pytest-timeout", "hypothesis")


def main() -> None:
    """Test each newer Python; exit with 1 if one fails."""
    uv = Path(sys.executable).parent / "uv"
    found = {minor: path for minor in NEWER if minor != sys.version_info.minor and (path := interpreter(minor))}
    if not found:
        print("no newer Python here: nothing to run")
    failed = [f"3.{minor}" for minor, path in found.items() if not passes(uv, minor, path)]
    if failed:
        sys.exit(f"failed on Python {', '.join(failed)}")


def passes(uv: Path, minor: int, python: str) -> bool:
    """Whether the scorer's tests pass on that Python, in an environment with the core and the test tools alone."""
    environment = Path(f".venv-3.{minor}")
    inside = environment / "bin" / "python"
    install = [str(uv), "pip", "install", "--quiet", "--python", str(inside), "--constraint", "requirements/dev.txt"]
    print(f"Python 3.{minor} ({python})", flush=True)
    steps = (
        [str(uv), "venv", "--quiet", "--allow-existing", "--python", python, str(environment)],
        [*install, "--editable", ".", *TOOLS],
        [str(inside), "-m", "pytest", "-q", "-m", "not slow and not browser", *TESTS],
    )
    return all(subprocess.run(step, check=False).returncode == 0 for step in steps)


if __name__ == "__main__":
    main()
