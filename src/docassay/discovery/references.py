"""Decides which findings a task's authors know of, where a data folder has such a file.

`references.json` is `{"version", "tasks_sha256", "references": [{"task_id", "reference_id", ...}]}`: its version is the
release's, its digest that of `tasks.json`. A judge sees a reference only in a stage of its own, after it has judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docassay.core.digest import digest_file, digest_object
from docassay.discovery.strict_json import read_json
from docassay.discovery.tasks import TaskData
from docassay.errors import DocumentError, TaskDataError

__all__ = ["REFERENCES_FILE", "Reference", "References", "load_references"]

REFERENCES_FILE = "references.json"


@dataclass(frozen=True, slots=True)
class Reference:
    """One known finding: its id, and the whole object that a judge is shown."""

    task_id: str
    reference_id: str
    value: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class References:
    """The references in force, at most one per task.

    sha256: of the file; without a file, the digest of an object that says so and names the release.
    """

    sha256: str
    by_task: Mapping[str, Reference]

    def id_of(self, task_id: str) -> str | None:
        """The id of a task's reference, None where it has none."""
        reference = self.by_task.get(task_id)
        return None if reference is None else reference.reference_id


def load_references(data: TaskData, path: Path | str | None = None) -> References:
    """The references at `path`, else in the data folder, else none.

    Raises:
        TaskDataError: a named file is not there, or is not this release's.
    """
    file = Path(path) if path is not None else data.root / REFERENCES_FILE
    if path is None and not file.is_file():
        absent = {"references": None, "release": data.release, "tasks_sha256": data.tasks_sha256}
        return References(digest_object(absent), {})
    try:
        value = read_json(file)
    except DocumentError as error:
        raise TaskDataError(str(error)) from error
    _check_release(value, data, file)
    by_task: dict[str, Reference] = {}
    for number, row in enumerate(value["references"], 1):
        reference = _reference(row, f"{file}: reference {number}", data)
        if reference.task_id in by_task:
            raise TaskDataError(f"{file}: task {reference.task_id!r} has two references")
        by_task[reference.task_id] = reference
    return References(digest_file(file), by_task)


def _check_release(value: object, data: TaskData, file: Path) -> None:
    if not isinstance(value, Mapping) or not isinstance(value.get("references"), list):
        raise TaskDataError(f"{file}: expected an object with version, tasks_sha256 and a list of references")
    for name, wanted in (("version", data.release), ("tasks_sha256", data.tasks_sha256)):
        if value.get(name) != wanted:
            raise TaskDataError(f"{file}: {name} is {value.get(name)!r}, the data folder's is {wanted!r}")


def _reference(row: object, where: str, data: TaskData) -> Reference:
    if not isinstance(row, Mapping):
        raise TaskDataError(f"{where} is no object")
    task_id, reference_id = row.get("task_id"), row.get("reference_id")
    if not isinstance(task_id, str) or not isinstance(reference_id, str) or not reference_id:
        raise TaskDataError(f"{where}: task_id and reference_id are texts that are not empty")
    data.task(task_id)
    return Reference(task_id, reference_id, row)
