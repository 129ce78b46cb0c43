"""Holds scores to be the same whatever was scored before, and by how many threads: what is met is remembered."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docassay import score
from docassay.extraction.metric import METRICS
from docassay.extraction.space import _LARGEST_KEPT, Space, _kept
from documents import ARRAYS, SCHEMA, documents, library, misread, shuffled

every_metric = pytest.mark.parametrize("metric", sorted(METRICS))
_titles = count()
Pair = tuple[Any, Any]


def new_schema() -> dict[str, Any]:
    """A schema that no document was scored under yet."""
    return {**SCHEMA, "title": f"history {next(_titles)}"}


def told(pair: Pair, schema: dict[str, Any], metric: str, ordered: list[str]) -> object:
    """All that there is to say of a score."""
    result = score(*pair, schema, metric=metric, order_matters=ordered, verdicts=True)
    by_field = score(*pair, schema, metric=metric, order_matters=ordered).by_field()
    assert by_field == result.by_field()
    return result.as_dict(), by_field


def alike(pairs: list[Pair], metric: str, ordered: list[str]) -> None:
    """Score each pair as the first under its schema, and then all under one schema, forwards and backwards."""
    first = [told(pair, new_schema(), metric, ordered) for pair in pairs]
    schema = new_schema()
    assert [told(pair, schema, metric, ordered) for pair in pairs] == first
    assert [told(pair, schema, metric, ordered) for pair in reversed(pairs)] == first[::-1]


@every_metric
@given(st.lists(st.tuples(documents(), documents()), min_size=2, max_size=4), st.sets(st.sampled_from(ARRAYS)))
def test_what_was_scored_before_changes_nothing(metric: str, pairs: list[Pair], ordered: set[str]) -> None:
    alike(pairs, metric, sorted(ordered))


@every_metric
@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1))
def test_nor_in_documents_full_of_ties(metric: str, seed: int) -> None:
    chance = random.Random(seed)
    gold = library(chance, books=chance.randrange(2, 12), distinct=chance.randrange(2, 6))
    pairs = [(misread(shuffled(gold, chance), chance, errors=0.3, distinct=4), gold) for _ in range(3)]
    alike([*pairs, (gold, pairs[0][0])], metric, [])


@every_metric
@settings(max_examples=8)
@given(st.integers(0, 2**32 - 1))
def test_nor_in_tables_of_many_rows(metric: str, seed: int) -> None:
    """Rows enough that they are compared by whole columns."""
    chance = random.Random(seed)
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object"}}}}

    def table() -> dict[str, Any]:
        rows = [
            {"a": chance.randrange(9), "b": f"t{chance.randrange(5)}", "c": chance.random() < 0.5} for _ in range(70)
        ]
        return {"rows": rows}

    pairs = [(table(), table()) for _ in range(3)]
    first = [told(pair, {**schema, "title": f"{seed} {number}"}, metric, []) for number, pair in enumerate(pairs)]
    assert [told(pair, {**schema, "title": f"{seed}"}, metric, []) for pair in pairs + pairs] == first + first


@every_metric
def test_threads_do_not_meet(metric: str) -> None:
    chance = random.Random(7)
    gold = library(chance, books=6, distinct=5)
    pairs = [(misread(gold, chance, errors=0.2, distinct=5), gold) for _ in range(40)]
    schema = new_schema()
    alone = [told(pair, new_schema(), metric, []) for pair in pairs]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda pair: told(pair, schema, metric, []), pairs * 3)) == alone * 3


def test_what_is_remembered_is_bounded() -> None:
    """New keys in each document, long texts and many schemas: no kept space is large, and there are few."""
    for number in range(300):
        schema = {"type": "object", "title": f"bounded {number % 100}", "properties": {"a": {"type": "string"}}}
        document = {f"k{number} {key}": "x" * 2_000 for key in range(40)}
        score(document, document, schema, metric="omni/1")
    assert len(_kept) <= 64
    assert all(isinstance(space, Space) and space.size <= _LARGEST_KEPT for space in _kept.values())
    characters = [
        len("".join(text for place in space.places.all for text in map(str, place.known))) for space in _kept.values()
    ]
    assert max(characters) <= 100 * _LARGEST_KEPT


def test_texts_that_are_read_alike_count_too() -> None:
    """None of them is a value, so only what is known of them grows."""
    schema = new_schema()
    for number in range(1, 3 * _LARGEST_KEPT):
        score({"a": " " * number}, {"a": "x"}, schema, metric="omni/1")
        assert all(space.size <= _LARGEST_KEPT for space in _kept.values())
    assert max(len(place.known) for space in _kept.values() for place in space.places.all) < _LARGEST_KEPT
