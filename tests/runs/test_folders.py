"""Holds manifests made from folders to their promise: each ground truth is a row, paired by its path, never by luck."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest

from docassay.errors import ManifestError
from docassay.runs.folders import manifest_from_folders, write_manifest
from docassay.runs.sources import open_source


def tree(root: Path, *files: str) -> str:
    for name in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(b"{}") if name.endswith(".gz") else b"{}")
    return str(root)


def schema_file(tmp_path: Path) -> str:
    (tmp_path / "schema.json").write_text('\ufeff{"type": "object"}')
    return str(tmp_path / "schema.json")


def test_files_are_paired_by_their_path(tmp_path: Path) -> None:
    gt = tree(tmp_path / "gt", "a.json", "in/b.json", "c.json.gz", "notes.txt", ".hidden.json", ".git/x.json")
    pred = tree(tmp_path / "pred", "in/b.json", "a.json.gz", "b.json")
    made = manifest_from_folders(gt, pred, schema_file(tmp_path))
    assert [pair.doc_id for pair in made.pairs] == ["a", "c", "in/b"]
    assert [pair.pred_path for pair in made.pairs] == [f"{pred}/a.json.gz", f"{pred}/c.json", f"{pred}/in/b.json"]
    assert [pair.gt_path for pair in made.pairs] == [f"{gt}/a.json", f"{gt}/c.json.gz", f"{gt}/in/b.json"]
    assert {json.loads(pair.schema)["type"] for pair in made.pairs} == {"object"}
    assert (made.without_prediction, made.without_ground_truth) == (("c",), ("b",))


def test_a_folder_of_schemas_is_matched_by_document_or_folder(tmp_path: Path) -> None:
    gt = tree(tmp_path / "gt", "bills/a.json", "bills/deep/b.json", "c.json")
    schemas = tmp_path / "schemas"
    for name in ("bills", "bills/deep/b", "c"):
        (schemas / name).parent.mkdir(parents=True, exist_ok=True)
        (schemas / f"{name}.json").write_text(json.dumps({"title": name}))
    made = manifest_from_folders(gt, gt, str(schemas))
    assert {pair.doc_id: json.loads(pair.schema)["title"] for pair in made.pairs} == {
        "bills/a": "bills",
        "bills/deep/b": "bills/deep/b",
        "c": "c",
    }


def test_suites_are_first_folders(tmp_path: Path) -> None:
    gt = tree(tmp_path / "gt", "bills/a.json", "bills/deep/b.json", "c.json")
    made = manifest_from_folders(gt, gt, schema_file(tmp_path), suites=True)
    assert [pair.suite for pair in made.pairs] == ["bills", "bills", None]


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    gt = tree(tmp_path / "gt", *(f"d{i}.json" for i in range(8)))
    with pytest.raises(ManifestError, match=r"empty: no \.json files"):
        manifest_from_folders(tree(tmp_path / "empty", "a.txt"), gt, schema_file(tmp_path))
    with pytest.raises(ManifestError, match="no such schema"):
        manifest_from_folders(gt, gt, str(tmp_path / "nowhere"))
    with pytest.raises(ManifestError, match=r"no schema for d1, d2, d3, d4, d5 and 2 more; looked for d1\.json"):
        manifest_from_folders(gt, gt, tree(tmp_path / "schemas", "d0.json"))
    with pytest.raises(ManifestError, match=r"end it in \.parquet"):
        write_manifest(manifest_from_folders(gt, gt, schema_file(tmp_path)), str(tmp_path / "jobs.xlsx"))


@pytest.mark.parametrize("name", ["jobs.parquet", "jobs.csv", "jobs.jsonl"])
def test_every_format_is_a_manifest(tmp_path: Path, name: str) -> None:
    gt = tree(tmp_path / "gt", "a.json", "in/b.json")
    made = manifest_from_folders(gt, gt, schema_file(tmp_path), suites=True)
    write_manifest(made, str(tmp_path / "new" / name))
    source = open_source(str(tmp_path / "new" / name))
    rows = pa.Table.from_batches(list(source.batches()), schema=source.schema).to_pylist()
    assert [row["doc_id"] for row in rows] == ["a", "in/b"]
    assert [row["suite"] for row in rows] == [None, "in"]
    assert json.loads(rows[0]["schema"]) == {"type": "object"}
