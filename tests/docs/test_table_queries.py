"""Runs the queries of docs/tables.md, and of the README where it shows some, with DuckDB on a run with known faults."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from docassay.pipelines.score_table import score_table
from score_tables import Folder

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
REPOSITORY = Path(__file__).resolve().parents[2]
SQL = re.compile(r"^```sql\n(.*?)^```", re.MULTILINE | re.DOTALL)


def queries(page: str) -> list[str]:
    return SQL.findall((REPOSITORY / page).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run named `run`."""
    folder = Folder(tmp_path_factory.mktemp("queries"))
    row = {"item": "pen", "price": 1}
    gold = {"vendor": "Blue", "total": 9, "lines": [row]}
    folder.add("good", gold, gold)
    folder.add("misread", gold, gold | {"vendor": "Red", "total": 8})
    folder.add("inventive", gold, gold | {"lines": [row, {"item": "ghost", "price": 7}], "mood": "fine"})
    folder.add("gone", gold, None)
    score_table(folder.manifest(), folder.root / "run", root=folder.root, workers=1)
    return folder.root


def answer(query: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    monkeypatch.chdir(place)
    with duckdb.connect() as connection:
        found = connection.execute(query)
        names = [column[0] for column in found.description]
        return [dict(zip(names, values, strict=True)) for values in found.fetchall()]


def test_the_worst_documents_come_first(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = answer(queries("docs/tables.md")[0], place, monkeypatch)
    assert [row["doc_id"] for row in found] == ["gone", "misread", "inventive", "good"]
    assert "no such file" in found[0]["error"]
    assert (found[1]["misread"], found[2]["invented"]) == (2, 3)


def test_the_worst_fields_say_what_goes_wrong(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {row["field"]: row for row in answer(queries("docs/tables.md")[1], place, monkeypatch)}
    assert found["vendor"] == {
        "field": "vendor",
        "wrong": 1,
        "addresses": 3,
        "mostly": "misread",
        "example": '"Blue" / "Red"',
    }
    assert found["lines[*].item"]["mostly"] == "invented_item"
    assert found["lines[*].item"]["addresses"] == 4


def test_what_is_invented_is_told_with_an_example(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {row["field"]: row for row in answer(queries("docs/tables.md")[2], place, monkeypatch)}
    assert found["mood"]["verdict"] == "invented_field"
    assert (found["lines[*].item"]["verdict"], found["lines[*].item"]["example"]) == ("invented_item", '"ghost"')


@pytest.mark.parametrize("page", ["README.md", "docs/tables.md"])
def test_every_query_shown_runs(page: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for query in queries(page):
        answer(query, place, monkeypatch)


def test_other_readers_open_the_datasets_as_they_are(place: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    polars = pytest.importorskip("polars", reason="polars is not installed")
    for table, rows in (("scores", 4), ("verdicts", 15)):
        assert len(pandas.read_parquet(place / "run" / f"{table}.parquet")) == rows
        assert polars.read_parquet(place / "run" / f"{table}.parquet" / "*.parquet").height == rows
        assert polars.scan_parquet(place / "run" / f"{table}.parquet").collect().height == rows
