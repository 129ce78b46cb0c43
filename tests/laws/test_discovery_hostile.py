"""Nothing in a submission crashes the validator: the answer is always valid, or invalid with reasons.

Three kinds of input: arbitrary JSON and bytes, valid submissions with any part replaced by anything, and a few giants.
"""

from __future__ import annotations

import contextlib
import copy
import json
import random
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docassay.discovery.corpus import corpus_from_rows
from docassay.discovery.faults import Code, Fault
from docassay.discovery.simulate.scene import make_scene, task_value
from docassay.discovery.simulate.submissions import QUALITIES, honest_finding, make_submission
from docassay.discovery.statistics import expected_statistics
from docassay.discovery.submission import parse_submission
from docassay.discovery.tasks import read_task
from docassay.discovery.validate import Validation, validate_submission
from docassay.errors import TaskDataError

SCENES = [make_scene(number, 60, 0) for number in range(3)]
TASKS = [
    read_task({**task_value(scene, "corpora/x.jsonl.gz", "0" * 64), "min_population_n": 5, "min_group_n": 2})
    for scene in SCENES
]
VALID = [
    {"task_id": task.task_id, "findings": [honest_finding(scene, task)], "abstention_reason": ""}
    for scene, task in zip(SCENES, TASKS, strict=True)
]

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**30, 10**400, -(10**400), 2**63, 2**64, -1, 0])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(
        ["", " ", "\u3000", "\x00", "é", "e\u0301", "😀", "שלום", "\u202e", "rating", "eq", "in", "timestamp"]
    )
)
ANYTHING = st.recursive(
    LEAVES,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=8,
)


def answered(validation: Validation) -> None:
    """Whatever was checked, the answer is whole: valid with a record, or faults that can be written down."""
    if validation.valid:
        assert validation.submission is not None
        assert validation.submission.digest
    else:
        assert validation.faults
    for fault in validation.faults:
        assert isinstance(fault, Fault)
        assert fault.code in set(Code)
        assert len(fault.found) < 1000
        assert len(fault.expected) < 2000
    json.dumps(validation.as_dict(), allow_nan=False).encode("utf-8")
    str([str(fault) for fault in validation.faults]).encode("utf-8", "surrogatepass")


def checked(source: object, which: int) -> Validation:
    validation = validate_submission(source, TASKS[which], SCENES[which].corpus)
    answered(validation)
    return validation


def test_the_bases_are_valid() -> None:
    for which, value in enumerate(VALID):
        assert checked(value, which).valid, [str(fault) for fault in checked(value, which).faults]


@given(st.binary(max_size=200), st.integers(0, 2))
def test_any_bytes(data: bytes, which: int) -> None:
    assert not checked(data, which).valid


@given(st.text(max_size=200), st.integers(0, 2))
def test_any_text(text: str, which: int) -> None:
    assert not checked(text, which).valid


@given(ANYTHING, st.integers(0, 2))
def test_any_value(value: object, which: int) -> None:
    checked(value, which)


@given(st.data())
def test_any_change_at_any_place(data: st.DataObject) -> None:
    which = data.draw(st.integers(0, 2))
    value = copy.deepcopy(VALID[which])
    for _ in range(data.draw(st.integers(1, 4))):
        mutate(value, data)
    checked(value, which)
    checked(json.dumps(value, ensure_ascii=data.draw(st.booleans())), which)


def mutate(value: dict[str, Any], data: st.DataObject) -> None:
    """Replace, remove, repeat, rename or wrap one node, wherever it is."""
    places = list(nodes(value))
    parent, key = data.draw(st.sampled_from(places))
    how = data.draw(st.sampled_from(["replace", "swap", "remove", "repeat", "rename", "wrap", "nudge"]))
    if how == "replace":
        parent[key] = data.draw(ANYTHING)
    elif how == "swap":
        other, place = data.draw(st.sampled_from(places))
        parent[key] = copy.deepcopy(other[place])
    elif how == "remove":
        del parent[key]
    elif how == "repeat" and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    elif how == "rename" and isinstance(parent, dict):
        parent[data.draw(st.text())] = parent.pop(key)
    elif how == "wrap":
        parent[key] = data.draw(st.sampled_from([[parent[key]], {"x": parent[key]}]))
    elif how == "nudge" and isinstance(parent[key], int | float):
        number = parent[key]
        as_float = float(number) if abs(number) < 2**1000 else number  # an earlier change may have made it huge
        parent[key] = data.draw(st.sampled_from([number + 1, -number, as_float, 10**400]))


def nodes(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a JSON value; of long lists the first few."""
    children = value.items() if isinstance(value, dict) else enumerate(value[:6]) if isinstance(value, list) else ()
    for key, child in list(children):
        yield value, key
        yield from nodes(child)


WRONG = [None, True, 0, -1, 1.5, 10**400, "", "x", "😀", [], [[]], [None], {}, {"a": 1}, [1] * 30, "x" * 5000]


def test_every_wrong_type_at_every_place() -> None:
    """Not at random: each of the values above at each place of each base."""
    for which, base in enumerate(VALID):
        for path in sorted(set(paths(base)), key=str):
            for wrong in WRONG:
                value = copy.deepcopy(base)
                node: Any = value
                for step in path[:-1]:
                    node = node[step]
                node[path[-1]] = wrong
                checked(value, which)


def paths(value: Any, trail: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, child in children:
        if len(trail) > 1 and trail[-1] == "statistics" and "robustness" in key:
            continue
        yield (*trail, key)
        yield from paths(child, (*trail, key))


@given(st.data())
def test_a_draft_is_completed_or_refused(data: st.DataObject) -> None:
    which = data.draw(st.integers(0, 2))
    value = copy.deepcopy(VALID[which])
    for _ in range(data.draw(st.integers(1, 3))):
        mutate(value, data)
    findings = value.get("findings")
    for finding in findings if isinstance(findings, list) else []:
        with contextlib.suppress(TaskDataError):
            assert expected_statistics(finding, TASKS[which], SCENES[which].corpus)


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=30), st.data())
def test_quotes_in_any_script(text: str, data: st.DataObject) -> None:
    """The slice in code points is accepted, any other text of the same length is not."""
    scene, task = SCENES[0], TASKS[0]
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    value = copy.deepcopy(VALID[0])
    (finding,) = value["findings"]
    rows = [{**row, "text": text} if row["doc_id"] == scene.rows[0]["doc_id"] else dict(row) for row in scene.rows]
    doc_id = rows[0]["doc_id"]
    finding["evidence"] = [row for row in finding["evidence"] if row["doc_id"] != doc_id]
    finding["evidence"].append(
        {"doc_id": doc_id, "start": start, "end": end, "quote": text[start:end], "role": "context"}
    )
    corpus = corpus_from_rows(rows)
    told = validate_submission(value, task, corpus).faults
    assert "quote_offset" not in [fault.code for fault in told]
    finding["evidence"][-1]["quote"] = "\U0010ffff" * (end - start)
    wrong = text[start:end] != "\U0010ffff" * (end - start)
    told = validate_submission(value, task, corpus).faults
    assert ("quote_offset" in [fault.code for fault in told]) == wrong


GIANTS = {
    "deep lists": b"[" * 1_000_000,
    "deep objects": b'{"a":' * 200_000,
    "deep and closed": b"[" * 50_000 + b"]" * 50_000,
    "long number": b"[" + b"9" * 10_000_000 + b"]",
    "long exponent": b"[1e999999999]",
    "long key": b'{"' + b"k" * 10_000_000 + b'": 1}',
    "many keys": b"{" + b",".join(b'"%d":0' % number for number in range(300_000)) + b"}",
    "many rows": b'{"findings":[' + b",".join([b"{}"] * 1_000_000) + b"]}",
    "byte order mark": b"\xef\xbb\xbf{}",
    "utf-16": '{"a": 1}'.encode("utf-16"),
    "lone surrogate": b'{"task_id": "\\ud800", "findings": [], "abstention_reason": "x"}',
    "nothing": b"",
}


@pytest.mark.parametrize("name", GIANTS)
def test_giants_are_refused_in_seconds(name: str) -> None:
    began = time.monotonic()
    assert not checked(GIANTS[name], 0).valid
    assert time.monotonic() - began < 20


PLACES = {
    "evidence rows": ("evidence", [{}] * 300_000),
    "empty rows": ("evidence", [None] * 1_000_000),
    "limitations": ("limitations", ["x"] * 1_000_000),
    "filters": ("population", {"filters": [{}] * 300_000}),
    "statistics": ("statistics", {f"s{number}": "x" for number in range(300_000)}),
    "values": ("comparison", {"field": "store", "groups": [[str(number) for number in range(500_000)], ["b"]]}),
    "long text": ("claim", "x" * 10_000_000),
}


@pytest.mark.parametrize("name", PLACES)
def test_giant_parts_are_answered_in_seconds(name: str) -> None:
    place, giant = PLACES[name]
    value = copy.deepcopy(VALID[0])
    value["findings"][0][place] = giant
    began = time.monotonic()
    validation = checked(value, 0)
    assert validation.valid == (name == "long text")
    assert time.monotonic() - began < 20


def test_ten_megabytes_of_ids() -> None:
    value = copy.deepcopy(VALID[0])
    lists = value["findings"][0]["assignments"][0]
    lists["unknown_doc_ids"] = [f"stranger-{number:09d}" for number in range(600_000)]
    text = json.dumps(value)
    assert len(text) > 10_000_000
    began = time.monotonic()
    validation = checked(text, 0)
    (strangers, *_) = [fault for fault in validation.faults if fault.code == "not_a_partition"]
    assert strangers.n_documents == 600_000
    assert time.monotonic() - began < 20


def test_objects_that_are_no_json_are_refused() -> None:
    loop: list[object] = []
    loop.append(loop)
    for value in (
        {1: 2},
        {"a": {1, 2}},
        {"a": b"x"},
        float("nan"),
        {"a": float("inf")},
        loop,
        object(),
        ("a",),
        10**5000,
    ):
        validation = checked(value, 0)
        assert [str(fault.code) for fault in validation.faults] in (["not_json"], ["non_finite_number"], ["wrong_type"])


@settings(max_examples=20)
@given(st.randoms(use_true_random=False))
def test_bytes_of_a_valid_file_changed_anywhere(chance: random.Random) -> None:
    quality = chance.choice([quality for quality in QUALITIES if quality.validity])
    data = bytearray(make_submission(quality, SCENES[0], TASKS[0], np.random.default_rng(0)))
    for _ in range(chance.randint(1, 5)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    checked(bytes(data), 0)


@given(ANYTHING)
def test_reading_structure_alone_never_raises(value: object) -> None:
    draft = parse_submission(value, TASKS[1])
    assert (draft.submission is None) == bool(draft.faults)
