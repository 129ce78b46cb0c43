"""Where values stand: addresses whose order-free indices are blanked, met while walking a document along its schema.

Places depend on the schema, on what a metric takes off a document, and on which arrays are ordered; not on values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from docassay.errors import ArgumentTypeError
from docassay.extraction.address import ANY, Order, Step, Steps, print_address, print_step, reading_order
from docassay.extraction.preparation import Preparation
from docassay.extraction.schema import SchemaNode


@dataclass(slots=True, frozen=True, eq=False)
class Label:
    """How a place is written: its field; and how its address goes on from where its row starts, printed and sorted."""

    field: str
    text: str
    order: Order


class Place:
    """An address with order-free indices blanked, met while walking a document along its schema."""

    __slots__ = (
        "_key",
        "_label",
        "canonical_items",
        "elements",
        "id",
        "kids",
        "known",
        "known_floats",
        "left_out",
        "ordered",
        "parent",
        "plain_kids",
        "positions",
        "schema",
        "sidecar_of",
        "skipped",
        "slot",
        "step",
    )

    def __init__(self, number: int, parent: Place | None, step: Step, schema: SchemaNode | None) -> None:
        self.id = number
        self.parent = parent
        self.step = step
        self.schema = schema
        self.slot = schema is not None and schema.slot
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
        self._key: Order | None = None
        self._label: Label | None = None

    @property
    def label(self) -> Label:
        """How the place is written; made from its parent's, once."""
        if self._label is None:
            self._label = self._labelled()
        return self._label

    def _labelled(self) -> Label:
        if self.parent is None:
            return Label("", "", ())
        above, step = self.parent.label, self.step
        first = not above.field
        field = above.field + print_step(step if isinstance(step, str) else ANY, first=first)
        if step is ANY:  # a row starts here
            return Label(field, "", ())
        return Label(field, above.text + print_step(step, first=first), above.order + reading_order((step,)))

    def steps(self) -> Steps:
        return tuple(reversed([place.step for place in self._upwards()]))

    def steps_key(self) -> Order:
        """A sort key of the place that no order of documents changes."""
        if self._key is None:
            self._key = reading_order(self.steps())
        return self._key

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


class Places:
    """The places of one schema that documents have met."""

    def __init__(self, schema: SchemaNode, preparation: Preparation, ordered: frozenset[Steps]) -> None:
        self.schema = schema
        self.preparation = preparation
        self.ordered = ordered
        self.all: list[Place] = []
        self.root = self._place(None, "", schema)

    def kid(self, place: Place, key: str) -> Place:
        """The place of a key of the object at `place`, met for the first time."""
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
        """The place of the elements of the order-free array at `place`."""
        made = place.elements
        if made is None:
            made = place.elements = self._place(place, ANY, place.schema.element() if place.schema else None)
        return made

    def position_of(self, place: Place, index: int) -> Place:
        """The place of one element of the ordered array at `place`."""
        made = place.positions.get(index)
        if made is None:
            made = self._place(place, index, place.schema.element() if place.schema else None)
            place.positions[index] = made
        return made

    def __len__(self) -> int:
        return len(self.all)

    def values(self) -> int:
        """How many values are known at all places."""
        return sum([len(place.known) + len(place.known_floats) for place in self.all])

    def _place(self, parent: Place | None, step: Step, schema: SchemaNode | None) -> Place:
        made = Place(len(self.all), parent, step, schema)
        self.all.append(made)
        made.skipped = made.left_out = schema is not None and schema.skipped_whole
        made.ordered = bool(self.ordered) and made.field_steps() in self.ordered
        return made
