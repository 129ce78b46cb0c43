"""Each vendor's spelling of a schema: by position, without changing what is asked."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docassay.errors import ProviderError
from docassay.providers import azure_cu, datalab, extend, llamaextract
from docassay.providers.dialects import Shape, inline, question, resolve, shape_of

KEYWORDS = (
    "type",
    "enum",
    "properties",
    "items",
    "required",
    "description",
    "default",
    "evaluation_config",
    "$ref",
    "$defs",
    "$schema",
    "anyOf",
    "id",
    "additionalProperties",
    "const",
)


def scalars() -> st.SearchStrategy[dict[str, Any]]:
    kinds = st.sampled_from(["string", "number", "integer", "boolean"])
    plain = kinds.map(lambda kind: {"type": kind})
    nullable = kinds.map(lambda kind: {"type": [kind, "null"], "default": None})
    union = kinds.map(lambda kind: {"anyOf": [{"type": kind}, {"type": "null"}], "evaluation_config": "exact"})
    return plain | nullable | union | st.just({"enum": ["a", "b", None]})


def schemas() -> st.SearchStrategy[dict[str, Any]]:
    """Objects whose property names are keywords, to any depth."""

    def deeper(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
        names = st.sampled_from(KEYWORDS)
        objects = st.dictionaries(names, inner, min_size=1, max_size=5).map(
            lambda properties: {"type": "object", "properties": properties, "required": sorted(properties)}
        )
        return objects | inner.map(lambda items: {"type": "array", "items": items})

    nested = st.recursive(scalars(), deeper, max_leaves=8)
    return st.dictionaries(st.sampled_from(KEYWORDS), nested, min_size=1, max_size=6).map(
        lambda properties: {"type": "object", "properties": properties, "required": sorted(properties)}
    )


def fields(shape: Shape, at: str = "") -> set[tuple[str, str]]:
    """Every position a shape asks for, with its kind."""
    found = {(at, shape.kind)}
    for name, sub in shape.properties.items():
        found |= fields(sub, f"{at}/{name}")
    return found | (fields(shape.items, f"{at}[]") if shape.items is not None else set())


def example(schema: dict[str, Any]) -> Any:
    """A value for a schema that has been encoded or not."""
    shape = shape_of(schema)
    return _example(shape)


def _example(shape: Shape) -> Any:
    if shape.kind == "object":
        return {name: _example(sub) for name, sub in shape.properties.items()}
    if shape.kind == "array":
        return [_example(shape.items or Shape("string"))]
    return {"string": "s", "number": 1.5, "integer": 2, "boolean": True}[shape.kind]


@given(schemas())
def test_the_question_loses_what_is_the_benchmarks_and_nothing_else(schema: dict[str, Any]) -> None:
    before = copy.deepcopy(schema)
    asked = question(schema)
    assert schema == before
    assert fields(shape_of(asked)) == fields(shape_of(schema))
    assert question(asked) == asked
    assert '"evaluation_config": "exact"' not in repr(asked).replace("'", '"')


@given(schemas())
def test_no_dialect_removes_or_adds_a_field(schema: dict[str, Any]) -> None:
    asked = fields(shape_of(schema))
    assert fields(shape_of(datalab.encode(schema))) == asked
    assert fields(shape_of(llamaextract.encode(schema))) == asked
    assert {name.replace("id_value", "id") for name, _ in fields(shape_of(extend.encode(schema).schema))} == {
        name for name, _ in asked
    }


@given(schemas())
def test_what_comes_back_has_the_schemas_own_names(schema: dict[str, Any]) -> None:
    encoded = extend.encode(schema)
    assert isinstance(encoded.schema, dict)
    assert encoded.restore(example(encoded.schema)) == example(schema)


@given(schemas())
def test_azures_fields_come_back_in_the_schemas_shape(schema: dict[str, Any]) -> None:
    encoded = azure_cu.encode(schema)
    assert isinstance(encoded.schema, dict)
    sent = example({"type": "object", "properties": encoded.schema})
    restored = encoded.restore(sent)
    assert _frame(restored) == _frame(example(schema))


def _frame(value: Any) -> Any:
    """Names and nesting without the scalars."""
    if isinstance(value, dict):
        return {name: _frame(sub) for name, sub in value.items()}
    return [_frame(item) for item in value] if isinstance(value, list) else None


@given(schemas())
def test_azure_knows_only_its_own_field_types(schema: dict[str, Any]) -> None:
    def check(field: dict[str, Any], inside_array: bool) -> None:
        assert field["type"] in ({"object", "string"} if inside_array else AZURE_TYPES)
        for sub in (field.get("properties") or {}).values():
            check(sub, False)
        if field["type"] == "array":
            check(field["items"], True)

    encoded = azure_cu.encode(schema).schema
    assert isinstance(encoded, dict)
    for field in encoded.values():
        check(field, False)


AZURE_TYPES = {"object", "array", "number", "boolean", "string"}


@given(schemas())
def test_extends_dialect_is_strict(schema: dict[str, Any]) -> None:
    def check(node: dict[str, Any], *, property_of: bool) -> None:
        assert set(node) <= {"type", "enum", "properties", "items", "required", "description"}
        if node["type"] == "object":
            assert "id" not in node["properties"]
            assert set(node.get("required", [])) <= set(node["properties"])
            for sub in node["properties"].values():
                check(sub, property_of=True)
        elif node["type"] == "array":
            check(node["items"], property_of=False)
        elif property_of:
            assert node["type"][1] == "null"
            assert None in node.get("enum", [None])
        else:
            assert isinstance(node["type"], str)
            assert None not in node.get("enum", [])

    encoded = extend.encode(schema).schema
    assert isinstance(encoded, dict)
    check(encoded, property_of=False)


@given(schemas())
def test_datalab_knows_no_null(schema: dict[str, Any]) -> None:
    def check(node: dict[str, Any], original: dict[str, Any]) -> None:
        assert isinstance(node.get("type", "string"), str)
        assert None not in node.get("enum", [])
        assert all(branch != {"type": "null"} for branch in node.get("anyOf", []))
        for name, sub in node.get("properties", {}).items():
            nullable = (
                "null" in repr(original["properties"][name].get("type")) or "anyOf" in original["properties"][name]
            )
            nullable = nullable or None in original["properties"][name].get("enum", [])
            assert (name in node["required"]) is not nullable
            check(sub, original["properties"][name])
        if "items" in node:
            check(node["items"], original["items"])

    check(datalab.encode(schema), schema)


def test_extend_by_example() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Invoice",
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "Number", "pattern": "x", "minLength": 1},
            "id_value": {"type": ["integer", "null"]},
            "kind": {"enum": ["a", "b"]},
            "party": {"$ref": "#/$defs/party"},
            "buyer": {"anyOf": [{"$ref": "#/$defs/party"}, {"type": "null"}], "description": "Who buys"},
            "tags": {"type": ["array", "null"], "items": {"type": ["string", "null"]}},
        },
        "required": ["id", "party"],
        "$defs": {"party": {"type": "object", "properties": {"id": {"type": "number"}}, "additionalProperties": False}},
    }
    encoded = extend.encode(schema)
    party = {"type": "object", "properties": {"id_value": {"type": ["number", "null"]}}}
    assert encoded.schema == {
        "type": "object",
        "properties": {
            "id_value_": {"type": ["string", "null"], "description": "Number"},
            "id_value": {"type": ["integer", "null"]},
            "kind": {"type": ["string", "null"], "enum": ["a", "b", None]},
            "party": party,
            "buyer": {**party, "description": "Who buys"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["id_value_", "party"],
    }
    back = {"id_value_": "A", "id_value": 7, "party": {"id_value": 1}, "buyer": None, "tags": ["id_value"], "more": 1}
    assert encoded.restore(back) == {
        "id": "A",
        "id_value": 7,
        "party": {"id": 1},
        "buyer": None,
        "tags": ["id_value"],
        "more": 1,
    }


def test_llamaextract_by_example() -> None:
    schema = {
        "$id": "x",
        "type": "object",
        "properties": {
            "$ref": {"type": "string"},
            "state": {"enum": ["open", None]},
            "open": {"type": "object", "additionalProperties": {"type": "number"}},
            "either": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/n"}]},
        },
        "$defs": {"n": {"type": "number", "$comment": "c"}},
    }
    assert llamaextract.encode(schema) == {
        "type": "object",
        "properties": {
            "$ref": {"type": "string"},
            "state": {"enum": ["open", None], "type": ["string", "null"]},
            "open": {"type": "object", "additionalProperties": True},
            "either": {"anyOf": [{"type": "string"}, {"type": "number"}]},
        },
    }


def test_datalab_by_example() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"]},
            "b": {"$ref": "#/$defs/maybe"},
            "c": {"anyOf": [{"type": "number"}, {"type": "null"}], "description": "C"},
            "d": {"type": "string"},
            "required": {"type": ["number", "string", "null"]},
        },
        "required": ["a", "b", "c", "d", "required"],
        "$defs": {"maybe": {"type": ["integer", "null"]}},
    }
    assert datalab.encode(schema) == {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"$ref": "#/$defs/maybe"},
            "c": {"type": "number", "description": "C"},
            "d": {"type": "string"},
            "required": {"anyOf": [{"type": "number"}, {"type": "string"}]},
        },
        "required": ["d"],
        "$defs": {"maybe": {"type": "integer"}},
    }


def test_azure_by_example() -> None:
    schema = {
        "type": "object",
        "properties": {
            "when": {"type": "string", "format": "date", "description": "Date"},
            "count": {"type": "integer"},
            "kind": {"enum": ["a", "b", None], "description": "Kind."},
            "tags": {"type": "array", "items": {"type": "number"}},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"paid": {"type": "boolean"}}}},
            "grid": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
        },
    }
    encoded = azure_cu.encode(schema)
    assert encoded.schema == {
        "when": {"type": "string", "description": "Date"},
        "count": {"type": "number"},
        "kind": {"type": "string", "description": "Kind. One of: a, b."},
        "tags": {"type": "array", "items": {"type": "string"}},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"paid": {"type": "boolean"}}}},
        "grid": {
            "type": "array",
            "items": {"type": "object", "properties": {"items": {"type": "array", "items": {"type": "string"}}}},
        },
    }
    assert encoded.restore({"grid": [{"items": ["a"]}, {"items": []}]}) == {"grid": [["a"], []]}


def test_azures_values_are_read_wherever_they_stand() -> None:
    fields = {
        "s": {"type": "string", "valueString": "x", "content": "ignored"},
        "n": {"type": "number", "valueNumber": 0},
        "i": {"type": "integer", "valueInteger": 3},
        "b": {"type": "boolean", "valueBoolean": False},
        "d": {"type": "date", "valueDate": "2024-01-02"},
        "c": {"content": "as printed"},
        "none": {"type": "string"},
        "a": {"valueArray": [{"valueObject": {"x": {"valueString": "y"}}}, {"valueString": "z"}]},
    }
    assert azure_cu.read_fields(fields) == {
        "s": "x",
        "n": 0,
        "i": 3,
        "b": False,
        "d": "2024-01-02",
        "c": "as printed",
        "none": None,
        "a": [{"x": "y"}, "z"],
    }


def test_every_alternative_offers_its_fields() -> None:
    schema = {
        "type": "object",
        "properties": {"kind": {"type": "string"}},
        "allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}],
        "oneOf": [
            {"properties": {"b": {"type": "number"}}, "required": ["b"]},
            {"properties": {"c": {"type": "string"}}},
        ],
        "if": {"properties": {"kind": {"const": "x"}}},
        "then": {"properties": {"d": {"type": "boolean"}}},
        "else": {"properties": {"e": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "number"}]}}},
        "required": ["kind"],
    }
    shape = shape_of(schema)
    assert {name: sub.kind for name, sub in shape.properties.items()} == {
        "kind": "string",
        "a": "string",
        "b": "number",
        "c": "string",
        "d": "boolean",
        "e": "array",
    }
    assert shape.required == ("kind", "a")
    assert shape.properties["kind"].enum == ()
    items = shape.properties["e"].items
    assert items is not None
    assert items.kind == "number"


@pytest.mark.parametrize(
    ("reference", "found"),
    [("#", "root"), ("#/$defs/a~1b", 1), ("#/$defs/a%20b", 2), ("#/$defs/list/1", "y"), ("#/$defs/t~0", 3)],
)
def test_references_are_unescaped(reference: str, found: object) -> None:
    root = {"title": "root", "$defs": {"a/b": 1, "a b": 2, "list": ["x", "y"], "t~": 3}}
    target = resolve(root, reference)
    assert (target["title"] if reference == "#" else target) == found


@pytest.mark.parametrize("reference", ["#/$defs/none", "#/$defs/list/2", "other.json", "#anchor", "#/$defs/list/x"])
def test_a_reference_that_leads_nowhere_is_named(reference: str) -> None:
    with pytest.raises(ProviderError, match="cannot be sent"):
        inline({"$ref": reference, "$defs": {"list": []}})


@pytest.mark.parametrize("encode", [extend.encode, llamaextract.encode, azure_cu.encode])
def test_a_schema_that_contains_itself_is_refused_where_it_must_be_written_out(encode: Any) -> None:
    schema = {"type": "object", "properties": {"child": {"$ref": "#"}}}
    with pytest.raises(ProviderError, match="refers to itself"):
        encode(schema)
    assert datalab.encode(schema) == schema


def test_a_reference_used_twice_is_not_recursive() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"type": "string"}},
    }
    assert inline(schema) == {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}


def test_azure_needs_fields() -> None:
    with pytest.raises(ProviderError, match="properties at the root"):
        azure_cu.encode({"type": "array", "items": {"type": "string"}})
