"""Decides what a made-up document says: sentences chosen so that the true state of every condition is known.

A condition can be told of as happened to the writer (positive), denied, feared or told of somebody else (all negative),
or left open (unknown). Some positive sentences avoid the condition's keyword, so that counting words is not enough.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from random import Random
from typing import Any, Literal

from docassay.discovery.simulate.layout import PlantedCondition, State

__all__ = ["MENTIONS", "Condition", "Mention", "World", "Written", "load_worlds", "state_of", "write"]

Mention = Literal["positive", "denied", "feared", "others", "unclear", "absent"]
MENTIONS: tuple[Mention, ...] = ("positive", "denied", "feared", "others", "unclear", "absent")


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a world: its definition, a word that texts about it mostly use, and sentences by mention."""

    planted: PlantedCondition
    keyword: str
    sentences: Mapping[Mention, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class World:
    """One kind of corpus: what its documents are about, and the sentences that they are made of.

    closers: last sentences by the state of `sentiment`.
    sentiment, restated: conditions that are true of the texts but fulfil no task.
    """

    source: str
    categories: tuple[str, ...]
    entities: tuple[str, ...]
    openers: tuple[str, ...]
    fillers: tuple[str, ...]
    closers: Mapping[State, tuple[str, ...]]
    sentiment: PlantedCondition
    restated: PlantedCondition
    conditions: tuple[Condition, ...]
    slots: Mapping[str, tuple[str, ...]]

    @property
    def planted_conditions(self) -> tuple[PlantedCondition, ...]:
        """Every condition with known labels."""
        return (*(condition.planted for condition in self.conditions), self.sentiment, self.restated)


@dataclass(frozen=True, slots=True)
class Written:
    """One made document.

    spans: per condition that is mentioned, where its sentence is (start and end in code points).
    names_product: whether the opening names a product.
    """

    text: str
    spans: Mapping[str, tuple[int, int]]
    names_product: bool


@cache
def load_worlds() -> tuple[World, ...]:
    """The worlds that ship with the package."""
    text = resources.files("docassay.discovery.simulate").joinpath("worlds.json").read_text(encoding="utf-8")
    value = json.loads(text)
    slots = {name: tuple(words) for name, words in value["slots"].items()}
    return tuple(_world(item, slots) for item in value["worlds"])


def state_of(mention: Mention) -> State:
    """The true state that a mention makes."""
    if mention == "positive":
        return "positive"
    return "unknown" if mention == "unclear" else "negative"


def write(
    world: World, entity: str, category: str, mentions: Mapping[str, Mention], sentiment: State, random: Random
) -> Written:
    """A text with the wanted mention of every condition, in random order among filler sentences."""
    opener = random.choice(world.openers)
    told = [(condition, mentions[condition.planted.condition_id]) for condition in world.conditions]
    body: list[tuple[str | None, str]] = [
        (condition.planted.condition_id, random.choice(condition.sentences[mention]))
        for condition, mention in told
        if mention != "absent"
    ]
    body += [(None, filler) for filler in random.sample(world.fillers, random.randint(1, 3))]
    random.shuffle(body)
    parts = [(None, opener), *body, (None, random.choice(world.closers[sentiment]))]
    names = {"entity": entity, "category": category}
    filled = [(name, _filled(sentence, names, world.slots, random)) for name, sentence in parts]
    text, spans = _joined(filled, random)
    return Written(text, spans, "{entity}" in opener)


def _filled(sentence: str, names: Mapping[str, str], slots: Mapping[str, tuple[str, ...]], random: Random) -> str:
    if "{" not in sentence:
        return sentence
    return sentence.format_map({**{slot: random.choice(words) for slot, words in slots.items()}, **names})


def _joined(parts: list[tuple[str | None, str]], random: Random) -> tuple[str, dict[str, tuple[int, int]]]:
    text, spans = "", {}
    for name, sentence in parts:
        if text:
            text += "\n" if random.random() < 0.08 else " "
        if name is not None:
            spans[name] = (len(text), len(text) + len(sentence))
        text += sentence
    return text, spans


def _world(item: Mapping[str, Any], slots: Mapping[str, tuple[str, ...]]) -> World:
    return World(
        source=item["source"],
        categories=tuple(item["categories"]),
        entities=tuple(item["entities"]),
        openers=tuple(item["openers"]),
        fillers=tuple(item["fillers"]),
        closers={state: tuple(sentences) for state, sentences in item["closers"].items()},
        sentiment=PlantedCondition(**item["sentiment"], fulfils=False),
        restated=PlantedCondition(**item["restated"], fulfils=False),
        conditions=tuple(_condition(condition) for condition in item["conditions"]),
        slots=slots,
    )


def _condition(item: Mapping[str, Any]) -> Condition:
    planted = PlantedCondition(item["condition_id"], item["inclusion"], item["exclusion"], fulfils=True)
    sentences: dict[Mention, tuple[str, ...]] = {
        mention: tuple(item[mention]) for mention in MENTIONS if mention != "absent"
    }
    return Condition(planted, item["keyword"], sentences)
