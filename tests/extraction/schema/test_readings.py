"""What a schema offers, as each metric reads it."""

from __future__ import annotations

from typing import Any

import pytest

from docassay.errors import ArgumentTypeError, SchemaError
from docassay.extraction.address import print_name
from docassay.extraction.schema import SchemaNode, read_schema
from docassay.extraction.schema.complete import read_complete
from docassay.extraction.schema.node import arrays_of
from docassay.extraction.schema.published import read_published


def at(schema: dict[str, Any], reader: Any, *steps: str | None) -> SchemaNode | None:
    node: SchemaNode | None = read_schema(schema, reader)
    for step in steps:
        if node is None:
            return None
        node = node.element() if step is None else node.child(step)
    return node


def wrap(node: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"f": node}, **more}


LEAF: dict[str, Any] = {"type": "string"}
OBJECT = wrap(LEAF)


@pytest.mark.parametrize(
    ("node", "published", "complete"),
    [
        (LEAF, True, True),
        ({}, True, True),
        (True, True, True),
        (OBJECT, False, False),
        ({"type": "array", "items": LEAF}, False, False),
        ({"anyOf": [OBJECT, LEAF]}, False, True),
        ({"anyOf": [{"type": "null"}, OBJECT]}, False, False),
        ({"enum": ["a", "b"]}, True, True),
        ({"type": "object", "additionalProperties": LEAF}, False, False),
        ({"properties": {"x": LEAF}, "anyOf": [{"required": ["x"]}]}, True, False),
    ],
)
def test_where_a_value_is_offered(node: Any, published: bool, complete: bool) -> None:
    found = [at(wrap(node), reader, "f") for reader in (read_published, read_complete)]
    assert [one is not None and one.slot for one in found] == [published, complete]


def test_a_property_that_is_never_allowed_is_not_offered() -> None:
    assert at(wrap(False), read_complete, "f") is None


def test_open_maps() -> None:
    schema = wrap(LEAF, additionalProperties=True)
    published, complete = at(schema, read_published), at(schema, read_complete)
    assert published is not None
    assert published.skipped_whole
    assert complete is not None
    assert complete.skips_undeclared
    assert not complete.skipped_whole
    assert complete.child("f") is not None


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
def test_alternatives_are_united(keyword: str) -> None:
    schema = wrap({keyword: [{"properties": {"x": LEAF}}, {"properties": {"y": LEAF}}]})
    assert at(schema, read_complete, "f", "x") is not None
    assert at(schema, read_complete, "f", "y") is not None
    assert at(schema, read_published, "f", "y") is None


def test_conditions_patterns_and_tuples_are_read() -> None:
    schema = {
        "if": {"properties": {"kind": LEAF}},
        "then": {"properties": {"a": LEAF}},
        "else": {"properties": {"b": LEAF}},
        "patternProperties": {"^x_": LEAF},
        "properties": {"t": {"prefixItems": [{"properties": {"one": LEAF}}, {"properties": {"two": LEAF}}]}},
    }
    for path in (("kind",), ("a",), ("b",), ("x_1",), ("t", None, "one"), ("t", None, "two")):
        assert at(schema, read_complete, *path) is not None, path
    assert at(schema, read_complete, "y_1") is None


@pytest.mark.parametrize(
    ("pointer", "definitions"),
    [
        ("#/$defs/A", {"$defs": {"A": OBJECT}}),
        ("#/$defs/x~1y", {"$defs": {"x/y": OBJECT}}),
        ("#/$defs/x%20y", {"$defs": {"x y": OBJECT}}),
        ("#/anyOf/0", {"anyOf": [OBJECT]}),
        ("#named", {"$defs": {"A": {"$anchor": "named", **OBJECT}}}),
        ("#", {"properties": {"f": LEAF, "g": {"$ref": "#"}}}),
    ],
)
def test_references_are_followed(pointer: str, definitions: dict[str, Any]) -> None:
    schema = {"properties": {"g": {"$ref": pointer}}, **definitions}
    assert at(schema, read_complete, "g", "f") is not None


@pytest.mark.parametrize(
    "pointer", ["#/$defs/nope", "#nope", "https://example.org/schema.json", "#/properties/g/items/3"]
)
def test_a_broken_reference_is_named_whatever_the_documents_hold(pointer: str) -> None:
    with pytest.raises(SchemaError, match=pointer.replace("$", r"\$").replace(".", r"\.")):
        read_schema({"properties": {"g": {"items": {"$ref": pointer}}}}, read_complete)


def test_recursion_is_followed_as_far_as_the_document_goes() -> None:
    schema = {"properties": {"name": LEAF, "children": {"type": "array", "items": {"$ref": "#"}}}}
    assert at(schema, read_complete, *["children", None] * 40, "name") is not None
    assert [print_name(path) for path in arrays_of(read_schema(schema, read_complete))] == ["children"]


def test_a_pattern_that_cannot_be_read_is_named() -> None:
    with pytest.raises(SchemaError, match=r"\(\["):
        read_schema({"patternProperties": {"([": LEAF}}, read_complete).child("x")


@pytest.mark.parametrize("schema", [None, {}, [], "x", 5, True])
def test_a_schema_must_be_a_filled_object(schema: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="non-empty JSON object"):
        read_schema(schema, read_complete)


def test_a_schema_changed_after_it_was_read_is_read_anew() -> None:
    schema = wrap(LEAF)
    assert at(schema, read_complete, "g") is None
    schema["properties"]["g"] = LEAF
    assert at(schema, read_complete, "g") is not None


def test_nullable_arrays_are_arrays() -> None:
    node = at(wrap({"type": ["array", "null"]}), read_complete, "f")
    assert node is not None
    assert node.is_array
