"""Decides what is planted: metadata, and how each document tells of each condition, under one of five designs.

composition_reversal: one arm has more of a condition only because it has more of the entities that suffer from it;
within every entity it has less. drift: a condition grows after a day. association: one condition comes with another.
unknowns: a true difference, but in one arm many texts leave the condition open. contradicted: both arms have the
condition alike, but in one of them many texts name it to deny it, so that counting words finds a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from docassay.discovery.simulate.worlds import MENTIONS, World
from docassay.discovery.tasks import ASSOCIATION, GROUP, TIME, Kind

__all__ = ["DESIGNS", "FIRST_DAY", "STORES", "Design", "Metadata", "Plan", "draw_mentions", "draw_metadata"]

Rates = NDArray[np.float64]
Codes = NDArray[np.int64]

FIRST_DAY = date(2021, 1, 1)
N_DAYS = 4 * 365
CUTOFF_DAY = 2 * 365
STORES = ("north", "south", "online")
NORTH, SOUTH, ONLINE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Metadata:
    """Drawn metadata, int64 per document: indices of entity, category and store, and days since FIRST_DAY."""

    entity: Codes
    category: Codes
    store: Codes
    day: Codes

    def __len__(self) -> int:
        return len(self.entity)


@dataclass(frozen=True, slots=True)
class Plan:
    """How likely each document tells of the planted conditions, each an array over documents.

    positive: probability of a positive mention, per planted condition.
    unclear, denied: probability of an open and of a denying mention, of the first planted condition.
    """

    positive: tuple[Rates, ...]
    unclear: Rates
    denied: Rates


@dataclass(frozen=True, slots=True)
class Design:
    """One kind of planted effect, with the population and comparison under which it shows."""

    name: str
    kind: Kind
    effect: str
    filters: tuple[Mapping[str, Any], ...]
    comparison: Mapping[str, Any] | None
    draw: Callable[[Metadata, Generator], tuple[Metadata, Plan]]


def draw_metadata(world: World, documents: int, generator: Generator) -> Metadata:
    """Independent metadata for that many documents."""
    return Metadata(
        entity=generator.integers(len(world.entities), size=documents),
        category=generator.integers(len(world.categories), size=documents),
        store=generator.choice(3, size=documents, p=(0.4, 0.4, 0.2)),
        day=generator.integers(N_DAYS, size=documents),
    )


def draw_mentions(plan: Plan, planted: tuple[int, ...], conditions: int, generator: Generator) -> NDArray[np.int8]:
    """Index into MENTIONS per document and condition (int8, documents x conditions)."""
    documents = len(plan.unclear)
    mentions = np.empty((documents, conditions), dtype=np.int8)
    usual = np.full(documents, 0.06)
    for condition in range(conditions):
        place = planted.index(condition) if condition in planted else None
        positive = usual if place is None else plan.positive[place]
        unclear = plan.unclear if place == 0 else np.full(documents, 0.04)
        denied = plan.denied if place == 0 else np.full(documents, 0.06)
        mentions[:, condition] = _choose(positive, unclear, denied, generator)
    return mentions


def _choose(positive: Rates, unclear: Rates, denied: Rates, generator: Generator) -> NDArray[np.int8]:
    rest = np.clip(1 - positive - unclear - denied, 0, None)
    feared, others = 0.06 * rest, 0.05 * rest
    # In the order of MENTIONS; what is left over is absent.
    steps = np.cumsum([positive, denied, feared, others, unclear], axis=0)
    mentions: NDArray[np.int8] = np.sum(generator.random(len(positive)) >= steps, axis=0).astype(np.int8)
    return mentions


def _even(documents: int, rate: float) -> Rates:
    return np.full(documents, rate)


def _composition_reversal(metadata: Metadata, generator: Generator) -> tuple[Metadata, Plan]:
    """North has mostly the first half of the entities, which rarely suffer; south mostly the second half."""
    documents = len(metadata)
    frail_share = np.choose(metadata.store, [0.2, 0.8, 0.5])
    frail = generator.random(documents) < frail_share
    half = int(metadata.entity.max() + 1) // 2
    entity = generator.integers(half, size=documents) + half * frail
    positive = np.where(frail, 0.55, 0.16) - np.where(metadata.store == SOUTH, 0.09, 0.0)
    moved = Metadata(entity, metadata.category, metadata.store, metadata.day)
    return moved, Plan((positive,), _even(documents, 0.04), _even(documents, 0.06))


def _drift(metadata: Metadata, generator: Generator) -> tuple[Metadata, Plan]:
    documents = len(metadata)
    positive = np.where(metadata.day < CUTOFF_DAY, 0.16, 0.36)
    return metadata, Plan((positive,), _even(documents, 0.04), _even(documents, 0.06))


def _association(metadata: Metadata, generator: Generator) -> tuple[Metadata, Plan]:
    """B's probability depends on A's true state, so A is drawn here and then made certain."""
    documents = len(metadata)
    first = generator.random(documents) < 0.3
    second = np.where(first, 0.55, 0.15)
    unclear, denied = np.where(first, 0.0, 0.06), np.where(first, 0.0, 0.09)
    return metadata, Plan((first.astype(np.float64), second), unclear, denied)


def _unknowns(metadata: Metadata, generator: Generator) -> tuple[Metadata, Plan]:
    south = metadata.store == SOUTH
    return metadata, Plan((np.where(south, 0.4, 0.22),), np.where(south, 0.2, 0.04), _even(len(metadata), 0.06))


def _contradicted(metadata: Metadata, generator: Generator) -> tuple[Metadata, Plan]:
    documents = len(metadata)
    denied = np.where(metadata.store == SOUTH, 0.34, 0.05)
    return metadata, Plan((_even(documents, 0.22),), _even(documents, 0.04), denied)


_NORTH_AND_SOUTH: Mapping[str, Any] = {"field": "store", "groups": [["north"], ["south"]]}
_CUTOFF: Mapping[str, Any] = {
    "field": "timestamp",
    "cutoff": (FIRST_DAY + timedelta(days=CUTOFF_DAY)).isoformat(),
}

DESIGNS: tuple[Design, ...] = (
    Design(
        "composition_reversal",
        GROUP,
        "south has the condition more often than north, but less often for every single entity",
        (),
        _NORTH_AND_SOUTH,
        _composition_reversal,
    ),
    Design(
        "drift",
        TIME,
        "the condition becomes more frequent from the cutoff day on",
        ({"field": "report_year", "op": "gte", "value": FIRST_DAY.year},),
        _CUTOFF,
        _drift,
    ),
    Design(
        "association",
        ASSOCIATION,
        "documents with the first condition have the second far more often",
        ({"field": "rating", "op": "gte", "value": 1},),
        None,
        _association,
    ),
    Design(
        "unknowns",
        GROUP,
        "south has the condition more often, but a fifth of its texts leave it open",
        ({"field": "rating", "op": "in", "value": [1, 2, 3, 4, 5]},),
        _NORTH_AND_SOUTH,
        _unknowns,
    ),
    Design(
        "contradicted",
        GROUP,
        "both have the condition equally often, but in south many texts name it to deny it",
        (),
        _NORTH_AND_SOUTH,
        _contradicted,
    ),
)

assert MENTIONS == ("positive", "denied", "feared", "others", "unclear", "absent"), "_choose relies on this order"
