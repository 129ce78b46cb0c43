"""Times whole tables: documents a second and peak memory, by workers, with and without verdicts, beside a peer's pool.

Everything is measured from outside, as a person would: the command is started, and its processes are watched until it
ends, so starting up, reading, scoring, writing and summarising are all in the figures. The peer is omni-extract-bench
0.1.7, whose `benchmark --score-only` scores predictions on disk with a pool of processes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from bench import harness, workloads

METRIC = "omni/1"  # the peer's own, so that both do the same work
PEER_RUN_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class Table:
    """Documents on disk with a manifest that both scorers can read."""

    name: str
    root: Path
    documents: int
    megabytes: float

    @property
    def manifest(self) -> Path:
        return self.root / "jobs.parquet"


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of a command."""

    seconds: float
    cpu: float
    """Processor seconds of all its processes, which other work on the machine hardly changes."""
    peak: float
    """MB that all its processes held at once; shared pages are counted once."""


def run(arguments: list[str]) -> Iterator[str]:
    """The report."""
    asked = _arguments(arguments)
    yield f"# Tables\n\n{harness.machine()}, metric {METRIC}. A run's time is that of the whole command.\n"
    with tempfile.TemporaryDirectory() as folder:
        tables = list(_tables(Path(folder), asked.documents))
        yield _against_the_peer(tables, asked.peer_documents, asked.rounds)
        yield _stages(tables)
        yield _growth(Path(folder), asked.growth)


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench tables")
    parser.add_argument("--documents", type=int, default=10_000, help="small documents (10000)")
    parser.add_argument("--peer-documents", type=int, default=2_000, help="of which the peer gets so many (2000)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each, alternating; medians are told (3)")
    parser.add_argument("--growth", type=int, nargs="*", default=[1_000, 10_000, 100_000], help="sizes to grow through")
    return parser.parse_args(arguments)


def _tables(folder: Path, documents: int) -> Iterator[Table]:
    yield _write(folder / "small", f"{documents:,} small documents", _small(documents))
    if (workloads.SHARED / "data" / "extraction" / "docubench").is_dir():
        pairs = workloads.real_pairs(0)
        yield _write(folder / "real", "200 real pairs", iter(pairs))
        yield _write(folder / "real-often", "200 real pairs, ten times", iter(pairs * 10))


def _small(documents: int) -> Iterator[workloads.Pair]:
    for seed in range(documents):
        yield from workloads.one_table(3, seed)


def _write(root: Path, name: str, pairs: Iterator[workloads.Pair]) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows: list[dict[str, Any]] = []
    written = 0
    for folder in ("gt", "pred"):
        (root / folder).mkdir(parents=True)
    for number, (prediction, gold, schema) in enumerate(pairs):
        paths = {"gt_path": root / "gt" / f"{number}.json", "pred_path": root / "pred" / f"{number}.json"}
        for path, value in zip(paths.values(), (gold, prediction), strict=True):
            written += path.write_bytes(json.dumps(value).encode())
        named = {column: str(path) for column, path in paths.items()}
        rows.append({"doc_id": f"d{number}", "suite": "s", "schema": json.dumps(schema), **named})
    table = pa.Table.from_pylist(rows)
    pq.write_table(table.append_column("doc_path", table.column("gt_path")), root / "jobs.parquet")
    return Table(name, root, len(rows), written / 1e6)


def _against_the_peer(tables: list[Table], peer_documents: int, rounds: int) -> str:
    rows = []
    for table in tables:
        few, one = _few(table, peer_documents), _few(table, 1)
        for verdicts in (True, False):
            for workers in (1, 2):
                ours, theirs = _Runs(table.documents), _Runs(few.documents)
                for _ in range(rounds):
                    ours.one.append(_measure(_our_command(one, workers, verdicts)))
                    theirs.one.append(_measure_peer(one, workers, verdicts))
                    ours.whole.append(_measure(_our_command(table, workers, verdicts)))
                    theirs.whole.append(_measure_peer(few, workers, verdicts))
                name = f"{table.name}, {'with' if verdicts else 'without'} verdicts"
                ratios = [harness.ratio(ours.rate / theirs.rate), "–", "–"]
                if ours.steady and theirs.steady:
                    ratios[1:] = map(harness.ratio, (ours.running / theirs.running, theirs.cpu / ours.cpu))
                rows.append([name, f"{workers}", ours.told(), theirs.told(), *ratios])
    header = ["table", "workers", "docassay", "omni-extract-bench", "whole command", "once running", "processor"]
    return f"## Documents a second\n\n{harness.table(header, rows)}\n{_NOTE.format(peer_documents, rounds)}"


_NOTE = """Each figure: documents a second of the whole command; documents a second once running, which leaves out what
the command takes for a table of one document; processor time of all processes for a document once running (both – where
the start takes over half of the time); peak memory of all processes together. The last columns: how many times faster
docassay is by the first two, and how many times less processor time it takes. omni-extract-bench got at most {:,}
documents of each table. Medians of {} runs, alternating.
"""


@dataclass(frozen=True, slots=True)
class _Runs:
    """A command run some times on a table of one document, and on the table."""

    documents: int
    one: list[Measured] = field(default_factory=list)
    whole: list[Measured] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Documents a second."""
        return self.documents / _median(self.whole, "seconds")

    @property
    def steady(self) -> bool:
        """Whether the start takes less than half of the time; else what it leaves is mostly noise."""
        return _median(self.whole, "seconds") > 2 * _median(self.one, "seconds")

    @property
    def running(self) -> float:
        """Documents a second once running."""
        return (self.documents - 1) / (_median(self.whole, "seconds") - _median(self.one, "seconds"))

    @property
    def cpu(self) -> float:
        """Processor seconds a document takes once running."""
        return (_median(self.whole, "cpu") - _median(self.one, "cpu")) / (self.documents - 1)

    def told(self) -> str:
        peak = max(run.peak for run in self.whole)
        running = f"{self.running:,.0f}/s, {1e3 * self.cpu:.2f} ms" if self.steady else "–, –"
        return f"{self.rate:,.0f}/s, {running}, {peak:,.0f} MB"


def _median(runs: list[Measured], name: str) -> float:
    return statistics.median(getattr(run, name) for run in runs)


def _few(table: Table, documents: int) -> Table:
    import pyarrow.parquet as pq

    if table.documents <= documents:
        return table
    root = table.root / f"first-{documents}"
    root.mkdir(exist_ok=True)
    pq.write_table(pq.read_table(table.manifest).slice(0, documents), root / "jobs.parquet")
    return Table(table.name, root, documents, table.megabytes * documents / table.documents)


def _our_command(table: Table, workers: int, verdicts: bool) -> list[str]:
    command = [sys.executable, "-m", "docassay", "extract", "score", "--manifest", str(table.manifest)]
    options = ["--out", str(table.root / "run"), "--metric", METRIC, "--workers", str(workers), "--overwrite", "-q"]
    return [*command, *options, *([] if verdicts else ["--no-verdicts"])]


def _measure_peer(table: Table, workers: int, verdicts: bool) -> Measured:
    """The peer's time for scoring predictions on disk, which are put where a first run shows that it looks."""
    python = harness.environment("bench-pool", ["omni-extract-bench[benchmark]==0.1.7"])
    assert python is not None, "the peer cannot be installed here"
    out = table.root / "peer"
    command = [str(Path(python).parent / "oeb"), "-q", "benchmark", "--providers", "datalab", "--score-only", "-y"]
    command += ["--manifest", str(table.manifest), "--out", str(out), "--score-workers", str(workers), "--rescore"]
    command += [] if verdicts else ["--no-verdicts"]
    if not out.exists():
        _quietly(command)
        predictions = next(out.glob("datalab*")) / "predictions"
        predictions.mkdir(exist_ok=True)
        for row in _rows(table):
            os.link(row["pred_path"], predictions / f"{row['doc_id']}.json")
    measured = _measure(command)
    summary = json.loads((next(out.glob("datalab*")) / "summary.json").read_text())
    assert json.dumps(summary).count('"coverage": 1.0') > 0, "the peer has not scored all"
    return measured


def _rows(table: Table) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    rows: list[dict[str, Any]] = pq.read_table(table.manifest, columns=["doc_id", "pred_path"]).to_pylist()
    return rows


def _quietly(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _measure(command: list[str]) -> Measured:
    started = time.perf_counter()
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True, env=_environment())
    watched = _Watched(process.pid)
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.05):
            watched.look()

    watcher = threading.Thread(target=watch)
    watcher.start()
    code = process.wait(timeout=PEER_RUN_SECONDS)
    seconds = time.perf_counter() - started
    ended.set()
    watcher.join()
    assert code == 0, f"{' '.join(command)} ended with {code}"
    return Measured(seconds, sum(watched.cpu.values()), watched.peak)


def _environment() -> dict[str, str]:
    """A person's: compiled modules are kept."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@dataclass(slots=True)
class _Watched:
    """The processes of a session: what each has spent, and the most that they held together."""

    session: int
    cpu: dict[int, float] = field(default_factory=dict)
    peak: float = 0.0

    def look(self) -> None:
        held = 0
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                    if int(fields[3]) != self.session:
                        continue
                    self.cpu[int(entry.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                    # Proportional set size: a page that n processes share counts 1/n for each.
                    held += int((entry / "smaps_rollup").read_text().partition("Pss:")[2].split()[0])
                except (OSError, IndexError, ValueError):
                    continue
        self.peak = max(self.peak, held * 1024 / 1e6)


def _stages(tables: list[Table]) -> str:
    """Where a worker's time goes, measured in one process without a pool."""
    rows = []
    for table in tables:
        spent = _stage_seconds(table)
        total = sum(spent.values())
        rows.append(
            [table.name, *(f"{1e3 * s / table.documents:.2f} ms ({100 * s / total:.0f} %)" for s in spent.values())]
        )
    header = ["per document", "reading", "parsing", "scoring", "listing verdicts", "writing"]
    return f"## Where the time goes\n\n{harness.table(header, rows)}"


def _stage_seconds(table: Table) -> dict[str, float]:
    import pyarrow.parquet as pq

    from docassay.extraction.document import load_json
    from docassay.extraction.metric import score
    from docassay.runs.files import read_document

    kept = pq.read_table(table.manifest).to_pylist()
    schemas = {row["schema"]: json.loads(row["schema"]) for row in kept}
    paths = [row[column] for row in kept for column in ("pred_path", "gt_path")]
    contents, reading = _timed(lambda: [read_document(path).data or b"" for path in paths])
    values, parsing = _timed(lambda: [load_json(data, where="", exact=False) for data in contents])
    pairs = [(values[2 * n], values[2 * n + 1], schemas[row["schema"]]) for n, row in enumerate(kept)]
    score(*pairs[0], metric=METRIC, verdicts=True)  # imports
    _, scoring = _timed(lambda: [score(*pair, metric=METRIC).counts for pair in pairs])
    _, listed = _timed(lambda: [len(score(*pair, metric=METRIC, verdicts=True).verdicts or ()) for pair in pairs])
    whole = _batch_seconds(table)
    return {
        "reading": reading,
        "parsing": parsing,
        "scoring": scoring,
        "listing": max(0.0, listed - scoring),
        "writing": max(0.0, whole - reading - parsing - max(listed, scoring)),
    }


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


def _batch_seconds(table: Table) -> float:
    """All that a worker does, batch by batch."""
    from docassay.executors.contract import Batch
    from docassay.pipelines.score_batch import BatchInputs, ScoreJob, score_batch

    class Unwatched:
        def begin(self, row: int) -> bool:
            return True

    job = ScoreJob((str(table.root / "run"),), (METRIC,), "/", (), True)

    def one(start: int) -> None:
        batch = Batch(start, min(start + 1000, table.documents))
        zeros = [0] * len(batch)
        score_batch(job, batch, BatchInputs(zeros, zeros, zeros), Unwatched())

    one(0)
    return sum(_timed(partial(one, start))[1] for start in range(0, table.documents, 1000))


def _growth(folder: Path, sizes: list[int]) -> str:
    """How time and memory grow with the number of documents, with verdicts."""
    rows = []
    for size in sizes:
        table = _write(folder / f"growth-{size}", f"{size:,}", _small(size))
        measured = [_measure(_our_command(table, workers, verdicts=True)) for workers in (1, 2)]
        rows.append(
            [
                f"{size:,}",
                *(f"{one.seconds:.1f} s, {size / one.seconds:,.0f}/s, {one.peak:,.0f} MB" for one in measured),
                harness.ratio(measured[0].seconds / measured[1].seconds),
            ]
        )
    return f"## Growth\n\n{harness.table(['small documents, with verdicts', '1 worker', '2 workers', 'faster'], rows)}"
