"""Every verdict of two paired documents, with its address; or counted by field."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final, TypeAlias

from docassay.extraction.address import ANY, print_index, print_step, reading_order
from docassay.extraction.paired import PairedDocuments
from docassay.extraction.places import Place
from docassay.extraction.rows import Row, Rows
from docassay.extraction.verdicts import VERDICTS, Counts, VerdictList, VerdictName, offered_verdict, surplus_verdict


def list_verdicts(documents: PairedDocuments) -> VerdictList:
    """Every verdict, in reading order. Needs documents flattened with their raw values."""
    leaves = _Walker(documents).leaves()
    leaves.sort(key=itemgetter(0))
    canons: list[str | None] = [None, *documents.space.item_canons[1:]]  # item 0 is on neither side
    _, address, label, verdict, gold, predicted, gold_raw, pred_raw = zip(*leaves, strict=True) if leaves else [()] * 8
    return VerdictList(
        list(address),
        [one.field for one in label],
        list(verdict),
        list(gold_raw),
        list(pred_raw),
        [canons[item] for item in gold],
        [canons[item] for item in predicted],
    )


def count_by_field(documents: PairedDocuments) -> dict[str, Counts]:
    """The six counts of every field, in reading order of the fields."""
    labels: dict[_Label, dict[VerdictName, int]] = {}
    for _, _, label, verdict, *_ in _Walker(documents).leaves():
        counts = labels.setdefault(label, {})
        counts[verdict] = counts.get(verdict, 0) + 1
    fields: dict[str, dict[VerdictName, int]] = {}
    for label in sorted(labels, key=lambda label: reading_order(label.place.field_steps())):
        total = fields.setdefault(label.field, dict.fromkeys(VERDICTS, 0))
        for name, count in labels[label].items():
            total[name] += count
    return {name: Counts(**counts) for name, counts in fields.items()}


@dataclass(slots=True, frozen=True)
class _Spot:
    """Where a row starts: its address as printed, and as sorted."""

    text: str
    order: Order

    def below(self, label: _Label, index: int) -> _Spot:
        """The row at an index of the array that stands at `label` below here; `~index` for an unpaired one."""
        text = f"{self.text}{label.text}{print_index(index)}"
        return _Spot(text, self.order + label.order + reading_order((index,)))


@dataclass(slots=True, eq=False)
class _Label:
    """How a place goes on from where its row starts, printed and sorted; and its field."""

    place: Place
    text: str
    order: Order
    field: str


class _Labels(dict[Place, _Label]):
    """The label of every place, made from its parent's, once."""

    def __missing__(self, place: Place) -> _Label:
        label = self[place] = self._make(place)
        return label

    def _make(self, place: Place) -> _Label:
        if place.parent is None:
            return _Label(place, "", (), "")
        above, step = self[place.parent], place.step
        first = not above.field
        field = above.field + print_step(step if isinstance(step, str) else ANY, first=first)
        if step is ANY:  # a row starts here
            return _Label(place, "", (), field)
        return _Label(place, above.text + print_step(step, first=first), above.order + reading_order((step,)), field)


Order: TypeAlias = tuple[tuple[int, int, str], ...]
# One address: how it sorts and prints, its label, the verdict, and both sides' item (0 for none) and raw value.
Leaf: TypeAlias = tuple[Order, str, _Label, VerdictName, int, int, Any, Any]


class _Walker:
    """Meets every address once, row by row; what is the same for a place or a row is printed once."""

    def __init__(self, documents: PairedDocuments) -> None:
        self._documents = documents
        self._places = documents.space.item_places
        self._labels = _Labels()
        self._leaves: list[Leaf] = []

    def leaves(self) -> list[Leaf]:
        """Every address of either document, in no order."""
        self._pair(self._documents.predicted, self._documents.gold, _Spot("", ()))
        return self._leaves

    def _pair(self, predicted: Row, gold: Row, spot: _Spot) -> None:
        add, places, labels = self._leaves.append, self._places, self._labels
        text, order = spot.text, spot.order
        ours = {places[item]: (item, raw) for item, raw in _own(predicted)}
        for item, raw in _own(gold):
            place = places[item]
            other, other_raw = ours.pop(place, _ABSENT)
            verdict: VerdictName = "matched" if other == item else "misread" if other else "unfound"
            label = labels[place]
            add((order + label.order, text + label.text, label, verdict, item, other, raw, other_raw))
        for place, (item, raw) in ours.items():
            verdict = surplus_verdict(place, gold.content, self._documents.classing)
            label = labels[place]
            add((order + label.order, text + label.text, label, verdict, 0, item, None, raw))
        for place, rows in predicted.arrays.items():
            others = gold.arrays.get(place)
            if others is None:
                self._unmet(rows, spot, self._labels[place])
            else:
                self._met(rows, others, spot, self._labels[place])
        for place, rows in gold.arrays.items():
            if place not in predicted.arrays:
                self._gold_only(rows.rows, spot, self._labels[place])

    def _met(self, predicted: Rows, gold: Rows, spot: _Spot, array: _Label) -> None:
        paired = self._documents.paired_rows(predicted, gold)
        for one, other in paired.pairs:
            self._pair(one, other, spot.below(array, other.position))
        for row in paired.predicted_only:
            self._alone(row, spot.below(array, ~row.position), "invented_item")
        self._gold_only(paired.gold_only, spot, array)

    def _unmet(self, rows: Rows, spot: _Spot, array: _Label) -> None:
        invented = self._documents.classing.unmet_elements_are_invented
        for row in rows.rows:
            index = ~row.position if invented else row.position
            self._alone(row, spot.below(array, index), "invented_item" if invented else None)

    def _gold_only(self, rows: list[Row], spot: _Spot, array: _Label) -> None:
        for row in rows:
            self._alone(row, spot.below(array, row.position), "unfound")

    def _alone(self, row: Row, spot: _Spot, verdict: VerdictName | None) -> None:
        add, places, labels = self._leaves.append, self._places, self._labels
        for item, raw in _own(row):
            place = places[item]
            label, name = labels[place], verdict or offered_verdict(place)
            order, text = spot.order + label.order, spot.text + label.text
            if name == "unfound":
                add((order, text, label, name, item, 0, raw, None))
            else:
                add((order, text, label, name, 0, item, None, raw))
        for place, rows in row.arrays.items():
            label = self._labels[place]
            for below in rows.rows:
                self._alone(below, spot.below(label, below.position), verdict)


_ABSENT: Final = (0, None)


def _own(row: Row) -> list[tuple[int, Any]]:
    """A row's own leaves: item and raw value, which is None where raw values were not kept."""
    return row.leaves if row.leaves is not None else [(item, None) for item in row.content.items]
