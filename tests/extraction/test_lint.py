"""The gold linter: each code where it is due and where it is not, and what it never does."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from typing import Any

import pytest

from docassay import score
from docassay.errors import ArgumentTypeError, SchemaError
from docassay.extraction.lint import CODES, LintFinding, lint

pytest.importorskip("jsonschema", reason="the linter needs the run extra")


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def rows_of(**properties: Any) -> dict[str, Any]:
    return of(r={"type": "array", "items": of(**properties)})


TEXT, NUMBER, OPTIONAL = {"type": "string"}, {"type": "number"}, {"type": ["string", "null"]}
MAP = {"type": "object", "properties": {"a": TEXT}, "additionalProperties": True}

FOUND: list[tuple[str, dict[str, Any], dict[str, Any], str, str]] = [
    ("schema_invalid", {"a": "x"}, of(a={"type": "strnig"}), "<root>", "$.properties.a.type"),
    ("schema_invalid", {"a": "x"}, of(a={"type": "string", "pattern": "("}), "<root>", "'('"),
    ("schema_violation", {"a": "x"}, of(a={"type": "string", "enum": ["y", "z"]}), "a", "'x'"),
    ("schema_violation", {"b": "x"}, {**of(a=TEXT, b=TEXT), "required": ["a"]}, "<root>", "'a' is a required property"),
    ("schema_violation", {"r": [{"a": ["x"]}]}, rows_of(a=TEXT), "r[0].a", "['x']"),
    ("null_not_allowed", {"a": None}, of(a=TEXT), "a", "null"),
    ("null_not_allowed", {"a": None}, of(a={"anyOf": [TEXT, NUMBER]}), "a", "null"),
    ("undeclared_key", {"a": "x", "b": "y"}, of(a=TEXT), "b", '"y"'),
    ("undeclared_key", {"b": {"c": "y", "d": "z"}}, of(a=TEXT), "b", 'an object with the keys "c", "d"'),
    ("undeclared_key", {"r": [{"a": "x"}, {"b": [1, 2]}]}, rows_of(a=TEXT), "r[1].b", "an array of 2"),
    ("open_map", {"m": {"a": "x", "b": "y"}}, of(m=MAP), "m", "1 value not scored under sound/1, 2 under omni/1"),
    ("open_map", {"m": {"b": "y", "c": ["z"]}}, of(m={"additionalProperties": TEXT}), "m", "2 values not scored"),
    ("left_out", {"a": {"value": "x", "page": 3}}, of(a=TEXT), "a", 'an object with the keys "value", "page"'),
    ("left_out", {"a": {"value": 1, "page": 3}}, of(a=of(value=NUMBER, page=NUMBER)), "a", "an object with"),
    ("left_out", {"a": "x", "a_meta": {"p": 1}}, of(a=TEXT), "a_meta", 'an object with the keys "p"'),
    ("left_out", {"a": "x", "a_meta": "y"}, of(a=TEXT, a_meta=TEXT), "a_meta", '"y"'),
    ("duplicate_rows", {"r": [{"a": "x"}, {"a": "y"}, {"a": "x"}]}, rows_of(a=TEXT), "r[0]", "2 rows: 0, 2"),
    (
        "duplicate_rows",
        {"r": [{"s": []}, {"s": [{"a": "x"}, {"a": "x"}]}]},
        rows_of(s={"type": "array", "items": of(a=TEXT)}),
        "r[1].s[0]",
        "2 rows: 0, 1",
    ),
    ("rows_alike", {"r": [{"a": "P.O. Box"}, {"a": "PO Box"}]}, rows_of(a=TEXT), "r[0]", "2 rows: 0, 1"),
    ("rows_alike", {"r": [{"a": "1/23"}, {"a": "12/3"}]}, rows_of(a=TEXT), "r[0]", "2 rows under omni/1 only: 0, 1"),
    ("metrics_disagree", {"r": [{"a": "-5 USD"}, {"a": "5 USD"}]}, rows_of(a=TEXT), "r[0].a", '"-5 USD" and "5 USD"'),
    ("metrics_disagree", {"r": [{"a": "Łódź"}, {"a": "Lodz"}]}, rows_of(a=TEXT), "r[0].a", '"Łódź" and "Lodz"'),
    ("read_differently", {"a": "2011年07月05日"}, of(a=TEXT), "a", '"2011年07月05日"'),
    ("read_differently", {"a": "12,5"}, of(a=TEXT), "a", '"12,5"'),
    ("read_differently", {"a": "1:00 PM"}, of(a=TEXT), "a", '"1:00 PM"'),
    ("read_differently", {"a": "12.E5"}, of(a=TEXT), "a", '"12.E5"'),
    ("ambiguous_date", {"a": "10/12/2000"}, of(a=TEXT), "a", '"10/12/2000"'),
    ("ambiguous_date", {"a": "3.4.24"}, of(a=TEXT), "a", '"3.4.24"'),
    ("number_as_text", {"a": "12"}, of(a=NUMBER), "a", '"12"'),
    ("number_as_text", {"a": "n/a"}, of(a={"type": ["integer", "null"]}), "a", '"n/a"'),
    ("text_as_number", {"a": 12}, of(a=TEXT), "a", "12"),
    ("text_as_number", {"a": 1.5}, of(a=OPTIONAL), "a", "1.5"),
    ("placeholder", {"a": "N/A"}, of(a=TEXT), "a", '"N/A"'),
    ("placeholder", {"a": " — "}, of(a=TEXT), "a", '" — "'),
]

SILENT: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("schema_invalid", {"a": "x"}, {"$schema": "http://json-schema.org/draft-04/schema#", **of(a=TEXT)}),
    ("schema_violation", {"a": "x", "n": 1}, of(a=TEXT, n=NUMBER)),
    ("schema_violation", {"a": "12"}, of(a=NUMBER)),  # told of as number_as_text
    ("schema_violation", {"a": "12"}, of(a={"anyOf": [NUMBER, {"type": "null"}]})),
    ("schema_violation", {"b": "x"}, {**of(a=TEXT), "additionalProperties": False}),  # told of as undeclared_key
    ("schema_violation", {"a": None}, of(a=TEXT)),  # told of as null_not_allowed
    ("schema_violation", {"a": Decimal("1.0000000000000000001")}, of(a={"type": "number", "minimum": 0.5})),
    ("null_not_allowed", {"a": None}, of(a=OPTIONAL)),
    ("undeclared_key", {"b": None, "c": "", "d": []}, of(a=TEXT)),  # states nothing, so nothing is scored
    ("undeclared_key", {"m": {"b": "x"}}, of(m=MAP)),
    ("undeclared_key", {"b": "x"}, {"anyOf": [of(a=TEXT), of(b=TEXT)]}),
    ("undeclared_key", {"a": {"value": "x", "page": 3}, "a_meta": "y"}, of(a=TEXT)),
    ("undeclared_key", {"o": {"x": 1}}, of(o={"patternProperties": {"^x": NUMBER}})),
    ("open_map", {"m": {"b": None}}, of(m=MAP)),
    ("open_map", {"m": {"a": "x"}}, of(m={**MAP, "additionalProperties": False})),
    ("left_out", {"a": {"value": "x", "unit": "kg"}}, of(a=of(value=TEXT, unit=TEXT))),
    ("left_out", {"a_meta": "y"}, of(a=TEXT, a_meta=TEXT)),
    ("duplicate_rows", {"r": [{"a": "x"}, {"a": "y"}]}, rows_of(a=TEXT)),
    ("duplicate_rows", {"r": ["x", "x"]}, of(r={"type": "array", "items": TEXT})),
    ("duplicate_rows", {"r": [{"a": None}, {}]}, rows_of(a=TEXT)),  # state nothing
    ("duplicate_rows", {"r": [{"a": "P.O. Box"}, {"a": "PO Box"}]}, rows_of(a=TEXT)),
    ("rows_alike", {"r": [{"a": "x"}, {"a": "x"}]}, rows_of(a=TEXT)),
    ("metrics_disagree", {"r": [{"a": "-5 USD"}, {"a": "6 USD"}]}, rows_of(a=TEXT)),
    ("metrics_disagree", {"a": "-5 USD", "b": "5 USD"}, of(a=TEXT, b=TEXT)),  # two fields
    ("read_differently", {"a": "123456"}, of(a=TEXT)),
    ("read_differently", {"a": "$5"}, of(a=TEXT)),
    ("read_differently", {"a": "512-784-7407"}, of(a=TEXT)),
    ("read_differently", {"a": "2024-01-05"}, of(a=TEXT)),
    ("read_differently", {"a": "1,234.50"}, of(a=TEXT)),
    ("read_differently", {"a": "13:05"}, of(a=TEXT)),
    ("ambiguous_date", {"a": "31/10/2024"}, of(a=TEXT)),
    ("ambiguous_date", {"a": "05/05/2024"}, of(a=TEXT)),
    ("ambiguous_date", {"a": "1.2.3"}, of(a=TEXT)),
    ("ambiguous_date", {"a": "10/12"}, of(a=TEXT)),
    ("number_as_text", {"a": "12"}, of(a={"type": ["number", "string"]})),
    ("number_as_text", {"a": "12"}, of(a={})),
    ("text_as_number", {"a": 12}, of(a={"type": ["number", "string"]})),
    ("text_as_number", {"a": True}, of(a=TEXT)),
    ("placeholder", {"a": "Natalie", "b": None, "c": "nap"}, of(a=TEXT, b=OPTIONAL, c=TEXT)),
]


@pytest.mark.parametrize(("code", "gold", "schema", "address", "found"), FOUND)
def test_each_code_where_it_is_due(
    code: str, gold: dict[str, Any], schema: dict[str, Any], address: str, found: str
) -> None:
    of_code = [one for one in lint(gold, schema) if one.code == code]
    assert [one.address for one in of_code] == [address]
    assert found in of_code[0].found
    assert of_code[0].advice


@pytest.mark.parametrize(("code", "gold", "schema"), SILENT)
def test_each_code_where_it_is_not(code: str, gold: dict[str, Any], schema: dict[str, Any]) -> None:
    assert [one for one in lint(gold, schema) if one.code == code] == []


def test_every_code_is_tried_both_ways() -> None:
    assert {case[0] for case in FOUND} == {case[0] for case in SILENT} == set(CODES)


def test_a_clean_ground_truth_has_no_finding() -> None:
    gold = {"vendor": "Acme", "total": 12.5, "r": [{"a": "x", "n": 1}, {"a": "y", "n": None}], "day": "2024-01-31"}
    schema = of(
        vendor=TEXT, total=NUMBER, day=TEXT, r={"type": "array", "items": of(a=TEXT, n={"type": ["integer", "null"]})}
    )
    assert lint(gold, schema) == []


def test_findings_come_in_the_order_of_the_codes() -> None:
    gold = {"p": "n/a", "x": 1, "n": None, "d": "01/02/2024", "r": [{"a": "1"}, {"a": "1"}]}
    found = [one.code for one in lint(gold, of(p=TEXT, n=TEXT, d=TEXT, r=rows_of(a=TEXT)["properties"]["r"]))]
    assert found == ["null_not_allowed", "undeclared_key", "duplicate_rows", "ambiguous_date", "placeholder"]


def test_fields_have_no_indices() -> None:
    [one] = lint({"r": [{"a": "x"}, {"a": "n/a"}]}, rows_of(a=TEXT))
    assert one == LintFinding("placeholder", "r[1].a", "r[*].a", '"n/a"', one.advice)


def test_what_is_left_out_is_not_looked_into() -> None:
    gold = {"a": {"value": "x", "source": "n/a"}, "m": {"b": "n/a"}}
    assert {one.code for one in lint(gold, of(a=TEXT, m=MAP))} == {"schema_violation", "left_out", "open_map"}


def test_what_is_said_of_undeclared_keys_is_so_under_both_metrics() -> None:
    """A system that keeps to the schema cannot report the key, and is charged for it."""
    gold, schema = {"a": "x", "b": "y"}, of(a=TEXT)
    assert [one.code for one in lint(gold, schema)] == ["undeclared_key"]
    for metric in ("omni/1", "sound/1"):
        assert score({"a": "x"}, gold, schema, metric=metric).counts.unfound == 1


@pytest.mark.parametrize("declared", [True, False])
def test_what_is_said_of_sidecars_is_so(declared: bool) -> None:
    gold, schema = {"a": "x", "a_meta": "y"}, of(a=TEXT, **({"a_meta": TEXT} if declared else {}))
    [one] = [one for one in lint(gold, schema) if one.code == "left_out"]
    unfound = {metric: score(gold, gold, schema, metric=metric).counts.unfound for metric in ("omni/1", "sound/1")}
    assert unfound == {"omni/1": 1, "sound/1": 0}
    assert "always counts as unfound" in one.advice
    assert ("leaves it out" in one.advice) != declared


@pytest.mark.parametrize(
    ("gold", "schema"),
    [({"m": {"a": "x", "b": "y"}}, of(m=MAP)), ({"r": [{"x": 1}, {"x": 2}]}, of(r={"items": MAP}))],
)
def test_what_an_open_map_hides_is_what_is_not_scored(gold: dict[str, Any], schema: dict[str, Any]) -> None:
    values = sum(len(row) for row in gold.get("r", [])) or 2
    told = [one.found for one in lint(gold, schema) if one.code == "open_map"]
    totals = {metric: score(gold, gold, schema, metric=metric).counts.total for metric in ("omni/1", "sound/1")}
    for metric, total in totals.items():
        hidden = sum(_hidden(found, metric) for found in told)
        assert total + hidden == values


def _hidden(found: str, metric: str) -> int:
    numbers = [int(word) for word in found.split() if word.isdigit()]
    return numbers[-1] if metric == "omni/1" else numbers[0]


def test_recursive_schemas_which_omni_cannot_read() -> None:
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {"node": of(name=TEXT, below={"type": "array", "items": {"$ref": "#/$defs/node"}})},
    }
    gold = {"name": "a", "below": [{"name": "n/a"}, {"name": "b", "below": [{"name": "c"}, {"name": "c"}]}]}
    found = [(one.code, one.address) for one in lint(gold, schema)]
    assert found == [("duplicate_rows", "below[1].below[0]"), ("placeholder", "below[0].name")]


def test_nothing_is_fetched_and_nothing_is_changed() -> None:
    schema = {"$id": "http://127.0.0.1:1/schema", **of(a={"$ref": "#/$defs/t"}), "$defs": {"t": TEXT}}
    gold = {"a": "x"}
    before = copy.deepcopy((gold, schema))
    assert lint(gold, schema) == []
    assert (gold, schema) == before
    with pytest.raises(SchemaError, match=r"http://127\.0\.0\.1:1/other"):
        lint(gold, of(a={"$ref": "http://127.0.0.1:1/other"}))


def test_deep_documents() -> None:
    gold: dict[str, Any] = {"a": "n/a"}
    for _ in range(2000):
        gold = {"b": gold}
    schema = {"type": "object", "properties": {"a": TEXT, "b": {"$ref": "#"}}}
    assert [one.code for one in lint(gold, schema)] == ["placeholder"]


def test_long_values_of_violations_are_cut() -> None:
    [one] = lint({"a": "x" * 5000}, of(a={"type": "string", "maxLength": 3}))
    assert len(one.found) == 200
    assert one.found.endswith("…")


def test_arguments_that_cannot_be_linted() -> None:
    with pytest.raises(ArgumentTypeError, match="must be a JSON object, not a list"):
        lint([], of(a=TEXT))
    with pytest.raises(ArgumentTypeError, match="schema must be a non-empty JSON object"):
        lint({}, {})


def test_findings_are_json() -> None:
    for case in FOUND:
        for one in lint(case[1], case[2]):
            assert json.dumps([one.code, one.address, one.field, one.found, one.advice])
