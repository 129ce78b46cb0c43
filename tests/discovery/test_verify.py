"""Verification lists everything that is wrong with a data folder."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from docassay.discovery.simulate.write import simulate
from docassay.discovery.tasks import load_data
from docassay.discovery.verify import verify_data
from docassay.errors import TaskDataError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return simulate(tmp_path / "data", tasks=3, documents=200).data


def test_whole_data_have_no_problem(folder: Path) -> None:
    seen: list[str] = []
    report = verify_data(folder, on_task=seen.append)
    assert report.ok
    assert [task.documents for task in report.tasks] == [200] * 3
    assert seen == [task.task_id for task in load_data(folder).tasks]
    assert report.as_dict()["ok"] is True


def test_every_problem_is_listed(folder: Path) -> None:
    tasks = json.loads((folder / "tasks.json").read_text())
    paths = [folder / task["corpus_path"] for task in tasks]
    paths[0].write_bytes(gzip.compress(gzip.decompress(paths[0].read_bytes()) * 2))
    paths[1].unlink()
    tasks[2]["n_documents"] = 7
    tasks.append({"task_id": "broken"})
    tasks.append(tasks[2])
    (folder / "tasks.json").write_text(json.dumps(tasks))
    (folder / "release.json").write_text("{}")
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "../outside": "x", "absent": "y"}))
    told = [f"{problem.file} {problem.task_id} {problem.message}" for problem in verify_data(folder).problems]
    wanted = {
        "broken": "task 4 'broken': kind is nothing",
        "twice": "this task id came before",
        "checksum": "SHA-256 is",
        "repeated": "came before",
        "absent corpus": "does not exist",
        "count": "200 documents, the task says 7",
        "release": "release.json None expected an object with a version",
        "outside": "../outside None manifest.json names a file outside the folder",
        "absent": "absent None manifest.json names it, but it does not exist",
        "manifest checksum": "tasks.json None SHA-256 is",
    }
    missing = {name for name, part in wanted.items() if not any(part in line for line in told)}
    assert not missing, told


def test_a_folder_without_tasks_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TaskDataError, match="no data folder"):
        verify_data(tmp_path)


def test_a_release_and_a_manifest_may_be_absent(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    assert verify_data(folder).ok
    (folder / "release.json").unlink()
    assert [problem.file for problem in verify_data(folder).problems] == ["release.json"]
