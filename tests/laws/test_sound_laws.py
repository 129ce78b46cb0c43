"""What sound/1 promises beyond the laws of all metrics: every correction pays, the ratio's optimum, in few rounds.

Large flat arrays are paired by whole columns at a time; here plain assignments over all pairs of rows are the oracle.
"""

from __future__ import annotations

import copy
import random
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from brute_force import size
from docassay import score
from docassay.extraction.verdicts import Verdict
from documents import BOOKS, SCHEMA, VALUES, documents, library, misread

seeds = st.integers(0, 2**32 - 1).map(random.Random)
MOST_ROUNDS = 6
many_without = settings(suppress_health_check=list(HealthCheck))
"""For laws about a verdict that not every pair of documents has."""


# Every correction pays


@many_without
@given(documents(longest=4), seeds)
def test_correcting_any_misread_value_pays(one: Any, chance: random.Random) -> None:
    """Whichever value is misread, the other side's value put in its place makes accuracy greater.

    Accuracy does not depend on which side is called the prediction. So the side whose indices the addresses carry is
    corrected: it is the one that is certain to have the address.
    """
    other = altered(one, chance)
    before, chosen = before_and_one(one, other, "misread", chance)
    corrected = copy.deepcopy(other)
    put(corrected, chosen.address, chosen.pred_raw)
    assert accuracy(corrected, one) > before
    assert accuracy(one, corrected) > before


@many_without
@given(documents(longest=4), seeds)
def test_taking_away_what_the_other_side_lacks_pays(one: Any, chance: random.Random) -> None:
    other = altered(one, chance)
    before, chosen = before_and_one(one, other, "unfound", chance)
    without = copy.deepcopy(other)
    put(without, chosen.address, None)
    assume(size(without) + size(one))
    assert accuracy(without, one) >= before
    assert accuracy(one, without) >= before


def altered(node: Any, chance: random.Random) -> Any:
    """The same with some values others, some fields missing, and elements dropped, repeated and in another order."""
    if isinstance(node, dict):
        return {key: altered(below, chance) for key, below in node.items() if chance.random() < 0.9}
    if isinstance(node, list):
        drawn = [below for below in node for _ in range(chance.choice([0, 1, 1, 1, 1, 2]))]
        return [altered(below, chance) for below in chance.sample(drawn, len(drawn))]
    return chance.choice([*VALUES, node, node])


def before_and_one(prediction: Any, gold: Any, verdict: str, chance: random.Random) -> tuple[Fraction, Verdict]:
    """Accuracy, and one of the verdicts of a kind."""
    result = score(prediction, gold, SCHEMA, metric="sound/1", verdicts=True)
    assert result.verdicts is not None
    found = [one for one in result.verdicts if one.verdict == verdict]
    assume(found)
    return Fraction(result.counts.matched, result.counts.total), chance.choice(found)


def accuracy(prediction: Any, gold: Any) -> Fraction:
    counts = score(prediction, gold, SCHEMA, metric="sound/1").counts
    return Fraction(counts.matched, counts.total)


def put(document: Any, address: str, value: Any) -> None:
    """Set the value at an address with indices; keys of these documents need no quotes."""
    *above, last = [int(step[1:-1]) if step[0] == "[" else step for step in re.findall(r"\[\d+\]|[^.\[\]]+", address)]
    for step in above:
        document = document[step]
    assert isinstance(document[last], str)
    document[last] = value


def test_put_sets_what_an_address_names() -> None:
    document = {"r": [{"a": "x"}, {"a": "y", "t": ["p", "q"]}]}
    put(document, "r[1].t[0]", "z")
    put(document, "r[0].a", None)
    assert document == {"r": [{"a": None}, {"a": "y", "t": ["z", "q"]}]}


# Few rounds


@given(documents(longest=6), documents(longest=6))
def test_few_rounds_reach_the_optimum(prediction: Any, gold: Any) -> None:
    rounds = score(prediction, gold, SCHEMA, metric="sound/1").rounds
    event(f"{rounds} rounds")
    assert 1 <= rounds <= MOST_ROUNDS


@pytest.mark.parametrize("seed", range(8))
def test_few_rounds_reach_the_optimum_of_large_nested_documents(seed: int) -> None:
    chance = random.Random(seed)
    gold = library(chance, books=12, distinct=5)
    prediction = misread(gold, chance, errors=0.5, distinct=5)
    assert score(prediction, gold, BOOKS, metric="sound/1").rounds <= MOST_ROUNDS


def test_one_round_is_enough_where_no_more_addresses_could_meet() -> None:
    schema = {
        "type": "object",
        "properties": {"r": {"type": "array", "items": {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}}}},
    }
    gold = {"r": [{"a": "1", "b": "x", "c": "5"}, {"a": "1", "b": "y", "c": "6"}]}
    tied = {"r": [{"a": "1", "b": "z", "c": "7"}, {"a": "1", "b": "w", "c": "8"}]}
    assert score(tied, gold, schema, metric="sound/1").rounds == 1
    short = {"r": [{"a": "2", "b": "0", "c": "0"}, {"a": "2", "b": "1", "c": "1"}, {"a": "0", "b": "2"}]}
    other = {"r": [{"a": "0", "b": "2", "c": "1"}, {"a": "1", "b": "1"}, {"a": "1", "b": "1", "c": "1"}]}
    assert score(other, short, schema, metric="sound/1").rounds > 1


def test_omni_takes_one_round() -> None:
    gold = library(random.Random(1), books=4, distinct=5)
    assert score(misread(gold, random.Random(2), 0.5, 5), gold, BOOKS, metric="omni/1").rounds == 1


# Large flat arrays


@dataclass(frozen=True)
class Dense:
    """All pairs of rows of one array: values that agree, and addresses shared where any does."""

    matched: NDArray[np.int64]
    shared: NDArray[np.int64]

    def best(self, match: int, share: int) -> tuple[int, int]:
        """Matched and shared under the pairing that is worth most by these weights, then by matched values."""
        scale = 1 + int(self.matched.max(initial=0)) * min(self.matched.shape)
        weight = (match * self.matched + share * self.shared) * scale + self.matched
        assert weight.max(initial=0) * min(weight.shape) < 2**53
        rows, columns = linear_sum_assignment(weight.astype(float), maximize=True)
        return int(self.matched[rows, columns].sum()), int(self.shared[rows, columns].sum())


def dense(prediction: list[dict[str, str]], gold: list[dict[str, str]]) -> Dense:
    matched = np.array([[len(p.items() & g.items()) for g in gold] for p in prediction], dtype=np.int64)
    shared = np.array([[len(p.keys() & g.keys()) for g in gold] for p in prediction], dtype=np.int64)
    return Dense(matched, np.where(matched > 0, shared, 0))


def rows(chance: random.Random, count: int, fields: int, distinct: int) -> list[dict[str, str]]:
    """Rows of few distinct values: a constant field, fields that may be missing, and some rows several times."""
    found = []
    for _ in range(count):
        row = {f"f{n}": chance.choice("ABCDEFGH"[:distinct]) for n in range(fields) if chance.random() < 0.8}
        found.append({"currency": "EUR", **row} if chance.random() < 0.9 else {"f0": "A", **row})
        if chance.random() < 0.1:
            found.append(dict(found[-1]))
    return found


def reading(chance: random.Random, gold: list[dict[str, str]], distinct: int) -> list[dict[str, str]]:
    """A reading of rows: a third of the values wrong or missing, some rows missing, in another order."""
    found = []
    for row in gold:
        kept = {
            key: chance.choice("ABCDEFGH"[:distinct]) if chance.random() < 0.2 else value for key, value in row.items()
        }
        kept = {key: value for key, value in kept.items() if chance.random() < 0.85}
        if kept and chance.random() < 0.9:
            found.append(kept)
    return chance.sample(found, len(found))


def pair(chance: random.Random) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    fields, distinct = chance.randrange(2, 8), chance.randrange(2, 8)
    gold = rows(chance, chance.randrange(45, 110), fields, distinct)
    alike = chance.random() < 0.5
    count = chance.randrange(45, 110)
    return (reading(chance, gold, distinct) if alike else rows(chance, count, fields, distinct)), gold


ONE = {"type": "object", "properties": {name: {"type": "array", "items": {"type": "object"}} for name in "rst"}}


@pytest.mark.parametrize("seed", range(60))
def test_omni_pairs_large_arrays_as_an_assignment_over_all_pairs_does(seed: int) -> None:
    """Most matched values, then most shared addresses."""
    prediction, gold = pair(random.Random(seed))
    result = score({"r": prediction}, {"r": gold}, ONE, metric="omni/1")
    most = 1 + sum(map(len, gold))
    assert (result.counts.matched, result.counts.matched + result.counts.misread) == dense(prediction, gold).best(
        most, 1
    )
    assert result.matching_exact


@pytest.mark.parametrize("seed", range(60))
def test_sound_reaches_the_optimum_over_all_pairs_of_all_arrays(seed: int) -> None:
    """No pairing of the arrays together gives more, and of those that give as much none matches more values."""
    chance = random.Random(seed)
    arrays = {name: pair(chance) for name in "rst"[: chance.randrange(1, 4)]}
    prediction, gold = ({name: sides[side] for name, sides in arrays.items()} for side in (0, 1))
    result = score(prediction, gold, ONE, metric="sound/1")
    ratio, matched = dinkelbach([dense(*sides) for sides in arrays.values()], size(prediction) + size(gold))
    assert Fraction(result.counts.matched, result.counts.total) == ratio
    assert result.counts.matched == matched
    assert result.rounds <= MOST_ROUNDS
    assert result.matching_exact


def dinkelbach(tables: list[Dense], both: int) -> tuple[Fraction, int]:
    """The greatest matched / (both - shared) over all pairings, and the matched values there, by plain assignments."""
    ratio = Fraction(-1)
    reached, matched = Fraction(0), 0
    while reached > ratio:
        ratio = reached
        found = [table.best(ratio.denominator, ratio.numerator) for table in tables]
        matched = sum(m for m, _ in found)
        reached = Fraction(matched, both - sum(s for _, s in found))
    return ratio, matched


def test_most_of_these_arrays_are_paired_by_columns() -> None:
    """Smaller ones go another way; rows that occur several times count once."""
    sizes = []
    for seed in range(60):
        sides = pair(random.Random(seed))
        sizes.append([len({tuple(sorted(row.items())) for row in side}) for side in sides])
    assert sum(one * other > 40 * 40 for one, other in sizes) >= 30


@pytest.mark.parametrize("seed", range(10))
def test_large_arrays_inside_rows(seed: int) -> None:
    """Two outer rows whose inner arrays are large: the outer pairing rests on inner optima."""
    chance = random.Random(seed)
    sides = [pair(chance) for _ in range(2)]
    schema = {"type": "object", "properties": {"books": {"type": "array", "items": ONE}}}
    gold = {"books": [{"r": gold} for _, gold in sides]}
    prediction = {"books": [{"r": prediction} for prediction, _ in sides][::-1]}
    most = 1 + size(gold)
    worth = {(p, g): dense(sides[1 - p][0], sides[g][1]).best(most, 1) for p in (0, 1) for g in (0, 1)}
    pairings = [[(0, 0), (1, 1)], [(0, 1), (1, 0)]]
    best = max(tuple(map(sum, zip(*(worth[both] for both in pairing), strict=True))) for pairing in pairings)
    counts = score(prediction, gold, schema, metric="omni/1").counts
    assert (counts.matched, counts.matched + counts.misread) == best
