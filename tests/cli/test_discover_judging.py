"""`discover judge`, `evaluate` and `explain` as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from docassay.cli import cli
from docassay.discovery.simulate.write import simulate
from docassay.errors import DocassayError, RunError, RunMismatchError


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulate(tmp_path_factory.mktemp("cli") / "data", tasks=2, documents=250, seed=3).data


@pytest.fixture
def run(data: Path, tmp_path: Path) -> Callable[..., Result]:
    """Runs a command with the folders filled in; an error of docassay is raised, as `docassay.cli.main` would show."""

    def call(*words: str, quality: str = "right") -> Result:
        folders = {
            "DATA": str(data),
            "SUBS": str(data.with_name("data-planted") / "submissions" / quality),
            "OUT": str(tmp_path / "out"),
            "REP": str(tmp_path / "rep"),
        }
        result = CliRunner().invoke(
            cli, ["discover", *(folders.get(word, word) for word in words)], standalone_mode=False
        )
        if isinstance(result.exception, DocassayError):
            raise result.exception
        return result

    return call


JUDGE = ("judge", "--data", "DATA", "--submissions", "SUBS", "--out", "OUT", "--judge", "oracle")
EVALUATE = ("evaluate", "--data", "DATA", "--submissions", "SUBS", "--reviews", "OUT", "--out", "REP")


def test_from_submissions_to_words(run: Callable[..., Result], tmp_path: Path) -> None:
    judged = run(*JUDGE)
    assert (judged.return_value, judged.stdout) == (0, "2 reviewed\n")
    again = run(*JUDGE, "--json", "-q")
    assert [row["state"] for row in json.loads(again.stdout)["outcomes"]] == ["kept", "kept"]
    assert again.stderr == ""
    evaluated = run(*EVALUATE)
    assert evaluated.return_value == 0
    assert "100.0" in evaluated.stdout
    assert (tmp_path / "rep" / "report.md").read_text().startswith("# Discovery report")
    explained = run("explain", "--report", "REP", "--finding", "f1")
    assert "Quality 100 = 1 (supported) x (15 + 25 x 1" in explained.stdout
    told = json.loads(run("explain", "--report", "REP", "--finding", "f1", "--json").stdout)
    assert {row["finding_id"] for row in told} == {"f1"}


def test_a_report_is_never_overwritten(run: Callable[..., Result], tmp_path: Path) -> None:
    run(*JUDGE)
    run(*EVALUATE)
    before = (tmp_path / "rep" / "report.json").read_bytes()
    with pytest.raises(RunError, match="nothing is overwritten"):
        run(*EVALUATE)
    assert (tmp_path / "rep" / "report.json").read_bytes() == before


def test_fail_under_flags_what_is_low_or_null(run: Callable[..., Result], tmp_path: Path) -> None:
    run(*JUDGE)
    assert run(*EVALUATE, "--fail-under", "99").return_value == 0
    pending = ("evaluate", "--data", "DATA", "--submissions", "SUBS", "--out", str(tmp_path / "none"))
    assert run(*pending, "--fail-under", "1").return_value == 1


def test_json_of_a_report_is_the_file(run: Callable[..., Result], tmp_path: Path) -> None:
    run(*JUDGE, quality="mild-noise")
    shown = run(*EVALUATE, "--json", "-q", quality="mild-noise")
    assert json.loads(shown.stdout) == json.loads((tmp_path / "rep" / "report.json").read_text())


def test_invalid_submissions_are_told_and_are_no_failure_of_the_judge(run: Callable[..., Result]) -> None:
    result = run(*JUDGE, quality="wrong-statistic")
    assert (result.return_value, result.stdout) == (0, "2 invalid\n")
    assert "statistic_mismatch" in result.stderr


def test_wrong_arguments_are_told(run: Callable[..., Result]) -> None:
    model = ("judge", "--data", "DATA", "--submissions", "SUBS", "--out", "OUT")
    for words, message in (
        (model, "--judge model needs --model"),
        ((*model, "--model", "m", "--extra", "{"), "--extra is no JSON"),
        ((*JUDGE, "--dry-run"), "--dry-run goes with --judge model"),
    ):
        result = run(*words)
        assert message in str(result.exception), words
    run(*JUDGE)
    with pytest.raises(RunMismatchError, match="audit_documents: 160 there, 90 here"):
        run(*JUDGE, "--audit-documents", "90")


def test_a_dry_run_needs_neither_key_nor_network(run: Callable[..., Result], tmp_path: Path) -> None:
    words = ("judge", "--data", "DATA", "--submissions", "SUBS", "--out", "OUT", "--model", "m", "--dry-run")
    result = run(*words, "--base-url", "https://judge.invalid/v1", "--prices", "1", "2", "--json")
    plan = json.loads(result.stdout)
    assert plan["calls"] > 10
    assert plan["cost_limit"] > 0
    assert not (tmp_path / "out").exists()


def test_a_terminal_shows_a_dash_and_no_zero_where_there_is_no_score(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    shown = run("evaluate", "--data", "DATA", "--submissions", "SUBS", "--out", str(tmp_path / "none"))
    rows = [line.split("│")[1:3] for line in shown.stdout.splitlines() if line.startswith("│")]
    figures = {name.strip(): figure.strip() for name, figure in rows}
    for name in ("quality, all tasks", "quality, scored tasks", "bounds", "reference coverage"):
        assert figures[name] == "–"
    text = (tmp_path / "none" / "report.md").read_text()
    assert text.count("| pending review | – | – |") == 2
