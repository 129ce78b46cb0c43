"""The report of extraction runs as a file: its figures are the tables', its text is inert, its size is bounded."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

from docassay.cli.report import report as command
from docassay.errors import InputError, RunMismatchError
from docassay.report import ReportOptions, make_report, numbers
from docassay.report.extraction import build

Doc = Any
Writer = Callable[..., Path]


class Tables(HTMLParser):
    """The texts of every table's cells, by the label of the box around the table."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] = []
        self._cell = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "div" and given.get("role") == "group" and given.get("aria-label"):
            self._rows = self.tables.setdefault(str(given["aria-label"]), [])
        if tag == "tr":
            self._rows.append([])
        self._cell = self._cell or tag in ("td", "th")
        if tag in ("td", "th"):
            self._rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False
        if tag == "table":
            self._rows = []

    def handle_data(self, data: str) -> None:
        if self._cell:
            self._rows[-1][-1] = f"{self._rows[-1][-1]} {data.strip()}".strip()


class Elements(HTMLParser):
    """How often each element occurs, and every attribute's name."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names[tag] += 1
        self.attributes.update(name for name, _ in attrs)


def _sql(run: Path, query: str) -> list[Any]:
    scores, verdicts = (f"'{run}/{table}.parquet/*.parquet'" for table in ("scores", "verdicts"))
    return duckdb.sql(query.format(scores=scores, verdicts=verdicts)).fetchall()


@pytest.fixture(scope="module")
def html(plain_runs: tuple[Path, ...], tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("report") / "report.html"
    make_report(plain_runs, out)
    return out.read_text(encoding="utf-8")


def test_coverage_is_the_tables(html: str, plain_runs: tuple[Path, ...]) -> None:
    rows = {row[0]: row[1:] for row in Tables(html).tables["Coverage of each run"][1:]}
    for run in plain_runs:
        total, scored, failed = _sql(
            run,
            "SELECT count(*), count(*) FILTER (status = 'scored'), count(*) FILTER (status = 'error') FROM {scores}",
        )[0]
        assert rows[run.name][:4] == [str(total), str(scored), str(failed), "0"]
        assert rows[run.name][4] == numbers.percent(1 - failed / total)


def test_means_are_the_tables(html: str, plain_runs: tuple[Path, ...]) -> None:
    table = Tables(html).tables["Means of each run"]
    header = {name: place for place, name in enumerate(table[0])}
    rows = {row[1]: row for row in table[1:]}
    for run in plain_runs:
        columns = ("accuracy", "precision", "recall", "f1", "addresses_found", "addresses_read_right")
        means = _sql(run, f"SELECT {', '.join(f'avg({c})' for c in columns)} FROM {{scores}}")[0]
        shown = ("accuracy, scored only", "precision", "recall", "f1", "addresses found", "read right")
        for name, mean in zip(shown, means, strict=True):
            assert rows[run.name][header[name]].startswith(numbers.percent(mean)), name
        zero = _sql(run, "SELECT avg(CASE status WHEN 'error' THEN 0 ELSE accuracy END) FROM {scores}")[0][0]
        assert rows[run.name][header["accuracy, failures as 0"]].startswith(numbers.percent(zero))
        unified = _sql(
            run,
            "SELECT avg(m) FROM (SELECT avg(CASE status WHEN 'error' THEN 0 ELSE accuracy END) AS m FROM {scores} "
            "GROUP BY suite)",
        )[0][0]
        assert rows[run.name][header["unified"]].startswith(numbers.percent(unified))


def test_verdicts_fields_suites_and_documents_are_the_tables(html: str, plain_runs: tuple[Path, ...]) -> None:
    tables = Tables(html).tables
    order = [row[1] for row in tables["Means of each run"][1:]]
    for run in plain_runs:
        counts = dict(_sql(run, "SELECT verdict, count(*) FROM {verdicts} GROUP BY verdict"))
        row = next(row for row in tables["Verdicts of each run"][1:] if row[0] == run.name)
        names = [name.replace(" ", "_") for name in tables["Verdicts of each run"][0][2:]]
        assert [cell.split()[0] for cell in row[2:]] == [numbers.count(counts.get(name, 0)) for name in names]
        place = order.index(run.name)
        fields = dict(_sql(run, "SELECT field, avg((verdict = 'matched')::INT) FROM {verdicts} GROUP BY field"))
        for field in tables["Worst fields"][1:]:
            assert field[3 + place].startswith(numbers.percent(fields[field[0]]))
        suites = dict(
            _sql(
                run, "SELECT suite, avg(CASE status WHEN 'error' THEN 0 ELSE accuracy END) FROM {scores} GROUP BY suite"
            )
        )
        for suite in tables["Accuracy by suite"][1:]:
            assert suite[2 + place].startswith(numbers.percent(suites[suite[0]]))
        documents = {
            doc: row for doc, *row in _sql(run, "SELECT doc_id, status, accuracy, total - matched FROM {scores}")
        }
        for row in tables["All documents"][1:]:
            status, accuracy, wrong = documents[row[0]]
            shown = "— failed" if status == "error" else numbers.percent(accuracy)
            assert row[2 + 2 * place] == shown
            assert row[3 + 2 * place] == ("" if wrong is None else numbers.count(wrong))


def test_what_failed_is_shown_with_its_reason_and_never_as_zero(html: str) -> None:
    assert "bee: 3 documents failed, for 3 reasons" in re.sub(r"<[^>]+>", "", html)
    assert "file 2 is no JSON" in html
    rows = Tables(html).tables["All documents"]
    assert not any(cell in ("0.0%", "") for row in rows if row[0] == "doc-00" for cell in row[2::2])


def test_a_single_run_has_no_ranking(plain_runs: tuple[Path, ...], tmp_path: Path) -> None:
    written = make_report([plain_runs[0]], tmp_path / "one.html")
    text = written.path.read_text(encoding="utf-8")
    assert "Leaderboard" not in text
    assert written.kind == "extraction"
    assert written.size == written.path.stat().st_size


def test_intervals_of_a_real_run_are_those_of_its_summary(tmp_path: Path) -> None:
    from docassay.pipelines.score_table import score_table

    rows = []
    for place in range(12):
        truth, guess = tmp_path / f"{place}.gt.json", tmp_path / f"{place}.pred.json"
        truth.write_text(json.dumps({"a": "x", "b": place, "c": "z"}))
        guess.write_text(json.dumps({"a": "x", "b": place + place % 2, "c": "z" if place % 3 else "y"}))
        schema = {"type": "object", "properties": {name: {} for name in "abc"}}
        rows.append(
            {"doc_id": str(place), "gt_path": str(truth), "pred_path": str(guess), "schema": json.dumps(schema)}
        )
    manifest = tmp_path / "jobs.jsonl"
    manifest.write_text("\n".join(json.dumps(row) for row in rows))
    score_table(manifest, tmp_path / "run", workers=1)
    summary = json.loads((tmp_path / "run/summary.json").read_bytes())["flat"]
    card = build([tmp_path / "run"], ReportOptions()).runs[0]
    for name, shown in (("means_failures_zero", card.with_failures), ("means", card.means["accuracy"])):
        told = summary[name]["accuracy"]
        assert shown.estimate == pytest.approx(told["estimate"])
        assert (shown.low, shown.high) == pytest.approx((told["low"], told["high"]), abs=0.03)
    assert card.finished


def test_hostile_text_is_inert(hostile_run: Path, hostile: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "hostile.html"
    make_report([hostile_run], out)
    text = out.read_text(encoding="utf-8")
    elements = Elements(text)
    assert elements.names["script"] == 1
    assert elements.names["img"] == 0
    assert not [name for name in elements.attributes if name.startswith("on")]
    assert "\x00" not in text
    assert "\u202e" not in text
    assert "{{ 7*7 }}" in text
    assert hostile[7] in unescape(text)
    assert "more)</small>" in text, "long values are cut, and the cut is said"


def test_six_hundred_documents_stay_under_five_megabytes(tmp_path: Path, doc: Doc, run_writer: Writer) -> None:
    rows = [
        (f"rows[{i}].a_rather_long_field_name", "misread", f"value {i} " * 12, f"other {i} " * 12) for i in range(40)
    ]
    documents = [doc(f"a-document-with-a-long-name-{place:04}", rows, f"suite-{place % 6}") for place in range(600)]
    runs = [run_writer(tmp_path / name, documents) for name in ("a", "b", "c", "d")]
    written = make_report(runs, tmp_path / "report.html")
    assert written.size < 5_000_000


def test_wrong_input_is_named(plain_runs: tuple[Path, ...], tmp_path: Path, doc: Doc, run_writer: Writer) -> None:
    other = run_writer(tmp_path / "omni", [doc("doc-00", [])], signature="omni/1 order:free docassay:0.1.0")
    with pytest.raises(RunMismatchError):
        make_report([plain_runs[0], other], tmp_path / "x.html")
    with pytest.raises(InputError, match="no finished run"):
        make_report([tmp_path], tmp_path / "x.html")
    with pytest.raises(InputError, match="cannot be written"):
        make_report([plain_runs[0]], tmp_path / "nowhere" / "x.html")
    assert not (tmp_path / "x.html").exists()
    assert list(tmp_path.glob(".*.tmp")) == []


def test_the_command_prints_where_the_report_is(plain_runs: tuple[Path, ...], tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    result = CliRunner().invoke(command, [str(plain_runs[0]), "--out", str(out), "--json", "--title", "A & B"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["bytes"] == out.stat().st_size
    assert "<title>A &amp; B</title>" in out.read_text(encoding="utf-8")


def test_one_input_gives_one_file(plain_runs: tuple[Path, ...], tmp_path: Path) -> None:
    texts = []
    for name in ("a", "b"):
        make_report(plain_runs, tmp_path / name)
        texts.append((tmp_path / name).read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
