"""The best pairings of one pair of documents: nested worths at their best, every content met twice remembered."""

from __future__ import annotations

from docassay.extraction.alignment.bulk import BulkPairing
from docassay.extraction.alignment.problem import Problem
from docassay.extraction.alignment.worth import NOTHING, Objective, Pair, Pairing, Table, Worth, shared_places
from docassay.extraction.rows import ArrayContent, Content
from docassay.extraction.space import Space


class Aligner:
    """Finds best pairings for one pair of documents; remembers every content met twice.

    With `any_ratio` the objective may change (`reweigh`), and what is best under all objectives is looked for first.
    """

    def __init__(self, space: Space, objective: Objective, *, memory: int, any_ratio: bool = False) -> None:
        self._space = space
        self.objective = objective
        self.memory = memory
        self.any_ratio = any_ratio
        self._worths: dict[tuple[int, int], Worth] = {}
        self._pairings: dict[tuple[int, int], Pairing] = {}
        self.tables: dict[tuple[int, int], Table] = {}
        self._bulk: dict[tuple[int, int], BulkPairing] = {}
        self._orders: dict[int, tuple[object, ...]] = {}
        self.approximated: set[int] = set()
        self.assignments = 0

    def reweigh(self, objective: Objective) -> None:
        """Go on under another objective, forgetting what depends on it."""
        self.objective = objective
        self.approximated.clear()
        self._worths = {key: worth for key, worth in self._worths.items() if worth.always}
        self._pairings = {key: pairing for key, pairing in self._pairings.items() if pairing.always}

    @property
    def settled(self) -> bool:
        """Whether no other objective could change any pairing made so far."""
        return all(pairing.always for pairing in self._pairings.values())

    def bulk(self, key: tuple[int, int], left: dict[Content, int], right: dict[Content, int]) -> BulkPairing:
        """Two large flat arrays, joined once."""
        found = self._bulk.get(key)
        if found is None:
            found = self._bulk[key] = BulkPairing(left, right, self._space.place_numbers(), self.memory, self.order)
        return found

    def pairing(self, predicted: ArrayContent, gold: ArrayContent) -> Pairing:
        """The best pairing of two arrays' rows."""
        key = (predicted.id, gold.id)
        found = self._pairings.get(key)
        if found is None:
            found = self._pairings[key] = self._pair(predicted, gold)
        return found

    def worth(self, predicted: Content, gold: Content) -> Worth:
        """The worth of two rows, nested arrays at their best; NOTHING if no value agrees."""
        if predicted is gold:
            return Worth(predicted.size, predicted.size, always=True)
        key = (predicted.id, gold.id)
        found = self._worths.get(key)
        if found is None:
            found = self._worths[key] = self._worth(predicted, gold)
        return found

    def _worth(self, predicted: Content, gold: Content) -> Worth:
        matched = len(predicted.item_set & gold.item_set)
        shared = shared_places(predicted, gold)
        always = True
        for place, array in predicted.arrays.items():
            other = gold.arrays.get(place)
            if other is not None:
                pairing = self.pairing(array, other)
                matched += pairing.matched
                shared += pairing.shared
                always &= pairing.always
        return Worth(matched, shared, always) if matched else NOTHING

    # --- one array against one array ----------------------------------------------------------------------------

    def _pair(self, predicted: ArrayContent, gold: ArrayContent) -> Pairing:
        if predicted is gold:
            pairs = tuple(Pair(content, content, count) for content, count in gold.counts.items())
            return Pairing(pairs, gold.size, gold.size, always=True)
        problem = Problem(self, predicted, gold)
        pairs = tuple(problem.solve())
        matched = shared = 0
        always = problem.always
        for pair in pairs:
            worth = self.worth(pair.predicted, pair.gold)
            matched += worth.matched * pair.count
            shared += worth.shared * pair.count
            always &= worth.always
        return Pairing(pairs, matched, shared, always)

    def order(self, content: Content) -> tuple[object, ...]:
        """A sort key that is a function of content alone, however the documents were ordered."""
        found = self._orders.get(content.id)
        if found is None:
            space = self._space
            leaves = sorted([(space.item_places[item].steps_key(), space.item_canons[item]) for item in content.items])
            arrays = sorted(
                (place.steps_key(), sorted((self.order(row), count) for row, count in array.counts.items()))
                for place, array in content.arrays.items()
            )
            found = self._orders[content.id] = (tuple(leaves), tuple((key, tuple(rows)) for key, rows in arrays))
        return found
