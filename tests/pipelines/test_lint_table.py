"""Linting a table: every row accounted for, each ground truth once, and where all systems agree against it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from docassay.errors import InputError, ManifestError, RunMismatchError
from docassay.pipelines.lint_table import TABLE_CODES, LintReport, TableFinding, lint_table
from docassay.pipelines.score_table import score_table
from score_tables import SCHEMA, Folder

GOLD: dict[str, Any] = {
    "vendor": "Acme",
    "total": 10,
    "lines": [{"item": "bolt", "price": 1}, {"item": "nut", "price": 2}],
}


def linted(manifest: Path, **options: Any) -> tuple[LintReport, list[TableFinding]]:
    found: list[TableFinding] = []
    return lint_table(manifest, root=manifest.parent, each=found.append, **options), found


def where(found: list[TableFinding]) -> list[tuple[str, str, str]]:
    return [(one.doc_id, one.code, one.address) for one in found]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_what_cannot_be_read_is_a_finding_and_stops_nothing(folder: Folder) -> None:
    folder.add("missing", None, None)
    folder.add("broken", b'{"vendor": ', None)
    folder.add("a list", [], None)
    folder.add("no path", GOLD, None, gt_path=None)
    folder.add("no schema", GOLD, None, schema=None)
    folder.add("bad schema", GOLD, None, schema="{")
    folder.add("odd reference", GOLD, None, schema='{"$ref": "#/nowhere"}')
    folder.add("bad gzip", b"\x1f\x8bxx", None)
    folder.add("good", GOLD | {"vendor": "n/a"}, None)
    report, found = linted(folder.manifest())
    assert [one.code for one in found] == ["unreadable"] * 8 + ["placeholder"]
    reasons = {one.doc_id: one.found for one in found}
    assert "no such file" in reasons["missing"]
    assert reasons["no path"] == "gt_path is empty"
    assert reasons["no schema"] == "schema is empty"
    assert "'#/nowhere' leads nowhere" in reasons["odd reference"]
    assert "not a list" in reasons["a list"]
    assert all("\n" not in reason for reason in reasons.values())
    assert (report.rows, report.linted) == (9, 9)
    assert report.counts == {"unreadable": 8, "placeholder": 1}
    assert report.documents == {"unreadable": 8, "placeholder": 1}


def test_each_ground_truth_is_linted_once_with_each_schema(folder: Folder) -> None:
    folder.add("a", GOLD | {"vendor": "n/a"}, None)
    for system in range(4):
        folder.add(f"same {system}", None, None, gt_path="gt/a.json")
    folder.add("stricter", None, None, gt_path="gt/a.json", schema=json.dumps({**SCHEMA, "required": ["day"]}))
    report, found = linted(folder.manifest())
    assert (report.rows, report.linted) == (6, 2)
    assert where(found) == [
        ("a", "placeholder", "vendor"),
        ("stricter", "schema_violation", "<root>"),
        ("stricter", "placeholder", "vendor"),
    ]


def test_neither_predictions_nor_other_columns_are_asked_for(folder: Folder) -> None:
    folder.add("a", GOLD, None)
    table = pq.read_table(folder.manifest()).select(["schema", "gt_path", "doc_id"])
    pq.write_table(table, folder.root / "gold.parquet")
    assert linted(folder.root / "gold.parquet")[0].counts == {}


def test_every_form_of_a_table_and_of_a_schema(folder: Folder) -> None:
    folder.add("a", gzip.compress(json.dumps(GOLD | {"vendor": "n/a"}).encode()), None)
    lines = folder.root / "jobs.jsonl"
    lines.write_text(json.dumps(folder.rows[0] | {"schema": SCHEMA}) + "\n")
    blob = folder.root / "bytes.parquet"
    pq.write_table(pa.Table.from_pylist([folder.rows[0] | {"schema": json.dumps(SCHEMA).encode()}]), blob)
    for manifest in (folder.manifest(), lines, blob):
        assert where(linted(manifest)[1]) == [("a", "placeholder", "vendor")]


def test_a_table_that_cannot_be_used(folder: Folder) -> None:
    folder.add("a", GOLD, None)
    pq.write_table(pq.read_table(folder.manifest()).drop_columns("gt_path"), folder.root / "bad.parquet")
    with pytest.raises(ManifestError, match="no column 'gt_path'"):
        linted(folder.root / "bad.parquet")
    with pytest.raises(ManifestError, match="no such manifest"):
        linted(folder.root / "none.parquet")


def test_limit_and_examples(folder: Folder) -> None:
    for number in range(5):
        lines = [{"item": "n/a", "price": row} for row in range(3)]
        folder.add(f"d{number}", GOLD | {"vendor": "none", "lines": lines}, None)
    report, found = linted(folder.manifest(), limit=3, examples=3)
    assert (report.rows, len(found)) == (3, 12)
    assert report.documents["placeholder"] == 3
    examples = [(one.doc_id, one.field) for one in report.examples["placeholder"]]
    assert examples == [("d0", "vendor"), ("d0", "lines[*].item"), ("d1", "vendor")]
    assert linted(folder.manifest(), examples=0)[0].examples == {"placeholder": ()}


def test_progress_counts_rows(folder: Folder) -> None:
    folder.add_many(7)
    seen: list[int] = []
    lint_table(folder.manifest(), root=folder.root, progress=seen.append)
    assert seen == list(range(1, 8))


# Several systems


def runs_of(folder: Folder, predictions: list[dict[str, Any]], **options: Any) -> list[Path]:
    """A run for each system's prediction of the one document `a`."""
    runs = []
    for number, prediction in enumerate(predictions):
        (folder.root / "pred").mkdir(exist_ok=True)
        (folder.root / "pred" / "a.json").write_text(json.dumps(prediction))
        out = folder.root / f"run{number}"
        score_table(folder.manifest(), out, root=folder.root, workers=1, **({"metric": "sound/1"} | options))
        runs.append(out)
    return runs


def test_where_all_systems_agree_against_the_ground_truth(folder: Folder) -> None:
    folder.add("a", GOLD | {"lines": [*GOLD["lines"], {"item": "washer"}]}, None)
    lines = [
        {"item": "nut", "price": 3},  # all read 3 for 2
        {"item": "washer", "price": 7},  # all report a price where there is none
        {"item": "bolt"},  # none finds the price
    ]
    predictions = [
        {"vendor": "ACME Ltd", "total": 11, "lines": lines},
        {"vendor": "acme ltd", "total": 12, "lines": lines[::-1]},
        {"vendor": "Acme Ltd", "lines": [lines[1], lines[0], lines[2]]},
    ]
    runs = runs_of(folder, predictions)
    report, found = linted(folder.manifest(), runs=runs)
    assert where(found) == [
        ("a", "all_read_alike", "lines[1].price"),
        ("a", "all_read_alike", "vendor"),  # written in three ways that are compared as one
        ("a", "all_miss", "lines[0].price"),
        ("a", "all_add", "lines[2].price"),
    ]
    assert found[1].found == '"Acme" here, "ACME Ltd" in all 3 runs'
    assert found[2].found == "1 here, nothing in all 3 runs"
    assert found[3].found == "nothing here, 7 in all 3 runs"
    assert report.runs == ("run0", "run1", "run2")
    assert report.signature is not None
    assert report.signature.startswith("sound/1 order:free ")
    two = linted(folder.manifest(), runs=runs[:2])[1]
    assert where(two) == where(found)  # that the totals differ is no agreement


def test_agreement_is_told_of_documents_in_the_table_only(folder: Folder) -> None:
    folder.add("a", GOLD, None)
    runs = runs_of(folder, [{"vendor": "x"}, {"vendor": "x"}])
    assert [one.code for one in linted(folder.manifest(), runs=runs)[1]].count("all_read_alike") == 1
    folder.rows = []
    folder.add("b", GOLD, None)
    assert linted(folder.manifest("other.parquet"), runs=runs)[1] == []


def test_a_system_that_failed_agrees_with_nobody(folder: Folder) -> None:
    folder.add("a", GOLD, None)
    runs = runs_of(folder, [{"vendor": "x"}, {"__error__": "timeout"}])
    assert linted(folder.manifest(), runs=runs)[1] == []


def test_runs_that_cannot_be_asked(folder: Folder, tmp_path: Path) -> None:
    folder.add("a", GOLD, None)
    runs = [*runs_of(folder, [GOLD]), folder.root / "published"]
    score_table(folder.manifest(), runs[1], root=folder.root, workers=1, metric="omni/1")
    manifest = folder.manifest()
    with pytest.raises(InputError, match="two or more"):
        linted(manifest, runs=runs[:1])
    with pytest.raises(RunMismatchError, match=r"sound/1.*omni/1.*not scored alike"):
        linted(manifest, runs=runs)
    with pytest.raises(InputError, match="no extraction run"):
        linted(manifest, runs=[runs[0], tmp_path / "gt"])


def test_codes_of_a_table_include_those_of_a_document() -> None:
    assert next(iter(TABLE_CODES)) == "unreadable"
    assert list(TABLE_CODES)[-3:] == ["all_read_alike", "all_miss", "all_add"]
    assert "placeholder" in TABLE_CODES


def test_the_page_tells_of_every_code(repository: Path) -> None:
    page = (repository / "docs" / "lint.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1].strip() for line in page[page.index("## The codes") :].splitlines() if line[:3] == "| `"]
    assert rows == [f"`{code}`" for code in TABLE_CODES]
