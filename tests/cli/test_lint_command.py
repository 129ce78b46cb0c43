"""`docassay extract lint`: a table for a person, one object for a program, and a code for continuous integration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from score_tables import Folder


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    folder = Folder(tmp_path)
    folder.add("clean", {"vendor": "Acme", "total": 5}, None)
    folder.add("a\x1b[31m", {"vendor": "n/a", "total": "5", "lines": [{"item": "[red]x"}, {"item": "[red]x"}]}, None)
    folder.add("gone", None, None)
    return folder.manifest()


def run(manifest: Path, *more: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "docassay", "extract", "lint", "--manifest", str(manifest), *more]
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1", "DOCASSAY_ROOT": str(manifest.parent)}
    return subprocess.run(line, capture_output=True, text=True, timeout=60, check=False, env=environment)


def test_a_person_sees_counts_meanings_and_examples(manifest: Path) -> None:
    done = run(manifest)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ground truths: 3 (of 3 rows); findings: 4\n")
    rows = [line.split()[:3] for line in done.stdout.splitlines()]
    for code in ("unreadable", "duplicate_rows", "number_as_text", "placeholder"):
        assert [code, "1", "1"] in rows
    assert 'vendor: "n/a"' in done.stdout
    assert "no such file" in done.stdout
    assert "\x1b" not in done.stdout


def test_nothing_found(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add("clean", {"vendor": "Acme"}, None)
    assert run(folder.manifest()).stdout == "ground truths: 1 (of 1 rows); findings: 0\n"


def test_json_is_one_object_with_every_finding(manifest: Path) -> None:
    done = run(manifest, "--json", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert set(told) == {"findings", "rows", "linted", "runs", "signature", "counts", "documents"}
    codes = [finding["code"] for finding in told["findings"]]
    assert codes == ["duplicate_rows", "number_as_text", "placeholder", "unreadable"]
    assert told["counts"] == dict.fromkeys(["unreadable", "duplicate_rows", "number_as_text", "placeholder"], 1)
    assert set(told["findings"][0]) == {"doc_id", "code", "address", "field", "found", "advice"}
    assert (told["rows"], told["linted"], told["runs"], told["signature"]) == (3, 3, [], None)


def test_json_without_findings(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add("clean", {"vendor": "Acme"}, None)
    assert json.loads(run(folder.manifest(), "--json").stdout)["findings"] == []


def test_codes_that_fail(manifest: Path) -> None:
    assert run(manifest, "-q", "--fail-on", "open_map", "placeholder").returncode == 1
    assert run(manifest, "-q", "--json", "--fail-on", "placeholder").returncode == 1
    assert run(manifest, "-q", "--fail-on", "open_map").returncode == 0
    wrong = run(manifest, "--fail-on", "typo")
    assert wrong.returncode == 2
    assert "there is no code 'typo'; there are unreadable," in wrong.stderr


def test_limit_and_examples(manifest: Path) -> None:
    assert run(manifest, "--limit", "1").stdout.startswith("ground truths: 1 (of 1 rows); findings: 0")
    assert '"n/a"' not in run(manifest, "--examples", "0").stdout


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    done = run(tmp_path / "none.parquet")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "no such manifest" in done.stderr
    assert "Traceback" not in done.stderr
