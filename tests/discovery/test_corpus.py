"""Corpora: columns, days, strata, what loading checks, and how much memory it takes."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from docassay.core.digest import digest_file
from docassay.discovery.corpus import ABSENT, NO_DAY, NULL, corpus_from_rows, load_corpus, read_corpus
from docassay.discovery.tasks import TaskData, read_task
from docassay.errors import TaskDataError

from .conftest import task_value


def written(folder: Path, lines: list[Any], **changes: Any) -> TaskData:
    """A data folder with one corpus; a line is an object, or bytes as they are."""
    path = folder / "corpora" / "demo.jsonl.gz"
    path.parent.mkdir(exist_ok=True)
    data = b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)
    path.write_bytes(gzip.compress(data))
    value = task_value("group_difference", n_documents=len(lines), corpus_sha256=digest_file(path))
    return TaskData(folder, (read_task({**value, **changes}),), None, "")


def document(index: int, **fields: Any) -> dict[str, Any]:
    return {"doc_id": f"d{index}", "text": f"text {index}", **fields}


def test_columns_keep_absent_and_null_apart(tmp_path: Path) -> None:
    rows = [document(0, rating=1), document(1), document(2, rating=None), document(3, rating=1, store="n")]
    data = written(tmp_path, [*rows, b"\n", b"   \n"], n_documents=4)
    corpus = load_corpus(data, data.tasks[0])
    assert corpus.doc_ids == ("d0", "d1", "d2", "d3")
    assert list(corpus.column("rating").codes) == [0, ABSENT, NULL, 0]
    assert [corpus.metadata(position) for position in range(4)] == [
        {"rating": 1},
        {},
        {"rating": None},
        {"rating": 1, "store": "n"},
    ]
    assert list(corpus.column("nowhere").codes) == [ABSENT] * 4
    assert corpus.column("nowhere").value(0) is None
    assert corpus.text("d3") == "text 3"
    assert corpus.sha256 == data.tasks[0].corpus_sha256


def test_values_of_different_kinds_are_different() -> None:
    values: list[Any] = [1, 1.0, True, "1", [1], {"a": 1}, 2**70, -0.0, 0]
    corpus = corpus_from_rows(document(index, x=value) for index, value in enumerate(values))
    assert [str(value) for value in corpus.column("x").values] == [str(value) for value in values]
    assert corpus.column("doc_id").value(2) == "d2"


def test_days_and_years() -> None:
    stamps = [
        "2020-02-29",
        "2021-02-29",
        "2021-01-01T23:59:59Z",
        "20210101",
        "2021-W01-1",
        "0999-01-01",
        20210101,
        None,
        "٢٠٢١-01-01",
        "2021-01-0",
    ]
    corpus = corpus_from_rows(document(index, timestamp=stamp, report_year=1) for index, stamp in enumerate(stamps))
    years = [corpus.column("report_year").value(index) for index in range(len(stamps))]
    assert years == [2020, None, 2021, None, None, 999, None, None, None, None]
    assert [day == NO_DAY for day in corpus.days] == [year is None for year in years]
    assert corpus.strata("report_year").names == ("2020", "2021", "999")
    assert corpus.column("report_year", derived=False).values == (1,)


def test_strata_are_text_in_code_point_order() -> None:
    values: list[Any] = ["b", 5, "5", 5.0, " ", "", None, "\u3000", True, "Z", "😀", "￮", "a"]
    corpus = corpus_from_rows(document(index, entity_id=value) for index, value in enumerate(values))
    strata = corpus.strata("entity_id")
    assert strata.names == ("5", "5.0", "True", "Z", "a", "b", "￮", "😀")
    assert [strata.names[code] if code >= 0 else None for code in strata.codes] == [
        "b", "5", "5", "5.0", None, None, None, None, "True", "Z", "😀", "￮", "a",
    ]  # fmt: skip
    assert corpus.strata("entity_id") is strata


WRONG: dict[str, tuple[list[Any], str]] = {
    "no object": ([document(0), [1]], "line 2.*an object"),
    "no id": ([{"text": "x"}], "line 1.*doc_id"),
    "empty id": ([{"doc_id": "", "text": "x"}], "line 1.*doc_id"),
    "no text": ([{"doc_id": "a", "text": 5}], "line 1.*'a' has no text"),
    "id twice": ([document(0), document(1), document(0)], "line 3.*'d0' came before"),
    "not JSON": ([document(0), b"{oops}\n"], "line 2.*not JSON"),
    "NaN": ([b'{"doc_id": "a", "text": "x", "rating": NaN}\n'], "line 1.*NaN"),
    "not UTF-8": ([b'{"doc_id": "a", "text": "\xff"}\n'], "line 1.*UTF-8"),
    "surrogate": ([b'{"doc_id": "a", "text": "\\ud800"}\n'], "line 1.*surrogate"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_bad_line_is_named(tmp_path: Path, name: str) -> None:
    lines, told = WRONG[name]
    data = written(tmp_path, lines)
    with pytest.raises(TaskDataError, match=rf"demo\.jsonl\.gz: {told}"):
        load_corpus(data, data.tasks[0])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"n_documents": 3}, "2 documents, task .* says 3"),
        ({"corpus_sha256": "0" * 64}, "SHA-256 is"),
        ({"corpus_path": "../outside.jsonl.gz"}, "leads out of"),
        ({"corpus_path": "/etc/hostname"}, "leads out of"),
        ({"corpus_path": "corpora/absent.jsonl.gz"}, "does not exist"),
    ],
)
def test_what_the_task_says_is_checked(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    data = written(tmp_path, [document(0), document(1)], **changes)
    with pytest.raises(TaskDataError, match=told):
        load_corpus(data, data.tasks[0])


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    outside = written(tmp_path, [document(0)])
    (tmp_path / "data" / "corpora").symlink_to(tmp_path / "corpora")
    with pytest.raises(TaskDataError, match="leads out of"):
        load_corpus(TaskData(tmp_path / "data", outside.tasks, None, ""), outside.tasks[0])


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-20], lambda data: b"plain text", lambda data: data[:30] + b"xx" + data[32:]]
)
def test_a_damaged_archive_is_refused(tmp_path: Path, damage: Any) -> None:
    written(tmp_path, [document(index) for index in range(100)])
    path = tmp_path / "corpora" / "demo.jsonl.gz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(TaskDataError, match=r"gzip|JSON|UTF-8"):
        read_corpus(path)


def test_loading_takes_the_memory_of_what_it_keeps(tmp_path: Path) -> None:
    """The peak is little above what stays: lines are read one by one, and repeated metadata are kept once."""
    rows = [
        document(index, text="x" * 1000 + str(index), store="north" * 50, rating=index % 5) for index in range(20_000)
    ]
    data = written(tmp_path, rows)
    del rows
    tracemalloc.start()
    corpus = load_corpus(data, data.tasks[0])
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(corpus) == 20_000
    assert peak < 1.15 * kept
    assert kept < 1.25 * 20_000 * 1000
