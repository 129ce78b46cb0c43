"""Holds the checks of a manifest: all faults are told at once, with their rows; the copy gives any range back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from docassay.errors import ManifestError
from docassay.runs.layout import Rows
from docassay.runs.manifest import SCORING, Demands, ManifestCopy, copy_manifest
from docassay.runs.sources import open_source
from docassay.runs.store import Store

DEMANDS = Demands(SCORING, ("status", "seconds"))


def table(ids: list[Any], **columns: Any) -> pa.Table:
    count = len(ids)
    known = {"doc_id": ids, "gt_path": ["g"] * count, "pred_path": ["p"] * count, "schema": ["{}"] * count}
    return pa.table(known | columns)


def copy(tmp_path: Path, manifest: pa.Table, limit: int | None = None) -> ManifestCopy:
    pq.write_table(manifest, tmp_path / "m.parquet")
    return copy_manifest(open_source(str(tmp_path / "m.parquet")), DEMANDS, Store(tmp_path / "run"), limit=limit)


def refusal(tmp_path: Path, manifest: pa.Table) -> str:
    with pytest.raises(ManifestError) as caught:
        copy(tmp_path, manifest)
    assert not (tmp_path / "run" / "manifest.parquet").exists()
    return str(caught.value)


def test_any_range_of_rows_comes_back(tmp_path: Path) -> None:
    made = table([f"d{i}" for i in range(2500)], n=range(2500))
    kept = copy(tmp_path, made)
    assert len(kept) == 2500
    for rows in (Rows(0, 2500), Rows(0, 0), Rows(999, 1001), Rows(1000, 2000), Rows(2499, 2500), Rows(17, 18)):
        assert kept.read(rows).column("n").to_pylist() == list(range(rows.start, rows.stop))
    assert sum(len(chunk) for chunk in kept.chunks(["n"])) == 2500


def test_a_limit_takes_rows_from_the_top(tmp_path: Path) -> None:
    made = table([f"d{i}" for i in range(1500)])
    assert copy(tmp_path, made, limit=1200).read(Rows(0, 1200)).equals(made.slice(0, 1200).combine_chunks())
    assert len(copy(tmp_path, made, limit=9999)) == 1500


def test_rows_with_large_schemas_make_small_row_groups(tmp_path: Path) -> None:
    copy(tmp_path, table([f"d{i}" for i in range(200)], schema=["x" * 1_000_000] * 200))
    assert pq.read_metadata(tmp_path / "run" / "manifest.parquet").num_row_groups > 10


def test_all_faults_of_columns_are_told_at_once(tmp_path: Path) -> None:
    wrong = pa.Table.from_arrays(
        [pa.array(["a"])] * 5 + [pa.array([1])], names=["Doc_ID", "x", "x", "status", "SECONDS", "gt_path"]
    )
    told = refusal(tmp_path, wrong)
    assert "no column 'doc_id' (there is 'Doc_ID'; names are case-sensitive)" in told
    assert "no column 'pred_path'" in told
    assert "no column 'schema'" in told
    assert "2 columns are named 'x'" in told
    assert "column 'status' has the name of an output column" in told
    assert "column 'SECONDS' has the name of an output column" in told
    assert "column 'gt_path' has the type int64; it must be text" in told


@pytest.mark.parametrize("kind", [pa.float64(), pa.bool_(), pa.list_(pa.string())])
def test_an_identifier_is_text_or_a_whole_number(tmp_path: Path, kind: pa.DataType) -> None:
    assert "'doc_id' has the type" in refusal(tmp_path, table(pa.nulls(1, kind)))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_text_may_be_stored_in_any_way(tmp_path: Path, kind: pa.DataType) -> None:
    ids = pa.array(["a", "b"]).cast(kind)
    assert copy(tmp_path, table(ids)).schema.field("doc_id").type == kind


def test_identifiers_that_are_empty_or_repeated_are_told_with_their_rows(tmp_path: Path) -> None:
    told = refusal(tmp_path, table(["a", "", "b", None, "a", " ", "b", "c", "a"]))
    assert "rows 2, 4, 6: doc_id is empty" in told
    assert "rows 1, 5, 9: doc_id 'a' is not unique" in told
    assert "rows 3, 7: doc_id 'b' is not unique" in told


def test_many_repeated_identifiers_are_counted(tmp_path: Path) -> None:
    told = refusal(tmp_path, table([f"d{i % 500}" for i in range(1500)]))
    assert told.count("is not unique") == 5
    assert "and 495 more doc_ids" in told


def test_odd_identifiers_are_fine(tmp_path: Path) -> None:
    odd = [
        "../../etc/passwd",
        "a/b",
        "a\nb",
        "a\tb",
        "é",
        "e\u0301",
        "\U0001f600",
        "A",
        "a",
        "a ",
        "C:\\x",
        "'; --",
        "\x00",
    ]
    assert copy(tmp_path, table(odd)).read(Rows(0, len(odd))).column("doc_id").to_pylist() == odd


def test_an_empty_manifest_is_a_manifest(tmp_path: Path) -> None:
    kept = copy(tmp_path, table(pa.array([], pa.string())))
    assert len(kept) == 0
    assert kept.read(Rows(0, 0)).num_rows == 0
