"""Decides what a task asks: its kind, its limits, its corpus, and the profile under which findings are judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from docassay.core.digest import digest_file, digest_object
from docassay.discovery.strict_json import read_json
from docassay.errors import DocumentError, TaskDataError

__all__ = [
    "ASSOCIATION",
    "GROUP",
    "KINDS",
    "LEARNING_FOLDER",
    "MANIFEST_FILE",
    "PROFILES",
    "RELEASE_FILE",
    "TASKS_FILE",
    "TIME",
    "FixedComparison",
    "Kind",
    "Profile",
    "Task",
    "TaskData",
    "Track",
    "load_data",
    "load_task",
    "load_tasks",
    "read_release",
    "read_task",
]

Kind = Literal["group_difference", "temporal_change", "compound_association"]
Profile = Literal["standard", "hard", "discovery"]
Track = Literal["task_only", "unlabeled_pool"]

GROUP: Kind = "group_difference"
TIME: Kind = "temporal_change"
ASSOCIATION: Kind = "compound_association"
KINDS: tuple[Kind, ...] = get_args(Kind)
PROFILES: tuple[Profile, ...] = get_args(Profile)

TASKS_FILE = "tasks.json"
RELEASE_FILE = "release.json"
MANIFEST_FILE = "manifest.json"
LEARNING_FOLDER = "learning"


@dataclass(frozen=True, slots=True)
class FixedComparison:
    """The comparison of an older task, given by the task itself.

    field: the metadata field compared; `timestamp` for a change over time.
    groups: the two values compared (null selects documents without the field); None for a change over time.
    cutoff: the day (YYYY-MM-DD) that begins arm 1; None for a group difference.
    """

    field: str
    groups: tuple[Any, Any] | None
    cutoff: str | None


@dataclass(frozen=True)
class Task:
    """One task, as `tasks.json` states it.

    task_id, source, kind, question: as in the file.
    profile: standard, hard or discovery (the file's `difficulty`; absent is standard).
    agent_selected: whether findings choose their own population and comparison (`discovery_mode`).
    max_findings: most findings a submission may have.
    allowed_metadata_fields: fields that filters and comparisons may use.
    min_population_n, min_group_n: fewest documents in a population and in each arm.
    n_documents, corpus_path, corpus_sha256: the corpus; the path is relative to the data folder.
    comparison: of an older task, else None.
    value: the JSON object itself, which the digest covers and agents are given.
    """

    task_id: str
    source: str
    kind: Kind
    question: str
    profile: Profile
    agent_selected: bool
    max_findings: int
    allowed_metadata_fields: tuple[str, ...]
    min_population_n: int
    min_group_n: int
    n_documents: int
    corpus_path: str
    corpus_sha256: str
    comparison: FixedComparison | None
    value: Mapping[str, Any] = field(repr=False)

    @property
    def audited(self) -> bool:
        """Whether robustness statistics and the stricter evidence rules apply (hard and discovery)."""
        return self.profile != "standard"

    @cached_property
    def digest(self) -> str:
        """Digest of the task's JSON object."""
        return digest_object(self.value)


@dataclass(frozen=True)
class TaskData:
    """One data folder.

    root: the folder.
    tasks: in the file's order, never empty, ids unique.
    release: the release's version, None where `release.json` is absent.
    tasks_sha256: SHA-256 of the bytes of `tasks.json`.
    """

    root: Path
    tasks: tuple[Task, ...]
    release: str | None
    tasks_sha256: str

    def task(self, task_id: str) -> Task:
        """The task with this id. Raises TaskDataError naming the ids there are."""
        for task in self.tasks:
            if task.task_id == task_id:
                return task
        raise TaskDataError(f"no task {task_id!r} in {self.root}; there are {_listed(self.tasks)}")

    def select(self, task_ids: tuple[str, ...] = (), limit: int | None = None) -> tuple[Task, ...]:
        """The named tasks (all, if none is named) in the file's order, at most `limit` of them."""
        for task_id in task_ids:
            self.task(task_id)
        chosen = tuple(task for task in self.tasks if not task_ids or task.task_id in task_ids)
        return chosen if limit is None else chosen[:limit]

    @property
    def learning_folder(self) -> Path | None:
        """The unlabeled pool, where the release has one."""
        folder = self.root / LEARNING_FOLDER
        return folder if folder.is_dir() else None


def load_data(root: Path | str) -> TaskData:
    """Read a data folder's tasks and release. Raises TaskDataError naming file, task and field."""
    folder = Path(root)
    path = folder / TASKS_FILE
    if not path.is_file():
        raise TaskDataError(f"{folder} is no data folder: it has no {TASKS_FILE}")
    tasks = _read_tasks(path)
    return TaskData(folder, tasks, read_release(folder / RELEASE_FILE), digest_file(path))


def load_tasks(root: Path | str) -> tuple[Task, ...]:
    """All tasks of a data folder; raises as `load_data` does."""
    return load_data(root).tasks


def load_task(root: Path | str, task_id: str) -> Task:
    """One task of a data folder; raises TaskDataError if there is none with this id."""
    return load_data(root).task(task_id)


def read_task(value: object, *, where: str = "task") -> Task:
    """A task from its JSON object. Raises TaskDataError naming the first field that is missing or of the wrong type."""
    if not isinstance(value, Mapping):
        raise TaskDataError(f"{where}: a task is an object, not {type(value).__name__}")
    reader = _Reader(value, where)
    profile = reader.one_of("difficulty", PROFILES, default="standard")
    selected = reader.one_of("discovery_mode", ("agent_selected",), default="") == "agent_selected"
    kind = reader.one_of("kind", KINDS)
    comparison = None if selected else _fixed_comparison(value.get("comparison"), kind, f"{where}: comparison")
    return Task(
        task_id=reader.text("task_id"),
        source=reader.text("source", default=""),
        kind=kind,
        question=reader.text("question", default=""),
        profile=profile,
        agent_selected=selected,
        max_findings=reader.count("max_findings"),
        allowed_metadata_fields=reader.names("allowed_metadata_fields", required=selected),
        min_population_n=reader.count("min_population_n", required=selected),
        min_group_n=reader.count("min_group_n", required=selected),
        n_documents=reader.count("n_documents"),
        corpus_path=reader.text("corpus_path"),
        corpus_sha256=reader.text("corpus_sha256"),
        comparison=comparison,
        value=value,
    )


class _Reader:
    """Takes typed fields out of a task's object."""

    def __init__(self, value: Mapping[str, Any], where: str) -> None:
        self.value = value
        self.where = f"{where} {value['task_id']!r}" if isinstance(value.get("task_id"), str) else where

    def text(self, name: str, *, default: str | None = None) -> str:
        found = self.value.get(name, default)
        if not isinstance(found, str) or (default is None and not found.strip()):
            raise self._wrong(name, "a text that is not blank")
        return found

    def count(self, name: str, *, required: bool = True) -> int:
        found = self.value.get(name, None if required else 0)
        if isinstance(found, bool) or not isinstance(found, int) or found < 0:
            raise self._wrong(name, "a whole number, 0 or more")
        return found

    def names(self, name: str, *, required: bool) -> tuple[str, ...]:
        found = self.value.get(name, None if required else [])
        if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
            raise self._wrong(name, "a list of field names")
        return tuple(found)

    def one_of(self, name: str, choices: tuple[Any, ...], *, default: str | None = None) -> Any:
        found = self.value.get(name, default)
        if found not in choices and (found != default or default is None):
            raise self._wrong(name, " or ".join(choices))
        return found

    def _wrong(self, name: str, expected: str) -> TaskDataError:
        found = repr(self.value[name])[:80] if name in self.value else "nothing"
        return TaskDataError(f"{self.where}: {name} is {found}; expected {expected}")


def _fixed_comparison(value: object, kind: Kind, where: str) -> FixedComparison | None:
    if kind == ASSOCIATION:
        return None
    if not isinstance(value, Mapping) or not isinstance(value.get("field"), str):
        raise TaskDataError(f"{where}: expected an object with a field, since the task is not agent_selected")
    if kind == TIME:
        return FixedComparison(value["field"], None, _cutoff(value.get("cutoff"), where))
    groups = value.get("groups")
    if not isinstance(groups, list) or len(groups) != 2:
        raise TaskDataError(f"{where}: groups are two values, not {groups!r}")
    return FixedComparison(value["field"], (groups[0], groups[1]), None)


def _cutoff(value: object, where: str) -> str:
    """A fixed cutoff may carry a time; its first ten characters are the day."""
    day = value[:10] if isinstance(value, str) else ""
    try:
        parsed = date.fromisoformat(day).isoformat()
    except ValueError:
        parsed = ""
    if parsed != day or not day:
        raise TaskDataError(f"{where}: cutoff {value!r} does not begin with a day YYYY-MM-DD")
    return day


def _read_tasks(path: Path) -> tuple[Task, ...]:
    try:
        value = read_json(path)
    except DocumentError as error:
        raise TaskDataError(str(error)) from error
    if not isinstance(value, list) or not value:
        raise TaskDataError(f"{path}: expected a list of at least one task")
    tasks = tuple(read_task(item, where=f"{path}: task {number}") for number, item in enumerate(value, 1))
    seen: set[str] = set()
    for task in tasks:
        if task.task_id in seen:
            raise TaskDataError(f"{path}: task id {task.task_id!r} occurs twice")
        seen.add(task.task_id)
    return tasks


def read_release(path: Path) -> str | None:
    """The version a `release.json` states, None without the file; raises TaskDataError if it states none."""
    if not path.is_file():
        return None
    try:
        value = read_json(path)
    except DocumentError as error:
        raise TaskDataError(str(error)) from error
    version = value.get("version") if isinstance(value, dict) else None
    if not isinstance(version, str | int | float) or isinstance(version, bool):
        raise TaskDataError(f"{path}: expected an object with a version")
    return str(version)


def _listed(tasks: tuple[Task, ...]) -> str:
    names = [task.task_id for task in tasks]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
