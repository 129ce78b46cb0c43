"""Tables too large for brute force: the pairing is worth what a dense assignment over all pairs of rows is worth."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from docassay import score

SCHEMA = {"type": "object", "properties": {"r": {"type": "array", "items": {"type": "object"}}}}


def table(chance: random.Random, rows: int, columns: int, values: int) -> list[dict[str, Any]]:
    """Rows with gaps; the first column is nearly an identifier, the others have few values."""
    alphabet = [chr(ord("A") + value) * 2 for value in range(values)]
    return [
        {"id": f"R{chance.randrange(2 * rows)}x"}
        | {f"c{column}": chance.choice(alphabet) for column in range(columns) if chance.random() < 0.9}
        for _ in range(rows)
    ]


def worse(chance: random.Random, rows: list[dict[str, Any]], errors: float) -> list[dict[str, Any]]:
    """A reading of the rows: cells exchanged, rows dropped and doubled, shuffled."""
    kept = [row for row in rows if chance.random() > errors / 2]
    kept += [row for row in rows if chance.random() < errors / 4]
    read = [
        {key: chance.choice(rows).get(key, "Z") if chance.random() < errors else cell for key, cell in row.items()}
        for row in kept
    ]
    return chance.sample(read, len(read))


def dense(prediction: list[dict[str, Any]], gold: list[dict[str, Any]]) -> tuple[Any, Any]:
    """Matched and shared for every pair of rows."""
    matched = np.array([[sum(p.get(key) == cell for key, cell in g.items()) for g in gold] for p in prediction])
    shared = np.array([[len(p.keys() & g.keys()) for g in gold] for p in prediction])
    return matched, np.where(matched > 0, shared, 0)


def assigned(matched: Any, shared: Any, weights: Any) -> tuple[int, int]:
    chosen = linear_sum_assignment(weights.astype(float), maximize=True)
    return int(matched[chosen].sum()), int(shared[chosen].sum())


def best_omni(matched: Any, shared: Any) -> tuple[int, int]:
    return assigned(matched, shared, matched * (1 + int(shared.sum())) + shared)


def best_sound(matched: Any, shared: Any, addresses: int) -> tuple[int, int]:
    """Dinkelbach's method with exact fractions: raise the accuracy until no assignment has a higher one."""
    accuracy = Fraction(0)
    while True:
        # more matched first among equals: shared never exceeds `addresses`
        weights = (matched * accuracy.denominator + shared * accuracy.numerator) * (addresses + 1) + matched
        found = assigned(matched, shared, weights)
        reached = Fraction(found[0], addresses - found[1])
        if reached <= accuracy:
            return found
        accuracy = reached


@pytest.mark.parametrize("seed", range(40))
def test_tables_are_paired_as_well_as_can_be(seed: int) -> None:
    chance = random.Random(seed)
    gold = table(chance, chance.choice([20, 45, 90]), chance.randrange(1, 7), chance.choice([2, 4, 12]))
    prediction = worse(chance, gold, chance.choice([0.05, 0.3, 0.8])) or gold[:1]
    matched, shared = dense(prediction, gold)
    addresses = sum(map(len, prediction)) + sum(map(len, gold))
    expected = {"omni/1": best_omni(matched, shared), "sound/1": best_sound(matched, shared, addresses)}
    for metric, (right, both) in expected.items():
        result = score({"r": prediction}, {"r": gold}, SCHEMA, metric=metric)
        counts = result.counts
        assert result.matching_exact
        if metric == "omni/1":
            assert (counts.matched, counts.matched + counts.misread) == (right, both)
        else:
            assert (result.accuracy, counts.matched) == (right / (addresses - both), right)
