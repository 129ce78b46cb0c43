"""Tasks and data folders: what is read, and what is refused and how it is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from docassay.core.digest import digest_object
from docassay.discovery.strict_json import MAX_DEPTH, parse_json, parse_line
from docassay.discovery.tasks import load_data, load_task, load_tasks, read_task
from docassay.errors import DocumentError, TaskDataError

from .conftest import task_value


def write(folder: Path, tasks: Any, **files: Any) -> Path:
    (folder / "tasks.json").write_text(json.dumps(tasks))
    for name, value in files.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    return folder


def test_a_data_folder(tmp_path: Path) -> None:
    values = [task_value("group_difference"), task_value("temporal_change")]
    data = load_data(write(tmp_path, values, release={"version": "1.2"}))
    assert [task.task_id for task in data.tasks] == ["t-group_difference", "t-temporal_change"]
    assert data.release == "1.2"
    assert data.task("t-temporal_change") == load_task(tmp_path, "t-temporal_change")
    assert load_tasks(str(tmp_path)) == data.tasks
    assert data.tasks[0].digest == digest_object(values[0])
    assert data.learning_folder is None
    assert load_data(write(tmp_path, values)).release == "1.2"


def test_selection_keeps_the_files_order(tmp_path: Path) -> None:
    names = ["a", "b", "c", "d"]
    data = load_data(write(tmp_path, [task_value("group_difference", task_id=name) for name in names]))
    assert [task.task_id for task in data.select(("d", "b", "c"), 2)] == ["b", "c"]
    assert [task.task_id for task in data.select()] == names
    with pytest.raises(TaskDataError, match=r"no task .x..*a, b, c, d"):
        data.select(("x",))


@pytest.mark.parametrize(
    ("tasks", "told"),
    [
        ([], "at least one task"),
        ({}, "at least one task"),
        ([1], "task 1.*an object"),
        ([task_value("group_difference"), task_value("group_difference")], "occurs twice"),
        ([task_value("trend")], "kind is 'trend'"),
        ([task_value("group_difference", difficulty="easy")], "difficulty is 'easy'"),
        ([task_value("group_difference", task_id=" ")], "task_id"),
        ([task_value("group_difference", max_findings=True)], "max_findings is True"),
        ([task_value("group_difference", min_group_n=-1)], "min_group_n is -1"),
        ([task_value("group_difference", allowed_metadata_fields="store")], "allowed_metadata_fields"),
        ([task_value("group_difference", corpus_sha256=None)], "corpus_sha256"),
        ([task_value("group_difference", discovery_mode="", difficulty="hard")], "comparison"),
        (
            [task_value("temporal_change", discovery_mode="", comparison={"field": "timestamp", "cutoff": "x"})],
            "cutoff",
        ),
    ],
)
def test_unusable_tasks_are_refused_with_file_task_and_field(tmp_path: Path, tasks: Any, told: str) -> None:
    with pytest.raises(TaskDataError, match=told) as error:
        load_data(write(tmp_path, tasks))
    assert "tasks.json" in str(error.value)


def test_a_folder_without_tasks_is_none(tmp_path: Path) -> None:
    with pytest.raises(TaskDataError, match=r"has no tasks\.json"):
        load_data(tmp_path / "absent")


def test_a_release_without_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TaskDataError, match="version"):
        load_data(write(tmp_path, [task_value("group_difference")], release={}))


@pytest.mark.parametrize(("difficulty", "profile", "audited"), [(None, "standard", False), ("hard", "hard", True)])
def test_older_tasks(difficulty: str | None, profile: str, audited: bool) -> None:
    value = task_value("temporal_change", comparison={"field": "timestamp", "cutoff": "2021-06-01T12:00:00"})
    del value["discovery_mode"], value["difficulty"], value["allowed_metadata_fields"], value["min_group_n"]
    if difficulty:
        value["difficulty"] = difficulty
    task = read_task(value)
    assert (task.profile, task.audited, task.agent_selected) == (profile, audited, False)
    assert task.comparison is not None
    assert task.comparison.cutoff == "2021-06-01"


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", "-Infinity", "1e400", "[1,]", "\ufeff{}", "", '"\\ud800"', "9" * 5000]
)
def test_what_is_not_strict_json(text: str) -> None:
    with pytest.raises(DocumentError, match=r"^here: "):
        parse_json(text, where="here")
    with pytest.raises(DocumentError, match=r"^here: "):
        parse_line(text.encode(), where="here")


def test_depth_is_bounded() -> None:
    assert parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH, where="here")
    for depth in (MAX_DEPTH + 2, 1_000_000):
        with pytest.raises(DocumentError, match="nested deeper"):
            parse_json("[" * depth + "]" * depth, where="here")


def test_long_integers_stay_whole() -> None:
    assert parse_json(str(10**400), where="here") == 10**400
    assert parse_line(b"[18446744073709551616]", where="here") == [2**64]
    assert parse_line(b'{"a": 1.5}', where="here") == {"a": 1.5}
