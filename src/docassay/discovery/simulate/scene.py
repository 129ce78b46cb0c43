"""Decides one task's corpus: draws metadata and mentions, writes the texts, and keeps what is true of each document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from docassay.discovery.corpus import Corpus, corpus_from_rows
from docassay.discovery.population import NEGATIVE, POSITIVE, UNKNOWN
from docassay.discovery.simulate.effects import (
    DESIGNS,
    FIRST_DAY,
    STORES,
    Design,
    Metadata,
    draw_mentions,
    draw_metadata,
)
from docassay.discovery.simulate.layout import State
from docassay.discovery.simulate.worlds import MENTIONS, Mention, World, Written, load_worlds, state_of, write
from docassay.discovery.tasks import ASSOCIATION, GROUP, TIME, Kind

__all__ = ["ALLOWED_FIELDS", "Scene", "make_scene", "task_value"]

Codes = NDArray[np.int8]

ALLOWED_FIELDS = ("entity_id", "rating", "category", "store", "timestamp", "report_year")

_QUESTIONS: Mapping[Kind, str] = {
    GROUP: "Which experience do the texts of one group report more often than those of another, and does"
    " the difference last within products, ratings and years? Choose population, groups and condition yourself.",
    TIME: "Which experience do the texts report more or less often from some day on, and is the change more than a"
    " change in what is written about? Choose population, cutoff and condition yourself.",
    ASSOCIATION: "Which two experiences go together in the texts, and is there more to it than where both happen to be"
    " frequent? Choose population and conditions yourself.",
}
_CODES: Mapping[State, int] = {"positive": POSITIVE, "negative": NEGATIVE, "unknown": UNKNOWN}


@dataclass(frozen=True)
class Scene:
    """One task with its documents and their truth.

    finding: the ids of the conditions that the effect is about.
    rows: the documents as the corpus file has them; `corpus` is the same as columns.
    written: per document, where its mentions stand.
    truth: int8 per document (POSITIVE, NEGATIVE, UNKNOWN) for every condition id.
    """

    task_id: str
    world: World
    design: Design
    finding: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...] = field(repr=False)
    corpus: Corpus = field(repr=False)
    written: tuple[Written, ...] = field(repr=False)
    truth: Mapping[str, Codes] = field(repr=False)

    @property
    def keywords(self) -> Mapping[str, str]:
        """The word that texts about a condition mostly use."""
        return {condition.planted.condition_id: condition.keyword for condition in self.world.conditions}


def make_scene(number: int, documents: int, seed: int) -> Scene:
    """Task `number` (from 0) of a simulation; the same number, size and seed always make the same scene."""
    worlds = load_worlds()
    world, design = worlds[number % len(worlds)], DESIGNS[number % len(DESIGNS)]
    generator, random = np.random.default_rng([seed, number]), Random(f"{seed}/{number}")
    planted = _planted_conditions(number, world, design)
    metadata, plan = design.draw(draw_metadata(world, documents, generator), generator)
    mentions = draw_mentions(plan, planted, len(world.conditions), generator)
    sentiments = _sentiments(mentions, generator)
    written = _write_all(world, metadata, mentions, sentiments, random)
    rows = tuple(
        _row(index, item.text, world, metadata, sentiments[index], random) for index, item in enumerate(written)
    )
    return Scene(
        task_id=f"{world.source}-{design.name.replace('_', '-')}-{number + 1:03d}",
        world=world,
        design=design,
        finding=tuple(world.conditions[index].planted.condition_id for index in planted),
        rows=rows,
        corpus=corpus_from_rows(rows),
        written=written,
        truth=_truth(world, mentions, sentiments, written),
    )


def task_value(scene: Scene, corpus_path: str, corpus_sha256: str) -> dict[str, Any]:
    """The task as `tasks.json` has it."""
    documents = len(scene.corpus)
    return {
        "task_id": scene.task_id,
        "source": scene.world.source,
        "kind": scene.design.kind,
        "question": _QUESTIONS[scene.design.kind],
        "difficulty": "discovery",
        "discovery_mode": "agent_selected",
        "max_findings": 3,
        "allowed_metadata_fields": list(ALLOWED_FIELDS),
        "min_population_n": max(20, documents // 5),
        "min_group_n": max(8, documents // 20),
        "n_documents": documents,
        "corpus_path": corpus_path,
        "corpus_sha256": corpus_sha256,
        "robustness_protocol": {"axes": ["entity_id", "rating", "report_year"], "min_known_per_arm": 5},
    }


def _planted_conditions(number: int, world: World, design: Design) -> tuple[int, ...]:
    first = (number // len(DESIGNS)) % len(world.conditions)
    return (first, (first + 1) % len(world.conditions)) if design.kind == ASSOCIATION else (first,)


def _sentiments(mentions: NDArray[np.int8], generator: Generator) -> list[State]:
    """Dissatisfied is likelier where something happened; a tenth leave it open."""
    happened = (mentions == MENTIONS.index("positive")).any(axis=1)
    draw = generator.random(len(mentions))
    bad = np.where(happened, 0.65, 0.2)
    return [
        "unknown" if value >= 0.9 else "positive" if value < limit else "negative"
        for value, limit in zip(draw, bad, strict=True)
    ]


def _write_all(
    world: World, metadata: Metadata, mentions: NDArray[np.int8], sentiments: list[State], random: Random
) -> tuple[Written, ...]:
    """Texts that differ from each other, so that a text has one truth."""
    seen: set[str] = set()
    written: list[Written] = []
    ids = [condition.planted.condition_id for condition in world.conditions]
    for index, sentiment in enumerate(sentiments):
        told: dict[str, Mention] = {name: MENTIONS[code] for name, code in zip(ids, mentions[index], strict=True)}
        entity = world.entities[metadata.entity[index]]
        category = world.categories[metadata.category[index]]
        item = write(world, entity, category, told, sentiment, random)
        if item.text in seen:
            item = Written(f"{item.text} Note {index + 1}.", item.spans, item.names_product)
        seen.add(item.text)
        written.append(item)
    return tuple(written)


def _row(index: int, text: str, world: World, metadata: Metadata, sentiment: State, random: Random) -> dict[str, Any]:
    """One document; now and then a metadata field is missing, null, blank or not a date."""
    row: dict[str, Any] = {
        "doc_id": f"{world.source[:3]}-{index + 1:06d}",
        "text": text,
        "entity_id": world.entities[metadata.entity[index]].lower().replace(" ", "-"),
        "rating": _rating(sentiment, random),
        "category": world.categories[metadata.category[index]],
        "store": STORES[metadata.store[index]],
        "timestamp": _timestamp(int(metadata.day[index]), random),
    }
    chance = random.random()
    if chance < 0.02:
        del row["rating"]
    elif chance < 0.03:
        row["entity_id"] = None
    elif chance < 0.04:
        row["timestamp"] = "unknown"
    elif chance < 0.05:
        row["store"] = ""
    return row


def _rating(sentiment: State, random: Random) -> int:
    choices = {"positive": (1, 1, 2, 2, 3), "negative": (3, 4, 5, 5), "unknown": (2, 3, 3, 4)}
    return random.choice(choices[sentiment])


def _timestamp(day: int, random: Random) -> str:
    text = (FIRST_DAY + timedelta(days=day)).isoformat()
    if random.random() < 0.5:
        return text
    return f"{text}T{random.randrange(24):02d}:{random.randrange(60):02d}:00Z"


def _truth(
    world: World, mentions: NDArray[np.int8], sentiments: list[State], written: tuple[Written, ...]
) -> dict[str, Codes]:
    table = np.array([_CODES[state_of(mention)] for mention in MENTIONS], dtype=np.int8)
    truth: dict[str, Codes] = {
        condition.planted.condition_id: table[mentions[:, index]] for index, condition in enumerate(world.conditions)
    }
    truth[world.sentiment.condition_id] = np.array([_CODES[state] for state in sentiments], dtype=np.int8)
    named = [POSITIVE if item.names_product else NEGATIVE for item in written]
    truth[world.restated.condition_id] = np.array(named, dtype=np.int8)
    return truth
