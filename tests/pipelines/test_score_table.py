"""Holds a scored table to its promise: every manifest row once, in order, as it was, with a score or a reason."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import textwrap
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import docassay
from docassay.errors import ArgumentValueError, ManifestError, RunLockedError, RunMismatchError
from docassay.pipelines.score_table import Progress, score_table
from docassay.runs.lock import locked
from docassay.runs.resume import load_asked
from docassay.runs.store import Store
from docassay.runs.tables import SCORES, scores_schema, verdicts_schema
from score_tables import SCHEMA, Folder, same_run, scores, verdicts

GOLD = {"vendor": "Blue GmbH", "total": 12.5, "lines": [{"item": "pen", "price": 1}]}


def run(folder: Folder, out: str = "run", **options: Any) -> Path:
    score_table(folder.manifest(), folder.root / out, **({"workers": 2, "root": folder.root} | options))
    return folder.root / out


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_each_row_has_the_score_of_its_documents(folder: Folder) -> None:
    folder.add_many(60)
    out = run(folder)
    table = scores(out).to_pylist()
    assert [row["doc_id"] for row in table] == [row["doc_id"] for row in folder.rows]
    found = verdicts(out).to_pylist()
    for row in table:
        gold, prediction = (json.loads((folder.root / row[name]).read_bytes()) for name in ("gt_path", "pred_path"))
        alone = docassay.score(prediction, gold, SCHEMA, verdicts=True)
        assert row["status"] == "scored"
        assert row["accuracy"] == alone.accuracy
        assert row["signature"] == alone.signature
        assert [row[name] for name in ("matched", "misread", "unfound", "invented_item")] == [
            getattr(alone.counts, name) for name in ("matched", "misread", "unfound", "invented_item")
        ]
        own = [v for v in found if v["doc_id"] == row["doc_id"]]
        assert [v["address"] for v in own] == [v.address for v in alone.verdicts or ()]
        assert [v["verdict"] for v in own] == [v.verdict for v in alone.verdicts or ()]
        assert [v["gold_raw"] and json.loads(v["gold_raw"]) for v in own] == [v.gold_raw for v in alone.verdicts or ()]


def test_the_declared_types_are_those_of_every_part(folder: Folder) -> None:
    folder.add_many(30)
    folder.add("none", None, None, suite=None)
    out = run(folder, batch_rows=7)
    manifest = pq.read_schema(folder.root / "jobs.parquet").remove_metadata()
    parts = sorted((out / "scores.parquet").glob("part-*.parquet"))
    assert len(parts) > 3
    for part in parts:
        assert pq.read_schema(part).remove_metadata() == scores_schema(manifest)
    for part in (out / "verdicts.parquet").glob("part-*.parquet"):
        assert pq.read_schema(part).remove_metadata() == verdicts_schema()


def test_the_manifests_own_columns_are_unchanged(folder: Folder) -> None:
    folder.add_many(25)
    base = pa.Table.from_pylist(folder.rows)
    extra = {
        "n": pa.array([None if i % 5 == 0 else i for i in range(25)], pa.int16()),
        "money": pa.array([Decimal(i) / 100 for i in range(25)], pa.decimal128(9, 2)),
        "tags": pa.array([["a"] * (i % 3) for i in range(25)]),
        "who": pa.array([{"name": "x", "age": None} if i % 2 else None for i in range(25)]),
        "kind": pa.array(["u", "v", None, "u", "v"] * 5).dictionary_encode(),
        "day": pa.array(range(25), pa.date32()),
        "blob": pa.array([bytes([i]) for i in range(25)]),
    }
    for name, column in extra.items():
        base = base.append_column(name, column)
    pq.write_table(base, folder.root / "m.parquet")
    score_table(folder.root / "m.parquet", folder.root / "run", root=folder.root, workers=2, batch_rows=4)
    found = scores(folder.root / "run")
    assert found.schema.names == [column.name for column in SCORES] + base.schema.names
    assert found.select(base.schema.names).to_pylist() == base.to_pylist()
    for name in base.schema.names:
        assert found.schema.field(name).type == base.schema.field(name).type


@pytest.mark.parametrize("name", ["m.csv", "m.jsonl"])
def test_manifests_without_types_score_the_same(folder: Folder, name: str) -> None:
    folder.add_many(12)
    table = pa.Table.from_pylist(folder.rows)
    if name == "m.csv":
        from pyarrow import csv

        csv.write_csv(table, folder.root / name)
    else:
        (folder.root / name).write_text("".join(json.dumps(row) + "\n" for row in folder.rows))
    score_table(folder.root / name, folder.root / "other", root=folder.root, workers=1)
    assert same_run(run(folder), folder.root / "other")


@pytest.mark.parametrize("kind", ["bytes", "struct", "gzip"])
def test_a_schema_may_be_text_bytes_or_a_struct(folder: Folder, kind: str) -> None:
    folder.add_many(4)
    expected = scores(run(folder)).column("accuracy")
    text = json.dumps(SCHEMA)
    values = {"bytes": text.encode(), "struct": SCHEMA | {"title": None}, "gzip": gzip.compress(text.encode())}
    for row in folder.rows:
        row["schema"] = values[kind]
    assert scores(run(folder, kind)).column("accuracy") == expected


def test_an_empty_manifest_gives_empty_tables(folder: Folder) -> None:
    schema = pa.schema([(name, pa.string()) for name in ("doc_id", "gt_path", "pred_path", "schema")])
    pq.write_table(schema.empty_table(), folder.root / "m.parquet")
    made = score_table(folder.root / "m.parquet", folder.root / "run")
    assert (made.summary.flat.documents, made.summary.flat.coverage) == (0, None)
    assert scores(folder.root / "run").num_rows == verdicts(folder.root / "run").num_rows == 0
    again = score_table(folder.root / "m.parquet", folder.root / "run")
    assert again.summary == made.summary


def test_what_cannot_be_scored_keeps_its_row_and_says_why(folder: Folder) -> None:
    whole = json.dumps(GOLD).encode()
    cases: list[tuple[str, Any, Any, dict[str, Any], str]] = [
        ("no-pred", GOLD, None, {}, "pred_path: no such file"),
        ("no-gold", None, GOLD, {}, "gt_path: no such file"),
        ("empty", GOLD, b"", {}, "pred_path is empty"),
        ("cut", GOLD, whole[:-5], {}, "pred_path is not JSON"),
        ("latin", GOLD, '{"vendor": "Café"}'.encode("latin-1"), {}, "pred_path is not UTF-8"),
        ("cut-gzip", GOLD, gzip.compress(whole)[:-9], {}, "pred_path: broken gzip"),
        ("own-error", GOLD, {"__error__": "the vendor\nsaid no"}, {}, "records a failure: the vendor said no"),
        ("own-error-2", GOLD, {"__error__": {"code": 7}}, {}, 'records a failure: {"code": 7}'),
        ("null-path", GOLD, GOLD, {"pred_path": None}, "pred_path is empty"),
        ("no-path", GOLD, GOLD, {"gt_path": ""}, "gt_path is empty"),
        ("folder", GOLD, GOLD, {"pred_path": "pred"}, "pred_path: not a file"),
        ("device", GOLD, GOLD, {"pred_path": "/dev/zero"}, "pred_path: not a file"),
        ("zero-byte", GOLD, GOLD, {"pred_path": "a\0b"}, "pred_path: could not be read"),
        ("list-gold", [1], GOLD, {}, "the ground truth must be a JSON object"),
        ("no-schema", GOLD, GOLD, {"schema": None}, "schema is empty"),
        ("bad-schema", GOLD, GOLD, {"schema": '{"type": '}, "schema is not JSON"),
        ("lost-ref", GOLD, GOLD, {"schema": '{"properties": {"a": {"$ref": "#/nowhere"}}}'}, "nowhere"),
        ("all-wrong", None, None, {"schema": "{"}, "; pred_path: no such file"),
    ]
    for name, gold, prediction, columns, _ in cases:
        folder.add(name, gold, prediction, **columns)
    folder.add("good", GOLD, GOLD)
    out = run(folder)
    table = scores(out).to_pylist()
    assert len(table) == len(cases) + 1
    for row, (name, _, _, _, told) in zip(table, cases, strict=False):
        assert row["doc_id"] == name
        assert told in (row["error"] or ""), row["error"]
        assert "\n" not in row["error"]
        assert row["status"] == "error"
        assert row["accuracy"] is None
        assert row["total"] is None
    assert (table[-1]["status"], table[-1]["error"], table[-1]["accuracy"]) == ("scored", None, 1.0)
    assert set(verdicts(out).column("doc_id").to_pylist()) == {"good"}


def test_documents_in_odd_encodings_are_read(folder: Folder) -> None:
    text = json.dumps(GOLD, ensure_ascii=False)
    folder.add("bom", GOLD, b"\xef\xbb\xbf" + text.encode())
    folder.add("utf-16", GOLD, text.encode("utf-16"))
    folder.add("gzip", GOLD, gzip.compress(text.encode()))
    folder.add("nan", GOLD, b'{"total": NaN}')
    folder.add("surrogate", GOLD, b'{"vendor": "\\ud800", "\\udfff": 1}')
    huge = b'{"total": 1' + b"0" * 5000 + b"}"
    folder.add("huge", huge, huge)
    out = run(folder)
    table = scores(out).to_pylist()
    assert [row["status"] for row in table] == ["scored"] * 6, [row["error"] for row in table]
    assert [row["accuracy"] for row in table[:3]] == [1.0, 1.0, 1.0]
    assert table[5]["accuracy"] == 1.0
    raw = [v["pred_raw"] for v in verdicts(out).to_pylist() if v["doc_id"] == "huge"]
    assert raw == ["1" + "0" * 5000]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may become another user")
def test_a_file_that_may_not_be_read_is_told(folder: Folder) -> None:
    folder.add("secret", GOLD, GOLD)
    path = folder.root / "pred" / "secret.json"
    path.chmod(0)
    code = f"""
        import os
        from docassay.runs.files import read_document
        os.seteuid(65534)
        print(read_document({str(path)!r}).error)
    """
    for parent in path.parents:
        if parent.is_relative_to("/tmp") and parent != Path("/tmp"):
            parent.chmod(0o755)
    found = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == f"permission denied: {path}"


def test_odd_identifiers_ride_through(folder: Folder) -> None:
    odd = ["../../x", "a/b", "a\nb", "\U0001f600", "é", "e\u0301", 'q"q', "A", "a", "x" * 5000]
    for number, name in enumerate(odd):
        folder.add(f"d{number}", GOLD, GOLD, doc_id=name)
    out = run(folder)
    assert scores(out).column("doc_id").to_pylist() == odd
    assert list(dict.fromkeys(verdicts(out).column("doc_id").to_pylist())) == odd


def test_whole_number_identifiers_are_text_in_verdicts(folder: Folder) -> None:
    folder.add("a", GOLD, GOLD, doc_id=7)
    out = run(folder)
    assert scores(out).column("doc_id").to_pylist() == [7]
    assert set(verdicts(out).column("doc_id").to_pylist()) == {"7"}


def test_nothing_to_score_is_neither_a_score_nor_a_failure(folder: Folder) -> None:
    folder.add("nothing", {}, {"vendor": None})
    folder.add("good", GOLD, GOLD)
    made = score_table(folder.manifest(), folder.root / "run", root=folder.root, metric="sound/1")
    first = scores(folder.root / "run").to_pylist()[0]
    assert (first["status"], first["error"], first["accuracy"], first["total"]) == ("nothing_to_score", None, None, 0)
    flat = made.summary.flat
    assert (flat.scored, flat.nothing_to_score, flat.errors, flat.coverage) == (1, 1, 0, 0.5)
    assert flat.means_failures_zero["accuracy"].estimate == 1.0


def test_without_verdicts_there_is_no_such_table(folder: Folder) -> None:
    folder.add_many(5)
    out = run(folder, verdicts=False)
    assert not (out / "verdicts.parquet").exists()
    assert scores(out).drop_columns("seconds").equals(scores(run(folder, "with")).drop_columns("seconds"))


def test_a_limit_scores_the_top_rows(folder: Folder) -> None:
    folder.add_many(20)
    out = run(folder, limit=7)
    assert scores(out).column("doc_id").to_pylist() == [row["doc_id"] for row in folder.rows[:7]]


def test_paths_start_at_the_root_unless_they_are_whole(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.add("relative", GOLD, GOLD)
    folder.add("absolute", GOLD, GOLD, pred_path=str(folder.root / "pred" / "relative.json"))
    folder.add("uri", GOLD, GOLD, gt_path=f"file://{folder.root}/gt/relative.json")
    manifest = folder.manifest()
    elsewhere = folder.root / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    for number, (name, value) in enumerate([("OEB_ROOT", ".."), ("DOCASSAY_ROOT", str(elsewhere))]):
        monkeypatch.setenv(name, value)
        score_table(manifest, elsewhere / f"run{number}", workers=1)
        expected = [
            "scored" if number == 0 else "error",
            "error" if number else "scored",
            "error" if number else "scored",
        ]
        assert scores(elsewhere / f"run{number}").column("status").to_pylist() == expected
    kept = scores(elsewhere / "run0")
    assert kept.column("gt_path").to_pylist() == [row["gt_path"] for row in folder.rows]


def test_several_metrics_are_scored_in_one_pass(folder: Folder) -> None:
    folder.add_many(20)
    one, other = score_table(
        folder.manifest(), folder.root / "both", root=folder.root, metrics=["omni/1", "sound/1"], workers=2
    )
    assert [Path(made.path).name for made in (one, other)] == ["omni-1", "sound-1"]
    assert same_run(folder.root / "both" / "omni-1", run(folder, "omni", metric="omni/1"))
    assert same_run(folder.root / "both" / "sound-1", run(folder, "sound", metric="sound/1"))
    asked = load_asked(Store(folder.root / "both" / "sound-1"))
    assert asked is not None
    assert asked.metric == "sound/1"


def test_files_are_read_once_for_all_metrics(folder: Folder) -> None:
    """A second read would see other bytes, and the two runs' digests would differ."""
    folder.add_many(3)
    score_table(folder.manifest(), folder.root / "both", root=folder.root, metrics=["omni/1", "sound/1"], workers=1)
    digests = [pq.read_table(folder.root / "both" / name / "inputs.parquet") for name in ("omni-1", "sound-1")]
    assert digests[0].equals(digests[1])
    for made, row in zip(digests[0].to_pylist(), folder.rows, strict=True):
        from docassay.core.digest import digest_file

        assert made["gt_digest"] == digest_file(folder.root / row["gt_path"])
        assert made["pred_digest"] == digest_file(folder.root / row["pred_path"])


def test_the_run_records_what_was_asked(folder: Folder) -> None:
    folder.add_many(3)
    out = run(folder, order_matters=["lines"], timeout=60.0)
    asked = json.loads((out / "run.json").read_text())
    assert asked["signature"] == f"{asked['metric']} order:lines docassay:{docassay.__version__}"
    assert asked["options"] == {
        "order_matters": ["lines"],
        "verdicts": True,
        "suite_column": "suite",
        "limit": None,
        "timeout": 60.0,
    }
    assert (asked["rows"], asked["root"], asked["manifest"]) == (3, str(folder.root), str(folder.root / "jobs.parquet"))
    assert {"docassay", "numpy", "scipy", "pyarrow", "python"} <= asked["versions"].keys()
    assert asked["started"].endswith("+00:00")


def test_progress_counts_up_to_all_documents(folder: Folder) -> None:
    folder.add_many(30)
    folder.add("bad", GOLD, None)
    seen: list[Progress] = []
    run(folder, progress=seen.append)
    assert (seen[0].documents, seen[0].done, seen[0].workers) == (31, 0, 2)
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    assert (seen[-1].done, seen[-1].errors) == (31, 1)


def test_wrong_options_are_told_at_once(folder: Folder) -> None:
    with pytest.raises(ArgumentValueError) as caught:
        run(folder_of(folder), metric="omni/9", engine="slurm", workers=0, limit=-1, timeout=0.0)
    for told in ("'omni/9'", "'slurm'", "workers is 0", "limit is -1", "timeout is 0.0"):
        assert told in str(caught.value)
    with pytest.raises(ArgumentValueError, match="Modal's containers cannot see"):
        run(folder_of(folder), engine="modal")
    with pytest.raises(ArgumentValueError, match="name each metric once"):
        run(folder_of(folder), metrics=["omni/1", "omni/1"])
    assert not (folder.root / "run" / "run.json").exists()


def folder_of(folder: Folder) -> Folder:
    if not folder.rows:
        folder.add_many(1)
    return folder


def test_a_suite_column_that_is_not_there_is_refused(folder: Folder) -> None:
    folder.add_many(2)
    with pytest.raises(ManifestError, match="no column 'team' to tell suites by; there are 'doc_id'"):
        run(folder, suite_column="team")


# Continuing and refusing


def test_a_finished_run_is_returned_as_it_is(folder: Folder) -> None:
    folder.add_many(10)
    out = run(folder)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("part-*.parquet")}
    made = score_table(folder.root / "jobs.parquet", out, root=folder.root)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("part-*.parquet")} == before
    assert made.summary.as_json() == (out / "summary.json").read_bytes()


def test_only_missing_parts_are_scored(folder: Folder) -> None:
    folder.add_many(40)
    out, whole = run(folder, batch_rows=5), run(folder, "whole")
    for name in ("0000000005", "0000000020"):
        (out / "scores.parquet" / f"part-{name}.parquet").unlink()
    (out / "verdicts.parquet" / "part-0000000030.parquet").unlink()
    (out / "inputs.parquet" / "part-0000000035.parquet").unlink()
    kept = (out / "scores.parquet" / "part-0000000010.parquet").stat().st_mtime_ns
    run(folder, batch_rows=3)
    assert (out / "scores.parquet" / "part-0000000010.parquet").stat().st_mtime_ns == kept
    assert same_run(out, whole)


def test_what_a_dead_process_wrote_too_late_is_taken_out(folder: Folder) -> None:
    """Parts that overlap, as from a machine that was given up and came back, do not double rows."""
    folder.add_many(30)
    out, whole = run(folder, batch_rows=10), run(folder, "whole")
    late = run(folder, "late", batch_rows=7)
    for table in ("scores", "verdicts", "inputs"):
        for name in ("0000000007", "0000000014"):
            source = late / f"{table}.parquet" / f"part-{name}.parquet"
            (out / f"{table}.parquet" / source.name).write_bytes(source.read_bytes())
    run(folder)
    assert same_run(out, whole)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"metric": "sound/1"}, 'signature was "omni/1 order:free'),
        ({"order_matters": ["lines"]}, 'order_matters was [], is ["lines"]'),
        ({"verdicts": False}, "verdicts was true, is false"),
        ({"limit": 3}, "limit was none, is 3"),
        ({"timeout": 5.0}, "timeout was none, is 5.0"),
        ({"suite_column": "vendor"}, 'suite_column was "suite", is "vendor"'),
        ({"root": "/"}, 'is "/"'),
    ],
)
def test_another_option_is_refused_by_name(folder: Folder, options: dict[str, Any], told: str) -> None:
    folder.add_many(4)
    for row in folder.rows:
        row["vendor"] = "v"
    out = run(folder, metric="omni/1")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(RunMismatchError) as caught:
        run(folder, **({"metric": "omni/1"} | options))
    assert told in str(caught.value)
    assert "--overwrite" in str(caught.value)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_other_workers_are_no_difference(folder: Folder) -> None:
    folder.add_many(10)
    assert run(folder, workers=1) == run(folder, workers=2, batch_rows=3)


def test_another_manifest_is_refused(folder: Folder) -> None:
    folder.add_many(4)
    run(folder)
    folder.rows[0]["suite"] = "other"
    with pytest.raises(RunMismatchError, match="manifest digest was"):
        run(folder)
    run(folder, overwrite=True)
    assert scores(folder.root / "run").column("suite")[0].as_py() == "other"


def test_another_version_is_refused(folder: Folder) -> None:
    folder.add_many(2)
    out = run(folder)
    asked = json.loads((out / "run.json").read_text())
    asked["signature"] = asked["signature"].replace(docassay.__version__, "0.0.1")
    (out / "run.json").write_text(json.dumps(asked))
    with pytest.raises(RunMismatchError, match=r"docassay:0\.0\.1"):
        run(folder)


def test_a_run_of_another_kind_is_refused(folder: Folder) -> None:
    folder.add_many(2)
    out = folder.root / "run"
    out.mkdir()
    (out / "run.json").write_text('{"something": "else"}')
    with pytest.raises(docassay.errors.RunError, match="not a run of this version"):
        run(folder)


def test_changed_files_are_refused_by_name(folder: Folder) -> None:
    folder.add_many(6)
    folder.add("never", GOLD, None)
    run(folder)
    names = [folder.root / row["pred_path"] for row in folder.rows]
    same = names[0].read_bytes()
    names[0].write_bytes(same)  # touched only: its content is what counts
    run(folder)
    stat = names[1].stat()
    changed = names[1].read_bytes().replace(b"Vendor", b"Vondor")
    names[1].write_bytes(changed)  # the same size, and made to look as old
    os.utime(names[1], ns=(stat.st_atime_ns, stat.st_mtime_ns))
    names[2].unlink()
    names[6].write_text("{}")
    (folder.root / folder.rows[3]["gt_path"]).write_text("{}")
    with pytest.raises(RunMismatchError) as caught:
        run(folder)
    told = str(caught.value)
    assert "'d00001': pred_path pred/d00001.json has changed" in told
    assert "'d00002': pred_path pred/d00002.json is gone" in told
    assert "'d00003': gt_path gt/d00003.json has changed" in told
    assert "'never': pred_path pred/never.json was missing and is there now" in told
    assert "d00000" not in told
    run(folder, overwrite=True)
    assert scores(folder.root / "run").column("status").to_pylist()[-1] == "scored"


@pytest.mark.parametrize("metrics", [["omni/1"], ["omni/1", "sound/1"]])
def test_failures_are_tried_again_when_asked(folder: Folder, metrics: list[str]) -> None:
    folder.add_many(12)
    folder.add("late", GOLD, None)
    folder.add("never", GOLD, None)
    folder.add_many(6)
    score_table(folder.manifest(), folder.root / "run", root=folder.root, metrics=metrics, batch_rows=4)
    first = folder.root / "run" / "omni-1"
    kept = (first / "scores.parquet" / "part-0000000000.parquet").stat().st_mtime_ns
    (folder.root / "pred" / "late.json").write_text(json.dumps(GOLD))
    again = {"root": folder.root, "metrics": metrics, "retry_errors": True}
    made = score_table(folder.manifest(), folder.root / "run", **again)  # type: ignore[call-overload]
    assert [(one.summary.flat.scored, one.summary.flat.errors) for one in made] == [(19, 1)] * len(metrics)
    assert (first / "scores.parquet" / "part-0000000000.parquet").stat().st_mtime_ns == kept
    whole = score_table(folder.manifest(), folder.root / "whole", root=folder.root, metrics=metrics)
    assert all(same_run(one.path, other.path) for one, other in zip(made, whole, strict=True))
    (folder.root / "pred" / "d00000.json").write_text("{}")
    with pytest.raises(RunMismatchError, match="d00000"):
        score_table(folder.manifest(), folder.root / "run", **again)  # type: ignore[call-overload]


def test_many_changed_files_are_counted(folder: Folder) -> None:
    folder.add_many(20)
    run(folder)
    for row in folder.rows:
        (folder.root / row["pred_path"]).write_text("{}")
    with pytest.raises(RunMismatchError, match="and 15 more files"):
        run(folder)


def test_overwrite_leaves_other_files_alone(folder: Folder) -> None:
    folder.add_many(3)
    out = run(folder)
    (out / "notes.txt").write_text("mine")
    run(folder, overwrite=True, verdicts=False)
    assert (out / "notes.txt").read_text() == "mine"
    assert list((out / "verdicts.parquet").glob("*")) == []


def test_a_manifest_that_cannot_be_used_does_not_cost_the_run_it_would_overwrite(folder: Folder) -> None:
    folder.add_many(3)
    out = run(folder)
    before = scores(out)
    folder.rows.append(folder.rows[0])
    with pytest.raises(ManifestError, match="not unique"):
        run(folder, overwrite=True)
    assert scores(out).equals(before)


def test_a_second_process_is_refused(folder: Folder) -> None:
    folder.add_many(2)
    with locked(Store(folder.root / "run")), pytest.raises(RunLockedError, match=f"process {os.getpid()}"):
        run(folder)
