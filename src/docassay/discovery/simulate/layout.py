"""Decides where planted answers lie and what they say: the records behind `planted.json`, labels and submissions."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from docassay.discovery.strict_json import parse_line, read_json
from docassay.errors import DocumentError, TaskDataError

__all__ = [
    "FORMAT",
    "Assessment",
    "Family",
    "Planted",
    "PlantedCondition",
    "PlantedTask",
    "Quality",
    "State",
    "Support",
    "labels_file",
    "load_labels",
    "load_planted",
    "planted_file",
    "planted_value",
    "submission_file",
]

FORMAT = 1

State = Literal["positive", "negative", "unknown"]
Support = Literal["supported", "partial", "unsupported", "uncertain"]
Family = Literal["right", "flawed", "invalid", "gamed"]


@dataclass(frozen=True, slots=True)
class PlantedCondition:
    """One condition of a task's world; submissions use these very texts, so that an oracle can tell which one is meant.

    condition_id, inclusion, exclusion: as in a finding's definitions.
    fulfils: whether a finding about it can fulfil the task (false for generic sentiment or restated metadata).
    """

    condition_id: str
    inclusion: str
    exclusion: str
    fulfils: bool


@dataclass(frozen=True, slots=True)
class PlantedTask:
    """What was planted in one task.

    design: composition_reversal, drift, association, unknowns, contradicted or null (no effect).
    effect: in words.
    conditions: every condition with known labels, by id.
    finding: the ids of the conditions that the effect is about (two, A then B, for an association).
    true_statistics: the statistics of the planted finding under the true labels.
    """

    task_id: str
    design: str
    effect: str
    conditions: Mapping[str, PlantedCondition]
    finding: tuple[str, ...]
    true_statistics: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a judge who knows everything would answer for each finding of this quality (fields as in an assessment)."""

    support: Support
    task_fulfilled: bool
    statistical_validity: float
    evidence_entailment: float
    analytical_depth: float
    calibration: float


@dataclass(frozen=True, slots=True)
class Quality:
    """One kind of submission.

    name: its folder under `submissions/`.
    family: right, flawed (valid, one flaw), invalid (one fault) or gamed (valid, made for the score).
    flaw: in words; empty if it is right.
    validity: whether it is valid.
    fault: the fault code expected if it is not, else None.
    assessment: of each of its findings; None if it is invalid or abstains. A finding about a condition that fulfils no
        task does not fulfil it, whatever stands here (`padded` has one of each).
    duplicates: whether every finding after the first repeats the first.
    """

    name: str
    family: Family
    flaw: str
    validity: bool
    fault: str | None
    assessment: Assessment | None
    duplicates: bool = False


@dataclass(frozen=True, slots=True)
class Planted:
    """A planted folder: the seed that made it, the tasks by id and the qualities by name, both in the order made."""

    root: Path
    seed: int
    tasks: Mapping[str, PlantedTask]
    qualities: Mapping[str, Quality]


def load_planted(root: Path | str) -> Planted:
    """Read `planted.json`. Raises TaskDataError naming the file if it is absent or of another format."""
    folder = Path(root)
    path = planted_file(folder)
    try:
        value = read_json(path)
        if value["format"] != FORMAT:
            raise TaskDataError(f"{path}: format {value['format']!r}, expected {FORMAT}; make it anew with simulate")
        tasks = {task_id: _task(task_id, item) for task_id, item in value["tasks"].items()}
        qualities = {name: _quality(name, item) for name, item in value["qualities"].items()}
    except (DocumentError, KeyError, TypeError) as error:
        raise TaskDataError(f"{path}: not a planted folder: {error}") from error
    return Planted(folder, value["seed"], tasks, qualities)


def load_labels(root: Path | str, task_id: str) -> dict[str, dict[str, State]]:
    """The true states of every document: doc id → condition id → state, in corpus order."""
    path = labels_file(Path(root), task_id)
    try:
        with gzip.open(path, "rb") as lines:
            rows = [parse_line(line, where=str(path)) for line in lines]
    except (OSError, DocumentError) as error:
        raise TaskDataError(f"{path}: cannot be read: {error}") from error
    return {row["doc_id"]: row["states"] for row in rows}


def planted_file(root: Path) -> Path:
    """Where the planted effects and qualities are told."""
    return root / "planted.json"


def labels_file(root: Path, task_id: str) -> Path:
    """Where one task's true labels lie."""
    return root / "labels" / f"{task_id}.jsonl.gz"


def submission_file(root: Path, quality: str, task_id: str) -> Path:
    """Where the submission of one quality for one task lies."""
    return root / "submissions" / quality / f"{task_id}.json"


def planted_value(planted: Planted) -> dict[str, Any]:
    """The JSON object of `planted.json`."""
    return {
        "format": FORMAT,
        "seed": planted.seed,
        "tasks": {task_id: _without(asdict(task), "task_id") for task_id, task in planted.tasks.items()},
        "qualities": {name: _without(asdict(quality), "name") for name, quality in planted.qualities.items()},
    }


def _task(task_id: str, item: Mapping[str, Any]) -> PlantedTask:
    conditions = {name: PlantedCondition(**condition) for name, condition in item["conditions"].items()}
    return PlantedTask(
        task_id, item["design"], item["effect"], conditions, tuple(item["finding"]), item["true_statistics"]
    )


def _quality(name: str, item: Mapping[str, Any]) -> Quality:
    assessment = None if item["assessment"] is None else Assessment(**item["assessment"])
    return Quality(**{**item, "name": name, "assessment": assessment})


def _without(item: dict[str, Any], key: str) -> dict[str, Any]:
    return json.loads(json.dumps({name: value for name, value in item.items() if name != key}))  # type: ignore[no-any-return]
