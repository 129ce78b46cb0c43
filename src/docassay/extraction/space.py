"""What documents under one schema share: places, items and contents, each with one number.

An item is a place with a canonical value; rows with the same content share one `Content`, so that they are compared
once. Numbers tell what is the same and nothing else, so that a space in which other documents were met before gives
the same score; what it has met it need not read again.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from docassay.extraction.address import Steps
from docassay.extraction.places import Place, Places
from docassay.extraction.preparation import Preparation
from docassay.extraction.rows import ArrayContent, Content, Shape
from docassay.extraction.schema import SchemaNode
from docassay.extraction.values import ValueRules

BLANK: Final = 0
_NONE: Final[frozenset[Place]] = frozenset()


class Space:
    """What documents under one schema share: places, items, contents. It only grows."""

    def __init__(self, places: Places, values: ValueRules) -> None:
        self.places = places
        self.values = values
        self.item_places: list[Place] = [None]  # type: ignore[list-item]  # item 0 is BLANK
        self.item_canons: list[str] = [""]
        self.characters = 0
        """Of all texts that were met at some place."""
        self._rows_of_arrays = 0
        self._place_numbers = np.zeros(1, dtype=np.int64)  # of BLANK
        self._contents: dict[tuple[Any, ...], Content] = {}
        self._array_contents: dict[tuple[int, ...], ArrayContent] = {}
        self._shapes: dict[tuple[Place, ...], Shape] = {}
        self._shape_sets: dict[frozenset[int], Shape] = {}

    def item(self, place: Place, canon: str) -> int:
        """The number of a canonical value at a place; the empty canonical form states nothing."""
        number = place.canonical_items.get(canon)
        if number is None:
            if not canon:
                return BLANK
            number = place.canonical_items[canon] = len(self.item_places)
            self.item_places.append(place)
            self.item_canons.append(canon)
        return number

    def place_numbers(self) -> NDArray[np.int64]:
        """The number of every item's place, by the item's number."""
        new = [place.id for place in self.item_places[len(self._place_numbers) :]]
        if new:
            self._place_numbers = np.concatenate([self._place_numbers, np.array(new, dtype=np.int64)])
        return self._place_numbers

    # --- contents -----------------------------------------------------------------------------------------------

    def content(
        self,
        items: list[int],
        arrays: list[tuple[Place, ArrayContent]],
        elements: list[Place],
        object_elements: list[Place],
        is_object: bool,
    ) -> Content:
        items.sort()
        numbers = tuple(items)
        key: tuple[Any, ...] = numbers
        if arrays:
            key = (numbers, tuple(sorted((place.id, array.id) for place, array in arrays)))
        found = self._contents.get(key)
        if found is None:
            found = self._contents[key] = Content(
                id=len(self._contents),
                items=numbers,
                arrays=dict(arrays),
                size=len(numbers) + sum(array.size for _, array in arrays),
                is_object=is_object,
                elements=frozenset(elements),
                object_elements=frozenset(object_elements),
                object_rows=is_object + len(object_elements) + sum(array.object_rows for _, array in arrays),
                shape=self._shape(numbers),
            )
        return found

    def flat_content(self, items: list[int]) -> Content:
        """The content of an object without arrays."""
        items.sort()
        numbers = tuple(items)
        found = self._contents.get(numbers)
        if found is None:
            found = self._contents[numbers] = Content(
                len(self._contents), numbers, {}, len(numbers), True, _NONE, _NONE, 1, self._shape(numbers)
            )
        return found

    def array_content(self, contents: list[Content]) -> ArrayContent:
        key = tuple(sorted([content.id for content in contents]))
        found = self._array_contents.get(key)
        if found is None:
            counts: dict[Content, int] = {}
            for content in contents:
                counts[content] = counts.get(content, 0) + 1
            self._rows_of_arrays += len(counts)
            found = self._array_contents[key] = ArrayContent(
                id=len(self._array_contents),
                counts=counts,
                size=sum([content.size for content in contents]),
                object_rows=sum([content.object_rows for content in contents]),
                flat=not any(content.arrays for content in counts),
            )
        return found

    def _shape(self, items: tuple[int, ...]) -> Shape:
        places = tuple(map(self.item_places.__getitem__, items))
        found = self._shapes.get(places)
        if found is None:
            numbers = frozenset([place.id for place in places])
            found = self._shape_sets.get(numbers)
            if found is None:
                found = self._shape_sets[numbers] = Shape(len(self._shape_sets), numbers)
            self._shapes[places] = found
        return found

    @property
    def size(self) -> int:
        """How much it holds: places, values, rows, arrays; four rows of an array, or 100 characters, are one more."""
        rows = len(self._contents) + len(self._shapes) + len(self._array_contents) + self._rows_of_arrays // 4
        return len(self.places) + self.places.values() + rows + self.characters // 100


_SPACES_KEPT: Final = 64
_LARGEST_KEPT: Final = 2_000
"""A space that has grown larger is not kept, so that all together take some 40 MB at most."""
_kept: OrderedDict[tuple[SchemaNode, Preparation, frozenset[Steps], str], Space] = OrderedDict()


def take_space(schema: SchemaNode, preparation: Preparation, ordered: frozenset[Steps], values: ValueRules) -> Space:
    """A space for the caller alone, until it is kept: the one that was kept last for these rules, or a new one."""
    found = _kept.pop((schema, preparation, ordered, values.metric), None)
    return Space(Places(schema, preparation, ordered), values) if found is None else found


def keep_space(space: Space) -> None:
    """Let later documents under these rules have this space; whoever had it may still read it."""
    if space.size <= _LARGEST_KEPT:
        places = space.places
        _kept[places.schema, places.preparation, places.ordered, space.values.metric] = space
        if len(_kept) > _SPACES_KEPT:
            _kept.popitem(last=False)
