"""Every verdict of two paired documents, with its address; or counted by field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final, TypeAlias

from docassay.extraction.address import ANY, print_field, print_index, print_step, reading_order
from docassay.extraction.paired import PairedDocuments
from docassay.extraction.places import Place
from docassay.extraction.rows import Row, Rows
from docassay.extraction.verdicts import VERDICTS, Counts, Verdict, VerdictName, offered_verdict, surplus_verdict


def list_verdicts(documents: PairedDocuments) -> tuple[Verdict, ...]:
    """Every verdict, in reading order. Needs documents flattened with their raw values."""
    labels = _Labels()
    listed = _Listed(documents.space.item_canons, labels)
    _walk(documents, labels, listed.add)
    return listed.verdicts()


def count_by_field(documents: PairedDocuments) -> dict[str, Counts]:
    """The six counts of every field, in reading order of the fields."""
    counted = _CountedByPlace()
    _walk(documents, _Labels(), counted.add)
    return counted.by_field()


def _walk(documents: PairedDocuments, labels: _Labels, add: Add) -> None:
    _Walker(documents, labels, add).pair(documents.predicted, documents.gold, _Spot("", ()))


@dataclass(slots=True, frozen=True)
class _Spot:
    """Where a row starts: its address as printed, and as sorted."""

    text: str
    order: Order

    def below(self, label: _Label, index: int) -> _Spot:
        """The row at an index of the array that stands at `label` below here; `~index` for an unpaired one."""
        text = f"{self.text}{label.text}{print_index(index)}"
        return _Spot(text, self.order + label.order + reading_order((index,)))


@dataclass(slots=True, frozen=True)
class _Label:
    """How a place goes on from where its row starts, printed and sorted; and its field."""

    text: str
    order: Order
    field: str


class _Labels:
    """The label of every place, made from its parent's and made once."""

    def __init__(self) -> None:
        self._made: dict[Place, _Label] = {}

    def of(self, place: Place) -> _Label:
        label = self._made.get(place)
        if label is None:
            label = self._made[place] = self._make(place)
        return label

    def _make(self, place: Place) -> _Label:
        if place.parent is None:
            return _Label("", (), "")
        above, step = self.of(place.parent), place.step
        first = not above.field
        field = above.field + print_step(step if isinstance(step, str) else ANY, first=first)
        if step is ANY:  # a row starts here
            return _Label("", (), field)
        return _Label(above.text + print_step(step, first=first), above.order + reading_order((step,)), field)


Order: TypeAlias = tuple[tuple[int, int, str], ...]
# One address: the row's spot, the place, the verdict, and both sides' item and raw value.
Add: TypeAlias = Callable[[_Spot, Place, VerdictName, int, int, Any, Any], None]


class _Listed:
    """All verdicts, with their addresses printed; what is the same for a place or a row is printed once."""

    def __init__(self, canons: list[str], labels: _Labels) -> None:
        self._canons = canons
        self._label = labels.of
        self._rows: list[tuple[Order, str, str, VerdictName, int, int, Any, Any]] = []

    def add(
        self, spot: _Spot, place: Place, verdict: VerdictName, gold: int, predicted: int, gold_raw: Any, pred_raw: Any
    ) -> None:
        label = self._label(place)
        self._rows.append(
            (
                spot.order + label.order,
                spot.text + label.text,
                label.field,
                verdict,
                gold,
                predicted,
                gold_raw,
                pred_raw,
            )
        )

    def verdicts(self) -> tuple[Verdict, ...]:
        canons: list[str | None] = [None, *self._canons[1:]]  # item 0 is on neither side
        self._rows.sort(key=itemgetter(0))
        return tuple(
            [
                Verdict(address, field, verdict, gold_raw, pred_raw, canons[gold], canons[predicted])
                for _, address, field, verdict, gold, predicted, gold_raw, pred_raw in self._rows
            ]
        )


class _CountedByPlace:
    """The six counts of every place, then of every field."""

    def __init__(self) -> None:
        self._places: dict[Place, dict[VerdictName, int]] = {}

    def add(
        self, spot: _Spot, place: Place, verdict: VerdictName, gold: int, predicted: int, gold_raw: Any, pred_raw: Any
    ) -> None:
        counts = self._places.setdefault(place, {})
        counts[verdict] = counts.get(verdict, 0) + 1

    def by_field(self) -> dict[str, Counts]:
        fields: dict[str, dict[VerdictName, int]] = {}
        for place in sorted(self._places, key=lambda place: reading_order(place.field_steps())):
            total = fields.setdefault(print_field(place.steps()), dict.fromkeys(VERDICTS, 0))
            for name, count in self._places[place].items():
                total[name] += count
        return {name: Counts(**counts) for name, counts in fields.items()}


class _Walker:
    """Meets every address once, row by row."""

    def __init__(self, documents: PairedDocuments, labels: _Labels, add: Add) -> None:
        self._documents = documents
        self._add = add
        self._places = documents.space.item_places
        self._label = labels.of

    def pair(self, predicted: Row, gold: Row, spot: _Spot) -> None:
        add, places = self._add, self._places
        ours = {places[item]: (item, raw) for item, raw in _own(predicted)}
        for item, raw in _own(gold):
            place = places[item]
            other, other_raw = ours.pop(place, _ABSENT)
            verdict: VerdictName = "matched" if other == item else "misread" if other else "unfound"
            add(spot, place, verdict, item, other, raw, other_raw)
        for place, (item, raw) in ours.items():
            verdict = surplus_verdict(place, gold.content, self._documents.classing)
            add(spot, place, verdict, 0, item, None, raw)
        for place, rows in predicted.arrays.items():
            others = gold.arrays.get(place)
            if others is None:
                self._unmet(rows, spot, self._label(place))
            else:
                self._met(rows, others, spot, self._label(place))
        for place, rows in gold.arrays.items():
            if place not in predicted.arrays:
                self._gold_only(rows.rows, spot, self._label(place))

    def _met(self, predicted: Rows, gold: Rows, spot: _Spot, array: _Label) -> None:
        paired = self._documents.paired_rows(predicted, gold)
        for one, other in paired.pairs:
            self.pair(one, other, spot.below(array, other.position))
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
        for item, raw in _own(row):
            place = self._places[item]
            name = verdict or offered_verdict(place)
            if name == "unfound":
                self._add(spot, place, name, item, 0, raw, None)
            else:
                self._add(spot, place, name, 0, item, None, raw)
        for place, rows in row.arrays.items():
            label = self._label(place)
            for below in rows.rows:
                self._alone(below, spot.below(label, below.position), verdict)


_ABSENT: Final = (0, None)


def _own(row: Row) -> list[tuple[int, Any]]:
    """A row's own leaves: item and raw value, which is None where raw values were not kept."""
    return row.leaves if row.leaves is not None else [(item, None) for item in row.content.items]
