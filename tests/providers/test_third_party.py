"""The worked example of docs/providers.md, installed as a package and run through its entry point."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """A folder that holds the installed example, as `pip install --target` leaves it."""
    pytest.importorskip("setuptools", reason="the example is built with setuptools")
    source, target = tmp_path_factory.mktemp("replay"), tmp_path_factory.mktemp("site")
    page = (repository / "docs/providers.md").read_text(encoding="utf-8")
    files = re.findall(r"^\*\*(\S+)\*\*\n\n```\w+\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert [name for name, _ in files] == ["pyproject.toml", "docassay_replay.py"]
    for name, text in files:
        (source / name).write_text(text, encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--target", str(target), str(source)]
    done = subprocess.run([*pip, *offline], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return target


def run(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "docassay", "extract", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(installed), "COLUMNS": "150"},
    )


def test_it_is_listed_with_its_options(installed: Path) -> None:
    assert "Extractions that another tool left in a folder." in run(installed, "providers").stdout
    shown = run(installed, "providers", "replay").stdout
    for text in ("No key is needed.", "Costs: free.", "folder", "(required)", "strict", "true or false"):
        assert text in shown


def test_it_predicts_like_any_other(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    for name in ("a", "b"):
        (tmp_path / f"{name}.pdf").write_bytes(b"%PDF-1.7")
    (tmp_path / "theirs/a.pdf.json").write_text('{"total": 12.5}')
    (tmp_path / "docs.csv").write_text("doc_id,doc_path,schema\na,a.pdf,{}\nb,b.pdf,{}\n")
    options = {"folder": str(tmp_path / "theirs"), "strict": True}
    table = ["--manifest", str(tmp_path / "docs.csv"), "--out", str(tmp_path / "preds"), "--root", str(tmp_path)]
    done = run(installed, "predict", "--provider", "replay", "--options", json.dumps(options), *table, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["provider"], told["ok"], told["failed"]) == ("replay", 1, 1)
    assert json.loads((tmp_path / "preds/predictions/a.json").read_text()) == {"total": 12.5}
    record = json.loads((tmp_path / "preds/records/a.json").read_text())
    assert record["details"] == {"file": str(tmp_path / "theirs/a.pdf.json")}
    assert "there is no" in json.loads((tmp_path / "preds/predictions/b.json").read_text())["__error__"]


def test_its_options_are_checked_like_any_others(installed: Path, tmp_path: Path) -> None:
    done = run(
        installed, "predict", "--provider", "replay", "--options", '{"fold": 1}', "--manifest", "m", "--out", "o"
    )
    assert done.returncode == 2
    assert "no option 'fold' (there are: folder, strict); did you mean 'folder'?" in done.stderr
    assert "'folder' is required" in done.stderr
