"""One array against one array: candidates, rows settled at sight, and the rest by assignment.

The worth of a pair is (matched, shared); nested arrays count with their own best pairing, and a pair that matches
nothing is no pair. Exactness rests on these facts, each held to brute force by the tests:

* The worth of two contents is bounded above by the intersections of their multisets of items and of places; for rows
  without arrays the bound is the worth.
* If every predicted row has one best partner, strictly better than its others, and no two have the same, then that is
  the only best pairing (the sum of the rows' maxima is an upper bound, and it is reached).
* If some rows, the open ones, have not, a pair (p, g) of the others stays in every best pairing while
  w(p, g) > max over other g' of w(p, g') + max over open p' of w(p', g): u(p) = the first maximum and
  v(g) = w(p, g) - u(p) are then feasible dual values next to any solution for the open rows (linear programming
  duality). Rows whose pair fails the test become open too, until none does; only the open rows are solved.
* Where bounds stand in for worths, an assignment that selects only exact worths is optimal for the worths themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, Protocol

from docassay.extraction.alignment.bulk import BulkPairing
from docassay.extraction.alignment.worth import Cell, Objective, Pair, Table, Worth, shared_bound, shared_places
from docassay.extraction.assignment import best_assignment
from docassay.extraction.rows import ArrayContent, Content

_JOIN_ALL: Final = 4096  # distinct pairs up to which all are looked at
_JOIN_PER_ITEM: Final = 4  # pairs the join may make for each distinct item of a row
_BULK: Final = 1024  # distinct pairs of flat rows from which whole columns at a time are faster


class Worths(Protocol):
    """What a problem asks of the aligner that set it."""

    objective: Objective
    any_ratio: bool
    approximated: set[int]
    assignments: int

    @property
    def tables(self) -> dict[tuple[int, int], Table]:
        """Candidates and bounds by the numbers of the two arrays."""

    def worth(self, predicted: Content, gold: Content) -> Worth:
        """The worth of two rows."""

    def order(self, content: Content) -> tuple[object, ...]:
        """A sort key that is a function of content alone."""

    def bulk(self, key: tuple[int, int], left: dict[Content, int], right: dict[Content, int]) -> BulkPairing:
        """Two large flat arrays, joined once."""


@dataclass(slots=True)
class Problem:
    """One array against one array: candidates, rows settled at sight, and the rest by assignment."""

    aligner: Worths
    predicted: ArrayContent
    gold: ArrayContent
    flat: bool = field(init=False)
    turned: bool = False
    always: bool = True
    left: dict[Content, int] = field(default_factory=dict)
    right: dict[Content, int] = field(default_factory=dict)
    cells: dict[Content, dict[Content, Cell]] = field(default_factory=dict)
    elsewhere: dict[Content, Cell] = field(default_factory=dict)  # bounds for the pairs that a row has no cell for

    def __post_init__(self) -> None:
        self.flat = self.predicted.flat and self.gold.flat

    def solve(self) -> Iterator[Pair]:
        """All pairs. The side with fewer rows chooses: if all of its rows have a partner, nothing is left open."""
        sides = self.predicted.counts, self.gold.counts
        turned = self.turned = sum(sides[0].values()) > sum(sides[1].values())
        self.left, self.right = dict(sides[turned]), dict(sides[not turned])
        if self.flat and len(self.left) * len(self.right) > _BULK:
            pairs = self._in_bulk()
        else:
            found = self._at_sight() if self.flat else []
            pairs = iter(found)
            if not found:
                self._look_up()
                pairs = chain(self._settle(), self._assign())
        return (Pair(pair.gold, pair.predicted, pair.count) for pair in pairs) if turned else iter(pairs)

    def _in_bulk(self) -> Iterator[Pair]:
        aligner = self.aligner
        bulk = aligner.bulk((self.predicted.id, self.gold.id), self.left, self.right)
        settled = bulk.solve(aligner.objective, any_ratio=aligner.any_ratio)
        self.always = settled.always
        if not settled.exact:
            aligner.approximated.add(max(sum(self.left.values()), sum(self.right.values())))
        for one, other, count in bulk.contents(settled):
            yield Pair(one, other, count)

    # --- small flat arrays in which every row has its own best partner ----------------------------------------

    def _at_sight(self) -> list[Pair]:
        """All pairs, if each row of the smaller side has one best partner and no two the same; else nothing."""
        holders: dict[int, list[Content]] = {}
        for gold in self.right:
            for item in gold.items:
                holders.setdefault(item, []).append(gold)
        weigh = self.aligner.objective.of
        pairs: dict[Content, Pair] = {}
        always = True
        for row, count in self.left.items():
            matched: dict[Content, int] = {}
            for item in row.items:
                for gold in holders.get(item, ()):
                    matched[gold] = matched.get(gold, 0) + 1
            if not matched:
                continue
            partner = max(matched, key=matched.__getitem__)
            most, shared = matched.pop(partner), shared_places(row, partner)
            if matched:
                other, longest = max(matched.values()), len(row.items)
                if weigh(most, shared) <= weigh(other, longest):
                    return []
                always &= most > other and most + shared > other + longest
            if partner in pairs or count > self.right[partner]:
                return []
            pairs[partner] = Pair(row, partner, count)
        self.always = always
        return list(pairs.values())

    # --- candidates ---------------------------------------------------------------------------------------------

    def _look_up(self) -> None:
        """The table of candidates: made once, since no objective changes it; worths found later go into a copy."""
        key = (self.predicted.id, self.gold.id)
        found = self.aligner.tables.get(key)
        if found is None:
            found = self._candidates(), self.elsewhere
            if self.aligner.any_ratio:
                self.aligner.tables[key] = found
        cells, elsewhere = found
        self.cells = {row: dict(others) for row, others in cells.items()}
        self.elsewhere = dict(elsewhere)

    def _candidates(self) -> dict[Content, dict[Content, Cell]]:
        """What is known of the pairs that share an item which is not too common; the rest is bounded by `elsewhere`."""
        holders: dict[int, list[Content]] = {}
        for gold in self.right:
            for item in gold.bagged():
                holders.setdefault(item, []).append(gold)
        common = self._too_common(holders)
        table: dict[Content, dict[Content, Cell]] = {}
        for row in self.left:
            matched: dict[Content, int] = {}
            frequent = []
            for item, count in row.bagged().items():
                if item in common:
                    frequent.append((item, count))
                elif self.flat:  # every item is there once
                    for gold in holders.get(item, ()):
                        matched[gold] = matched.get(gold, 0) + 1
                else:
                    for gold in holders.get(item, ()):
                        matched[gold] = matched.get(gold, 0) + min(count, gold.bagged()[item])
            for gold in matched if frequent else ():
                bag = gold.bagged()
                matched[gold] += sum([min(count, bag[item]) for item, count in frequent if item in bag])
            if frequent:
                self.elsewhere[row] = Cell(sum([count for _, count in frequent]), row.size, exact=False)
            table[row] = {gold: self._cell(row, gold, count) for gold, count in matched.items()}
        return table

    def _too_common(self, holders: dict[int, list[Content]]) -> frozenset[int]:
        """Items that would make the join too large, most frequent first; equal frequencies are treated alike."""
        if len(self.left) * len(self.right) <= _JOIN_ALL:
            return frozenset()
        carriers: dict[int, int] = {}
        entries = 0
        for row in self.left:
            entries += len(row.bagged())
            for item in row.bagged():
                if item in holders:
                    carriers[item] = carriers.get(item, 0) + 1
        pairs = {item: count * len(holders[item]) for item, count in carriers.items()}
        budget, limit = _JOIN_PER_ITEM * entries, 0
        for frequency, times in sorted(Counter(pairs.values()).items()):
            budget -= frequency * times
            if budget < 0:
                break
            limit = frequency
        return frozenset(item for item, count in pairs.items() if count > limit)

    def _complete(self, row: Content) -> None:
        """Look at every pair of a row whose best partner the join cannot tell."""
        del self.elsewhere[row]
        cells, ours = self.cells[row], row.bagged()
        for gold in self.right:
            if gold not in cells:
                theirs = gold.bagged()
                matched = sum([min(count, theirs[item]) for item, count in ours.items() if item in theirs])
                if matched:
                    cells[gold] = self._cell(row, gold, matched)

    def _cell(self, row: Content, gold: Content, matched: int) -> Cell:
        if row is gold:
            return Cell(row.size, row.size, exact=True)
        if self.flat or (not row.arrays and not gold.arrays):
            return Cell(matched, shared_places(row, gold), exact=True)
        return Cell(matched, shared_bound(row, gold), exact=False)

    def _refine(self, row: Content, gold: Content) -> Cell:
        """Replace a bound by the worth; a pair that matches nothing after all is no candidate any more."""
        worth = self.aligner.worth(gold, row) if self.turned else self.aligner.worth(row, gold)
        self.always &= worth.always
        cell = Cell(worth.matched, worth.shared, exact=True)
        if worth.matched:
            self.cells[row][gold] = cell
        else:
            del self.cells[row][gold]
        return cell

    def _weight(self, cell: Cell) -> int:
        return self.aligner.objective.of(cell.matched, cell.shared)

    # --- rows settled at sight ----------------------------------------------------------------------------------

    def _settle(self) -> Iterator[Pair]:
        best, second = {}, {}
        for row in self.left:
            partner, first, runner_up = self._favourite(row)
            if partner is not None and first > runner_up:
                best[row], second[row] = (partner, first), runner_up
                self.always = self.always and self._outweighs_always(row, partner)
        claims: dict[Content, list[Content]] = {}
        for row, (partner, _) in best.items():
            claims.setdefault(partner, []).append(row)
        for partner, rows in claims.items():
            if len(rows) > 1 or self.left[rows[0]] > self.right[partner]:
                for row in rows:
                    del best[row]
        open_rows = [row for row in self.left if row not in best and (self.cells[row] or row in self.elsewhere)]
        self.always = self.always and not open_rows
        yield from self._settled(best, second, open_rows)

    def _favourite(self, row: Content) -> tuple[Content | None, int, int]:
        """The best partner of a row by exact worth, that worth, and a bound for all its others."""
        cells = self.cells[row]
        of_matched, of_shared = self.aligner.objective.weights
        while True:
            partner, first, runner_up = None, 0, 0
            for gold, cell in cells.items():
                weight = cell.matched * of_matched + cell.shared * of_shared
                if weight > first:
                    partner, first, runner_up = gold, weight, first
                elif weight > runner_up:
                    runner_up = weight
            # All that tie are refined, whichever came first: what is known must depend on content alone.
            bounded = [] if self.flat else self._bounded(cells, first)
            elsewhere = self.elsewhere.get(row)
            if not bounded and elsewhere is None:
                return partner, first, runner_up
            if not bounded and elsewhere is not None:
                beyond = self._weight(elsewhere)
                if first > beyond:
                    return partner, first, max(runner_up, beyond)
                self._complete(row)
            for gold in bounded:
                self._refine(row, gold)

    def _bounded(self, cells: dict[Content, Cell], weight: int) -> list[Content]:
        return [gold for gold, cell in cells.items() if not cell.exact and self._weight(cell) == weight]

    def _outweighs_always(self, row: Content, partner: Content) -> bool:
        """Whether the partner is better than all others at both ends of what a shared address may be worth."""
        if not self.aligner.any_ratio:
            return True
        best = self.cells[row][partner]
        others = [cell for gold, cell in self.cells[row].items() if gold is not partner]
        if row in self.elsewhere:
            others.append(self.elsewhere[row])
        return all(
            best.matched > cell.matched and best.matched + best.shared > cell.matched + cell.shared for cell in others
        )

    def _settled(
        self, best: dict[Content, tuple[Content, int]], second: dict[Content, int], open_rows: list[Content]
    ) -> Iterator[Pair]:
        pressure: dict[Content, int] = {}
        owner = {partner: row for row, (partner, _) in best.items()}
        of_matched, of_shared = self.aligner.objective.weights
        while open_rows:
            unsettled = []
            for row in open_rows:
                if row in self.elsewhere:
                    self._complete(row)
                for gold, cell in self.cells[row].items():
                    weight = cell.matched * of_matched + cell.shared * of_shared
                    if weight > pressure.get(gold, 0):
                        pressure[gold] = weight
                        rival = owner.get(gold)
                        if rival is not None and best[rival][1] <= second[rival] + weight:
                            unsettled.append(rival)
                            del owner[gold]
            for row in unsettled:
                del best[row]
            open_rows = unsettled
        for row, (partner, _) in best.items():
            yield self._take(row, partner)

    def _take(self, row: Content, partner: Content) -> Pair:
        count = min(self.left[row], self.right[partner])
        for side, content in ((self.left, row), (self.right, partner)):
            side[content] -= count
            if not side[content]:
                del side[content]
        return Pair(row, partner, count)

    # --- the rest -----------------------------------------------------------------------------------------------

    def _assign(self) -> Iterator[Pair]:
        for rows, partners in self._components():
            yield from self._solve_component(rows, partners)

    def _components(self) -> Iterator[tuple[list[Content], list[Content]]]:
        """Groups of rows that candidates connect, each side in the order of its content, copies side by side."""
        reachable: dict[Content, list[Content]] = {gold: [] for gold in self.right}
        for row in self.left:
            for gold in self.cells[row]:
                if gold in reachable:
                    reachable[gold].append(row)
        seen: set[Content] = set()
        for start in self.left:
            if start in seen:
                continue
            seen.add(start)
            rows, partners, met = [start], [], set()
            for row in rows:
                for gold in self.cells[row]:
                    if gold in reachable and gold not in met:
                        met.add(gold)
                        partners.append(gold)
                        new = [other for other in reachable[gold] if other not in seen]
                        seen.update(new)
                        rows.extend(new)
            if partners:
                order = self.aligner.order
                yield (
                    self._copies(sorted(rows, key=order), self.left),
                    self._copies(sorted(partners, key=order), self.right),
                )

    @staticmethod
    def _copies(contents: list[Content], counts: dict[Content, int]) -> list[Content]:
        return [content for content in contents for _ in range(counts[content])]

    def _solve_component(self, rows: list[Content], partners: list[Content]) -> Iterator[Pair]:
        while True:
            weights = [
                [self._weight(cell) if (cell := cells.get(gold)) is not None else 0 for gold in partners]
                for cells in [self.cells[row] for row in rows]
            ]
            self.aligner.assignments += 1
            chosen = best_assignment(weights)
            bounded = {(rows[i], partners[j]) for i, j in chosen if not self.cells[rows[i]][partners[j]].exact}
            if not bounded:
                break
            for row, gold in bounded:
                self._refine(row, gold)
        for i, j in chosen:
            yield Pair(rows[i], partners[j], 1)
