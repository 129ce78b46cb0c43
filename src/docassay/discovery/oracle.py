"""Answers as a judge who knows the planted truth of simulated corpora: offline, exact, or with known error rates.

It labels a document by its planted state, and assesses a planted submission as the simulation says a judge should. Of
definitions and submissions that were not planted it knows what the true labels of the audited documents tell.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docassay.core.digest import digest_object
from docassay.discovery.corpus import Corpus, load_corpus
from docassay.discovery.judge import Question, Reply, Stage
from docassay.discovery.population import POSITIVE, STATES
from docassay.discovery.segments import segments
from docassay.discovery.simulate.layout import (
    Assessment,
    Planted,
    PlantedTask,
    Quality,
    load_labels,
    load_planted,
    submission_file,
)
from docassay.discovery.strict_json import read_json
from docassay.discovery.tasks import TaskData
from docassay.errors import ReviewError

__all__ = ["Noise", "OracleJudge"]

Codes = NDArray[np.int8]

UNSURE = Assessment("uncertain", True, 0.5, 0.5, 0.5, 0.5)
UNPLANTED = "Not a planted submission: by the true labels of the audited documents, where the definitions are planted."
SOUND = Assessment("supported", True, 0.75, 0.75, 0.5, 0.75)
"""Of an unplanted submission whose labels the truth bears out."""
MOST_DISAGREEMENT = 0.1


@dataclass(frozen=True, slots=True)
class Noise:
    """Error rates of a checker; by seed, definition and document it errs the same way every time."""

    sensitivity: float = 1.0
    specificity: float = 1.0
    unknown: float = 0.0
    """Share of documents of which it says unknown."""
    seed: int = 0


class OracleJudge:
    """A judge of simulated data. Implements `Judge`.

    Args:
        data: The simulated data folder.
        planted: The folder of planted answers beside it.
        noise: Errors of its blind check; without, it labels as planted.
    """

    def __init__(self, data: TaskData, planted: Path | str, noise: Noise | None = None) -> None:
        self.data = data
        self.planted: Planted = load_planted(planted)
        self.noise = noise or Noise()
        self._worlds: dict[str, _World] = {}

    @property
    def method(self) -> str:
        """In a line."""
        return f"oracle / planted seed {self.planted.seed}"

    @property
    def configuration(self) -> Mapping[str, Any]:
        """What decides its answers."""
        return {"judge": "oracle", "planted_seed": self.planted.seed, "noise": asdict(self.noise)}

    async def answer(self, question: Question, attempt: int) -> Reply:
        """Answer from the planted truth; it never needs a second attempt."""
        world = self._world(question.subject.task_id)
        if question.stage is Stage.BLIND:
            value: object = {"labels": world.label(question.payload, self.noise)}
        elif question.stage is Stage.ASSESSMENT:
            value = {"findings": world.assess(question)}
        else:
            rows = question.payload["findings"]
            value = {"matches": [{"finding_id": row["finding_id"], "matches": True} for row in rows]}
        return Reply(value=value, text="")

    def all_labels(self, task_id: str, inclusion: str, exclusion: str) -> tuple[Codes, Codes]:
        """What it would say of every document under a definition, and what is planted; int8 in corpus order.

        Raises:
            ReviewError: the definition is not one that was planted.
        """
        world = self._world(task_id)
        condition = world.condition(inclusion, exclusion)
        if condition is None:
            raise ReviewError("oracle", f"nothing is planted for a definition of task {task_id!r}")
        ids = world.corpus.doc_ids
        said = [world.state(doc_id, condition, self.noise) for doc_id in ids]
        planted = [world.labels[doc_id][condition] for doc_id in ids]
        return _codes(said), _codes(planted)

    def _world(self, task_id: str) -> _World:
        world = self._worlds.get(task_id)
        if world is None:
            if task_id not in self.planted.tasks:
                raise ReviewError("oracle", f"{self.planted.root}: nothing is planted for task {task_id!r}")
            corpus = load_corpus(self.data, self.data.task(task_id))
            labels = load_labels(self.planted.root, task_id)
            world = self._worlds[task_id] = _World(self.planted, self.planted.tasks[task_id], corpus, labels)
        return world


@dataclass(frozen=True)
class _World:
    """What is known of one task."""

    planted: Planted
    task: PlantedTask
    corpus: Corpus
    labels: Mapping[str, Mapping[str, str]]

    @cached_property
    def documents(self) -> Mapping[tuple[str, ...], str]:
        """Document id by segments: all that a blind question shows of a document."""
        pairs = zip(self.corpus.texts, self.corpus.doc_ids, strict=True)
        return {segments(text): doc_id for text, doc_id in pairs}

    @cached_property
    def qualities(self) -> Mapping[str, Quality]:
        """Quality by the digest of its submission."""
        found = {}
        for name, quality in self.planted.qualities.items():
            path = submission_file(self.planted.root, name, self.task.task_id)
            if quality.validity and path.is_file():
                found[digest_object(read_json(path))] = quality
        return found

    def label(self, payload: Mapping[str, Any], noise: Noise) -> list[list[Any]]:
        """Rows of a blind answer; a positive cites the first segment that holds text."""
        conditions = [self.condition(item["inclusion"], item["exclusion"]) for item in payload["definitions"]]
        return [self._row(document, conditions, noise) for document in payload["documents"]]

    def assess(self, question: Question) -> list[dict[str, Any]]:
        """Assessment rows: as planted where the submission was, else by the audited documents' true labels."""
        quality = self.qualities.get(question.subject.submission_sha256)
        findings: Sequence[Mapping[str, Any]] = question.payload["submission"]["findings"]
        first = findings[0]["finding_id"] if findings else None
        rows = []
        for finding in findings:
            repeats = quality is not None and quality.duplicates and finding["finding_id"] != first
            planned = quality.assessment if quality is not None else None
            rows.append(
                {
                    "finding_id": finding["finding_id"],
                    **asdict(planned or self._assess_unplanted(finding, question.payload)),
                    "duplicate_of": first if repeats else None,
                    "rationale": "As planted." if planned else UNPLANTED,
                }
            )
        return rows

    def _row(self, document: Mapping[str, Any], conditions: Sequence[str | None], noise: Noise) -> list[Any]:
        texts = tuple(text for _, text in document["segments"])
        citable = next((number for number, text in enumerate(texts) if text.strip()), None)
        doc_id = self.documents.get(texts)
        row: list[Any] = [document["index"]]
        for condition in conditions:
            state = "unknown" if doc_id is None or condition is None else self.state(doc_id, condition, noise)
            state = "unknown" if state == "positive" and citable is None else state
            row += [state, citable if state == "positive" else None]
        return row

    def state(self, doc_id: str, condition: str, noise: Noise) -> str:
        """What a checker of this noise says of a document."""
        truth = self.labels[doc_id][condition]
        if _chance(noise.seed, condition, doc_id, "unknown") < noise.unknown:
            return "unknown"
        chance = _chance(noise.seed, condition, doc_id, "error")
        if truth == "positive":
            return "positive" if chance < noise.sensitivity else "negative"
        if truth == "negative":
            return "negative" if chance < noise.specificity else "positive"
        return truth

    def condition(self, inclusion: str, exclusion: str) -> str | None:
        """The planted condition of a definition, None for any other."""
        for name, condition in self.task.conditions.items():
            if (condition.inclusion, condition.exclusion) == (inclusion, exclusion):
                return name
        return None

    def _assess_unplanted(self, finding: Mapping[str, Any], payload: Mapping[str, Any]) -> Assessment:
        compared = differing = 0
        for definition in finding["definitions"]:
            condition = self.condition(definition["inclusion"], definition["exclusion"])
            if condition is None:
                return UNSURE
            for document in payload["documents"]:
                claim = document.get("claimed", {}).get(finding["finding_id"], {}).get(definition["condition_id"])
                truth = self.labels[document["doc_id"]][condition]
                if claim in ("positive", "negative") and truth != "unknown":
                    compared += 1
                    differing += claim != truth
        if not compared:
            return UNSURE
        return (
            SOUND
            if differing / compared <= MOST_DISAGREEMENT
            else Assessment("unsupported", True, 0.5, 0.0, 0.25, 0.25)
        )


def _codes(states: Sequence[str]) -> Codes:
    return np.array([POSITIVE + STATES.index(state) for state in states], dtype=np.int8)


def _chance(*parts: object) -> float:
    """A number in [0, 1) that depends on nothing but its name."""
    digest = hashlib.sha256("\0".join(str(part) for part in parts).encode()).digest()
    return int.from_bytes(digest[:7], "big") / (1 << 56)
