"""What rows state: contents as numbers, the same for the same content, and the rows of a document that hold them.

A row is what stands at or below one element of an order-free array; the whole document is a row too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from docassay.extraction.places import Place


@dataclass(slots=True, eq=False)
class Content:
    """What a row states, wherever it stands: its own items and the arrays below, as numbers."""

    id: int
    items: tuple[int, ...]
    arrays: dict[Place, ArrayContent]
    size: int
    is_object: bool
    elements: frozenset[Place]  # elements of ordered arrays that state something
    object_elements: frozenset[Place]  # those that are objects
    object_rows: int
    shape: Shape
    _item_set: frozenset[int] | None = None
    _bag: dict[int, int] | None = None
    _places_bag: dict[int, int] | None = None

    @property
    def item_set(self) -> frozenset[int]:
        if self._item_set is None:
            self._item_set = frozenset(self.items)
        return self._item_set

    def bagged(self) -> dict[int, int]:
        """All items at and below this row, with how often each occurs."""
        if self._bag is None:
            self._bag = _bag(dict.fromkeys(self.items, 1), [array.bagged() for array in self.arrays.values()])
        return self._bag

    def places_bagged(self) -> dict[int, int]:
        """All places at and below this row that hold a value, with how often each occurs."""
        if self._places_bag is None:
            arrays = [array.places_bagged() for array in self.arrays.values()]
            self._places_bag = _bag(dict.fromkeys(self.shape.places, 1), arrays)
        return self._places_bag


@dataclass(slots=True, eq=False)
class Shape:
    """The places that a row's own items stand at; rows of one shape share it."""

    id: int
    places: frozenset[int]


@dataclass(slots=True, eq=False)
class ArrayContent:
    """The contents of an array's rows, with how often each occurs."""

    id: int
    counts: dict[Content, int]
    size: int
    object_rows: int
    flat: bool
    _bag: dict[int, int] | None = None
    _places_bag: dict[int, int] | None = None

    def bagged(self) -> dict[int, int]:
        """All items of all rows, with how often each occurs."""
        if self._bag is None:
            self._bag = _bag({}, [row.bagged() for row in self.counts], list(self.counts.values()))
        return self._bag

    def places_bagged(self) -> dict[int, int]:
        """All places of all rows that hold a value, with how often each occurs."""
        if self._places_bag is None:
            self._places_bag = _bag({}, [row.places_bagged() for row in self.counts], list(self.counts.values()))
        return self._places_bag


@dataclass(slots=True, eq=False)
class Row:
    """One element of an order-free array, or a whole document."""

    position: int
    content: Content
    priced: Content  # what it is paired by; differs from `content` only below ordered arrays under omni/1
    arrays: dict[Place, Rows]
    raws: dict[Place, Any] = field(default_factory=dict)
    source: dict[str, Any] | None = None
    """Where raw values are kept, they are in `raws`, or in `source`, the object itself, if it is one of scalars."""

    def raws_at(self, places: Iterable[Place]) -> dict[Place, Any]:
        """The raw values at the row's own places; nothing where raw values were not kept."""
        if self.source is not None:
            return {place: self.source[place.step] for place in places}  # type: ignore[index]  # the steps are keys
        return self.raws


@dataclass(slots=True, eq=False)
class Rows:
    """The rows of one array that state something, the place where they start, and their content."""

    start: Place
    rows: list[Row]
    content: ArrayContent
    priced: ArrayContent


def _bag(start: dict[int, int], parts: list[dict[int, int]], times: list[int] | None = None) -> dict[int, int]:
    for part, count in zip(parts, times or [1] * len(parts), strict=True):
        for number, occurrences in part.items():
            start[number] = start.get(number, 0) + occurrences * count
    return start
