"""Every golden value vector agrees: keys, routes, classes and pairs under omni/1, pairs under sound/1."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from docassay.extraction.values import rules

OMNI, SOUND = rules("omni/1"), rules("sound/1")


def _load(shared_dir: Path, name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((shared_dir / "vectors/extraction" / f"{name}.json").read_text())
    assert cases
    return cases


def _wrong_key(raw: object, expected: dict[str, Any]) -> str | None:
    reading = OMNI.read(raw)
    seen = (OMNI.canon(raw), OMNI.states_nothing(raw), reading.route)
    wanted = (expected["canon"], expected["absent"], expected.get("route", reading.route))
    return None if seen == wanted else f"{raw!r:.60}: {seen!r:.200} instead of {wanted!r:.200}"


def test_keys(shared_dir: Path) -> None:
    cases = _load(shared_dir, "value_keys")
    assert [wrong for case in cases if (wrong := _wrong_key(case["input"], case["expected"]))] == []


def test_classes_hold_together_and_apart(shared_dir: Path) -> None:
    cases = _load(shared_dir, "value_classes")
    keys = [{OMNI.canon(raw) for raw in case["input"]} for case in cases]
    assert [case["id"] for case, key in zip(cases, keys, strict=True) if key != {case["expected"]["canon"]}] == []
    assert len(set().union(*keys)) == len(cases)


def test_pairs(shared_dir: Path) -> None:
    cases = _load(shared_dir, "value_pairs")
    assert [case["id"] for case in cases if _equal(OMNI, case["input"]) != case["expected"]["equal"]] == []


def test_literals(shared_dir: Path) -> None:
    wrong = []
    for case in _load(shared_dir, "value_literals"):
        text = case["input_text"]
        if isinstance(text, dict):
            pair = {side: json.loads(source) for side, source in text.items()}
            wrong += [case["id"]] if _equal(OMNI, pair) != case["expected"]["equal"] else []
        elif problem := _wrong_key(json.loads(text), case["expected"]):
            wrong.append(problem)
    assert wrong == []


def test_sound_pairs(shared_dir: Path) -> None:
    cases = _load(shared_dir, "sound_pairs")
    assert [case["id"] for case in cases if _equal(SOUND, case["input"]) != case["expected"]["equal"]] == []
    told = [case for case in cases if "omni" in case]
    assert [case["id"] for case in told if _equal(OMNI, case["input"]) != case["omni"]["equal"]] == []


def _equal(metric: Any, pair: dict[str, object]) -> bool:
    return bool(metric.canon(pair["a"]) == metric.canon(pair["b"]))


@pytest.fixture(scope="module")
def every_value(shared_dir: Path) -> list[object]:
    """All raw values of all vectors, each once (1, 1.0 and true apart)."""
    values: list[object] = [case["input"] for case in _load(shared_dir, "value_keys")]
    values += itertools.chain.from_iterable(case["input"] for case in _load(shared_dir, "value_classes"))
    for name in ("value_pairs", "sound_pairs"):
        values += itertools.chain.from_iterable(case["input"].values() for case in _load(shared_dir, name))
    scalars = [value for value in values if not isinstance(value, (dict, list))]
    return list({(type(value), value): value for value in scalars}.values())


@pytest.mark.parametrize("metric", ["omni/1", "sound/1"])
def test_what_is_told_is_what_scores(metric: str, every_value: list[object]) -> None:
    found = rules(metric)
    for value in every_value:
        reading = found.read(value)
        assert (reading.canonical or "") == found.canon(value), value
        assert (reading.canonical is None) == found.states_nothing(value), value
        assert reading.route, value
        assert all(step.before != step.after and step.sentence for step in reading.steps), value


def test_sound_equality_is_an_equivalence(every_value: list[object]) -> None:
    """Two values are equal exactly when their keys are, so classes partition the values; comparisons agree with it."""
    from docassay import explain

    classes: dict[str, list[object]] = {}
    for value in every_value:
        classes.setdefault(SOUND.canon(value), []).append(value)
    assert sum(map(len, classes.values())) == len(every_value)
    heads = [members[0] for members in classes.values()]
    for members in classes.values():
        for a, b in zip(members, members[1:] + members[:1], strict=True):
            assert explain(a, b, metric="sound/1").equal
            assert explain(b, a, metric="sound/1").equal
    for a, b in itertools.pairwise(heads):
        assert not explain(a, b, metric="sound/1").equal
