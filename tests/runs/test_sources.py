"""Holds each manifest format to one rule: what a row holds comes back as it was, or the file is refused by name."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from docassay.errors import ManifestError
from docassay.runs.sources import open_source, source_digest


def read(path: Path) -> pa.Table:
    source = open_source(str(path))
    return pa.Table.from_batches(list(source.batches()), schema=source.schema)


ODD = pa.table(
    {
        "doc_id": pa.array(["a", "b"]),
        "tiny": pa.array([1, None], pa.int8()),
        "money": pa.array([Decimal("1.10"), None], pa.decimal128(9, 2)),
        "when": pa.array([datetime(2024, 1, 2, 3, 4, 5, 678, tzinfo=UTC), None], pa.timestamp("us", "Europe/Berlin")),
        "kind": pa.array(["x", "y"]).dictionary_encode(),
        "large": pa.array(["x", None], pa.large_string()),
        "raw": pa.array([b"\x00\xff", None], pa.binary()),
        "nested": pa.array([{"a": [1, None], "b": {"c": "d"}}, None]),
        "map": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int32())),
        "nothing": pa.nulls(2),
        "flag": pa.array([True, None]),
        "span": pa.array([5, None], pa.duration("s")),
        "odd \n name": pa.array(["ü", "\U0001f600"]),
    }
)


def test_parquet_keeps_every_type_and_value(tmp_path: Path) -> None:
    pq.write_table(ODD, tmp_path / "m.parquet")
    assert read(tmp_path / "m.parquet").equals(ODD)


def test_a_directory_of_parts_is_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    folder = tmp_path / "m.parquet"
    folder.mkdir()
    for name, ids in (("part-2", ["c"]), ("part-0", ["a"]), ("part-1", ["b"])):
        pq.write_table(pa.table({"doc_id": ids}), folder / f"{name}.parquet")
    (folder / "_SUCCESS").write_text("")
    (folder / ".part-3.parquet.crc").write_text("no")
    assert read(folder).column("doc_id").to_pylist() == ["a", "b", "c"]


def test_a_column_that_some_parts_lack_is_null_there(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    pq.write_table(pa.table({"doc_id": ["a"], "note": pa.nulls(1)}), folder / "0.parquet")
    pq.write_table(pa.table({"doc_id": ["b"], "pages": [3], "note": ["n"]}), folder / "1.parquet")
    assert read(folder).to_pylist() == [
        {"doc_id": "a", "note": None, "pages": None},
        {"doc_id": "b", "note": "n", "pages": 3},
    ]


def test_parts_that_disagree_on_a_type_are_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"doc_id": ["a"], "pages": [1]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"doc_id": ["b"], "pages": ["2"]}), tmp_path / "1.parquet")
    with pytest.raises(ManifestError, match=r"'pages' is int64 in .*0\.parquet and string in .*1\.parquet"):
        open_source(str(tmp_path))


def test_a_broken_part_is_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"doc_id": ["a"] * 1000}), tmp_path / "0.parquet")
    whole = (tmp_path / "0.parquet").read_bytes()
    (tmp_path / "1.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ManifestError, match=r"1\.parquet: not a whole Parquet file"):
        open_source(str(tmp_path))


def test_a_part_with_damaged_pages_is_named(tmp_path: Path) -> None:
    path = tmp_path / "0.parquet"
    pq.write_table(pa.table({"doc_id": [f"document {i}" for i in range(5000)]}), path, compression="zstd")
    damaged = bytearray(path.read_bytes())
    damaged[100:2000] = bytes(1900)
    path.write_bytes(damaged)
    with pytest.raises(ManifestError, match=r"0\.parquet: cannot be read"):
        read(path)


def test_csv_columns_are_text_as_written(tmp_path: Path) -> None:
    text = 'doc_id,code,note,empty\r\n007,1e5,"a ""b"",\nsecond line",\r\n8,TRUE,,""\r\n'
    (tmp_path / "m.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read(tmp_path / "m.csv").to_pylist() == [
        {"doc_id": "007", "code": "1e5", "note": 'a "b",\nsecond line', "empty": None},
        {"doc_id": "8", "code": "TRUE", "note": None, "empty": ""},
    ]


def test_csv_may_hold_large_fields_and_mixed_kinds(tmp_path: Path) -> None:
    rows = [f"{i},{i if i < 50_000 else 'x' * 3}" for i in range(60_000)]
    (tmp_path / "m.csv").write_text("doc_id,value\n" + "\n".join(rows) + f"\nlast,{'y' * 3_000_000}\n")
    values = read(tmp_path / "m.csv").column("value").to_pylist()
    assert (values[7], values[50_000], len(values[-1])) == ("7", "xxx", 3_000_000)


@pytest.mark.parametrize(
    "content", [b"doc_id,x\n1,2,3\n", b"doc_id,x\n\xff\xfe,1\n", "doc_id,x\n1,2\n".encode("utf-16"), b""]
)
def test_csv_that_is_none_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.csv").write_bytes(content)
    with pytest.raises(ManifestError, match=r"m\.csv: not a CSV table in UTF-8"):
        read(tmp_path / "m.csv")


def lines(*records: Any) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def test_json_lines_columns_have_the_type_of_their_values(tmp_path: Path) -> None:
    records = [
        {"doc_id": "a", "n": 1, "x": 1, "tags": ["p"], "who": {"name": "A", "age": 1}, "ok": True},
        {"doc_id": "b", "x": 2.5, "tags": [], "who": {"name": "B", "age": None}, "n": None, "ok": False},
        {"doc_id": "c", "new": "only here"},
    ]
    (tmp_path / "m.jsonl").write_bytes(b"\xef\xbb\xbf" + lines(*records) + b"\n  \n")
    table = read(tmp_path / "m.jsonl")
    assert [str(table.schema.field(name).type) for name in ("n", "x", "tags", "ok")] == [
        "int64",
        "double",
        "list<item: string>",
        "bool",
    ]
    assert table.to_pylist()[1] == {**records[1], "new": None}
    assert table.to_pylist()[2] == dict.fromkeys(records[0]) | records[2]


def test_json_lines_values_without_a_common_type_are_json_text(tmp_path: Path) -> None:
    values: list[Any] = [1, "one", {"a": 1}, [1, "x"], None, 2**70, 1.5]
    (tmp_path / "m.jsonl").write_bytes(lines(*({"doc_id": str(i), "v": v} for i, v in enumerate(values))))
    found = read(tmp_path / "m.jsonl").column("v").to_pylist()
    assert [None if text is None else json.loads(text) for text in found] == values


@pytest.mark.parametrize(
    "values",
    [[{"a": 1}, {"b": 1}], [{}, {"a": 1}], [[1], ["x"]], [2**60, 0.5], [{"a": {}}], [True, 1], [[2**64]]],
)
def test_no_json_lines_value_is_changed_for_a_type(tmp_path: Path, values: list[Any]) -> None:
    (tmp_path / "m.jsonl").write_bytes(lines(*({"v": v} for v in values)))
    assert [json.loads(text) for text in read(tmp_path / "m.jsonl").column("v").to_pylist()] == values


def test_a_json_lines_schema_is_text_whether_written_as_text_or_object(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_bytes(lines({"schema": {"type": "object"}}, {"schema": '{"type": "object"}'}))
    one, other = read(tmp_path / "m.jsonl").column("schema").to_pylist()
    assert json.loads(one) == json.loads(other) == {"type": "object"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"doc_id": "a"}\n{"doc_id": \n', "line 2: not JSON"),
        (b'{"doc_id": "a"}\n\n[1]\n', "line 3: list, not an object"),
        (b'{"doc_id": "\xff"}\n', "line 1: not JSON"),
        (b"[" * 100_000 + b"\n", "line 1: not JSON"),
    ],
)
def test_json_lines_that_are_none_are_refused_by_line(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "m.jsonl").write_bytes(content)
    with pytest.raises(ManifestError, match=told):
        open_source(str(tmp_path / "m.jsonl"))


@pytest.mark.parametrize("suffix", [".csv.gz", ".jsonl.gz"])
def test_text_tables_may_be_gzipped(tmp_path: Path, suffix: str) -> None:
    text = b"doc_id\na\n" if "csv" in suffix else b'{"doc_id": "a"}\n'
    (tmp_path / f"m{suffix}").write_bytes(gzip.compress(text))
    assert read(tmp_path / f"m{suffix}").to_pylist() == [{"doc_id": "a"}]


def test_parquet_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    pq.write_table(pa.table({"doc_id": ["a"]}), tmp_path / "table")
    assert read(tmp_path / "table").num_rows == 1


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.xlsx").write_bytes(b"PK\x03\x04")
    (tmp_path / "empty").mkdir()
    for name, told in (("m.xlsx", "give .parquet"), ("gone.parquet", "no such"), ("empty", "without any .parquet")):
        with pytest.raises(ManifestError, match=told):
            open_source(str(tmp_path / name))


def written(name: str) -> Callable[[Path], None]:
    return lambda folder: pq.write_table(pa.table({"doc_id": [name]}), folder / f"{name}.parquet")


def test_the_digest_tells_content_and_names_of_parts(tmp_path: Path) -> None:
    def digest(*names: str) -> str:
        folder = tmp_path / "-".join(names)
        folder.mkdir()
        for name in names:
            written(name)(folder)
        return source_digest(str(folder))

    assert len({digest("a"), digest("b"), digest("a", "b")}) == 3
    (tmp_path / "a" / ".hidden.parquet").write_text("not a part")
    before = source_digest(str(tmp_path / "a"))
    (tmp_path / "a" / "a.parquet").rename(tmp_path / "a" / "z.parquet")
    assert source_digest(str(tmp_path / "a")) != before
