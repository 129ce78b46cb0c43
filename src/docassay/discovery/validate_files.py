"""Decides which file is whose answer: validates one submission file, or a folder with one file per task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docassay.core.filenames import id_of
from docassay.discovery.corpus import load_corpus
from docassay.discovery.strict_json import parse_json
from docassay.discovery.submission_folder import submission_path
from docassay.discovery.tasks import Task, TaskData
from docassay.discovery.validate import Validation, validate_submission
from docassay.errors import DocumentError, TaskDataError

__all__ = ["FileValidation", "validate_file", "validate_folder", "validate_text"]


@dataclass(frozen=True, slots=True)
class FileValidation:
    """The outcome for one task: its file, and the validation; None where there is no file."""

    task_id: str
    file: str
    validation: Validation | None

    @property
    def status(self) -> str:
        """valid, abstained, invalid or missing."""
        if self.validation is None:
            return "missing"
        if not self.validation.valid:
            return "invalid"
        assert self.validation.submission is not None
        return "abstained" if self.validation.submission.abstains else "valid"

    def as_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        head = {"task_id": self.task_id, "file": self.file, "status": self.status}
        return head if self.validation is None else {**head, **self.validation.as_dict()}


def validate_folder(
    data: TaskData,
    folder: Path,
    *,
    task_ids: tuple[str, ...] = (),
    on_task: Callable[[str], None] = lambda task_id: None,
) -> tuple[FileValidation, ...]:
    """One outcome per task (all of them, or those named), in the order of the tasks."""
    if not folder.is_dir():
        raise TaskDataError(f"{folder} is no folder")
    results = []
    for task in data.select(task_ids):
        on_task(task.task_id)
        path = submission_path(folder, task.task_id)
        validation = _validated(path.read_bytes(), task, data) if path.is_file() else None
        results.append(FileValidation(task.task_id, str(path), validation))
    return tuple(results)


def validate_file(data: TaskData, path: Path, *, task_id: str | None = None) -> FileValidation:
    """One submission file; its task is `task_id`, or the one it names, or the one that its file name stands for.

    Raises TaskDataError if the file cannot be read, or no task can be told.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise TaskDataError(f"{path}: cannot be read: {error.strerror or error}") from error
    return validate_text(data, text, where=str(path), task_id=task_id)


def validate_text(data: TaskData, text: bytes, *, where: str, task_id: str | None = None) -> FileValidation:
    """As `validate_file`, for text that is already read; `where` is its file name, or what else to call it."""
    task = data.task(task_id) if task_id is not None else _task_of(data, text, where)
    return FileValidation(task.task_id, where, _validated(text, task, data))


def _validated(text: bytes, task: Task, data: TaskData) -> Validation:
    return validate_submission(text, task, load_corpus(data, task))


def _task_of(data: TaskData, text: bytes, where: str) -> Task:
    known = {task.task_id: task for task in data.tasks}
    for candidate in (_named_inside(text), id_of(Path(where).stem)):
        if candidate in known:
            return known[candidate]
    if len(known) == 1:
        return data.tasks[0]
    raise TaskDataError(f"{where} names none of the {len(known)} tasks of {data.root}; say which one it answers")


def _named_inside(text: bytes) -> str:
    try:
        value = parse_json(text, where="submission")
    except DocumentError:
        return ""
    named = value.get("task_id") if isinstance(value, dict) else None
    return named if isinstance(named, str) else ""
