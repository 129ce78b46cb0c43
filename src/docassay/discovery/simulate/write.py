"""Decides how a simulation is written: the data folder as released, and the planted folder beside it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from docassay.core.digest import digest_bytes, digest_file
from docassay.discovery.population import STATES
from docassay.discovery.simulate.layout import (
    Planted,
    PlantedTask,
    labels_file,
    planted_file,
    planted_value,
    submission_file,
)
from docassay.discovery.simulate.scene import Scene, make_scene, task_value
from docassay.discovery.simulate.submissions import QUALITIES, honest_finding, make_submission
from docassay.discovery.tasks import LEARNING_FOLDER, MANIFEST_FILE, RELEASE_FILE, TASKS_FILE, Task, read_task
from docassay.errors import ArgumentValueError, MissingDependencyError, TaskDataError

__all__ = ["MIN_DOCUMENTS", "Simulation", "default_planted", "simulate"]

MIN_DOCUMENTS = 200
"""Fewest documents per task: below, strata and arms are too small for the planted effects to show."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """What was written: the two folders, and how many tasks, documents and submissions they hold."""

    data: Path
    planted: Path
    tasks: int
    documents: int
    submissions: int

    def as_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return {**asdict(self), "data": str(self.data), "planted": str(self.planted)}


def simulate(
    out: Path | str,
    *,
    planted: Path | str | None = None,
    tasks: int = 5,
    documents: int = 1000,
    seed: int = 0,
    pool: int = 0,
    on_task: Callable[[str], None] = lambda task_id: None,
) -> Simulation:
    """Write a data folder `out` and the planted folder (default: `out` with `-planted` at its end).

    tasks: how many; the five designs and three worlds take turns. documents: per task, at least MIN_DOCUMENTS.
    seed: the same seed and sizes write the same bytes. pool: unlabeled documents for `learning/` (needs pyarrow).
    on_task: called with each task's id when it is written.

    Raises ArgumentValueError for impossible sizes, TaskDataError if a folder exists and is not empty.
    """
    _check_sizes(tasks, documents, pool)
    folder, answers = Path(out), default_planted(Path(out)) if planted is None else Path(planted)
    for path in (folder, answers):
        _make_empty(path)
    values: list[Mapping[str, Any]] = []
    told: dict[str, PlantedTask] = {}
    for number in range(tasks):
        scene = make_scene(number, documents, seed)
        task = _write_task(scene, folder)
        told[task.task_id] = _write_answers(scene, task, answers, np.random.default_rng([seed, number, 1]))
        values.append(task.value)
        on_task(task.task_id)
    if pool:
        _write_pool(folder, pool, seed, tasks)
    _write_inventory(folder, values, seed)
    _write_json(planted_file(answers), planted_value(Planted(answers, seed, told, _qualities())))
    return Simulation(folder, answers, tasks, tasks * documents, tasks * len(QUALITIES))


def default_planted(out: Path) -> Path:
    """Where the answers go unless told otherwise: beside the data folder, not inside it."""
    return out.with_name(f"{out.name}-planted")


def _qualities() -> dict[str, Any]:
    return {quality.name: quality for quality in QUALITIES}


def _check_sizes(tasks: int, documents: int, pool: int) -> None:
    if tasks < 1:
        raise ArgumentValueError(f"tasks is {tasks}; at least 1 is needed")
    if documents < MIN_DOCUMENTS:
        raise ArgumentValueError(f"documents is {documents}; at least {MIN_DOCUMENTS} are needed for effects to show")
    if pool < 0:
        raise ArgumentValueError(f"pool is {pool}; it cannot be negative")


def _make_empty(path: Path) -> None:
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise TaskDataError(f"{path} exists and is not an empty folder; choose another, or remove it")
    path.mkdir(parents=True, exist_ok=True)


def _write_task(scene: Scene, folder: Path) -> Task:
    relative = f"corpora/{scene.task_id}.jsonl.gz"
    data = _lines(scene.rows)
    _write_bytes(folder / relative, data)
    return read_task(task_value(scene, relative, digest_bytes(data)))


def _write_answers(scene: Scene, task: Task, answers: Path, generator: np.random.Generator) -> PlantedTask:
    conditions = {condition.condition_id: condition for condition in scene.world.planted_conditions}
    _write_bytes(labels_file(answers, task.task_id), _lines(_label_rows(scene)))
    for quality in QUALITIES:
        path = submission_file(answers, quality.name, task.task_id)
        _write_bytes(path, make_submission(quality, scene, task, generator))
    return PlantedTask(
        task_id=task.task_id,
        design=scene.design.name,
        effect=scene.design.effect,
        conditions=conditions,
        finding=scene.finding,
        true_statistics=honest_finding(scene, task)["statistics"],
    )


def _label_rows(scene: Scene) -> Iterable[dict[str, Any]]:
    names = list(scene.truth)
    columns = [scene.truth[name] for name in names]
    for index, doc_id in enumerate(scene.corpus.doc_ids):
        states = {name: STATES[column[index] - 1] for name, column in zip(names, columns, strict=True)}
        yield {"doc_id": doc_id, "states": states}


def _write_pool(folder: Path, pool: int, seed: int, tasks: int) -> None:
    """Documents of the same worlds without planted effects, for agents that learn on unlabeled text."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingDependencyError("pyarrow", "run") from error
    rows = make_scene(tasks, max(pool, MIN_DOCUMENTS), seed + 1).rows[:pool]
    names = ("doc_id", "text", "entity_id", "rating", "category", "store", "timestamp")
    table = arrow.table({name: [row.get(name) for row in rows] for name in names})
    path = folder / LEARNING_FOLDER / "pool.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table, path)


def _write_inventory(folder: Path, tasks: list[Mapping[str, Any]], seed: int) -> None:
    _write_json(folder / TASKS_FILE, tasks)
    _write_json(folder / RELEASE_FILE, {"version": f"simulated-{seed}", "source": "docassay discover simulate"})
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    _write_json(folder / MANIFEST_FILE, {path.relative_to(folder).as_posix(): digest_file(path) for path in files})


def _lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return gzip.compress(text.encode("utf-8"), compresslevel=6, mtime=0)  # no time stamp: same rows, same bytes


def _write_json(path: Path, value: object) -> None:
    _write_bytes(path, (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8"))


def _write_bytes(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
