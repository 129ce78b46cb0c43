"""Scores the same documents with docassay and its peers, alternating, and prints times, ratios and peak memory."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench import harness
from bench.workloads import Workload, all_workloads

WORKER = Path(__file__).with_name("scoring_worker.py")
OURS = ("docassay omni/1", "docassay sound/1")
LONG = 10.0  # seconds; what takes longer is measured once
SHORT = 1.0  # seconds; where every scorer takes less, three times as many repeats are made
AGREEING = ("docassay omni/1", "omni-extract-bench")


@dataclass(slots=True)
class Measured:
    """What one scorer needed for one workload, its figures by repeat, or why there are none."""

    times: list[float] = field(default_factory=list)
    peak: int = 0
    figures: dict[int, list[float]] = field(default_factory=dict)
    failure: str = ""

    @property
    def seconds(self) -> float | None:
        return harness.median(self.times) if self.times else None

    def __str__(self) -> str:
        return self.failure or (harness.seconds(self.seconds) if self.seconds is not None else "–")


Results = dict[str, dict[str, Measured]]
"""By workload, then by scorer."""


def run(arguments: list[str]) -> Iterator[str]:
    """Measure, and report piece by piece."""
    options = parse(arguments)
    scorers = available_scorers(options.no_peers)
    workloads = [one for one in all_workloads() if not options.workload or any(w in one.name for w in options.workload)]
    how = f"median of {options.repeats} runs or more, each in a new process; processor time of one thread"
    yield f"# Scoring\n\n{harness.machine()}; {how}.\n"
    results: Results = {}
    for workload in workloads:
        results[workload.name] = measure(workload, scorers, options)
        print(f"{workload.name}: {'; '.join(f'{k} {v}' for k, v in results[workload.name].items())}", file=sys.stderr)
    yield time_table(results, list(scorers))
    if peers := [name for name in scorers if name not in OURS]:
        yield ratio_table(results, peers)
    yield memory_table(results, list(scorers))
    yield parsing_table(workloads, scorers[OURS[0]])


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench scoring", description=__doc__)
    parser.add_argument(
        "--workload", action="append", default=[], help="only workloads whose name holds this; repeatable"
    )
    parser.add_argument("--repeats", type=int, default=5, help="measurements of each, of which the median is shown")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds after which a scorer is stopped")
    parser.add_argument("--no-peers", action="store_true", help="docassay alone")
    return parser.parse_args(arguments)


def available_scorers(no_peers: bool) -> dict[str, str]:
    """Scorers with the Python that runs them; peers that cannot be installed are left out, and that is said."""
    scorers = dict.fromkeys(OURS, sys.executable)
    if no_peers:
        return scorers
    omni = harness.environment("bench-311", ["omni-extract-bench==0.1.7"])
    newer = harness.environment("bench-312", ["llama-extract-bench==1.0.0", "structeval==0.1.1"], minor=12)
    peers = {"omni-extract-bench": omni, "llama-extract-bench": newer, "structeval": newer}
    for name, python in peers.items():
        if python is None:
            print(f"{name} is left out: no environment for it could be made", file=sys.stderr)
    return scorers | {name: python for name, python in peers.items() if python is not None}


def measure(workload: Workload, scorers: dict[str, str], options: argparse.Namespace) -> dict[str, Measured]:
    """Let every scorer score the same documents once per repeat, one after the other, each in a new warm process."""
    measured = {name: Measured() for name in scorers if workload.peers or name in OURS}
    for repeat in range(3 * options.repeats):
        if repeat >= options.repeats and max(record.seconds or 0 for record in measured.values()) > SHORT:
            break
        with tempfile.TemporaryDirectory() as folder:
            pairs = write(workload, repeat, Path(folder))
            for name, record in measured.items():
                if not record.failure and (record.seconds or 0) < LONG:
                    once(record, name, scorers[name], pairs, options.limit, repeat)
    check_agreement(workload.name, measured)
    return measured


def write(workload: Workload, seed: int, folder: Path) -> Path:
    path = folder / "pairs.json"
    path.write_text(json.dumps([[json.dumps(part) for part in pair] for pair in workload.make(seed)]), encoding="utf-8")
    return path


def once(record: Measured, name: str, python: str, pairs: Path, limit: float, repeat: int) -> None:
    """One measurement in a process of its own, so that memory and caches are those of this workload alone."""
    with harness.Worker(python, WORKER, [name]) as worker:
        try:
            answer = worker.ask({"what": "score", "pairs": str(pairs)}, limit)
        except harness.TooSlowError:
            record.failure = f"> {limit:.0f} s"
            return
        except harness.WorkerFailedError as error:
            record.failure = "fails"
            print(f"{name} failed: {error}", file=sys.stderr)
            return
    record.times.append(answer["seconds"])
    record.peak = max(record.peak, answer["peak"])
    record.figures[repeat] = answer["figures"]


def check_agreement(workload: str, measured: dict[str, Measured]) -> None:
    """The published metric's own package and omni/1 must say the same of every pair."""
    if not all(name in measured for name in AGREEING):
        return
    ours, theirs = (measured[name].figures for name in AGREEING)
    for repeat in ours.keys() & theirs.keys():
        if any(abs(a - b) > 1e-12 for a, b in zip(ours[repeat], theirs[repeat], strict=True)):
            raise SystemExit(f"{workload}: accuracies differ between {' and '.join(AGREEING)}")


def time_table(results: Results, scorers: list[str]) -> str:
    rows = ([name, *(str(by.get(scorer, "–")) for scorer in scorers)] for name, by in results.items())
    return "## Time\n\n" + harness.table(["workload", *scorers], rows)


def ratio_table(results: Results, peers: list[str]) -> str:
    """How many times longer each peer takes than docassay with the published metric."""
    rows = []
    for name, by in results.items():
        ours = by[OURS[0]].seconds
        cells = (by[peer].seconds if peer in by else None for peer in peers)
        rows.append([name, *("–" if cell is None or not ours else harness.ratio(cell / ours) for cell in cells)])
    return f"## Times longer than {OURS[0]}\n\n" + harness.table(["workload", *peers], rows)


def memory_table(results: Results, scorers: list[str]) -> str:
    rows = (
        [name, *(harness.megabytes(by[s].peak) if s in by and by[s].peak else "–" for s in scorers)]
        for name, by in results.items()
    )
    return "## Peak memory of the whole process, documents included\n\n" + harness.table(["workload", *scorers], rows)


def parsing_table(workloads: list[Workload], python: str) -> str:
    """What scoring costs beside parsing the same JSON."""
    rows = []
    for workload in workloads:
        with tempfile.TemporaryDirectory() as folder, harness.Worker(python, WORKER, [OURS[0]]) as worker:
            found = worker.ask({"what": "parse", "pairs": str(write(workload, 0, Path(folder)))}, 600)
        shown = [harness.seconds(found[name]) for name in ("standard", "parse", "score")]
        share = harness.ratio((found["parse"] + found["score"]) / found["standard"])
        rows.append([workload.name, f"{found['bytes'] / 1e6:.2f} MB", *shown, share])
    header = ["workload", "JSON", "json.loads", "docassay parses", "docassay scores", "both, to json.loads"]
    return "## From bytes to a score\n\n" + harness.table(header, rows)
