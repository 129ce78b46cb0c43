"""Bad input gets one clear error or the specified score: never a traceback, a hang, or a silent zero."""

from __future__ import annotations

import copy
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docassay import explain, score
from docassay.errors import ArgumentTypeError, ArgumentValueError, DocumentError, OrderError, SchemaError
from docassay.extraction.document import load_json
from docassay.extraction.metric import METRICS

every_metric = pytest.mark.parametrize("metric", sorted(METRICS))

SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "number"}}}},
    },
}
GOLD = {"a": "one", "rows": [{"x": 1}, {"x": 2}]}


@every_metric
@pytest.mark.parametrize("root", [[], ["a"], "text", "", 5, 0, True, False, 1.5])
def test_ground_truth_must_be_an_object(metric: str, root: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="ground truth") as raised:
        score({}, root, SCHEMA, metric=metric)
    assert "\n" not in str(raised.value)


@every_metric
@pytest.mark.parametrize("root", [[], ["a"], "text", "", 5, 0, True, None])
def test_a_prediction_that_is_no_object_states_nothing(metric: str, root: Any) -> None:
    """The answer counts, and misses everything; it is not an error of the caller."""
    result = score(root, GOLD, SCHEMA, metric=metric)
    assert (result.accuracy, result.counts.unfound, result.counts.total) == (0, 3, 3)


@every_metric
@pytest.mark.parametrize("schema", [None, {}, [], ["a"], "", "text", 0, 5, True, False])
def test_a_schema_must_be_a_filled_object(metric: str, schema: Any) -> None:
    with pytest.raises((ArgumentTypeError, SchemaError), match="schema"):
        score({}, {}, schema, metric=metric)


RECURSIVE = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "below": {"$ref": "#"}},
}


def test_a_recursive_schema_is_refused_by_omni_and_read_by_sound() -> None:
    document = {"a": "1", "below": {"a": "2", "below": {"a": "3"}}}
    with pytest.raises(SchemaError, match=r"\$ref"):
        score(document, document, RECURSIVE, metric="omni/1")
    result = score(document, document, RECURSIVE, metric="sound/1")
    assert (result.accuracy, result.counts.matched) == (1, 3)


@every_metric
@pytest.mark.parametrize(
    "pointer", ["#/$defs/nowhere", "#/properties/rows/items/0", "https://example.com/schema", "#x"]
)
def test_a_reference_that_leads_nowhere_is_named(metric: str, pointer: str) -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": pointer}}}
    with pytest.raises(SchemaError, match=r"\$ref") as raised:
        score({"a": "1"}, {"a": "1"}, schema, metric=metric)
    assert pointer in str(raised.value)


def test_a_schema_that_holds_itself_is_no_hang() -> None:
    properties: dict[str, Any] = {}
    schema = {"type": "object", "properties": properties}
    properties["a"] = schema
    assert score({"a": {"a": 1}}, {"a": {"a": 1}}, schema, metric="sound/1").accuracy == 1.0


def test_a_reference_to_itself_is_no_hang() -> None:
    """omni/1 refuses it as published; for sound/1 it says nothing about the value, which is scored."""
    schema = {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}}
    with pytest.raises(SchemaError):
        score({"a": "1"}, {"a": "1"}, schema, metric="omni/1")
    assert score({"a": "1"}, {"a": "1"}, schema, metric="sound/1").accuracy == 1


@every_metric
@pytest.mark.parametrize("name", ["nope", "rows[*]", "rows[0]", "a", ".rows", ""])
def test_an_unknown_ordered_array_lists_the_arrays_there_are(metric: str, name: str) -> None:
    with pytest.raises(OrderError) as raised:
        score(GOLD, GOLD, SCHEMA, metric=metric, order_matters=[name])
    assert "rows" in str(raised.value)


@every_metric
@pytest.mark.parametrize("names", ["rows", 5, [5], [None], [["rows"]]])
def test_order_matters_takes_a_list_of_names(metric: str, names: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="order_matters"):
        score(GOLD, GOLD, SCHEMA, metric=metric, order_matters=names)


def test_an_unknown_metric_lists_those_there_are() -> None:
    with pytest.raises(ArgumentValueError, match="omni/1") as raised:
        score(GOLD, GOLD, SCHEMA, metric="omni/2")
    assert "omni/2" in str(raised.value)


@every_metric
@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        10**10_000,
        -(10**10_000) + 1,
        2**64,
        "9" * 10_000,
        "\ud800",
        "a\udfff",
        "\x00",
        1e308,
    ],
    ids=lambda value: repr(value)[:12] if not isinstance(value, int) else f"int{value.bit_length()}",
)
def test_strange_values_equal_themselves(metric: str, value: Any) -> None:
    result = score({"a": value}, {"a": value}, SCHEMA, metric=metric, verdicts=True)
    assert (result.accuracy, result.counts.matched) == (1, 1)
    assert explain(value, metric=metric).canonical


@every_metric
@pytest.mark.parametrize("pair", [(10**10_000, 10**9_999), (math.nan, 0), (math.inf, -math.inf), ("\ud800", "x")])
def test_strange_values_differ_from_others(metric: str, pair: tuple[Any, Any]) -> None:
    assert score({"a": pair[0]}, {"a": pair[1]}, SCHEMA, metric=metric).counts.misread == 1 or metric == "omni/1"


@every_metric
@pytest.mark.parametrize("kind", ["list", "object", "both"])
def test_deep_nesting_is_scored(metric: str, kind: str) -> None:
    """Deeper than Python's own stack, on both sides and on one."""
    deep: Any = "leaf"
    for level in range(3_000):
        deep = [deep] if kind == "list" or (kind == "both" and level % 2) else {"a": deep}
    assert score({"a": deep}, {"a": deep}, SCHEMA, metric=metric).counts.matched == 1
    shallow = score({"a": "leaf"}, {"a": deep}, SCHEMA, metric=metric)
    assert (shallow.counts.unfound, shallow.counts.matched) == (1, 0)


@every_metric
def test_a_schema_of_any_shape_is_read_or_refused(metric: str) -> None:
    odd: list[Any] = [
        {"properties": []},
        {"properties": {"a": []}},
        {"type": 5, "properties": {"a": None}},
        {"type": "object", "properties": {"a": {"anyOf": []}}},
        {"type": "object", "properties": {"a": {"anyOf": "x"}}},
        {"type": "object", "properties": {"a": {"items": [1, 2]}}},
        {"type": "object", "additionalProperties": 5},
        {"$defs": []},
        {"allOf": [True, 5, None]},
    ]
    for schema in odd:
        try:
            result = score({"a": "1"}, {"a": "1"}, schema, metric=metric)
        except SchemaError:
            continue
        else:
            assert result.counts.total in (0, 1)


@every_metric
def test_inputs_are_not_changed(metric: str) -> None:
    prediction = {"a": {"value": "x", "page": 1}, "a_meta": 1, "rows": [{"x": None}, {"x": "2"}, {}], "z": []}
    inputs = (prediction, copy.deepcopy(GOLD), copy.deepcopy(RECURSIVE if metric == "sound/1" else SCHEMA))
    before = copy.deepcopy(inputs)
    score(*inputs, metric=metric, verdicts=True)
    assert inputs == before


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"{", "line 1"),
        (b'{"a": 1,\n "b" 2}', "line 2, column 6"),
        (b'{"a": 1} x', "line 1"),
        (b"\xff\xff{}", "byte 0"),
        (b'{"a": "\xe9"}', "byte 7"),
        (b"[" * 200_000, "deep"),
        (b"{'a': 1}", "line 1"),
        (b"\x1f\x8b\x08", "gzip"),
    ],
)
def test_broken_json_says_where(data: bytes, message: str) -> None:
    with pytest.raises(DocumentError, match=message) as raised:
        load_json(data, where="gold.json")
    assert str(raised.value).startswith("gold.json")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_every_marked_encoding_is_read(encoding: str) -> None:
    assert load_json('{"a": "é"}'.encode(encoding), where="x") == {"a": "é"}


def test_numbers_are_read_exactly() -> None:
    assert load_json(b'{"a": %d}' % (2**64), where="x") == {"a": 2**64}
    assert load_json(b'{"a": ' + b"9" * 10_000 + b"}", where="x") == {"a": 10**10_000 - 1}
    assert math.isnan(load_json(b'{"a": NaN}', where="x")["a"])  # type: ignore[index]
    assert load_json(b'{"a": 1e400}', where="x") == {"a": math.inf}
    assert load_json(b'{"a": "\\ud800"}', where="x") == {"a": "\ud800"}
    assert load_json(b'{"a": 1, "a": 2}', where="x") == {"a": 2}


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "docassay", "extract", "score-one", *arguments]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, content in (("gold", GOLD), ("pred", GOLD), ("schema", SCHEMA)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    (tmp_path / "list.json").write_text("[1]", encoding="utf-8")
    (tmp_path / "broken.json").write_text('{"a": 1,\n "b" 2}', encoding="utf-8")
    (tmp_path / "empty.json").write_text("", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("gold", "pred", "schema", "says"),
    [
        ("nowhere.json", "pred.json", "schema.json", "nowhere.json"),
        ("gold.json", "nowhere.json", "schema.json", "nowhere.json"),
        (".", "pred.json", "schema.json", "error: .: "),
        ("gold.json", "broken.json", "schema.json", "broken.json is not JSON"),
        ("empty.json", "pred.json", "schema.json", "empty.json is empty"),
        ("list.json", "pred.json", "schema.json", "ground truth"),
        ("gold.json", "pred.json", "list.json", "schema"),
    ],
)
def test_the_command_says_it_in_one_line(files: Path, gold: str, pred: str, schema: str, says: str) -> None:
    done = command(files, "--gt", gold, "--pred", pred, "--schema", schema)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
