"""Every verdict of two paired documents, with its address; or counted by field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import repeat
from typing import Any, Final, TypeAlias

from docassay.extraction.address import ANY, print_index, reading_order
from docassay.extraction.paired import PairedDocuments
from docassay.extraction.places import Place
from docassay.extraction.rows import Row, Rows, Shape
from docassay.extraction.verdicts import VERDICTS, Counts, VerdictList, VerdictName, offered_verdict, surplus_verdict


def list_verdicts(documents: PairedDocuments) -> VerdictList:
    """Every verdict, in reading order. Needs documents flattened with their raw values."""
    walker = _Walker(documents)
    canons = documents.space.item_canons
    return VerdictList(
        walker.addresses,
        [place.label.field for place in walker.places],
        walker.verdicts,
        walker.gold_raws,
        walker.predicted_raws,
        [canons[item] if item else None for item in walker.gold_items],
        [canons[item] if item else None for item in walker.predicted_items],
    )


def count_by_field(documents: PairedDocuments) -> dict[str, Counts]:
    """The six counts of every field, in reading order of the fields."""
    walker = _Walker(documents)
    found = Counter(zip(walker.places, walker.verdicts, strict=True))
    fields: dict[str, dict[VerdictName, int]] = {}
    for place in sorted({place for place, _ in found}, key=lambda place: reading_order(place.field_steps())):
        total = fields.setdefault(place.label.field, dict.fromkeys(VERDICTS, 0))
        for name in VERDICTS:
            total[name] += found[place, name]
    return {name: Counts(**counts) for name, counts in fields.items()}


Items: TypeAlias = dict[Place, int]
_ROWS: Final = reading_order((ANY,))  # where an array's rows stand among what is at and below its place


class _Layout:
    """The places of a row in reading order, and how each goes on from where the row starts; the same for many rows."""

    __slots__ = ("keys", "places", "texts")

    def __init__(self, places: list[Place]) -> None:
        self.places = places
        self.texts = [place.label.text for place in places]
        self.keys: list[Any] = [place.step for place in places]

    def with_arrays(self, arrays: Iterable[Place]) -> Iterable[tuple[Place, str, bool]]:
        """Places, texts, and whether it is an array's, whose rows come after a value at the same place."""
        own = zip(self.places, self.texts, repeat(False))
        if not arrays:
            return own
        rows = [(place, place.label.text, True) for place in arrays]
        return sorted([*own, *rows], key=lambda one: one[0].label.order + _ROWS if one[2] else one[0].label.order)


class _Walker:
    """Meets every address once, in reading order; columns of one length tell what it met.

    A row's address is printed once. What stands in a row is told by its places in order, which rows of one shape share.
    """

    def __init__(self, documents: PairedDocuments) -> None:
        self.addresses: list[str] = []
        self.places: list[Place] = []
        self.verdicts: list[VerdictName] = []
        self.gold_items: list[int] = []
        """0 where the ground truth lacks the address."""
        self.predicted_items: list[int] = []
        self.gold_raws: list[Any] = []
        """None also where raw values were not kept."""
        self.predicted_raws: list[Any] = []
        self._documents = documents
        self._item_places = documents.space.item_places
        self._layouts: dict[tuple[Shape, ...], _Layout] = {}
        self._pair(documents.predicted, documents.gold, "")

    # --- rows ---------------------------------------------------------------------------------------------------

    def _pair(self, predicted: Row, gold: Row, start: str) -> None:
        shapes = gold.content.shape, predicted.content.shape
        theirs = self._items(gold)
        if predicted.content is gold.content and not gold.arrays:
            self._same(predicted, gold, theirs, self._layout(shapes, theirs), start)
            return
        ours = self._items(predicted)
        layout = self._layout(shapes, {**theirs, **ours})
        our_raws, their_raws = predicted.raws_at(ours), gold.raws_at(theirs)
        for place, text, is_array in layout.with_arrays({**gold.arrays, **predicted.arrays}):
            if is_array:
                self._arrays(place, predicted, gold, start + text)
                continue
            item, other = theirs.get(place, 0), ours.get(place, 0)
            verdict: VerdictName
            if not item:
                verdict = surplus_verdict(place, gold.content, self._documents.classing)
            else:
                verdict = "matched" if other == item else "misread" if other else "unfound"
            self._add(start + text, place, verdict, item, other, their_raws.get(place), our_raws.get(place))

    def _same(self, predicted: Row, gold: Row, items: Items, layout: _Layout, start: str) -> None:
        """Rows without arrays that state the same."""
        places = layout.places
        numbers = [*map(items.__getitem__, places)]
        self.addresses += map(start.__add__, layout.texts)
        self.places += places
        self.verdicts += ["matched"] * len(places)
        self.gold_items += numbers
        self.predicted_items += numbers
        for raws, row in ((self.gold_raws, gold), (self.predicted_raws, predicted)):
            if row.source is None:
                raws += map(row.raws.get, places)
            else:
                raws += map(row.source.__getitem__, layout.keys)

    def _alone(self, row: Row, start: str, verdict: VerdictName | None) -> None:
        """A row of one side; without a verdict, each value gets the one that its place offers."""
        items = self._items(row)
        raws = row.raws_at(items)
        for place, text, is_array in self._layout((row.content.shape,), items).with_arrays(row.arrays):
            if is_array:
                self._alone_below(row.arrays[place], start + text, verdict)
                continue
            name, item, raw = verdict or offered_verdict(place), items[place], raws.get(place)
            if name == "unfound":
                self._add(start + text, place, name, item, 0, raw, None)
            else:
                self._add(start + text, place, name, 0, item, None, raw)

    # --- arrays -------------------------------------------------------------------------------------------------

    def _arrays(self, place: Place, predicted: Row, gold: Row, array: str) -> None:
        ours, theirs = predicted.arrays.get(place), gold.arrays.get(place)
        if ours is not None and theirs is not None:
            self._met(ours, theirs, array)
        elif theirs is not None:
            self._alone_below(theirs, array, "unfound")
        elif ours is not None:
            if self._documents.classing.unmet_elements_are_invented:
                self._invented(ours.rows, array)
            else:
                self._alone_below(ours, array, None)

    def _met(self, predicted: Rows, gold: Rows, array: str) -> None:
        paired = self._documents.paired_rows(predicted, gold)
        rows: list[tuple[Row, Row | None]] = [(theirs, ours) for ours, theirs in paired.pairs]
        rows += [(theirs, None) for theirs in paired.gold_only]
        rows.sort(key=lambda row: row[0].position)
        for theirs, ours in rows:
            here = array + print_index(theirs.position)
            if ours is None:
                self._alone(theirs, here, "unfound")
            else:
                self._pair(ours, theirs, here)
        self._invented(paired.predicted_only, array)

    def _invented(self, rows: list[Row], array: str) -> None:
        """Predicted rows without a counterpart, in the order of their addresses: `[p10]` before `[p2]`."""
        for row in sorted(rows, key=lambda row: reading_order((~row.position,))):
            self._alone(row, array + print_index(~row.position), "invented_item")

    def _alone_below(self, rows: Rows, array: str, verdict: VerdictName | None) -> None:
        for row in rows.rows:
            self._alone(row, array + print_index(row.position), verdict)

    # --- places -------------------------------------------------------------------------------------------------

    def _items(self, row: Row) -> Items:
        items = row.content.items
        return dict(zip(map(self._item_places.__getitem__, items), items, strict=True))

    def _layout(self, shapes: tuple[Shape, ...], items: Items) -> _Layout:
        """What stands in rows of these shapes; `items` of one such row or pair."""
        found = self._layouts.get(shapes)
        if found is None:
            found = self._layouts[shapes] = _Layout(sorted(items, key=lambda place: place.label.order))
        return found

    def _add(
        self, address: str, place: Place, verdict: VerdictName, gold: int, predicted: int, gold_raw: Any, raw: Any
    ) -> None:
        self.addresses.append(address)
        self.places.append(place)
        self.verdicts.append(verdict)
        self.gold_items.append(gold)
        self.predicted_items.append(predicted)
        self.gold_raws.append(gold_raw)
        self.predicted_raws.append(raw)
