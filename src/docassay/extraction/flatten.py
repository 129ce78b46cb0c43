"""A JSON document as rows of canonical leaves: every value gets a place, equal values there one number.

One pass over each document. A place is an address whose order-free indices are blanked; an item is a place with a
canonical value; a row is what stands at or below one element of an order-free array; rows with the same content share
one `Content`, so that they are compared once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, TypeAlias

from docassay.errors import ArgumentTypeError
from docassay.extraction.address import ANY, Step, Steps, print_address, reading_order
from docassay.extraction.preparation import Preparation
from docassay.extraction.schema import SchemaNode
from docassay.extraction.values import ValueRules

Path: TypeAlias = "tuple[Path, Step] | None"
BLANK = 0


class Place:
    """An address with order-free indices blanked, met while walking a document along its schema."""

    __slots__ = (
        "canonical_items",
        "_key",
        "elements",
        "id",
        "kids",
        "left_out",
        "ordered",
        "parent",
        "positions",
        "schema",
        "sidecar_of",
        "skipped",
        "step",
        "known",
        "known_floats",
        "plain_kids",
    )

    def __init__(self, number: int, parent: Place | None, step: Step, schema: SchemaNode | None) -> None:
        self.id = number
        self.parent = parent
        self.step = step
        self.schema = schema
        self.kids: dict[str, Place] = {}
        self.elements: Place | None = None
        self.positions: dict[int, Place] = {}
        self.ordered = False
        self.skipped = False
        self.sidecar_of: str | None = None
        self.left_out = False  # skipped or a possible sidecar: look twice
        self.known: dict[str | int | tuple[bool], int] = {}  # items by raw value, as met so far
        self.known_floats: dict[float, int] = {}  # apart, since 1 == 1.0
        self.plain_kids: dict[str, dict[str | int | tuple[bool], int]] = {}  # `known` of kids never left out
        self.canonical_items: dict[str, int] = {}
        self._key: tuple[tuple[int, int, str], ...] | None = None

    @property
    def slot(self) -> bool:
        return self.schema is not None and self.schema.slot

    def steps(self) -> Steps:
        return tuple(reversed([place.step for place in self._upwards()]))

    def steps_key(self) -> tuple[tuple[int, int, str], ...]:
        """A sort key of the place that no order of documents changes."""
        if self._key is None:
            self._key = reading_order(self.steps())
        return self._key

    def steps_below(self, above: Place) -> Steps:
        """The steps from `above` down to here."""
        found: list[Step] = []
        place = self
        while place is not above:
            found.append(place.step)
            assert place.parent is not None
            place = place.parent
        return tuple(reversed(found))

    def field_steps(self) -> Steps:
        return tuple(step if isinstance(step, str) else ANY for step in self.steps())

    def ordered_elements(self) -> Iterator[Place]:
        """The elements of ordered arrays on the way here, this place included, up to the row's own start."""
        place: Place | None = self
        while place is not None and place.step is not ANY:
            if isinstance(place.step, int):
                yield place
            place = place.parent

    def _upwards(self) -> Iterator[Place]:
        place = self
        while place.parent is not None:
            yield place
            place = place.parent


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
    leaves: list[tuple[int, Any]] | None


@dataclass(slots=True, eq=False)
class Rows:
    """The rows of one array that state something, the place where they start, and their content."""

    start: Place
    rows: list[Row]
    content: ArrayContent
    priced: ArrayContent


_NO_ARRAYS: Final[dict[Place, Rows]] = {}


@dataclass(slots=True)
class _Collected:
    items: list[int] = field(default_factory=list)
    raws: list[Any] = field(default_factory=list)
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


_NONE: Final[frozenset[Place]] = frozenset()


class Space:
    """What the two documents of one scoring share: places, items, contents."""

    def __init__(
        self,
        schema: SchemaNode,
        values: ValueRules,
        preparation: Preparation,
        ordered: frozenset[Steps],
        keep_raw: bool,
    ) -> None:
        self.values = values
        self.preparation = preparation
        self.keep_raw = keep_raw
        self.item_places: list[Place] = [None]  # type: ignore[list-item]  # item 0 is BLANK
        self.item_canons: list[str] = [""]
        self._ordered = ordered
        self._places: list[Place] = []
        self._contents: dict[tuple[Any, ...], Content] = {}
        self._array_contents: dict[tuple[int, ...], ArrayContent] = {}
        self._shapes: dict[tuple[Place, ...], Shape] = {}
        self._shape_sets: dict[frozenset[int], Shape] = {}
        self.root = self._place(None, "", schema)

    # --- places -------------------------------------------------------------------------------------------------

    def kid(self, place: Place, key: str) -> Place:
        if not isinstance(key, str):
            raise ArgumentTypeError(f"{print_address(place.steps())} has the key {key!r}; the keys of JSON are text")
        schema = place.schema
        made = place.kids[key] = self._place(place, key, schema.child(key) if schema is not None else None)
        made.sidecar_of = self.preparation.sidecar_base(schema, key)
        if schema is not None and made.schema is None and schema.skips_undeclared:
            made.skipped = True
        made.left_out = made.skipped or made.sidecar_of is not None
        return made

    def elements_of(self, place: Place) -> Place:
        made = place.elements
        if made is None:
            made = place.elements = self._place(place, ANY, place.schema.element() if place.schema else None)
        return made

    def position_of(self, place: Place, index: int) -> Place:
        made = place.positions.get(index)
        if made is None:
            made = self._place(place, index, place.schema.element() if place.schema else None)
            place.positions[index] = made
        return made

    def forget_raw(self) -> None:
        """Drop what only flattening needs; without the ways down, no cycle keeps a document in memory."""
        for place in self._places:
            place.elements = None
            for met in (place.kids, place.plain_kids, place.positions, place.known, place.known_floats):
                met.clear()

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

    def _place(self, parent: Place | None, step: Step, schema: SchemaNode | None) -> Place:
        made = Place(len(self._places), parent, step, schema)
        self._places.append(made)
        made.skipped = made.left_out = schema is not None and schema.skipped_whole
        made.ordered = bool(self._ordered) and made.field_steps() in self._ordered
        return made

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


class Flattener:
    """Walks one document once and keeps what it states."""

    def __init__(self, space: Space, *, drop_sidecars: bool) -> None:
        self._space = space
        self._preparation = space.preparation
        self._drop_sidecars = drop_sidecars
        self._canon = space.values.canon
        self._keep_raw = space.keep_raw
        self._all_ordered = False
        self.skipped: set[Steps] = set()

    def document(self, value: object) -> Row:
        """The whole document as one row; a root that is no object states nothing."""
        root = self._space.root
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
                kid = self._space.kid(place, key)
            if kid.left_out and self._leave_out(kid, value, path):
                continue
            if leaf is None:
                continue
            kind = type(leaf)
            if kind is str or kind is int:
                item = kid.known.get(leaf)
                if item is None:
                    item = kid.known[leaf] = self._space.item(kid, self._canon(leaf))
            elif kind is list:
                self._list(leaf, kid, into, (path, key))
                continue
            elif kind is dict:
                self._value(leaf, kid, into, (path, key))
                continue
            else:
                item = self._scalar(leaf, kid, into, (path, key))
            if item:
                items.append(item)
                if keep is not None:
                    keep.append(leaf)

    def _flat_row(self, value: dict[str, Any], elements: Place, position: int) -> Row | None:
        """A row that is an object of scalars, by the shortest way; None where anything else is met."""
        kids, plain = elements.kids, elements.plain_kids
        items: list[int] = []
        raws: list[Any] | None = [] if self._keep_raw else None
        if "value" in value and self._preparation.unwrap(value, elements.schema) is not value:
            return None
        for key, leaf in value.items():
            if leaf is None:
                continue
            known = plain.get(key)
            if known is None:
                kid = kids.get(key)
                if kid is None:
                    kid = self._space.kid(elements, key)
                if kid.left_out:
                    return None
                known = plain[key] = kid.known
            kind = type(leaf)
            if kind is str or kind is int:
                item = known.get(leaf)
                if item is None:
                    item = known[leaf] = self._space.item(kids[key], self._canon(leaf))
            elif kind is float and leaf:
                kid = kids[key]
                item = kid.known_floats.get(leaf)
                if item is None:
                    item = kid.known_floats[leaf] = self._space.item(kid, self._canon(leaf))
            elif kind is bool:
                item = self._boolean(leaf, kids[key])
            else:
                return None
            if item:
                items.append(item)
                if raws is not None:
                    raws.append(leaf)
        if not items:
            return None
        leaves = None if raws is None else list(zip(items, raws, strict=True))
        content = self._space.flat_content(items)
        return Row(position, content, content, _NO_ARRAYS, leaves)

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
            item = self._text(place, value) if isinstance(value, str) else self._scalar(value, place, into, path)
            if item:
                into.items.append(item)
                if self._keep_raw:
                    into.raws.append(value)
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
            if self._preparation.prices_by_position and any([row.priced is not row.content for row in rows]):
                priced = self._space.array_content([row.priced for row in rows])
            into.arrays.append((place, Rows(self._space.elements_of(place), rows, array, priced)))

    def _rows(self, value: list[Any], place: Place, path: Path) -> list[Row]:
        elements = self._space.elements_of(place)
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
            here = self._space.position_of(place, index)
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
        leaves = list(zip(collected.items, collected.raws, strict=True)) if self._keep_raw else None
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
        return Row(position, content, priced, dict(arrays), leaves)

    def _priced_items(self, collected: _Collected) -> list[int]:
        items = list(collected.items)
        for swap in reversed(collected.swaps):
            items[swap.items] = swap.priced
        return items

    # --- leaves -------------------------------------------------------------------------------------------------

    def _text(self, place: Place, text: str) -> int:
        item = place.known.get(text)
        if item is None:
            item = place.known[text] = self._space.item(place, self._canon(text))
        return item

    def _boolean(self, value: bool, place: Place) -> int:
        item = place.known.get((value,))
        if item is None:
            item = place.known[(value,)] = self._space.item(place, self._canon(value))
        return item

    def _scalar(self, value: Any, place: Place, into: _Collected, path: Path) -> int:
        kind = type(value)
        if kind is bool:
            return self._boolean(value, place)
        if kind is float and value:
            item = place.known_floats.get(value)
            if item is None:
                item = place.known_floats[value] = self._space.item(place, self._canon(value))
            return item
        if isinstance(value, (int, float, Decimal)):
            return self._space.item(place, self._canon(value))
        if isinstance(value, str):
            return self._text(place, value)
        if isinstance(value, (dict, list)):
            self._value(value, place, into, path)
            return BLANK
        raise ArgumentTypeError(
            f"{print_address(_steps(path))} holds a {kind.__name__}, which is not JSON; "
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


def _bag(start: dict[int, int], parts: list[dict[int, int]], times: list[int] | None = None) -> dict[int, int]:
    for part, count in zip(parts, times or [1] * len(parts), strict=True):
        for number, occurrences in part.items():
            start[number] = start.get(number, 0) + occurrences * count
    return start


def _steps(path: Path) -> Steps:
    found: list[Step] = []
    while path is not None:
        path, step = path[0], path[1]
        found.append(step)
    return tuple(reversed(found))
