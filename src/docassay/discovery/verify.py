"""Decides whether a data folder is whole; tells every problem of its tasks, corpora, release and manifest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from docassay.core.digest import digest_file
from docassay.discovery.corpus import corpus_file, read_corpus
from docassay.discovery.strict_json import read_json
from docassay.discovery.submission_folder import answer_file
from docassay.discovery.tasks import MANIFEST_FILE, RELEASE_FILE, TASKS_FILE, Task, read_release, read_task
from docassay.errors import DocumentError, TaskDataError

__all__ = ["DataReport", "Problem", "TaskReport", "verify_data"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong: the file (relative to the folder), the task it concerns if it is one's, and what is wrong."""

    file: str
    task_id: str | None
    message: str


@dataclass(frozen=True, slots=True)
class TaskReport:
    """One readable task: documents found in its corpus (None if that cannot be read), and whether all is right."""

    task_id: str
    source: str
    kind: str
    documents: int | None
    ok: bool


@dataclass(frozen=True, slots=True)
class DataReport:
    """What was found in a data folder."""

    root: Path
    release: str | None
    tasks: tuple[TaskReport, ...]
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "data": str(self.root),
            "ok": self.ok,
            "release": self.release,
            "tasks": [asdict(task) for task in self.tasks],
            "problems": [asdict(problem) for problem in self.problems],
        }


def verify_data(root: Path | str, *, on_task: Callable[[str], None] = lambda task_id: None) -> DataReport:
    """Check checksums, counts and identifiers of a data folder; `on_task` is called before each task's corpus is read.

    Raises TaskDataError only if the folder has no list of tasks at all.
    """
    folder = Path(root)
    values = _task_values(folder)
    problems: list[Problem] = []
    tasks = _tasks(values, problems)
    corpora = _Corpora(folder, problems)
    reports = []
    for task in tasks:
        on_task(task.task_id)
        before = len(problems)
        documents = corpora.check(task)
        reports.append(TaskReport(task.task_id, task.source, task.kind, documents, len(problems) == before))
    release = _release(folder, problems)
    _check_manifest(folder, problems)
    return DataReport(folder, release, tuple(reports), tuple(problems))


def _task_values(folder: Path) -> list[Any]:
    path = folder / TASKS_FILE
    if not path.is_file():
        raise TaskDataError(f"{folder} is no data folder: it has no {TASKS_FILE}")
    try:
        values = read_json(path)
    except DocumentError as error:
        raise TaskDataError(str(error)) from error
    if not isinstance(values, list) or not values:
        raise TaskDataError(f"{path}: expected a list of at least one task")
    return values


def _tasks(values: Iterable[Any], problems: list[Problem]) -> list[Task]:
    tasks: dict[str, Task] = {}
    for number, value in enumerate(values, 1):
        try:
            task = read_task(value, where=f"task {number}")
            answer_file(task.task_id)
        except TaskDataError as error:
            problems.append(Problem(TASKS_FILE, _id_of(value), str(error)))
            continue
        if task.task_id in tasks:
            problems.append(Problem(TASKS_FILE, task.task_id, f"task {number}: this task id came before"))
        tasks.setdefault(task.task_id, task)
    return list(tasks.values())


def _id_of(value: Any) -> str | None:
    task_id = value.get("task_id") if isinstance(value, dict) else None
    return task_id if isinstance(task_id, str) else None


class _Corpora:
    """Checks corpora, each file once however many tasks share it; problems of a file are told for each of its tasks."""

    def __init__(self, folder: Path, problems: list[Problem]) -> None:
        self.folder = folder
        self.problems = problems
        self.digests: dict[Path, str] = {}
        self.counts: dict[Path, int | str] = {}

    def check(self, task: Task) -> int | None:
        """The number of documents found, None if the corpus cannot be read."""
        try:
            path = corpus_file(self.folder, task)
        except TaskDataError as error:
            self._tell(task, str(error))
            return None
        if path not in self.digests:
            self.digests[path] = digest_file(path)
            self.counts[path] = _count(path)
        if self.digests[path] != task.corpus_sha256:
            self._tell(task, f"SHA-256 is {self.digests[path]}, the task says {task.corpus_sha256}")
        count = self.counts[path]
        if isinstance(count, str):
            self._tell(task, count)
            return None
        if count != task.n_documents:
            self._tell(task, f"{count} documents, the task says {task.n_documents}")
        return count

    def _tell(self, task: Task, message: str) -> None:
        self.problems.append(Problem(task.corpus_path, task.task_id, message))


def _count(path: Path) -> int | str:
    """Documents in a corpus, or what is wrong with it."""
    try:
        return len(read_corpus(path))
    except TaskDataError as error:
        return str(error).removeprefix(f"{path}: ")


def _release(folder: Path, problems: list[Problem]) -> str | None:
    path = folder / RELEASE_FILE
    if not path.is_file():
        problems.append(Problem(RELEASE_FILE, None, "there is no such file, so that the release is unknown"))
        return None
    try:
        return read_release(path)
    except TaskDataError as error:
        problems.append(Problem(RELEASE_FILE, None, str(error).removeprefix(f"{path}: ")))
        return None


def _check_manifest(folder: Path, problems: list[Problem]) -> None:
    """Every file that the manifest names has its SHA-256; a folder without a manifest is fine."""
    path = folder / MANIFEST_FILE
    if not path.is_file():
        return
    try:
        entries = read_json(path)
    except DocumentError as error:
        problems.append(Problem(MANIFEST_FILE, None, str(error).removeprefix(f"{path}: ")))
        return
    if not isinstance(entries, dict):
        problems.append(Problem(MANIFEST_FILE, None, "expected an object of paths and SHA-256 digests"))
        return
    for name, expected in entries.items():
        message = _check_entry(folder, name, expected)
        if message:
            problems.append(Problem(name, None, message))


def _check_entry(folder: Path, name: str, expected: object) -> str:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        return f"{MANIFEST_FILE} names a file outside the folder"
    if not path.is_file():
        return f"{MANIFEST_FILE} names it, but it does not exist"
    found = digest_file(path)
    return "" if found == expected else f"SHA-256 is {found}, {MANIFEST_FILE} says {expected}"
