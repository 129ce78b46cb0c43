"""The bundled documents are what they are said to be, and the demo leads from them to reports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from docassay import examples, score
from docassay.errors import ArgumentValueError
from docassay.extraction.metric import METRICS

LOADED = [examples.load(name) for name in examples.names()]
every_example = pytest.mark.parametrize("example", LOADED, ids=lambda example: example.name)


def test_there_are_five_shapes() -> None:
    assert examples.names() == ("bank-statement", "filing", "form", "invoice", "lab-report")


@every_example
@pytest.mark.parametrize("metric", sorted(METRICS))
def test_the_first_answer_is_good_and_the_second_is_worse(example: examples.Example, metric: str) -> None:
    good, worse = (
        score(example.predictions[letter], example.ground_truth, example.schema, metric=metric) for letter in "ab"
    )
    assert good.accuracy is not None
    assert worse.accuracy is not None
    assert 0.85 < good.accuracy < 1
    assert worse.accuracy < good.accuracy - 0.25
    counts = worse.counts
    assert min(counts.misread, counts.unfound, counts.invented_item, counts.invented_field) > 0


@every_example
def test_the_files_are_there(example: examples.Example) -> None:
    paths = [example.schema_path, example.ground_truth_path, *example.prediction_paths.values()]
    assert all(json.loads(path.read_bytes()) for path in paths)
    assert example.document_path.read_bytes().startswith(b"%PDF-")


def test_the_second_answers_hold_every_kind_of_mistake() -> None:
    total = [score(one.predictions["b"], one.ground_truth, one.schema).counts for one in LOADED]
    assert all(sum(getattr(counts, name) for counts in total) > 0 for name in ("misread", "unfound", "fabricated"))


def test_the_good_answers_differ_in_writing_where_they_match() -> None:
    written = 0
    for one in LOADED:
        result = score(one.predictions["a"], one.ground_truth, one.schema, verdicts=True)
        assert result.verdicts is not None
        written += sum(v.verdict == "matched" and v.gold_raw != v.pred_raw for v in result.verdicts)
    assert written > 20


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ArgumentValueError, match="invoice"):
        examples.load("receipt")


def demo(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "docassay.examples", *arguments]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def test_the_demo_leaves_other_folders_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work", encoding="utf-8")
    done = demo("--out", "mine", folder=tmp_path)
    assert done.returncode == 1
    assert "holds other things" in done.stderr
    assert (tmp_path / "mine" / "thesis.txt").exists()


@pytest.mark.slow
def test_the_demo_ends_with_two_reports_and_can_be_repeated(tmp_path: Path) -> None:
    for _ in range(2):
        done = demo(folder=tmp_path)
        assert done.returncode == 0, done.stderr
    for name in ("extraction.html", "discovery.html"):
        page = (tmp_path / "demo-run" / name).read_text(encoding="utf-8")
        assert page.lower().startswith("<!doctype html>")
        assert str(tmp_path / "demo-run" / name) in done.stdout
