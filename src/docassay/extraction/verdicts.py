"""The six verdicts: one for each address, the counts made of them, and which one a surplus value gets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, overload

from docassay.extraction.places import Place
from docassay.extraction.rows import Content

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
class VerdictList(Sequence[Verdict]):
    """All verdicts of a document, in reading order, kept as columns: those of `Verdict`, of one length."""

    address: list[str]
    field: list[str]
    verdict: list[VerdictName]
    gold_raw: list[Any]
    pred_raw: list[Any]
    gold_canon: list[str | None]
    pred_canon: list[str | None]

    def __len__(self) -> int:
        return len(self.address)

    def __iter__(self) -> Iterator[Verdict]:
        return map(Verdict, *self._columns())

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> VerdictList: ...
    def __getitem__(self, index: int | slice) -> Verdict | VerdictList:
        if isinstance(index, slice):
            return VerdictList(*[column[index] for column in self._columns()])
        return Verdict(*[column[index] for column in self._columns()])

    def _columns(self) -> list[list[Any]]:
        return [getattr(self, name) for name in self.__dataclass_fields__]


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


@dataclass(frozen=True, slots=True)
class Classing:
    """How one metric names what only the prediction has below array elements without a counterpart."""

    unmet_elements_are_invented: bool  # also where ground truth has no element there, or the array is ordered


def surplus_verdict(place: Place, gold: Content, classing: Classing) -> VerdictName:
    """The verdict on a value that only the prediction has, in a row (or document) that has a counterpart."""
    if classing.unmet_elements_are_invented and any(
        element not in gold.elements for element in place.ordered_elements()
    ):
        return "invented_item"
    return offered_verdict(place)


def offered_verdict(place: Place) -> VerdictName:
    return "fabricated" if place.slot else "invented_field"
