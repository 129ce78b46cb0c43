"""All counts of two paired documents, without looking at every leaf; the tests hold them to the listed verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field

from docassay.extraction.alignment import shared_places
from docassay.extraction.paired import PairedDocuments
from docassay.extraction.rows import Content, Row
from docassay.extraction.verdicts import VERDICTS, Counts, surplus_verdict


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


def tally_of(documents: PairedDocuments) -> Tally:
    """The counts of both documents."""
    tally = _Tallier(documents).tally
    tally.gt_rows = documents.gold.content.object_rows
    tally.pred_rows = documents.predicted.content.object_rows
    return tally


@dataclass(slots=True)
class _Tallier:
    documents: PairedDocuments
    tally: Tally = field(default_factory=Tally)
    _slots: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._pair(self.documents.predicted, self.documents.gold)

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
        present, places = theirs.shape.places, self.documents.space.item_places
        for item in ours.items:
            place = places[item]
            if place.id not in present:
                name = surplus_verdict(place, theirs, self.documents.classing)
                setattr(self.tally, name, getattr(self.tally, name) + 1)

    def _arrays(self, predicted: Row, gold: Row) -> None:
        tally = self.tally
        for place, ours in predicted.arrays.items():
            theirs = gold.arrays.get(place)
            if theirs is not None:
                paired = self.documents.paired_rows(ours, theirs)
                for one, other in paired.pairs:
                    self._pair(one, other)
                tally.invented_item += sum([row.content.size for row in paired.predicted_only])
                tally.unfound += sum([row.content.size for row in paired.gold_only])
            elif self.documents.classing.unmet_elements_are_invented:
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
            places = self.documents.space.item_places
            found = sum([places[item].slot for item in content.items])
            for array in content.arrays.values():
                found += sum(self._offered(row) * count for row, count in array.counts.items())
            self._slots[content.id] = found
        return found
