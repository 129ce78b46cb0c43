"""How fast the local page starts and answers on a run with a million verdicts; fails where it is slower than promised.

Everything is measured as a browser meets it: the command in a process of its own, questions over HTTP.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

from bench import harness

VERDICTS = 1_000_000
PER_DOCUMENT = 200
FILTER_LIMIT = 0.2
START_LIMIT = 2.0
FILTERS: dict[str, list[dict[str, str]]] = {
    "verdict": [{"verdict": v} for v in ("misread", "unfound", "fabricated", "invented_item", "matched")],
    "field": [{"field": f"rows[*].field_{n}"} for n in range(5)],
    "suite": [{"suite": f"suite-{n}"} for n in range(5)],
    "document": [{"document": f"doc-{n}"} for n in (0, 17, 999, 2500, 4999)],
    "text, many hits": [{"q": q} for q in ("7", "value", "rows[1", "99", "doc-4")],
    "text, few hits": [{"q": q} for q in ("value 12345", "nothing like it", "VALUE 7777", "9999", "%")],
    "all at once": [
        {"verdict": "misread", "suite": f"suite-{n}", "field": "rows[*].field_6", "q": "1"} for n in range(5)
    ],
    "last page": [{"offset": str(VERDICTS - 100), "verdict": v} for v in ("matched", "misread")]
    + [{"offset": "999900"}],
}
SORTS = ("gold_raw", "-gold_raw", "doc_id", "field", "verdict")


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds that one kind of question took, each asked for the first time."""

    name: str
    seconds: tuple[float, ...]


def run(arguments: list[str]) -> Iterator[str]:
    """The report, piece by piece."""
    parser = argparse.ArgumentParser(prog="python -m bench view", description=__doc__)
    parser.add_argument("--verdicts", type=int, default=VERDICTS, help="rows of the verdicts table")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        path = make_run(Path(folder) / "run", chosen.verdicts)
        starts = [start_once(path) for _ in range(3)]
        timings = list(ask_all(path))
    yield f"# The local page on {chosen.verdicts:,} verdicts\n\n{harness.machine()}\n"
    yield f"Start until the first rows are there: {harness.seconds(harness.median(starts))} (limit {START_LIMIT} s).\n"
    yield harness.table(
        ["question", "median", "slowest", "limit"],
        [
            [
                one.name,
                harness.seconds(harness.median(one.seconds)),
                harness.seconds(max(one.seconds)),
                _limit(one.name),
            ]
            for one in timings
        ],
    )
    slow = [
        one.name for one in timings if not one.name.startswith("sort") and harness.median(one.seconds) > FILTER_LIMIT
    ]
    if harness.median(starts) > START_LIMIT or slow:
        raise SystemExit(f"slower than promised: {', '.join(slow) or 'the start'}")


def _limit(name: str) -> str:
    return "–" if name.startswith("sort") else harness.seconds(FILTER_LIMIT)


def make_run(path: Path, verdicts: int) -> Path:
    """A run of that many verdicts, 200 a document, one in ten of each wrong verdict."""
    import duckdb

    for name in ("scores", "verdicts"):
        (path / f"{name}.parquet").mkdir(parents=True)
    names = (
        "['matched','matched','matched','matched','matched','matched','misread','unfound','fabricated','invented_item']"
    )
    connection = duckdb.connect()
    connection.execute(
        f"CREATE TABLE v AS SELECT 'doc-' || (i // {PER_DOCUMENT}) AS doc_id, "
        "'rows[' || ((i // 10) % 20) || '].field_' || (i % 10) AS address, 'rows[*].field_' || (i % 10) AS field, "
        f"{names}[1 + (hash(i) % 10)::INT] AS verdict, '\"value ' || (hash(i) % 100000) || '\"' AS gold_raw, "
        "'\"value ' || (hash(i + 1) % 100000) || '\"' AS pred_raw, 't:value' || (hash(i) % 100000) AS gold_canon, "
        f"'t:value' || (hash(i + 1) % 100000) AS pred_canon FROM range({verdicts}) t(i)"
    )
    connection.execute(f"COPY v TO '{path}/verdicts.parquet/part-0000000000.parquet' (FORMAT parquet)")
    counts = ", ".join(
        f"count(*) FILTER (verdict = '{v}') AS {v}"
        for v in ("matched", "misread", "unfound", "fabricated", "invented_item", "invented_field")
    )
    nulls = ", ".join(
        f"NULL::DOUBLE AS {n}" for n in ("precision", "recall", "f1", "addresses_found", "addresses_read_right")
    )
    connection.execute(
        f"COPY (SELECT 'scored' AS status, NULL::VARCHAR AS error, count(*) FILTER (verdict = 'matched') / count(*) "
        f"AS accuracy, {nulls}, count(*) AS total, {counts}, 0 AS asserted, 0 AS gold, 0 AS gt_rows, 0 AS pred_rows, "
        "0 AS matched_rows, true AS matching_exact, 'sound/1 order:free docassay:0' AS signature, 0.0 AS seconds, "
        "doc_id, "
        "'suite-' || (split_part(doc_id, '-', 2)::INT % 5) AS suite FROM v GROUP BY doc_id "
        f"ORDER BY split_part(doc_id, '-', 2)::INT) TO '{path}/scores.parquet/part-0000000000.parquet' (FORMAT parquet)"
    )
    (path / "run.json").write_text(json.dumps({"signature": "sound/1 order:free docassay:0"}))
    return path


def start_once(run_path: Path) -> float:
    """Seconds from the command's start until the first page of rows has been answered."""
    started = time.perf_counter()
    with serving(run_path) as url:
        ask(url, "verdicts", {"limit": "100"})
        return time.perf_counter() - started


def ask_all(run_path: Path) -> Iterator[Timing]:
    """Every kind of question; a filter is the rows and the counts beside the filters, as the page asks for both."""
    with serving(run_path) as url:
        ask(url, "verdicts", {"limit": "100"})
        for name, questions in FILTERS.items():
            yield Timing(name, tuple(timed(url, {"limit": "100", **question}) for question in questions))
        for sort in SORTS:
            yield Timing(f"sort by {sort}", (timed(url, {"limit": "100", "sort": sort}),))


def timed(url: str, question: dict[str, str]) -> float:
    """Seconds until rows and counts are both there."""
    started = time.perf_counter()
    ask(url, "verdicts", question)
    ask(url, "facets", question)
    return time.perf_counter() - started


def ask(url: str, name: str, question: dict[str, str]) -> object:
    """One answer of the page."""
    with urlopen(f"{url}api/{name}?{urlencode(question)}", timeout=60) as response:
        return json.load(response)


class serving:  # noqa: N801  (used as a function: `with serving(run) as url`)
    """The command in a process of its own; the address it prints."""

    def __init__(self, run_path: Path) -> None:
        command = [sys.executable, "-m", "docassay", "view", str(run_path), "-q"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()
