"""Holds `score` and `manifest` to what a person sees: figures as in the summary, mistakes in a line, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docassay.report.numbers import percent, percent_interval
from score_tables import SCHEMA, Folder

GOOD = {"vendor": "x", "total": 1}


def docassay(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "docassay", "extract", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.add_many(12)
    made.add("gone", GOOD, None, suite="s0")
    made.add("empty", {}, {}, suite="s0")
    made.manifest()
    return made


def test_the_terminal_and_the_summary_agree(folder: Folder) -> None:
    found = docassay("score", "--manifest", "jobs.parquet", "--out", "run", "--metric", "sound/1", cwd=folder.root)
    assert found.returncode == 0, found.stderr
    summary = json.loads((folder.root / "run" / "summary.json").read_text())
    lines = found.stdout.splitlines()
    assert lines[0] == f"sound/1 · {folder.root / 'run'}"
    for name, mean in summary["flat"]["means"].items():
        line = next(line for line in lines if line.startswith(name))
        zero = summary["flat"]["means_failures_zero"][name]
        assert line.split()[1:] == [
            percent(mean["estimate"], 2),
            percent_interval(mean["low"], mean["high"], 2),
            percent(zero["estimate"], 2),
        ]
    for group in [*summary["suites"], {"name": "UNIFIED"} | summary["unified"]]:
        line = next(line for line in lines if line.startswith(group["name"]))
        assert percent(group["means"]["accuracy"]["estimate"], 2) in line
        assert percent(group["means_failures_zero"]["accuracy"]["estimate"], 2) in line
    for name, rate in summary["flat"]["error_rates"].items():
        line = next(line for line in lines if line.startswith(name))
        assert line.split()[1] == percent(rate["estimate"], 2)
    assert "The means rest on 12 of 14 documents (85.7%); 1 failed, 1 with nothing to score." in lines
    assert lines[-1] == summary["signature"]
    assert found.stderr == "14 documents (0.0 MB), 2 workers, into run\n"


def test_json_is_the_summary(folder: Folder) -> None:
    found = docassay("score", "--manifest", "jobs.parquet", "--out", "run", "--json", "-q", cwd=folder.root)
    told = json.loads(found.stdout)
    summary = json.loads((folder.root / "run" / "summary.json").read_text())
    assert told == {"run": str(folder.root / "run"), "metric": told["metric"]} | summary
    assert found.stderr == ""


def test_several_metrics_print_one_after_the_other(folder: Folder) -> None:
    arguments = ("score", "--manifest", "jobs.parquet", "--out", "run", "--metric", "omni/1", "sound/1", "-q")
    assert [line for line in docassay(*arguments, cwd=folder.root).stdout.splitlines() if " · " in line] == [
        f"omni/1 · {folder.root}/run/omni-1",
        f"sound/1 · {folder.root}/run/sound-1",
    ]
    told = json.loads(docassay(*arguments, "--json", cwd=folder.root).stdout)
    assert [run["metric"] for run in told] == ["omni/1", "sound/1"]


@pytest.mark.parametrize(("limit", "code"), [("0.1", 0), ("0.99", 1)])
def test_fail_under_is_an_exit_code(folder: Folder, limit: str, code: int) -> None:
    found = docassay(
        "score", "--manifest", "jobs.parquet", "--out", "run", "--fail-under", limit, "--json", cwd=folder.root
    )
    assert found.returncode == code
    zero = json.loads(found.stdout)["flat"]["means_failures_zero"]["accuracy"]["estimate"]
    flagged = f"accuracy {zero:.4f}, failures counted as 0, is under 0.99"
    assert (flagged in found.stderr) is bool(code)


def test_a_table_in_which_nothing_scores_is_under_anything(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add("empty", {}, {})
    folder.manifest()
    arguments = ("score", "--manifest", "jobs.parquet", "--out", "run", "--metric", "sound/1")
    assert docassay(*arguments, cwd=tmp_path).returncode == 0
    found = docassay(*arguments, "--fail-under", "0", cwd=tmp_path)
    assert found.returncode == 1
    assert "no document was scored" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--manifest", "nowhere.parquet"], "nowhere.parquet: no such manifest"),
        (["--manifest", "jobs.parquet", "--metric", "omni/7"], "there is no metric 'omni/7'"),
        (["--manifest", "jobs.parquet", "--suite-column", "team"], "no column 'team' to tell suites by"),
        (["--manifest", "jobs.parquet", "--limit", "0"], "Invalid value for '--limit'"),
        (["--manifest", "jobs.parquet", "--engine", "slurm"], "Invalid value for '--engine'"),
        ([], "Missing option '--manifest'"),
    ],
)
def test_a_mistake_is_told_without_a_traceback(folder: Folder, arguments: list[str], told: str) -> None:
    found = docassay("score", *arguments, "--out", "run", cwd=folder.root)
    assert found.returncode == 2
    assert told in found.stderr
    assert "Traceback" not in found.stderr
    assert found.stdout == ""


def test_another_run_is_refused_with_every_difference(folder: Folder) -> None:
    base = ("score", "--manifest", "jobs.parquet", "--out", "run", "-q")
    assert docassay(*base, cwd=folder.root).returncode == 0
    found = docassay(*base, "--limit", "3", "--no-verdicts", cwd=folder.root)
    assert found.returncode == 2
    assert "verdicts was true, is false" in found.stderr
    assert "limit was none, is 3" in found.stderr
    again = docassay(*base[:-1], cwd=folder.root)
    assert again.returncode == 0
    assert docassay(*base, "--limit", "3", "--overwrite", cwd=folder.root).returncode == 0


def test_a_manifest_is_built_from_folders_and_scored(folder: Folder) -> None:
    (folder.root / "schema.json").write_text(json.dumps(SCHEMA))
    found = docassay(
        *("manifest", "--gt", "gt", "--pred", "pred", "--schema", "schema.json", "--out", "m.csv"), cwd=folder.root
    )
    assert (found.returncode, found.stdout) == (0, "m.csv: 14 documents\n")
    assert found.stderr == "note: 1 without a prediction (rows that will score as failures): gone\n"
    told: Any = json.loads(
        docassay("score", "--manifest", "m.csv", "--out", "run", "--json", "-q", cwd=folder.root).stdout
    )
    assert (told["flat"]["documents"], told["flat"]["errors"]) == (14, 1)
    as_json = docassay(
        *("manifest", "--gt", "gt", "--pred", "pred", "--schema", "schema.json", "--out", "m.jsonl", "--json", "-q"),
        cwd=folder.root,
    )
    assert json.loads(as_json.stdout) == {
        "out": "m.jsonl",
        "documents": 14,
        "without_prediction": ["gone"],
        "without_ground_truth": [],
    }
