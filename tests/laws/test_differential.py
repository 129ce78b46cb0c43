"""omni/1 gives the very counts of the published package, on random schemas and documents of every shape it knows."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docassay import score
from documents import BOOKS, SCHEMA, documents, library, misread

peer = pytest.importorskip("omni_extract_bench", reason="omni-extract-bench is not installed: nothing to compare with")

# What no choice between equally good pairings can change; the rest is compared as a sum.
DETERMINED = ("total", "matched", "misread", "unfound", "asserted", "gt_rows", "pred_rows", "matching_exact")
EXTRA = ("fabricated", "invented_item", "invented_field")

ORDERED = ("a", "b", "rows", "rows[*].a", "a[*]", "['x.y']", "a.b")
NAMES = ("a", "b", "rows", "value", "page", "a_meta", "rows_citations", "x.y", "with space")
SCALARS = (
    None,
    "",
    " ",
    True,
    False,
    0,
    5,
    5.0,
    -5,
    12.5,
    1e-7,
    2**53 + 1,
    "5",
    "5.0",
    "(5.00)",
    "$1,234.50",
    1234.5,
    "12.5%",
    "Acme",
    "ACME, Inc.",
    "acme inc",
    "2024-10-31",
    "10/31/2024",
    "31 October 2024",
    "2024-10-31T09:30:00Z",
    "2024-10-31 09:30",
    "–",
    "N/A",
    "true",
    "Total [2]",
    "½",
    "é",
    "é",
    "007",
    "A",
    "B",
)

scalars = st.sampled_from(SCALARS)
names = st.sampled_from(NAMES)


def schemas(depth: int = 4) -> st.SearchStrategy[Any]:
    """Any schema: values, objects, arrays, alternatives, open maps, references to one of three definitions."""
    value = st.sampled_from([{"type": "string"}, {"type": ["number", "null"]}, {}, {"enum": ["A", "B"]}, True])
    if depth == 0:
        return value
    below = schemas(depth - 1)
    of_objects = objects(below)
    return st.one_of(
        value,
        of_objects,
        below.map(lambda items: {"type": "array", "items": items}),
        of_objects.map(lambda items: {"type": "array", "items": items}),
        below.map(lambda inner: {"anyOf": [{"type": "null"}, inner]}),
        st.tuples(below, below).map(lambda pair: {"oneOf": list(pair)}),
        st.tuples(of_objects, of_objects).map(lambda pair: {"allOf": list(pair)}),
        st.tuples(of_objects, st.sampled_from([True, False, {}, {"type": "string"}])).map(
            lambda pair: {**pair[0], "additionalProperties": pair[1]}
        ),
        st.sampled_from(["one", "two"]).map(lambda name: {"$ref": f"#/$defs/{name}"}),
    )


def objects(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(names, below, max_size=4).map(lambda fields: {"type": "object", "properties": fields})


def roots() -> st.SearchStrategy[Any]:
    return st.tuples(objects(schemas(3)), schemas(1), objects(schemas(1))).map(
        lambda parts: {**parts[0], "$defs": {"one": parts[1], "two": parts[2]}}
    )


def nodes(depth: int = 4) -> st.SearchStrategy[Any]:
    """Any JSON; arrays hold alike elements, some in provenance envelopes, with sidecars among the keys."""
    if depth == 0:
        return scalars
    below = nodes(depth - 1)
    return st.one_of(
        scalars,
        trees(below),
        st.lists(trees(below), max_size=3),
        st.lists(scalars, max_size=3),
        st.lists(st.lists(scalars, max_size=2), max_size=2),
        st.tuples(below, scalars).map(lambda pair: {"value": pair[0], "page": pair[1]}),
    )


def trees(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(names, below, max_size=4)


def pairs() -> st.SearchStrategy[tuple[Any, Any]]:
    """A prediction and a ground truth: unrelated, or the one made of the other by small changes."""
    whole = trees(nodes(3))
    return st.one_of(st.tuples(whole, whole), st.tuples(whole, st.randoms(use_true_random=False)).map(mangled))


def mangled(pair: tuple[Any, Any]) -> tuple[Any, Any]:
    gold, chance = pair

    def change(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: change(value) for key, value in node.items() if chance.random() > 0.1}
        if isinstance(node, list):
            kept = [change(value) for value in node if chance.random() > 0.15]
            chance.shuffle(kept)
            return kept + [change(value) for value in node if chance.random() < 0.1]
        return chance.choice(SCALARS) if chance.random() < 0.2 else node

    return change(gold), gold


def compare(prediction: Any, gold: Any, schema: Any, order_matters: list[str]) -> None:
    """Both say the same: the same kind of error, or the same counts."""
    try:
        expected = peer.score(prediction, gold, schema, order_matters=order_matters)
    except (TypeError, ValueError) as error:
        with pytest.raises(TypeError if isinstance(error, TypeError) else ValueError):
            score(prediction, gold, schema, metric="omni/1", order_matters=order_matters)
        return
    found = score(prediction, gold, schema, metric="omni/1", order_matters=order_matters).as_dict()
    assert {name: found[name] for name in DETERMINED} == {name: expected[name] for name in DETERMINED}
    assert sum(found[name] for name in EXTRA) == sum(expected[name] for name in EXTRA)
    assert found["accuracy"] == pytest.approx(expected["accuracy"], abs=1e-12)
    assert list(found["skipped_open_maps"]) == list(expected["skipped_open_maps"])


@settings(max_examples=300)
@given(pairs(), roots())
def test_any_schema_any_document(pair: tuple[Any, Any], schema: Any) -> None:
    compare(*pair, schema, [])


@settings(max_examples=200)
@given(pairs(), roots(), st.lists(st.sampled_from(ORDERED), max_size=2))
def test_any_order(pair: tuple[Any, Any], schema: Any, order_matters: list[str]) -> None:
    compare(*pair, schema, order_matters)


@settings(max_examples=200)
@given(documents(longest=5), documents(longest=5))
def test_nested_rows_with_ties(prediction: Any, gold: Any) -> None:
    compare(prediction, gold, SCHEMA, [])


@pytest.mark.parametrize("seed", range(8))
def test_books_of_chapters_of_sections(seed: int) -> None:
    chance = random.Random(seed)
    distinct = chance.choice([2, 3, 8, 50])
    gold = library(chance, chance.randrange(1, 7), distinct)
    compare(misread(gold, chance, chance.choice([0.05, 0.2, 0.6]), distinct), gold, BOOKS, [])
