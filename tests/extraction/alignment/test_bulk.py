"""Large flat arrays: whole columns at a time find what a dense assignment finds."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from docassay.extraction.alignment.bulk import BulkPairing
from docassay.extraction.alignment.worth import Objective, shared_places
from docassay.extraction.flatten import Flattener
from docassay.extraction.metric import OMNI
from docassay.extraction.places import Places
from docassay.extraction.rows import Content
from docassay.extraction.schema import read_schema
from docassay.extraction.space import Space
from docassay.extraction.values import rules

OBJECTIVES = (Objective(1, 0), Objective(1000, 1), Objective(1, 1), Objective(100, 93))


def sides(gold: list[dict[str, str]], prediction: list[dict[str, str]]) -> tuple[Space, list[dict[Content, int]]]:
    schema = read_schema({"properties": {"r": {"type": "array"}}}, OMNI.reader)
    space = Space(Places(schema, OMNI.preparation, frozenset()), rules("omni/1"))
    counts = []
    for rows in (prediction, gold):
        document = Flattener(space, drop_sidecars=False, keep_raw=False).document({"r": rows})
        counts.append(next(iter(document.arrays.values())).content.counts)
    counts.sort(key=lambda side: sum(side.values()))
    return space, counts


def worth(one: Content, other: Content, objective: Objective) -> int:
    matched = len(one.item_set & other.item_set)
    return objective.of(matched, shared_places(one, other)) if matched else 0


def dense(left: dict[Content, int], right: dict[Content, int], objective: Objective) -> int:
    rows = [content for content, count in left.items() for _ in range(count)]
    columns = [content for content, count in right.items() for _ in range(count)]
    table = np.array([[worth(one, other, objective) for other in columns] for one in rows])
    return int(table[linear_sum_assignment(table, maximize=True)].sum())


def order(content: Content) -> tuple[object, ...]:
    return content.items


def rows(chance: random.Random, count: int, values: int, gaps: float) -> list[dict[str, str]]:
    alphabet = "abcdefghijklmnop"[:values]
    made = [{key: chance.choice(alphabet) for key in "uvwxyz" if chance.random() >= gaps} for _ in range(count)]
    for number, row in enumerate(made):
        if chance.random() < 0.7:
            row["id"] = f"n{number}"
    return [row for row in made if row]


def worse(chance: random.Random, gold: list[dict[str, str]]) -> list[dict[str, str]]:
    kept = [
        {key: cell if chance.random() > 0.15 else chance.choice("abq") for key, cell in row.items()}
        for row in gold
        if chance.random() > 0.1
    ]
    return chance.sample(kept, len(kept)) + [{"u": "a", "v": "q"}] * chance.randint(0, 3)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
@pytest.mark.parametrize("seed", range(25))
def test_the_pairing_is_worth_what_the_best_assignment_is_worth(seed: int, objective: Objective) -> None:
    chance = random.Random(seed)
    gold = rows(chance, chance.choice([5, 20, 60]), chance.choice([2, 4, 16]), chance.choice([0, 0.2]))
    space, (left, right) = sides(gold, worse(chance, gold))
    places = np.array([0, *[place.id for place in space.item_places[1:]]])
    bulk = BulkPairing(left, right, places, 10**9, order)
    for any_ratio in (False, True):
        settled = bulk.solve(objective, any_ratio=any_ratio)
        assert settled.exact
        pairs = list(bulk.contents(settled))
        for side, part in ((left, 0), (right, 1)):
            taken: dict[Any, int] = {}
            for pair in pairs:
                taken[pair[part]] = taken.get(pair[part], 0) + pair[2]
            assert all(count <= side[content] for content, count in taken.items())
        assert sum(worth(one, other, objective) * count for one, other, count in pairs) == dense(left, right, objective)


def test_an_identifier_settles_every_row_under_any_ratio() -> None:
    gold = [{"id": f"n{number}", "currency": "USD", "status": "ab"[number % 2]} for number in range(200)]
    space, (left, right) = sides(gold, gold[::-1][:190])
    places = np.array([0, *[place.id for place in space.item_places[1:]]])
    settled = BulkPairing(left, right, places, 0, order).solve(Objective(100, 93), any_ratio=True)
    assert settled.always
    assert settled.exact
    assert len(settled.pairs) == 190
