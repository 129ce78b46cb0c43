"""Where values stand: addresses whose order-free indices are blanked, met while walking a document along its schema."""

from __future__ import annotations

from collections.abc import Iterator

from docassay.extraction.address import ANY, Step, Steps, reading_order
from docassay.extraction.schema import SchemaNode


class Place:
    """An address with order-free indices blanked, met while walking a document along its schema."""

    __slots__ = (
        "_key",
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
        "step",
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
