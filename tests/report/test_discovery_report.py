"""The report and the page of a discovery evaluation: figures are the evaluation's, hostile text stays inert."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from docassay.errors import InputError, RunError
from docassay.report import ReportOptions, make_report, numbers
from docassay.report.discovery import build
from docassay.report.view.discovery import DiscoveryView
from docassay.report.view.server import Server, open_view

HURTFUL = "<script>window.pwned=1</script> \u202e \x07 '\"><img src=x onerror=window.pwned=1>"


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Simulated tasks, right and flawed submissions, an oracle's reviews, twice, and their evaluation."""
    folder = tmp_path_factory.mktemp("discovery")

    def run(*arguments: str) -> None:
        command = [sys.executable, "-m", "docassay", "discover", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode in (0, 1), done.stderr

    data, subs = folder / "data", folder / "subs"
    run("simulate", "--out", str(data), "--tasks", "5", "--documents", "300", "--seed", "3", "-q")
    subs.mkdir()
    tasks = [task["task_id"] for task in json.loads((data / "tasks.json").read_bytes())]
    for task, kind in zip(tasks, ("right", "severe-noise", "unknown-flood", "abstain", None), strict=True):
        source = folder / "data-planted" / "submissions" / str(kind) / f"{task}.json"
        if kind is not None and source.exists():
            (subs / source.name).write_bytes(source.read_bytes())
    inputs = ["--data", str(data), "--submissions", str(subs)]
    for name in ("a", "b"):
        more = ["--repeat", "1"] if name == "b" else []
        run("judge", *inputs, "--judge", "oracle", "--out", str(folder / name), *more, "-q")
    reviews = ["--reviews", str(folder / "a"), "--reviews", str(folder / "b")]
    run("evaluate", *inputs, *reviews, "--out", str(folder / "report"), "-q")
    return folder / "report"


@pytest.fixture(scope="module")
def hostile_evaluation(evaluated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same evaluation with every free text replaced by something hostile."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path_factory.mktemp("hostile") / "report"
    folder.mkdir()
    value = json.loads((evaluated / "report.json").read_bytes())
    for judge in value["judges"]:
        for task in judge["tasks"]:
            task["reason"] = task["reason"] and HURTFUL
            for finding in task["findings"]:
                finding["claim"] = finding["assessment"]["rationale"] = HURTFUL
                finding["limitations"] = [HURTFUL]
                for quote in finding["evidence"]:
                    quote.update(doc_id=HURTFUL, quote=HURTFUL, before=HURTFUL, after=HURTFUL)
                for definition in finding["definitions"]:
                    definition.update(inclusion=HURTFUL, exclusion=HURTFUL)
    (folder / "report.json").write_text(json.dumps(value))
    labels = pq.read_table(evaluated / "labels.parquet")
    for name in ("doc_id", "quote", "excerpt"):
        place = labels.column_names.index(name)
        labels = labels.set_column(place, name, pa.array([HURTFUL] * labels.num_rows))
    pq.write_table(labels, folder / "labels.parquet")
    return folder


def test_figures_are_the_evaluations(evaluated: Path, tmp_path: Path) -> None:
    value = json.loads((evaluated / "report.json").read_bytes())
    report = build([evaluated], ReportOptions())
    for judge, given in zip(report.judges, value["judges"], strict=True):
        assert dict(judge.statuses) == Counter(task["status"] for task in given["tasks"])
        tests = [r["test"] for t in given["tasks"] for f in t["findings"] for r in f["gate"]["reasons"]]
        assert dict(judge.gates) == Counter(tests)
        for task, own in zip(judge.tasks, given["tasks"], strict=True):
            assert (task.quality.value, task.quality.low, task.quality.high) == (
                own["quality"], own["quality_low"], own["quality_high"],
            )  # fmt: skip
            for finding in task.findings:
                counts = duckdb.sql(
                    "SELECT count(*), count(*) FILTER (agrees), count(*) FILTER (NOT agrees) "
                    f"FROM '{evaluated}/labels.parquet' WHERE judge = '{judge.name}' "
                    f"AND task_id = '{task.task_id}' AND finding_id = '{finding.finding_id}'"
                ).fetchall()[0]
                assert (finding.labels.audited, finding.labels.agree, finding.labels.differ) == counts
                assert finding.evidence
                assert all(c.positive is not None for c in finding.conditions)
    html = make_report([evaluated], tmp_path / "report.html").path.read_text(encoding="utf-8")
    mean = value["judges"][0]["summary"]["conditional_quality_mean"]
    assert f'<p class="tile-figure">{numbers.quality(mean)}</p>' in html
    missing = next(task for task in value["judges"][0]["tasks"] if task["status"] == "missing")
    assert missing["reason"].rsplit("/", 1)[-1] in html


def test_a_task_without_quality_has_a_reason_and_no_zero(evaluated: Path) -> None:
    view = DiscoveryView(evaluated)
    rows = [row for row in view.tasks({})["rows"] if row["quality"]["value"] is None]
    assert {row["status"] for row in rows} >= {"missing", "abstained"}
    assert all(row["reason"] for row in rows)


def test_rows_of_the_page_are_the_tables(evaluated: Path) -> None:
    view = DiscoveryView(evaluated)
    for agreement, where in (("differ", "NOT agrees"), ("agree", "agrees"), ("not both known", "agrees IS NULL")):
        count = duckdb.sql(f"SELECT count(*) FROM '{evaluated}/labels.parquet' WHERE {where}").fetchall()[0][0]
        answer = view.labels({"agreement": [agreement], "limit": ["5"]})
        assert answer["total"] == count
        assert len(answer["rows"]) == min(5, count)
    findings = view.findings({})
    assert findings["total"] == view.about()["findings"]
    one = view.finding({"id": ["0"]})
    assert one["conditions"][0]["partition"]
    assert (
        one["labels"]["audited"]
        == view.labels(
            {"judge": [findings["rows"][0]["judge"]], "task_id": [one["task"]], "finding_id": [one["finding"]]}
        )["total"]
    )
    for wrong in ({"id": ["999"]}, {"id": ["x"]}, {}):
        with pytest.raises(InputError):
            view.finding(wrong)
    assert view.page_png(0, 0) is None


def test_what_does_not_fit_is_refused(evaluated: Path, plain_runs: tuple[Path, ...], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one report holds one track"):
        make_report([evaluated, plain_runs[0]], tmp_path / "x.html")
    with pytest.raises(InputError, match="--docs shows nothing"):
        open_view(evaluated, docs=True)
    broken = tmp_path / "broken"
    broken.mkdir()
    value = json.loads((evaluated / "report.json").read_bytes())
    del value["judges"][0]["tasks"][0]["status"]
    (broken / "report.json").write_text(json.dumps(value))
    (broken / "labels.parquet").write_bytes((evaluated / "labels.parquet").read_bytes())
    with pytest.raises(RunError, match="lacks 'status'"):
        make_report([broken], tmp_path / "x.html")


@pytest.fixture
def served(hostile_evaluation: Path) -> Iterator[str]:
    server = Server(open_view(hostile_evaluation))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield server.address.url
    server.stop()
    thread.join(timeout=10)


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
def test_the_report_reads_well_and_hostile_text_is_inert(
    watch: Callable[..., Any],
    accessibility_faults: Callable[[Any], list[str]],
    hostile_evaluation: Path,
    tmp_path: Path,
    width: int,
) -> None:
    file = make_report([hostile_evaluation], tmp_path / "report.html").path
    for scheme in ("light", "dark"):
        watched = watch(width=width, offline=True, color_scheme=scheme)
        page = watched.page
        page.goto(file.as_uri())
        page.click("[data-expand='true']")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert accessibility_faults(page) == []
        assert page.locator("blockquote").first.inner_text().startswith("<script>")
        watched.assert_quiet(file.as_uri())


@pytest.mark.browser
def test_the_page_steps_filters_and_links(
    watch: Callable[..., Any], accessibility_faults: Callable[[Any], list[str]], served: str
) -> None:
    watched = watch(width=1440)
    page = watched.page
    page.goto(served)
    page.wait_for_selector("body[data-ready]")
    page.keyboard.press("j")
    page.wait_for_selector("#detail-body blockquote")
    assert "id=0" in page.url
    assert accessibility_faults(page) == []
    page.locator("#detail-body .links button", has_text="differ").click()
    page.wait_for_function("() => document.getElementById('status').textContent.includes('labels')")
    assert "agreement=differ" in page.url
    other = watch(width=390, color_scheme="dark")
    other.page.goto(page.url)
    other.page.wait_for_selector("body[data-ready]")
    assert other.page.locator("#status").inner_text() == page.locator("#status").inner_text()
    assert other.page.evaluate("document.documentElement.scrollWidth") <= 390
    page.keyboard.press("Escape")
    page.wait_for_selector("#detail", state="hidden")
    page.click("#tab-tasks")
    page.wait_for_function("() => document.getElementById('status').textContent.includes('tasks')")
    assert page.locator("td.bad").count() > 0
    page.keyboard.press("/")
    page.keyboard.type("no such text")
    page.wait_for_function("() => document.getElementById('status').textContent === 'no tasks pass these filters'")
    for one in (watched, other):
        one.assert_quiet(served)
