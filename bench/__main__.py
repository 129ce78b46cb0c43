"""Runs the benchmarks and writes their tables to stdout and to bench/results/NAME.md.

A benchmark is a module `bench_NAME.py` with a function `run(arguments: list[str]) -> Iterator[str]` that yields its
report piece by piece, as Markdown. `python -m bench NAME --help` shows what one takes.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Run the benchmark named first, with the arguments after it, or all of them."""
    known = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    chosen = sys.argv[1:2] or known
    if not set(chosen) <= set(known):
        sys.exit(f"usage: python -m bench [{'|'.join(known)} [OPTIONS]]; all of them without a name")
    for name in chosen:
        run(name, sys.argv[2:])


def run(name: str, arguments: list[str]) -> None:
    """Run one benchmark; its report appears as it grows and is kept in a file."""
    pieces = []
    for piece in importlib.import_module(f"bench.bench_{name}").run(arguments):
        print(piece, flush=True)
        pieces.append(piece)
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    (results / f"{name}.md").write_text("\n".join(pieces) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
