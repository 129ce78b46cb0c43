"""A second scorer for small documents that tries every pairing of rows, written from the metric's specification alone.

It knows nothing of how docassay does it. Values are compared as they stand, so documents for it hold only texts that
stay what they are. Where several pairings are best, all outcomes that any of them leads to are returned.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import reduce
from itertools import combinations, permutations, product
from typing import Any, NamedTuple

MISSING = object()


class Outcome(NamedTuple):
    """The six counts and the number of paired object rows."""

    matched: int = 0
    misread: int = 0
    unfound: int = 0
    fabricated: int = 0
    invented_item: int = 0
    invented_field: int = 0
    matched_rows: int = 0

    def plus(self, other: Outcome) -> Outcome:
        return Outcome(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def shared(self) -> int:
        return self.matched + self.misread

    @property
    def total(self) -> int:
        return sum(self[:6])


Outcomes = frozenset[Outcome]
NOTHING: Outcomes = frozenset({Outcome()})


class Mode(Enum):
    """Why two things are compared: for the result, to price a pair, or to price one with all arrays by position."""

    RESULT = "result"
    PRICE = "price"
    BY_POSITION = "by position"


@dataclass
class Omni:
    """omni/1 for a schema of `properties` and `items`: every array for itself, most matched, then most shared."""

    ordered: frozenset[str] = frozenset()
    known: dict[str, Outcomes] = field(default_factory=dict)

    def outcomes(self, prediction: Any, gold: Any, schema: Any, name: str = "", mode: Mode = Mode.RESULT) -> Outcomes:
        """Everything that can come out for the two sides of one address; `name` is that of the arrays there."""
        sides = [side if side is not MISSING else ["missing", "missing"] for side in (prediction, gold)]
        key = json.dumps([*sides, prediction is MISSING, gold is MISSING, schema, name, mode.value])
        if key not in self.known:
            self.known[key] = self._compare(prediction, gold, schema, name, mode)
        return self.known[key]

    def _compare(self, prediction: Any, gold: Any, schema: Any, name: str, mode: Mode) -> Outcomes:
        if isinstance(prediction, dict) and isinstance(gold, dict):
            return total(
                self.outcomes(
                    prediction.get(key, MISSING),
                    gold.get(key, MISSING),
                    child(schema, key),
                    f"{name}.{key}" if name else key,
                    mode,
                )
                for key in prediction.keys() | gold.keys()
            )
        if isinstance(prediction, list) and isinstance(gold, list) and states(prediction) and states(gold):
            if mode is Mode.BY_POSITION or name in self.ordered:
                return self._by_position(prediction, gold, schema, name, mode)
            return self._paired(prediction, gold, schema, name, mode)
        if is_value(prediction) and is_value(gold):
            return frozenset({Outcome(matched=1) if prediction == gold else Outcome(misread=1)})
        return frozenset({extra(prediction, schema).plus(Outcome(unfound=size(gold)))})

    def _by_position(self, prediction: Any, gold: Any, schema: Any, name: str, mode: Mode) -> Outcomes:
        """An ordered array; while a pair is priced it fixes everything below it too."""
        below = Mode.RESULT if mode is Mode.RESULT else Mode.BY_POSITION
        longest = max(len(prediction), len(gold))
        padded = [side + [MISSING] * (longest - len(side)) for side in (prediction, gold)]
        return total(self._element(p, g, schema, name, below) for p, g in zip(*padded, strict=True))

    def _element(self, prediction: Any, gold: Any, schema: Any, name: str, mode: Mode) -> Outcomes:
        """Two elements at one index; they count as a row where both are objects that state something."""
        row = Outcome(matched_rows=int(is_row(prediction) and is_row(gold)))
        below = self.outcomes(prediction, gold, child(schema, None), f"{name}[*]", mode)
        return frozenset(outcome.plus(row) for outcome in below)

    def _paired(self, prediction: Any, gold: Any, schema: Any, name: str, mode: Mode) -> Outcomes:
        left, right = [p for p in prediction if states(p)], [g for g in gold if states(g)]
        worth = {
            (p, g): self._worth(left[p], right[g], schema, name)
            for p, g in product(range(len(left)), range(len(right)))
        }
        allowed = [pairing for pairing in pairings(len(left), len(right)) if all(worth[pair][0] for pair in pairing)]
        sums = [tuple(map(sum, zip((0, 0), *(worth[pair] for pair in pairing), strict=True))) for pairing in allowed]
        best = [pairing for pairing, value in zip(allowed, sums, strict=True) if value == max(sums)]
        return frozenset().union(*(self._committed(left, right, pairing, schema, name, mode) for pairing in best))

    def _worth(self, prediction: Any, gold: Any, schema: Any, name: str) -> tuple[int, int]:
        outcome = next(iter(self.outcomes(prediction, gold, child(schema, None), f"{name}[*]", Mode.PRICE)))
        return outcome.matched, outcome.shared

    def _committed(
        self, left: list[Any], right: list[Any], pairing: list[tuple[int, int]], schema: Any, name: str, mode: Mode
    ) -> Outcomes:
        paired_left, paired_right = {p for p, _ in pairing}, {g for _, g in pairing}
        invented = sum(size(row) for p, row in enumerate(left) if p not in paired_left)
        unfound = sum(size(row) for g, row in enumerate(right) if g not in paired_right)
        rest = frozenset({Outcome(invented_item=invented, unfound=unfound)})
        return total([rest, *(self._element(left[p], right[g], schema, name, mode) for p, g in pairing)])


class Sound(Omni):
    """sound/1: the pairing of all arrays together that makes accuracy greatest, and among those most matched."""

    def best(self, prediction: Any, gold: Any, schema: Any) -> Outcomes:
        """What the best pairings lead to; accuracy is compared as a fraction, exactly."""
        everything = self.outcomes(prediction, gold, schema)
        worths = {
            outcome: (Fraction(outcome.matched, max(outcome.total, 1)), outcome.matched) for outcome in everything
        }
        return frozenset(outcome for outcome, worth in worths.items() if worth == max(worths.values()))

    def _compare(self, prediction: Any, gold: Any, schema: Any, name: str, mode: Mode) -> Outcomes:
        lists = isinstance(prediction, list) and isinstance(gold, list) and states(prediction) and states(gold)
        objects = isinstance(prediction, dict) and isinstance(gold, dict)
        if lists or objects or (is_value(prediction) and is_value(gold)):
            return super()._compare(prediction, gold, schema, name, mode)
        return frozenset({extra(prediction, schema, rows_are_invented=True).plus(Outcome(unfound=size(gold)))})

    def _element(self, prediction: Any, gold: Any, schema: Any, name: str, mode: Mode) -> Outcomes:
        if states(gold):
            return super()._element(prediction, gold, schema, name, mode)
        return frozenset({Outcome(invented_item=size(prediction))})

    def _paired(self, prediction: Any, gold: Any, schema: Any, name: str, mode: Mode) -> Outcomes:
        """All pairings, not the best of this array alone; a pair must match something as it is itself paired below."""
        left, right = [p for p in prediction if states(p)], [g for g in gold if states(g)]
        pair = {
            (p, g): frozenset(o for o in self._element(left[p], right[g], schema, name, mode) if o.matched)
            for p, g in product(range(len(left)), range(len(right)))
        }
        found: set[Outcome] = set()
        for pairing in pairings(len(left), len(right)):
            invented = sum(size(left[p]) for p in set(range(len(left))) - {p for p, _ in pairing})
            unfound = sum(size(right[g]) for g in set(range(len(right))) - {g for _, g in pairing})
            rest = frozenset({Outcome(invented_item=invented, unfound=unfound)})
            found |= total([rest, *(pair[both] for both in pairing)])
        return frozenset(found)


def pairings(left: int, right: int) -> Iterator[list[tuple[int, int]]]:
    """Every way to pair some of `left` things with some of `right` things."""
    for count in range(min(left, right) + 1):
        for chosen in combinations(range(left), count):
            for partners in permutations(range(right), count):
                yield list(zip(chosen, partners, strict=True))


def total(parts: Any) -> Outcomes:
    """Every sum of one outcome of each part."""
    return reduce(lambda a, b: frozenset(x.plus(y) for x, y in product(a, b)), parts, NOTHING)


def is_value(node: Any) -> bool:
    return isinstance(node, str) and bool(node.strip())


def leaves(node: Any) -> Iterator[tuple[Any, ...]]:
    """The address of every value below a node, with None for an index."""
    if isinstance(node, dict):
        yield from ((key, *rest) for key, value in node.items() for rest in leaves(value))
    elif isinstance(node, list):
        yield from ((None, *rest) for value in node for rest in leaves(value))
    elif is_value(node):
        yield ()


def size(node: Any) -> int:
    return sum(1 for _ in leaves(node))


def states(node: Any) -> bool:
    return size(node) > 0


def is_row(node: Any) -> bool:
    return isinstance(node, dict) and states(node)


def rows(node: Any) -> int:
    """The object rows of a document: elements of arrays that are objects and state something."""
    if isinstance(node, dict):
        return sum(rows(value) for value in node.values())
    if isinstance(node, list):
        return sum(rows(value) + is_row(value) for value in node)
    return 0


def child(schema: Any, key: str | None) -> Any:
    """The schema below a key, or below an index where the key is None; None where the schema says nothing."""
    if schema is None:
        return None
    return schema.get("items") if key is None else schema.get("properties", {}).get(key)


def is_slot(schema: Any) -> bool:
    """Whether the schema offers a place for one value here."""
    return schema is not None and not schema.get("properties") and "items" not in schema


def extra(node: Any, schema: Any, rows_are_invented: bool = False) -> Outcome:
    """What values that only the prediction has count as where no row is in question, or (sound/1) also where one is."""
    outcome = Outcome()
    for address in leaves(node):
        if rows_are_invented and None in address:
            outcome = outcome.plus(Outcome(invented_item=1))
        else:
            offered = is_slot(reduce(child, address, schema))
            outcome = outcome.plus(Outcome(fabricated=1) if offered else Outcome(invented_field=1))
    return outcome
