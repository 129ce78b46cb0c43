"""One verdict per address: what each value of either document is, once the rows are paired.

`tally` counts without looking at every leaf; `walk` meets every leaf. The tests hold one to the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from docassay.extraction.address import Steps, print_address, print_field, reading_order
from docassay.extraction.alignment import Aligner, shared_places
from docassay.extraction.places import Place
from docassay.extraction.rows import Content, Row, Rows
from docassay.extraction.space import Space

VerdictName: TypeAlias = Literal["matched", "misread", "unfound", "fabricated", "invented_item", "invented_field"]
VERDICTS: Final[tuple[VerdictName, ...]] = (
    "matched",
    "misread",
    "unfound",
    "fabricated",
    "invented_item",
    "invented_field",
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one address.

    `gold_raw`, `pred_raw`: the values as the documents have them; `gold_canon`, `pred_canon`: what they were compared
    as. Both are None on a side that lacks the address.
    """

    address: str
    field: str
    verdict: VerdictName
    gold_raw: Any
    pred_raw: Any
    gold_canon: str | None
    pred_canon: str | None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many addresses got each verdict; everything else is made of these six."""

    matched: int = 0
    misread: int = 0
    unfound: int = 0
    fabricated: int = 0
    invented_item: int = 0
    invented_field: int = 0

    @property
    def gold(self) -> int:
        """Addresses of the ground truth."""
        return self.matched + self.misread + self.unfound

    @property
    def asserted(self) -> int:
        """Addresses of the prediction."""
        return self.matched + self.misread + self.fabricated + self.invented_item + self.invented_field

    @property
    def total(self) -> int:
        """Addresses of either."""
        return self.gold + self.fabricated + self.invented_item + self.invented_field


@dataclass(slots=True)
class Tally:
    """Counts in the making, and the object rows of both sides."""

    matched: int = 0
    misread: int = 0
    unfound: int = 0
    fabricated: int = 0
    invented_item: int = 0
    invented_field: int = 0
    gt_rows: int = 0
    pred_rows: int = 0
    matched_rows: int = 0

    def counts(self) -> Counts:
        return Counts(*[getattr(self, name) for name in VERDICTS])


@dataclass(frozen=True, slots=True)
class Classing:
    """How one metric names what only the prediction has below array elements without a counterpart."""

    unmet_elements_are_invented: bool  # also where ground truth has no element there, or the array is ordered


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two documents whose rows can be paired, ready to be counted or listed."""

    space: Space
    aligner: Aligner
    predicted: Row
    gold: Row
    classing: Classing

    def tally(self) -> Tally:
        """All counts."""
        tally = _Tallier(self).tally
        tally.gt_rows = self.gold.content.object_rows
        tally.pred_rows = self.predicted.content.object_rows
        return tally

    def verdicts(self) -> tuple[Verdict, ...]:
        """Every verdict, in reading order. Needs documents flattened with their raw values."""
        space = self.space
        found = []
        for leaf in self._leaves():
            steps = leaf.prefix + leaf.place.steps_below(leaf.start)
            found.append((reading_order(steps), steps, leaf))
        found.sort(key=lambda entry: entry[0])
        return tuple(
            Verdict(
                address=print_address(steps),
                field=print_field(steps),
                verdict=leaf.verdict,
                gold_raw=leaf.gold_raw,
                pred_raw=leaf.pred_raw,
                gold_canon=space.item_canons[leaf.gold] if leaf.gold else None,
                pred_canon=space.item_canons[leaf.predicted] if leaf.predicted else None,
            )
            for _, steps, leaf in found
        )

    def by_field(self) -> dict[str, Counts]:
        """The six counts of every field, in reading order of the fields."""
        fields: dict[Place, Tally] = {}
        for leaf in self._leaves():
            tally = fields.setdefault(leaf.place, Tally())
            setattr(tally, leaf.verdict, getattr(tally, leaf.verdict) + 1)
        named: dict[str, Tally] = {}
        for place in sorted(fields, key=lambda place: reading_order(place.field_steps())):
            total = named.setdefault(print_field(place.field_steps()), Tally())
            for name in VERDICTS:
                setattr(total, name, getattr(total, name) + getattr(fields[place], name))
        return {name: tally.counts() for name, tally in named.items()}

    def paired_rows(self, predicted: Rows, gold: Rows) -> Paired:
        """The rows of two arrays, paired; of rows with equal content the earlier ones are taken first."""
        if predicted.content is gold.content and predicted.priced is predicted.content is gold.priced:
            return self._identical(predicted, gold)
        pairing = self.aligner.pairing(predicted.priced, gold.priced)
        ours, theirs = self._by_content(predicted.rows), self._by_content(gold.rows)
        pairs = [
            (ours[pair.predicted].pop(), theirs[pair.gold].pop()) for pair in pairing.pairs for _ in range(pair.count)
        ]
        return Paired(
            pairs,
            [row for rows in ours.values() for row in rows],
            [row for rows in theirs.values() for row in rows],
        )

    def _identical(self, predicted: Rows, gold: Rows) -> Paired:
        ours, theirs = self._by_content(predicted.rows), self._by_content(gold.rows)
        return Paired(
            [pair for content, rows in ours.items() for pair in zip(rows, theirs[content], strict=True)], [], []
        )

    def _by_content(self, rows: list[Row]) -> dict[Content, list[Row]]:
        """Rows of each content, last one first, so that `pop` takes the first."""
        found: dict[Content, list[Row]] = {}
        for row in reversed(rows):
            found.setdefault(row.priced, []).append(row)
        for same in found.values():
            if len({row.content for row in same}) > 1:  # priced alike, yet different: content decides, not position
                same.sort(key=lambda row: self.aligner.order(row.content), reverse=True)
        return found

    def _leaves(self) -> Iterator[_Leaf]:
        return _Walker(self).pair(self.predicted, self.gold, (), self.space.root)


@dataclass(frozen=True, slots=True)
class Paired:
    """The rows of two arrays: pairs, and what is left on either side."""

    pairs: list[tuple[Row, Row]]
    predicted_only: list[Row]
    gold_only: list[Row]


@dataclass(slots=True)
class _Tallier:
    comparison: Comparison
    tally: Tally = field(default_factory=Tally)
    _slots: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._pair(self.comparison.predicted, self.comparison.gold)

    def _pair(self, predicted: Row, gold: Row) -> None:
        ours, theirs, tally = predicted.content, gold.content, self.tally
        if ours is theirs and predicted.priced is gold.priced:
            tally.matched += ours.size
            tally.matched_rows += ours.object_rows
            return
        matched, shared = len(ours.item_set & theirs.item_set), shared_places(ours, theirs)
        tally.matched += matched
        tally.misread += shared - matched
        tally.unfound += len(theirs.items) - shared
        tally.matched_rows += ours.is_object and theirs.is_object
        if ours.object_elements:
            tally.matched_rows += len(ours.object_elements & theirs.object_elements)
        if len(ours.items) > shared:
            self._surplus(ours, theirs)
        if predicted.arrays or gold.arrays:
            self._arrays(predicted, gold)

    def _surplus(self, ours: Content, theirs: Content) -> None:
        present, places = theirs.shape.places, self.comparison.space.item_places
        for item in ours.items:
            place = places[item]
            if place.id not in present:
                name = _surplus_verdict(place, theirs, self.comparison.classing)
                setattr(self.tally, name, getattr(self.tally, name) + 1)

    def _arrays(self, predicted: Row, gold: Row) -> None:
        tally = self.tally
        for place, ours in predicted.arrays.items():
            theirs = gold.arrays.get(place)
            if theirs is not None:
                paired = self.comparison.paired_rows(ours, theirs)
                for one, other in paired.pairs:
                    self._pair(one, other)
                tally.invented_item += sum([row.content.size for row in paired.predicted_only])
                tally.unfound += sum([row.content.size for row in paired.gold_only])
            elif self.comparison.classing.unmet_elements_are_invented:
                tally.invented_item += ours.content.size
            else:
                offered = sum(self._offered(row.content) for row in ours.rows)
                tally.fabricated += offered
                tally.invented_field += ours.content.size - offered
        for place, theirs in gold.arrays.items():
            if place not in predicted.arrays:
                tally.unfound += theirs.content.size

    def _offered(self, content: Content) -> int:
        """How many values at and below a row stand in slots of the schema."""
        found = self._slots.get(content.id)
        if found is None:
            places = self.comparison.space.item_places
            found = sum([places[item].slot for item in content.items])
            for array in content.arrays.values():
                found += sum(self._offered(row) * count for row, count in array.counts.items())
            self._slots[content.id] = found
        return found


@dataclass(slots=True, frozen=True)
class _Leaf:
    """One address: the row it is in (printed steps, and the place where the row starts), its place and its verdict."""

    verdict: VerdictName
    prefix: Steps
    start: Place
    place: Place
    gold: int
    predicted: int
    gold_raw: Any = None
    pred_raw: Any = None


@dataclass(slots=True, frozen=True)
class _Walker:
    comparison: Comparison

    def pair(self, predicted: Row, gold: Row, prefix: Steps, start: Place) -> Iterator[_Leaf]:
        ours, theirs = self._own(predicted), self._own(gold)
        for place, (item, raw) in theirs.items():
            other, other_raw = ours.get(place, (0, None))
            verdict: VerdictName = "unfound" if not other else "matched" if other == item else "misread"
            yield _Leaf(verdict, prefix, start, place, item, other, raw, other_raw)
        for place, (item, raw) in ours.items():
            if place not in theirs:
                verdict = _surplus_verdict(place, gold.content, self.comparison.classing)
                yield _Leaf(verdict, prefix, start, place, 0, item, None, raw)
        for place, rows in predicted.arrays.items():
            here = prefix + place.steps_below(start)
            others = gold.arrays.get(place)
            if others is None:
                yield from self._unmet(rows, here)
            else:
                yield from self._met(rows, others, here)
        for place, rows in gold.arrays.items():
            if place not in predicted.arrays:
                yield from self._gold_only(rows.rows, prefix + place.steps_below(start), rows.start)

    def _met(self, predicted: Rows, gold: Rows, here: Steps) -> Iterator[_Leaf]:
        paired = self.comparison.paired_rows(predicted, gold)
        for one, other in paired.pairs:
            yield from self.pair(one, other, (*here, other.position), gold.start)
        for row in paired.predicted_only:
            yield from self._alone(row, (*here, ~row.position), predicted.start, "invented_item")
        yield from self._gold_only(paired.gold_only, here, gold.start)

    def _unmet(self, rows: Rows, here: Steps) -> Iterator[_Leaf]:
        invented = self.comparison.classing.unmet_elements_are_invented
        for row in rows.rows:
            index = ~row.position if invented else row.position
            yield from self._alone(row, (*here, index), rows.start, "invented_item" if invented else None)

    def _gold_only(self, rows: list[Row], here: Steps, start: Place) -> Iterator[_Leaf]:
        for row in rows:
            yield from self._alone(row, (*here, row.position), start, "unfound")

    def _alone(self, row: Row, prefix: Steps, start: Place, verdict: VerdictName | None) -> Iterator[_Leaf]:
        for place, (item, raw) in self._own(row).items():
            name = verdict or _offered_verdict(place)
            if name == "unfound":
                yield _Leaf(name, prefix, start, place, item, 0, raw, None)
            else:
                yield _Leaf(name, prefix, start, place, 0, item, None, raw)
        for place, rows in row.arrays.items():
            here = prefix + place.steps_below(start)
            for below in rows.rows:
                yield from self._alone(below, (*here, below.position), rows.start, verdict)

    def _own(self, row: Row) -> dict[Place, tuple[int, Any]]:
        places = self.comparison.space.item_places
        leaves = row.leaves if row.leaves is not None else [(item, None) for item in row.content.items]
        return {places[item]: (item, raw) for item, raw in leaves}


def _surplus_verdict(place: Place, gold: Content, classing: Classing) -> VerdictName:
    """The verdict on a value that only the prediction has, in a row (or document) that has a counterpart."""
    if classing.unmet_elements_are_invented and any(
        element not in gold.elements for element in place.ordered_elements()
    ):
        return "invented_item"
    return _offered_verdict(place)


def _offered_verdict(place: Place) -> VerdictName:
    return "fabricated" if place.slot else "invented_field"
