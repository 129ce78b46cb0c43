"""A simulation is what it says: one seed one result, effects that are there, labels that are true of the texts."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from docassay.core.digest import digest_file
from docassay.discovery.corpus import Corpus, load_corpus
from docassay.discovery.simulate.effects import DESIGNS
from docassay.discovery.simulate.layout import Planted, labels_file, load_labels, load_planted, submission_file
from docassay.discovery.simulate.submissions import QUALITIES
from docassay.discovery.simulate.worlds import load_worlds
from docassay.discovery.simulate.write import MIN_DOCUMENTS, simulate
from docassay.discovery.strict_json import read_json
from docassay.discovery.tasks import TaskData, load_data
from docassay.discovery.validate import validate_submission
from docassay.discovery.verify import verify_data
from docassay.errors import ArgumentValueError, TaskDataError


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[TaskData, Planted]:
    done = simulate(tmp_path_factory.mktemp("made") / "data", tasks=10, documents=800, seed=3)
    return load_data(done.data), load_planted(done.planted)


@pytest.fixture(scope="module")
def corpora(made: tuple[TaskData, Planted]) -> dict[str, Corpus]:
    return {task.task_id: load_corpus(made[0], task) for task in made[0].tasks}


def digests(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): digest_file(path) for path in folder.rglob("*") if path.is_file()}


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        simulate(tmp_path / name, tasks=3, documents=200, seed=5, pool=10)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    assert digests(tmp_path / "one-planted") == digests(tmp_path / "two-planted")
    simulate(tmp_path / "three", tasks=3, documents=200, seed=6)
    assert digests(tmp_path / "three")["tasks.json"] != digests(tmp_path / "one")["tasks.json"]


def test_answers_are_apart_from_what_agents_see(made: tuple[TaskData, Planted]) -> None:
    data, planted = made
    assert not planted.root.is_relative_to(data.root)
    everything = b"".join(path.read_bytes() for path in data.root.rglob("*.json"))
    for word in (b"planted", b"states", b"positive", b"inclusion"):
        assert word not in everything
    assert all(planted.root.name not in str(path) for path in data.root.rglob("*"))


def test_the_data_are_whole_and_cover_every_design_and_world(made: tuple[TaskData, Planted]) -> None:
    data, planted = made
    assert verify_data(data.root).ok
    assert {task.design for task in planted.tasks.values()} == {design.name for design in DESIGNS}
    assert {task.source for task in data.tasks} == {world.source for world in load_worlds()}
    assert list(planted.tasks) == [task.task_id for task in data.tasks]


def test_labels_cover_every_document_and_condition(made: tuple[TaskData, Planted], corpora: dict[str, Corpus]) -> None:
    _, planted = made
    for task_id, corpus in corpora.items():
        labels = load_labels(planted.root, task_id)
        assert tuple(labels) == corpus.doc_ids
        for states in labels.values():
            assert states.keys() == planted.tasks[task_id].conditions.keys()
            assert set(states.values()) <= {"positive", "negative", "unknown"}


def test_labels_are_true_of_the_texts(made: tuple[TaskData, Planted], corpora: dict[str, Corpus]) -> None:
    """A sentence that tells of a condition stands in exactly the texts that have it so labelled."""
    _, planted = made
    for world in load_worlds():
        for task_id, corpus in corpora.items():
            if not task_id.startswith(world.source):
                continue
            labels = load_labels(planted.root, task_id)
            for condition in world.conditions:
                name = condition.planted.condition_id
                fixed = {text for text in condition.sentences["positive"] if "{" not in text}
                open_ = {text for text in condition.sentences["unclear"] if "{" not in text}
                for doc_id, text in zip(corpus.doc_ids, corpus.texts, strict=True):
                    if any(sentence in text for sentence in fixed):
                        assert labels[doc_id][name] == "positive", text
                    elif any(sentence in text for sentence in open_):
                        assert labels[doc_id][name] == "unknown", text
                    elif condition.keyword not in text.lower() and labels[doc_id][name] == "negative":
                        assert not any(sentence in text for sentence in fixed | open_)


def test_texts_differ_and_are_varied(corpora: dict[str, Corpus]) -> None:
    for corpus in corpora.values():
        assert len(set(corpus.texts)) == len(corpus)
        assert len({text.split(".")[0] for text in corpus.texts}) > 20


def test_the_planted_effects_are_there(made: tuple[TaskData, Planted]) -> None:
    for task in made[1].tasks.values():
        numbers = task.true_statistics
        within = numbers["robustness_entity_id_standardized_delta_pp"]
        assert within is not None
        if task.design == "association":
            difference, lift = numbers["conditional_difference_pp"], numbers["lift"]
            assert difference is not None
            assert lift is not None
            assert difference > 25
            assert lift > 1.4
            continue
        crude = numbers["delta_known_pp"]
        assert crude is not None
        if task.design == "composition_reversal":
            assert crude > 3
            assert within < -3
        elif task.design == "contradicted":
            assert abs(crude) < 10
        else:
            assert crude > 10
            assert within > 8
        if task.design == "unknowns":
            one, zero = numbers["group1_unknown_n"], numbers["group0_unknown_n"]
            assert one is not None
            assert zero is not None
            assert one > 2 * zero


def test_every_quality_is_as_valid_as_it_says(made: tuple[TaskData, Planted], corpora: dict[str, Corpus]) -> None:
    data, planted = made
    assert tuple(planted.qualities) == tuple(quality.name for quality in QUALITIES)
    for task in data.tasks:
        for quality in planted.qualities.values():
            text = submission_file(planted.root, quality.name, task.task_id).read_bytes()
            found = validate_submission(text, task, corpora[task.task_id])
            expected = [] if quality.fault is None else [quality.fault]
            assert [str(fault.code) for fault in found.faults] == expected, (task.task_id, quality.name)
            assert found.valid is quality.validity


def test_flawed_labels_disagree_with_the_truth_as_told(made: tuple[TaskData, Planted]) -> None:
    """Right labels are all true; noise grows from mild to severe; what is gamed stays below the gates' notice."""
    data, planted = made
    for task in data.tasks:
        names = ("right", "below-threshold", "mild-noise", "severe-noise")
        rates = {name: disagreement(planted, task.task_id, name) for name in names}
        assert rates["right"] == 0
        assert rates["below-threshold"] <= 0.1
        assert 0.1 < rates["mild-noise"] < 0.25
        assert all(low < high for low, high in pairwise((rates["right"], rates["mild-noise"], rates["severe-noise"])))


def disagreement(planted: Planted, task_id: str, quality: str) -> float:
    """Share of known labels of the submission's last condition that the truth contradicts."""
    labels = load_labels(planted.root, task_id)
    finding = read_json(submission_file(planted.root, quality, task_id))["findings"][0]
    name = finding["definitions"][-1]["condition_id"]
    (lists,) = [item for item in finding["assignments"] if item["condition_id"] == name]
    claimed = {doc_id: state for state in ("positive", "negative") for doc_id in lists[f"{state}_doc_ids"]}
    known = {doc_id: state for doc_id, state in claimed.items() if labels[doc_id][name] != "unknown"}
    return sum(labels[doc_id][name] != state for doc_id, state in known.items()) / len(known)


def test_impossible_sizes_and_folders_are_refused(tmp_path: Path) -> None:
    for wrong in ({"tasks": 0}, {"documents": MIN_DOCUMENTS - 1}, {"pool": -1}):
        with pytest.raises(ArgumentValueError):
            simulate(tmp_path / "data", **wrong)  # type: ignore[arg-type]
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(TaskDataError, match="not an empty folder"):
        simulate(tmp_path / "full")


def test_a_pool_is_unlabeled_text(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    done = simulate(tmp_path / "data", tasks=1, documents=200, pool=30)
    table = parquet.read_table(done.data / "learning" / "pool.parquet")
    assert table.num_rows == 30
    assert {"doc_id", "text"} <= set(table.column_names)
    known = load_data(done.data)
    assert known.learning_folder == done.data / "learning"


def test_a_folder_without_answers_is_told(tmp_path: Path) -> None:
    with pytest.raises(TaskDataError, match=r"planted\.json"):
        load_planted(tmp_path)
    with pytest.raises(TaskDataError, match="cannot be read"):
        load_labels(tmp_path, "nothing")
    (tmp_path / "planted.json").write_text('{"format": 99}')
    with pytest.raises(TaskDataError, match="format 99"):
        load_planted(tmp_path)
    assert labels_file(tmp_path, "a").name == "a.jsonl.gz"
