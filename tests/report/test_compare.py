"""Two runs compared and several ranked: figures against DuckDB, refusals, flags, and every form of output."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import duckdb
import numpy as np
import pytest
from click.testing import CliRunner

from docassay.cli.compare import compare as command
from docassay.errors import ArgumentValueError, InputError, RunMismatchError
from docassay.pipelines.compare import CompareOptions, compare
from docassay.pipelines.ranking import rank
from docassay.report import comparison as written

Doc = Any
Writer = Callable[..., Path]


def _documents(doc: Doc, seed: int, right: float, documents: int = 24, fail: int = 0) -> list[Any]:
    """Documents of 8 addresses in two suites; `right` is the share of matched ones."""
    rng = np.random.default_rng(seed)
    made = []
    for place in range(documents):
        suite = "invoices" if place % 3 else "forms"
        if place < fail:
            made.append(doc(f"d{place}", (), suite, "error", "the prediction is not JSON"))
            continue
        rows = [
            (f"rows[{i}].{'price' if i % 2 else 'name'}", "matched" if rng.random() < right else "misread", i, f"w{i}")
            for i in range(8)
        ]
        made.append(doc(f"d{place}", rows, suite))
    return made


@pytest.fixture
def two(tmp_path: Path, doc: Doc, run_writer: Writer) -> tuple[Path, Path]:
    """A better base and a worse new run."""
    return (
        run_writer(tmp_path / "base", _documents(doc, 1, 0.9)),
        run_writer(tmp_path / "new", _documents(doc, 2, 0.6, fail=2)),
    )


def _column(run: Path, sql: str) -> list[Any]:
    scores, verdicts = (f"'{run}/{t}.parquet/*.parquet'" for t in ("scores", "verdicts"))
    return duckdb.sql(sql.format(scores=scores, verdicts=verdicts)).fetchall()


def test_figures_equal_the_tables(two: tuple[Path, Path]) -> None:
    base, new = two
    result = compare(base, new)
    lines = {line.name: line.paired for line in result.metrics}
    mean = "SELECT avg(CASE WHEN status = 'error' THEN 0 ELSE accuracy END) FROM {scores}"
    assert lines["accuracy, failures as 0"].base == pytest.approx(_column(base, mean)[0][0])
    assert lines["accuracy, failures as 0"].new == pytest.approx(_column(new, mean)[0][0])
    assert lines["coverage"].new == pytest.approx(22 / 24)
    assert lines["accuracy, scored by both"].documents == 22
    suites = dict(
        _column(
            new, "SELECT suite, avg(CASE WHEN status = 'error' THEN 0 ELSE accuracy END) FROM {scores} GROUP BY suite"
        )
    )
    assert {line.name: line.paired.new for line in result.suites} == pytest.approx(suites)
    unified = np.mean(list(suites.values()))
    assert result.headline.paired.new == pytest.approx(unified)


def test_fields_and_verdicts_are_pooled_over_documents_both_scored(two: tuple[Path, Path]) -> None:
    base, new = two
    result = compare(base, new)
    both = "doc_id NOT IN ('d0', 'd1')"
    fields = _column(
        base, f"SELECT field, avg((verdict = 'matched')::INT) FROM {{verdicts}} WHERE {both} GROUP BY field"
    )
    assert {line.name: line.paired.base for line in result.fields} == pytest.approx(dict(fields))
    misread = _column(new, "SELECT avg((verdict = 'misread')::INT) FROM {verdicts}")
    assert {line.name: line.paired.new for line in result.verdicts}["misread"] == pytest.approx(misread[0][0])
    assert sum(line.paired.new or 0 for line in result.verdicts) == pytest.approx(1)


def test_what_turned_is_listed_and_counted(two: tuple[Path, Path]) -> None:
    base, new = two
    result = compare(base, new)
    count = duckdb.sql(
        f"SELECT count(*) FILTER (b.verdict = 'matched'), count(*) FILTER (n.verdict = 'matched') "
        f"FROM '{base}/verdicts.parquet/*.parquet' b JOIN '{new}/verdicts.parquet/*.parquet' n USING (doc_id, address) "
        "WHERE b.verdict <> n.verdict"
    ).fetchall()
    assert (result.turned_wrong, result.turned_right) == count[0]
    assert len(result.wrong) == result.turned_wrong
    assert sum(change.turned_wrong for change in result.changes) == result.turned_wrong
    failed = next(change for change in result.changes if change.doc_id == "d0")
    assert (failed.new, failed.new_status, failed.new_error) == (None, "error", "the prediction is not JSON")
    assert failed.difference == pytest.approx(-(failed.base or 0))


def test_a_worse_run_is_flagged_by_what_is_allowed(two: tuple[Path, Path]) -> None:
    base, new = two
    assert compare(base, new).flags == ()
    assert compare(base, new, CompareOptions(fail_if_worse=0.9)).flags == ()
    flags = {flag.where for flag in compare(base, new, CompareOptions(fail_if_worse=0.02)).flags}
    assert flags == {"overall", "suite invoices", "field rows[*].name", "field rows[*].price"}
    assert compare(new, base, CompareOptions(fail_if_worse=0.0)).flags == ()


def test_leaving_documents_out_is_flagged_unless_it_is_allowed(tmp_path: Path, doc: Doc, run_writer: Writer) -> None:
    base = run_writer(tmp_path / "base", _documents(doc, 1, 0.8))
    new = run_writer(tmp_path / "new", _documents(doc, 1, 0.8)[4:])
    asked = CompareOptions(fail_if_worse=0.0)
    assert [flag.where for flag in compare(base, new, asked).flags] == ["documents"]
    assert compare(base, new, CompareOptions(fail_if_worse=0.0, allow_missing=True)).flags == ()
    assert "new lacks 4 documents of the other run" in compare(base, new).notes[0]


def test_runs_that_were_not_scored_alike_are_refused(tmp_path: Path, doc: Doc, run_writer: Writer) -> None:
    documents = _documents(doc, 1, 0.8)
    runs = [
        run_writer(tmp_path / "a", documents),
        run_writer(tmp_path / "b", documents, signature="omni/1 order:free docassay:0.1.0"),
        run_writer(tmp_path / "c", documents, signature="sound/1 order:rows docassay:0.1.0"),
        run_writer(tmp_path / "d", documents, signature="sound/1 order:free docassay:0.2.0"),
    ]
    for other in runs[1:3]:
        with pytest.raises(RunMismatchError, match=r"sound/1 order:free docassay:0.1.0.*not scored alike"):
            compare(runs[0], other)
    assert "different versions" in compare(runs[0], runs[3]).notes[0]


def test_a_changed_ground_truth_is_refused_and_named(tmp_path: Path, doc: Doc, run_writer: Writer) -> None:
    base = run_writer(
        tmp_path / "a", [doc("x", [("name", "matched", "old", "old")]), doc("y", [("n", "matched", 1, 1)])]
    )
    new = run_writer(
        tmp_path / "b", [doc("x", [("name", "matched", "new", "new")]), doc("y", [("n", "matched", 1, 1)])]
    )
    with pytest.raises(RunMismatchError, match=r"1 of 2 documents .*\(x\)"):
        compare(base, new)
    allowed = compare(base, new, CompareOptions(allow_changed_truth=True))
    assert allowed.notes == ("the ground truth differs in 1 documents: x",)


def test_wrong_input_is_named(tmp_path: Path, doc: Doc, run_writer: Writer, two: tuple[Path, Path]) -> None:
    other = run_writer(tmp_path / "other", [doc("z", [("name", "matched", 1, 1)])])
    with pytest.raises(InputError, match="no doc_id in common"):
        compare(two[0], other)
    with pytest.raises(InputError, match=r"no scores\.parquet"):
        compare(two[0], tmp_path)
    with pytest.raises(InputError, match="given twice"):
        compare(two[0], two[0])
    for options in (CompareOptions(alpha=5), CompareOptions(fail_if_worse=2), CompareOptions(correction="none")):
        with pytest.raises(ArgumentValueError):
            compare(*two, options)


def test_few_documents_are_told_and_not_tested(tmp_path: Path, doc: Doc, run_writer: Writer) -> None:
    base = run_writer(tmp_path / "a", _documents(doc, 1, 0.9, documents=9))
    new = run_writer(tmp_path / "b", _documents(doc, 2, 0.5, documents=9))
    result = compare(base, new)
    assert result.headline.paired.p_value is None
    assert "too few documents (9 of at least 10)" in written.verdict_on(result)
    assert all(line.adjusted is None for line in (*result.fields, *result.suites, *result.metrics))


def test_a_document_with_nothing_to_score_is_neither_right_nor_wrong(
    tmp_path: Path, doc: Doc, run_writer: Writer
) -> None:
    empty = doc("empty", (), "forms", "nothing_to_score")
    base = run_writer(tmp_path / "a", [*_documents(doc, 1, 0.9), empty])
    new = run_writer(tmp_path / "b", [*_documents(doc, 1, 0.9), empty])
    result = compare(base, new)
    assert (result.documents, result.base.nothing_to_score) == (25, 1)
    assert result.headline.paired.documents == 24
    change = next(change for change in result.changes if change.doc_id == "empty")
    assert (change.base, change.difference) == (None, None)


def test_a_ranking_names_flips_under_other_weightings(tmp_path: Path, doc: Doc, run_writer: Writer) -> None:
    """One run is right on the one large document, the other on the many small ones."""

    def documents(large: bool) -> list[Any]:
        def rows(n: int, right: bool) -> list[Any]:
            return [(f"v[{i}]", "matched" if right else "misread", i, -i - 1) for i in range(n)]

        return [doc("large", rows(500, large)), *(doc(f"s{i}", rows(2, not large)) for i in range(12))]

    runs = [run_writer(tmp_path / "large", documents(True)), run_writer(tmp_path / "small", documents(False))]
    result = rank(runs)
    assert [system.side.name for system in result.systems] == ["small", "large"]
    assert result.systems[0].figures["flat"] == pytest.approx(12 / 13)
    assert result.systems[0].figures["pooled"] == pytest.approx(24 / 524)
    assert [(flip.weighting, flip.worse) for flip in result.flips] == [("pooled", "large")]
    assert written.flip_sentences(result)[0].startswith("large overtakes small under pooled addresses")


def test_failing_on_hard_documents_does_not_pay_in_the_ranking(tmp_path: Path, doc: Doc, run_writer: Writer) -> None:
    runs = [
        run_writer(tmp_path / "honest", _documents(doc, 1, 0.8)),
        run_writer(tmp_path / "picky", _documents(doc, 1, 0.95, fail=12)),
    ]
    result = rank(runs)
    assert result.systems[0].side.name == "honest"
    assert [flip.weighting for flip in result.flips] == ["scored"]
    assert result.systems[1].side.failed == 12
    # What failed still has its addresses, all unfound, as far as another run tells how many they are.
    assert result.systems[1].figures["pooled"] == pytest.approx(
        _column(runs[1], "SELECT sum(matched) / (24 * 8) FROM {scores}")[0][0]
    )


def test_the_command_prints_every_form_and_fails_when_worse(two: tuple[Path, Path]) -> None:
    runner = CliRunner()
    names = [str(path) for path in two]

    def run(*arguments: str) -> tuple[int, str]:
        result = runner.invoke(command, [*names, *arguments], standalone_mode=False)
        assert result.exception is None, result.exception
        return result.return_value, result.stdout

    code, table = run("--by", "field", "--by", "suite", "--by", "document")
    assert code == 0
    assert "more than chance explains" in table
    code, text = run("--format", "json", "--fail-if-worse", "0.01")
    record = json.loads(text)
    assert code == 1
    assert record["worse_than_allowed"]
    assert record["headline"]["significant"]
    code, text = run("--format", "markdown", "--fail-if-worse", "0.01", "--by", "document")
    assert code == 1
    assert "Worse than allowed" in text
    assert "| d0 | forms |" in text
    code, text = run("--format", "junit", "--fail-if-worse", "0.01")
    assert code == 1
    suite = ElementTree.fromstring(text)
    assert int(suite.get("failures") or 0) == len(suite.findall("testcase/failure")) == len(record["flags"])
    assert int(suite.get("tests") or 0) == len(suite.findall("testcase"))


def test_the_command_ranks_three_runs_and_refuses_one(tmp_path: Path, doc: Doc, run_writer: Writer) -> None:
    runs = [str(run_writer(tmp_path / name, _documents(doc, i, 0.7))) for i, name in enumerate("abc")]
    runner = CliRunner()
    result = runner.invoke(command, [*runs, "--format", "json"], standalone_mode=False)
    assert len(json.loads(result.stdout)["pairs"]) == 3
    for form in ("table", "markdown", "junit"):
        assert runner.invoke(command, [*runs, "--format", form]).exit_code == 0
    assert runner.invoke(command, runs[:1]).exit_code == 2
    assert runner.invoke(command, [*runs, "--fail-if-worse", "0"]).exit_code == 2


HOSTILE = '<script>alert(1)</script> | `x` "q" \u202e \x00 @everyone ]]> / ../.. [link](http://example.org)'


def test_hostile_names_are_inert_in_every_form(tmp_path: Path, doc: Doc, run_writer: Writer) -> None:
    def documents(right: bool) -> list[Any]:
        rows = [(HOSTILE, "matched" if right else "misread", HOSTILE, HOSTILE + "!")]
        return [doc(f"{HOSTILE}{i}", rows, HOSTILE) for i in range(12)]

    base, new = (run_writer(tmp_path / str(right), documents(right)) for right in (True, False))
    result = compare(base, new, CompareOptions(fail_if_worse=0))
    text = written.comparison_markdown(result, written.BREAKDOWNS, 20)
    assert "<script" not in text.replace("\\<", "")
    assert "\x00" not in text
    assert "\u202e" not in text
    assert "@everyone" not in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.replace("\\|", "").endswith("|") for line in tables)
    ElementTree.fromstring(written.comparison_junit(result))
    assert json.loads(json.dumps(written.comparison_record(result)))["turned_wrong"] == 12


def test_runs_without_verdicts_are_compared_by_their_scores(two: tuple[Path, Path]) -> None:
    base, new = two
    with_verdicts = compare(base, new)
    shutil.rmtree(new / "verdicts.parquet")
    result = compare(base, new)
    assert result.fields == ()
    assert (result.turned_right, result.turned_wrong) == (0, 0)
    assert result.headline.paired.difference == with_verdicts.headline.paired.difference
    assert "scored without verdicts" in result.notes[0]


def test_the_verdicts_are_those_of_the_engine_and_the_columns_those_of_the_tables() -> None:
    from docassay.core.columns import names
    from docassay.extraction import verdicts
    from docassay.pipelines import run_data
    from docassay.runs.tables import SCORES

    assert run_data.VERDICTS == verdicts.VERDICTS
    assert set(run_data.NUMBERS) <= set(names(SCORES))
