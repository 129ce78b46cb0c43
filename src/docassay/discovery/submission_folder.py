"""Decides where the submissions of one run lie in its folder.

run.json                    what was asked: tasks, command, track, limits, selection
{task}.json                 one answer per task, as the agent gave it
outcomes/{task}.json        how each task ended
logs/{task}.stderr.txt      what the agent told while it worked, bounded
logs/{task}.stdout.txt      the beginning of an answer that could not be kept
"""

from __future__ import annotations

from pathlib import Path

from docassay.core.filenames import safe_name
from docassay.errors import TaskDataError

__all__ = ["RUN_RECORD", "answer_file", "log_file", "outcome_file", "output_file", "submission_path"]

RUN_RECORD = "run.json"


def submission_path(folder: Path, task_id: str) -> Path:
    """The file of a task's answer, whether it exists or not."""
    return folder / answer_file(task_id)


def answer_file(task_id: str) -> str:
    """The name of a task's answer. Raises TaskDataError for an id whose file would be the run's record."""
    name = f"{safe_name(task_id)}.json"
    if name.lower() == RUN_RECORD:
        raise TaskDataError(f"a task cannot have the id {task_id!r}: {RUN_RECORD} is the run's own record")
    return name


def outcome_file(task_id: str) -> str:
    """The name of the record of how a task ended."""
    return f"outcomes/{safe_name(task_id)}.json"


def log_file(task_id: str) -> str:
    """The name of a task's log."""
    return f"logs/{safe_name(task_id)}.stderr.txt"


def output_file(task_id: str) -> str:
    """The name of what a failed agent had written to stdout."""
    return f"logs/{safe_name(task_id)}.stdout.txt"
