"""The pairing of large arrays of flat rows: the facts of `problem`, applied to whole columns at a time.

Candidates come from a join on shared items. Items so common that joining on them would cost more than it tells (a
currency, a status) are left out of the join; each row's number of such items bounds what any pair outside the join can
match, and pairs inside it get their exact worth. Rows whose best partner is certain under these bounds are settled;
what is left over is solved as one dense assignment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from docassay.extraction.alignment.worth import Objective
from docassay.extraction.assignment import best_assignment
from docassay.extraction.rows import Content, Shape

Integers: TypeAlias = NDArray[np.int64]

_JOIN_PER_LEAF = 3  # pairs the join may make for each value of either side
_HEAVY_CELLS = 32_000_000  # bytes of one block when common items are compared
_CELL_BYTES = 10  # what one cell of the dense rest costs: a double and the counts it is made of


@dataclass(frozen=True, slots=True)
class Settled:
    """Pairs (left index, right index, copies), and how sure they are.

    `exact`: the pairing is certain to be the best. `always`: it is the best whatever shared addresses are worth, from
    nothing to as much as a match.
    """

    pairs: list[tuple[int, int, int]]
    exact: bool
    always: bool


@dataclass(slots=True)
class _Side:
    """One side's rows as columns: entry k says that row `rows[k]` holds item `items[k]`."""

    items: Integers
    rows: Integers
    sizes: Integers
    shapes: Integers
    counts: Integers


@dataclass(slots=True)
class _Joined:
    """Pairs that share an item that is not common, with their worth; and how many common items each row holds.

    `least` is what every pair is worth at least, if every pair is worth anything.
    """

    left: Integers
    right: Integers
    matched: Integers
    shared: Integers
    left_common: Integers
    right_common: Integers
    least: tuple[int, int]


@dataclass(slots=True)
class _Candidates:
    """Joined pairs under one objective, sorted by left row, best first; `floor` is taken off every weight."""

    left: Integers
    right: Integers
    weight: Integers
    floor: int
    objective: Objective


# Whatever a shared address is worth, from nothing to as much as a match, lies between these.
_ENDS = (Objective(1, 0), Objective(1, 1))


class BulkPairing:
    """One large flat array against another; the join is made once, whatever the objective."""

    def __init__(
        self, left: dict[Content, int], right: dict[Content, int], item_places: Integers, memory: int, order: Orderer
    ) -> None:
        self._left_rows, self._right_rows = list(left), list(right)
        self._item_places = item_places
        self._items = len(item_places)
        self._memory = memory
        self._order = order
        self._left, left_shapes = _side(self._left_rows, left)
        self._right, right_shapes = _side(self._right_rows, right)
        self._shape_table = _shape_table(left_shapes, right_shapes)
        self._joined = self._join_sides()

    def solve(self, objective: Objective, *, any_ratio: bool) -> Settled:
        """The best pairing under `objective`; with `any_ratio` one that is best under all is looked for first."""
        if any_ratio:
            always = self._under_both_ends()
            if always is not None:
                return Settled(self._taken(always), exact=True, always=True)
        partner = self._settle(self._weighed(objective))
        pairs = self._taken(partner)
        left_counts, right_counts = self._left_over(pairs)
        if not left_counts.any() or not right_counts.any():
            return Settled(pairs, exact=True, always=False)
        rest, exact = self._rest(left_counts, right_counts, objective)
        return Settled(pairs + rest, exact, always=False)

    def contents(self, settled: Settled) -> Iterator[tuple[Content, Content, int]]:
        """The pairs of contents, with their number of copies."""
        for one, other, count in settled.pairs:
            yield self._left_rows[one], self._right_rows[other], count

    def _under_both_ends(self) -> Integers | None:
        found = [self._settle(self._weighed(objective)) for objective in _ENDS]
        open_rows = (found[0] < 0) & self._hopeful()
        return None if open_rows.any() or not np.array_equal(found[0], found[1]) else found[0]

    def _hopeful(self) -> NDArray[np.bool_]:
        """Left rows that share anything with any right row."""
        hopeful = self._joined.left_common > 0
        hopeful[self._joined.left] = True
        return hopeful

    def _taken(self, partner: Integers) -> list[tuple[int, int, int]]:
        rows = np.flatnonzero(partner >= 0)
        copies = np.minimum(self._left.counts[rows], self._right.counts[partner[rows]])
        return list(zip(rows.tolist(), partner[rows].tolist(), copies.tolist(), strict=True))

    def _left_over(self, pairs: list[tuple[int, int, int]]) -> tuple[Integers, Integers]:
        left_counts, right_counts = self._left.counts.copy(), self._right.counts.copy()
        for one, other, copies in pairs:
            left_counts[one] -= copies
            right_counts[other] -= copies
        left_counts[~self._hopeful()] = 0
        return left_counts, right_counts

    # --- candidates ---------------------------------------------------------------------------------------------

    def _join_sides(self) -> _Joined:
        left, right = self._left, self._right
        in_left = np.bincount(left.items, minlength=self._items)
        in_right = np.bincount(right.items, minlength=self._items)
        common = _common_items(in_left * in_right, len(left.items) + len(right.items))
        joined_left, joined_right, matched = self._join(common, in_right)
        both = common & (in_left > 0) & (in_right > 0)
        left_common = np.bincount(left.rows[both[left.items]], minlength=len(left.sizes))
        right_common = np.bincount(right.rows[both[right.items]], minlength=len(right.sizes))
        if both.any():
            matched = matched + self._common_matches(np.flatnonzero(both), joined_left, joined_right)
        shared = self._shape_table[left.shapes[joined_left], right.shapes[joined_right]]
        everywhere = int(((in_left == len(left.sizes)) & (in_right == len(right.sizes))).sum())
        least = (everywhere, int(self._shape_table.min())) if everywhere else (0, 0)
        return _Joined(joined_left, joined_right, matched, shared, left_common, right_common, least)

    def _weighed(self, objective: Objective) -> _Candidates:
        """Under one objective. Where all pairs are worth something the smaller side is paired whole, so that taking a
        constant off all weights changes no choice."""
        joined = self._joined
        floor = joined.least[0] * objective.matched_weight + joined.least[1] * objective.shared_weight
        weight = joined.matched * objective.matched_weight + joined.shared * objective.shared_weight - floor
        sort = np.lexsort((-weight, joined.left))
        return _Candidates(joined.left[sort], joined.right[sort], weight[sort], floor, objective)

    def _join(self, common: NDArray[np.bool_], in_right: Integers) -> tuple[Integers, Integers, Integers]:
        """Pairs that share an item which is not common, and how many such items they share."""
        left, right = self._left, self._right
        by_item = np.argsort(right.items, kind="stable")
        first = np.cumsum(in_right) - in_right
        keep = ~common[left.items] & (in_right[left.items] > 0)
        items, rows = left.items[keep], left.rows[keep]
        times = in_right[items]
        total = int(times.sum())
        offsets = np.arange(total) - np.repeat(np.cumsum(times) - times, times)
        partners = right.rows[by_item[np.repeat(first[items], times) + offsets]]
        keys = np.repeat(rows, times) * len(right.sizes) + partners
        keys, matched = np.unique(keys, return_counts=True)
        return keys // len(right.sizes), keys % len(right.sizes), matched

    def _common_matches(self, common: Integers, left: Integers, right: Integers) -> Integers:
        """How many common items each joined pair shares."""
        column = np.full(self._items, -1)
        column[common] = np.arange(len(common))
        ours, theirs = (_membership(side, column, len(common)) for side in (self._left, self._right))
        found = np.empty(len(left), dtype=np.int64)
        block = max(1, _HEAVY_CELLS // max(1, len(common)))
        for start in range(0, len(left), block):
            part = slice(start, start + block)
            found[part] = (ours[left[part]] & theirs[right[part]]).sum(axis=1, dtype=np.int64)
        return found

    # --- rows settled at sight ----------------------------------------------------------------------------------

    def _settle(self, found: _Candidates) -> Integers:
        """Each left row's partner where it is certain, else -1."""
        left, right = self._left, self._right
        starts = np.flatnonzero(np.diff(found.left, prepend=-1))
        rows = found.left[starts]
        first = np.zeros(len(left.sizes), dtype=np.int64)
        second = self._bound(found, self._joined.left_common, left.sizes)
        partner = np.full(len(left.sizes), -1)
        first[rows], partner[rows] = found.weight[starts], found.right[starts]
        after = starts + 1
        has_second = (after < len(found.left)) & (found.left[np.minimum(after, len(found.left) - 1)] == rows)
        runners = rows[has_second]
        second[runners] = np.maximum(second[runners], found.weight[after[has_second]])
        certain = (partner >= 0) & (first > second)
        claims = np.bincount(partner[certain], minlength=len(right.sizes))
        certain &= (claims[partner] == 1) & (left.counts <= right.counts[partner])
        open_rows = ~certain & self._hopeful()
        while open_rows.any():
            pressure = self._pressure(found, open_rows)
            overruled = certain & (first <= second + pressure[partner])
            if not overruled.any():
                break
            certain &= ~overruled
            open_rows |= overruled
        partner[~certain] = -1
        return partner

    def _bound(self, found: _Candidates, common: Integers, sizes: Integers) -> Integers:
        """The most a pair outside the join can weigh, by one of its rows."""
        objective = found.objective
        most = common * objective.matched_weight + sizes * objective.shared_weight - found.floor
        return np.where(common > 0, most, 0)

    def _pressure(self, found: _Candidates, open_rows: NDArray[np.bool_]) -> Integers:
        """For each right row, the most that any open left row could make of it."""
        left, right, joined = self._left, self._right, self._joined
        most = int(joined.left_common[open_rows].max())
        longest = int(left.sizes[open_rows].max())
        pressure = self._bound(found, np.minimum(joined.right_common, most), np.minimum(right.sizes, longest))
        among = open_rows[found.left]
        np.maximum.at(pressure, found.right[among], found.weight[among])
        return pressure

    # --- the rest -----------------------------------------------------------------------------------------------

    def _rest(
        self, left_counts: Integers, right_counts: Integers, objective: Objective
    ) -> tuple[list[tuple[int, int, int]], bool]:
        left = _sorted_copies(self._left_rows, left_counts, self._order)
        right = _sorted_copies(self._right_rows, right_counts, self._order)
        if len(left) * len(right) * _CELL_BYTES > self._memory:
            return self._greedy(left, right, objective), False
        weights = self._dense(left, right, objective)
        return [(int(left[i]), int(right[j]), 1) for i, j in best_assignment(weights)], True

    def _dense(self, left: Integers, right: Integers, objective: Objective) -> NDArray[np.float64]:
        """The weight of every pair; 0 where nothing matches."""
        matched = self._matched(left, right)
        weights = matched.astype(np.float64)
        weights *= objective.matched_weight
        left_shapes, right_shapes = self._left.shapes[left], self._right.shapes[right]
        shared = self._shape_table[np.ix_(np.unique(left_shapes), np.unique(right_shapes))]
        if shared.min() == shared.max():
            weights += float(shared.max() * objective.shared_weight)
        else:
            for row, shape in enumerate(left_shapes):
                weights[row] += self._shape_table[shape, right_shapes] * objective.shared_weight
        weights[matched == 0] = 0
        return weights

    def _matched(self, left: Integers, right: Integers) -> NDArray[np.uint16]:
        matched = np.zeros((len(left), len(right)), dtype=np.uint16)
        theirs = _columns(self._right, right, self._item_places)
        for place, values in _columns(self._left, left, self._item_places).items():
            others = theirs.get(place)
            if others is not None:
                for start in range(0, len(left), 512):
                    part = values[start : start + 512, None]
                    matched[start : start + 512] += (part == others[None, :]) & (part != 0)
        return matched

    def _greedy(self, left: Integers, right: Integers, objective: Objective) -> list[tuple[int, int, int]]:
        """Best weight first, row by row in content order: what remains when even the memory budget is exceeded."""
        free = np.ones(len(right), dtype=bool)
        pairs = []
        for row in left:
            weights = self._dense(np.array([row]), right, objective)[0]
            weights[~free] = 0
            best = int(weights.argmax())
            if weights[best] > 0:
                free[best] = False
                pairs.append((int(row), int(right[best]), 1))
        return pairs


class Orderer(Protocol):
    """Sorts contents, however the documents were ordered."""

    def __call__(self, content: Content) -> tuple[object, ...]: ...


def _common_items(pairs: Integers, leaves: int) -> NDArray[np.bool_]:
    """Which items would make the join too large: the most frequent ones, until the rest fits.

    Items of equal frequency are treated alike, so that content alone decides.
    """
    frequencies, times = np.unique(pairs, return_counts=True)
    fits = np.cumsum(frequencies * times) <= _JOIN_PER_LEAF * leaves
    return pairs > (frequencies[fits].max() if fits.any() else 0)


def _side(contents: Sequence[Content], counts: dict[Content, int]) -> tuple[_Side, list[Shape]]:
    sizes = np.array([len(content.items) for content in contents], dtype=np.int64)
    items = np.fromiter(
        chain.from_iterable(content.items for content in contents), dtype=np.int64, count=int(sizes.sum())
    )
    numbers: dict[Shape, int] = {}
    shapes = [numbers.setdefault(content.shape, len(numbers)) for content in contents]
    side = _Side(
        items,
        np.repeat(np.arange(len(contents)), sizes),
        sizes,
        np.array(shapes, dtype=np.int64),
        np.array([counts[content] for content in contents], dtype=np.int64),
    )
    return side, list(numbers)


def _shape_table(left: Sequence[Shape], right: Sequence[Shape]) -> Integers:
    """How many places two shapes share."""
    column = {place: number for number, place in enumerate(set().union(*(shape.places for shape in left)))}
    ours, theirs = (np.zeros((len(shapes), len(column)), dtype=np.float32) for shapes in (left, right))
    for table, shapes in ((ours, left), (theirs, right)):
        for row, shape in enumerate(shapes):
            table[row, [column[place] for place in shape.places if place in column]] = 1
    return (ours @ theirs.T).astype(np.int64)


def _membership(side: _Side, column: Integers, columns: int) -> NDArray[np.bool_]:
    held = column[side.items]
    keep = held >= 0
    table = np.zeros((len(side.sizes), columns), dtype=bool)
    table[side.rows[keep], held[keep]] = True
    return table


def _sorted_copies(contents: Sequence[Content], counts: Integers, order: Orderer) -> Integers:
    rows = sorted(np.flatnonzero(counts).tolist(), key=lambda row: order(contents[row]))
    return np.repeat(np.array(rows, dtype=np.int64), counts[rows])


def _columns(side: _Side, rows: Integers, item_places: Integers) -> dict[int, Integers]:
    """For each place the item that each of `rows` holds there, 0 where it holds none."""
    position = np.full(len(side.sizes), -1)
    position[rows] = np.arange(len(rows))  # copies of a row are filled from the last one below
    keep = position[side.rows] >= 0
    items, positions = side.items[keep], position[side.rows[keep]]
    places = item_places[items]
    columns: dict[int, Integers] = {}
    for place in np.unique(places):
        here = places == place
        values = np.zeros(len(rows), dtype=np.int64)
        values[positions[here]] = items[here]
        columns[int(place)] = values[position[rows]]
    return columns
