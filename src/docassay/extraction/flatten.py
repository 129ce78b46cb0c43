"""A JSON document as rows of canonical leaves: every value gets a place, equal values there one number, in one pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, TypeAlias

from docassay.errors import ArgumentTypeError
from docassay.extraction.address import Step, Steps, print_address
from docassay.extraction.places import Place
from docassay.extraction.rows import Row, Rows
from docassay.extraction.space import BLANK, Space

Path: TypeAlias = "tuple[Path, Step] | None"

_NO_ARRAYS: Final[dict[Place, Rows]] = {}
_SCALARS: Final = frozenset((str, int, float, bool))


class Flattener:
    """Walks one document once and keeps what it states."""

    def __init__(self, space: Space, *, drop_sidecars: bool, keep_raw: bool) -> None:
        self._space = space
        self._places = space.places
        self._preparation = space.places.preparation
        self._drop_sidecars = drop_sidecars
        self._canon = space.values.canon
        self._texts = space.values.texts
        self._keep_raw = keep_raw
        self._all_ordered = False
        self.skipped: set[Steps] = set()

    def document(self, value: object) -> Row:
        """The whole document as one row; a root that is no object states nothing."""
        root = self._places.root
        collected = _Collected()
        prepared = self._preparation.unwrap(value, root.schema)
        if root.skipped:
            self._skip(root, None)
        elif isinstance(prepared, dict):
            self._object(prepared, root, collected, None)
        return self._row(0, collected, is_object=False)

    # --- walking ------------------------------------------------------------------------------------------------

    def _object(self, value: dict[str, Any], place: Place, into: _Collected, path: Path) -> None:
        kids = place.kids
        items = into.items
        keep = into.raws if self._keep_raw else None
        for key, leaf in value.items():
            kid = kids.get(key)
            if kid is None:
                kid = self._places.kid(place, key)
            if kid.left_out and self._leave_out(kid, value, path):
                continue
            if leaf is None:
                continue
            kind = type(leaf)
            if kind is str or kind is int:
                item = kid.known.get(leaf)
                if item is None:
                    item = self._new(leaf, kid)
            elif kind is list:
                self._list(leaf, kid, into, (path, key))
                continue
            elif kind is dict:
                self._value(leaf, kid, into, (path, key))
                continue
            else:
                item = self._leaf(leaf, kid, into, (path, key))
            if item:
                items.append(item)
                if keep is not None:
                    keep[kid] = leaf

    def _flat_row(self, value: dict[str, Any], elements: Place, position: int) -> Row | None:
        """A row that is an object of scalars, by the shortest way; None where anything else is met."""
        kids, plain = elements.kids, elements.plain_kids
        items: list[int] = []
        if "value" in value and self._preparation.unwrap(value, elements.schema) is not value:
            return None
        for key, leaf in value.items():
            if leaf is None:
                continue
            known = plain.get(key)
            if known is None:
                kid = kids.get(key)
                if kid is None:
                    kid = self._places.kid(elements, key)
                if kid.left_out:
                    return None
                known = plain[key] = kid.known
            kind = type(leaf)
            if kind is str or kind is int:
                item = known.get(leaf)
                if item is None:
                    item = self._new(leaf, kids[key])
            elif kind is float and leaf:
                kid = kids[key]
                item = kid.known_floats.get(leaf)
                if item is None:
                    item = kid.known_floats[leaf] = self._space.item(kid, self._canon(leaf))
            elif kind in _SCALARS:
                item = self._scalar(leaf, kids[key])
            else:
                return None
            if item:
                items.append(item)
        if not items:
            return None
        content = self._space.flat_content(items)
        return Row(position, content, content, _NO_ARRAYS, source=value if self._keep_raw else None)

    def _value(self, value: Any, place: Place, into: _Collected, path: Path) -> bool:
        """Collect what stands at one place; whether it is an object once prepared."""
        if isinstance(value, dict):
            value = self._preparation.unwrap(value, place.schema)
        if isinstance(value, dict):
            self._object(value, place, into, path)
            return True
        if isinstance(value, list):
            self._list(value, place, into, path)
        elif value is not None:
            item = self._leaf(value, place, into, path)
            if item:
                into.items.append(item)
                if self._keep_raw:
                    into.raws[place] = value
        return False

    def _list(self, value: list[Any], place: Place, into: _Collected, path: Path) -> None:
        if not value:
            return
        if place.ordered or self._all_ordered:
            self._ordered_list(value, place, into, path)
            return
        rows = self._rows(value, place, path)
        if rows:
            array = self._space.array_content([row.content for row in rows])
            priced = array
            if self._preparation.prices_by_position and any(row.priced is not row.content for row in rows):
                priced = self._space.array_content([row.priced for row in rows])
            into.arrays.append((place, Rows(self._places.elements_of(place), rows, array, priced)))

    def _rows(self, value: list[Any], place: Place, path: Path) -> list[Row]:
        elements = self._places.elements_of(place)
        if elements.skipped:
            for index in range(len(value)):
                self._skip(elements, (path, index))
            return []
        rows: list[Row] = []
        for index, element in enumerate(value):
            if type(element) is dict:
                row = self._flat_row(element, elements, index)
                if row is not None:
                    rows.append(row)
                    continue
            collected = _Collected(is_row=True)
            is_object = self._value(element, elements, collected, (path, index))
            if collected.items or collected.arrays:
                rows.append(self._row(index, collected, is_object))
        return rows

    def _ordered_list(self, value: list[Any], place: Place, into: _Collected, path: Path) -> None:
        first_item, first_array = len(into.items), len(into.arrays)
        into.ordered_depth += 1
        for index, element in enumerate(value):
            here = self._places.position_of(place, index)
            if here.skipped:
                self._skip(here, (path, index))
                continue
            before = len(into.items) + len(into.arrays)
            is_object = self._value(element, here, into, (path, index))
            if len(into.items) + len(into.arrays) > before:
                into.elements.append(here)
                if is_object:
                    into.object_elements.append(here)
        into.ordered_depth -= 1
        outermost = into.is_row and not into.ordered_depth and not self._all_ordered
        if outermost and len(into.arrays) > first_array and self._preparation.prices_by_position:
            items, arrays = slice(first_item, len(into.items)), slice(first_array, len(into.arrays))
            into.swaps.append(_Swap(items, arrays, self._by_position(value, place, path)))

    def _by_position(self, value: list[Any], place: Place, path: Path) -> list[int]:
        collected = _Collected()
        self._all_ordered = True
        try:
            self._ordered_list(value, place, collected, path)
        finally:
            self._all_ordered = False
        return collected.items

    def _row(self, position: int, collected: _Collected, is_object: bool) -> Row:
        space = self._space
        priced_items = self._priced_items(collected) if collected.swaps else None
        arrays = collected.arrays
        elements, objects = collected.elements, collected.object_elements
        priced_arrays = list(arrays)
        for swap in reversed(collected.swaps):
            del priced_arrays[swap.arrays]
        content = space.content(
            collected.items, [(place, rows.content) for place, rows in arrays], elements, objects, is_object
        )
        priced = content
        if priced_items is not None or any(rows.priced is not rows.content for _, rows in arrays):
            priced = space.content(
                list(collected.items) if priced_items is None else priced_items,
                [(place, rows.priced) for place, rows in priced_arrays],
                elements,
                objects,
                is_object,
            )
        return Row(position, content, priced, dict(arrays), collected.raws)

    def _priced_items(self, collected: _Collected) -> list[int]:
        items = list(collected.items)
        for swap in reversed(collected.swaps):
            items[swap.items] = swap.priced
        return items

    # --- leaves -------------------------------------------------------------------------------------------------

    def _scalar(self, value: Any, place: Place) -> int:
        """The item of a value of JSON, no object and no array, at a place."""
        kind = type(value)
        if kind is str or kind is int:
            item = place.known.get(value)
            if item is None:
                item = self._new(value, place)
        elif kind is float and value:  # 0.0 == -0.0
            item = place.known_floats.get(value)
            if item is None:
                item = place.known_floats[value] = self._space.item(place, self._canon(value))
        elif kind is bool:
            item = place.known.get((value,))
            if item is None:
                item = place.known[(value,)] = self._space.item(place, self._canon(value))
        else:
            item = self._space.item(place, self._canon(value))
        return item

    def _new(self, value: str | int, place: Place) -> int:
        """The item of a text or an integer that was not met at a place."""
        if type(value) is str:
            item = self._space.item(place, self._texts[value])
            self._space.characters += len(value)
        else:
            item = self._space.item(place, self._canon(value))
        place.known[value] = item
        return item

    def _leaf(self, value: Any, place: Place, into: _Collected, path: Path) -> int:
        if isinstance(value, (str, int, float, Decimal)):
            return self._scalar(value, place)
        if isinstance(value, (dict, list)):
            self._value(value, place, into, path)
            return BLANK
        raise ArgumentTypeError(
            f"{print_address(_steps(path))} holds a {type(value).__name__}, which is not JSON; "
            "give objects (dict), arrays (list), text, numbers, booleans and null only"
        )

    # --- what is left out ---------------------------------------------------------------------------------------

    def _leave_out(self, kid: Place, value: dict[str, Any], path: Path) -> bool:
        if kid.sidecar_of is not None and self._drop_sidecars and kid.sidecar_of in value:
            return True
        if kid.skipped:
            self._skip(kid, (path, kid.step))
            return True
        return False

    def _skip(self, place: Place, path: Path) -> None:
        if self._preparation.names_skipped_by_field:
            assert place.parent is not None
            self.skipped.add(place.parent.field_steps())
        else:
            self.skipped.add(_steps(path))


@dataclass(slots=True)
class _Collected:
    items: list[int] = field(default_factory=list)
    raws: dict[Place, Any] = field(default_factory=dict)
    arrays: list[tuple[Place, Rows]] = field(default_factory=list)
    elements: list[Place] = field(default_factory=list)
    object_elements: list[Place] = field(default_factory=list)
    swaps: list[_Swap] = field(default_factory=list)
    is_row: bool = False
    ordered_depth: int = 0


@dataclass(slots=True, frozen=True)
class _Swap:
    """Items and arrays collected below an ordered array, and what pricing sees in their stead."""

    items: slice
    arrays: slice
    priced: list[int]


def _steps(path: Path) -> Steps:
    found: list[Step] = []
    while path is not None:
        found.append(path[1])
        path = path[0]
    return tuple(reversed(found))
