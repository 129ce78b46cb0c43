"""What a pair of rows is worth, what a pairing maximises, and bounds that are cheap to find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from docassay.extraction.rows import Content


@dataclass(frozen=True, slots=True)
class Worth:
    """What a pair of rows is worth: values that agree and addresses they share; `always` as in `Pairing`."""

    matched: int
    shared: int
    always: bool


NOTHING: Final = Worth(0, 0, True)


@dataclass(frozen=True, slots=True)
class Objective:
    """What a pairing maximises: matched * `matched_weight` + shared * `shared_weight`, in whole numbers."""

    matched_weight: int
    shared_weight: int

    @property
    def weights(self) -> tuple[int, int]:
        """What a matched value and a shared address are worth."""
        return self.matched_weight, self.shared_weight

    def of(self, matched: int, shared: int) -> int:
        return matched * self.matched_weight + shared * self.shared_weight


@dataclass(frozen=True, slots=True)
class Pair:
    """`count` rows of one predicted content paired with rows of one ground-truth content."""

    predicted: Content
    gold: Content
    count: int


@dataclass(frozen=True, slots=True)
class Pairing:
    """The best pairing of two arrays and what it is worth.

    `always`: it is the best whatever a shared address is worth, from nothing to as much as a match.
    """

    pairs: tuple[Pair, ...]
    matched: int
    shared: int
    always: bool


def shared_places(predicted: Content, gold: Content) -> int:
    """How many places the rows' own items have in common."""
    if predicted.shape is gold.shape:
        return len(gold.shape.places)
    return len(predicted.shape.places & gold.shape.places)


def shared_bound(predicted: Content, gold: Content) -> int:
    """An upper bound of the addresses two rows can share: the intersection of their multisets of places."""
    ours, theirs = predicted.places_bagged(), gold.places_bagged()
    if len(theirs) < len(ours):
        ours, theirs = theirs, ours
    return sum([min(count, theirs[place]) for place, count in ours.items() if place in theirs])


@dataclass(frozen=True, slots=True)
class Cell:
    """What is known of one pair of contents: an upper bound, or the worth itself."""

    matched: int
    shared: int
    exact: bool


Table: TypeAlias = tuple[dict[Content, dict[Content, Cell]], dict[Content, Cell]]
