"""sound/1 mends what the published metric gets wrong on whole documents: each vector's words as exact expectations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from docassay import Score, score
from docassay.errors import OrderError, SchemaError

COUNTS = ("matched", "misread", "unfound", "fabricated", "invented_item", "invented_field")


def expect(**figures: Any) -> Mapping[str, Any]:
    """Counts that are not named are 0, and no map is skipped."""
    return {**dict.fromkeys(COUNTS, 0), "skipped_open_maps": (), **figures}


# What each vector says in words, and what that makes of its documents.
SOUND: dict[str, tuple[str, Mapping[str, Any]]] = {
    "00": ("accuracy no higher than after the repair", expect(matched=3, misread=5, matched_rows=2)),
    "01": ("accuracy >= 0.375", expect(matched=3, misread=5, matched_rows=2)),
    "02": ("accuracy 1.0", expect(matched=2, matched_rows=2)),
    "03": ("accuracy 1.0 (holds)", expect(matched=2, matched_rows=2)),
    "04": ("accuracy 1.0 (holds)", expect(matched=2, matched_rows=2)),
    "05": ("accuracy 1.0", expect(matched=2)),
    "06": ("accuracy 0.5, misread 1", expect(matched=1, misread=1)),
    "07": ("accuracy 1.0", expect(matched=1)),
    "08": ("accuracy 0.5, unfound 1", expect(matched=1, unfound=1)),
    "09": ("accuracy 1.0, total 2", expect(matched=2)),
    "10": ("accuracy 0.5", expect(matched=1, misread=1)),
    "11": ("accuracy 1.0, total 2", expect(matched=2)),
    "12": ("total 1, misread 1", expect(misread=1)),
    "13": ("fabricated 1", expect(matched=1, fabricated=1)),
    "14": ("skipped_open_maps ['m'], accuracy 1.0", expect(matched=1, skipped_open_maps=("m",))),
    "15": ("fabricated 1", expect(matched=1, fabricated=1)),
    "16": ("fabricated 1", expect(matched=1, fabricated=1)),
    "17": ("skipped", expect(skipped_open_maps=("o",))),
    "18": ("no error", expect()),
    "19": ("accuracy 1.0", expect(matched=1)),
    "20": ("accuracy 1.0", expect(matched=1)),
    "21": ("accuracy 1.0", expect(matched=1)),
    "23": ("fabricated 1", expect(fabricated=1)),
    "24": ("no error", expect()),
    "26": ("invented_item 2", expect(invented_item=2)),
    "27": ("invented_item 2 (holds)", expect(matched=2, invented_item=2, matched_rows=1)),
    "28": ("invented_item 1", expect(invented_item=1)),
    "29": ("invented_item 1", expect(matched=1, invented_item=1)),
    "30": ("scored", expect(unfound=1)),
    "31": ("accuracy 1.0", expect(matched=1)),
    "32": ("1.0 or left out", expect()),
    "33": ("0.0", expect(fabricated=1)),
    "34": ("same list for both orders", expect(matched=2, matched_rows=2, skipped_open_maps=("r[*].m",))),
    "35": ("same list for both orders", expect(matched=2, matched_rows=2, skipped_open_maps=("r[*].m",))),
    "36": ("two distinguishable names", expect(skipped_open_maps=("a.b", '["a.b"]'))),
}
REFUSED: dict[str, tuple[str, type[Exception], str]] = {
    "22": ("an error that says what is missing", SchemaError, r"\$ref '#/\$defs/nope' leads nowhere: .*'\$defs'"),
    "25": ("an error, or the schema's authority", OrderError, r"'w'"),
}


@pytest.fixture(scope="module")
def cases(shared_dir: Path) -> dict[str, dict[str, Any]]:
    path = shared_dir / "vectors" / "extraction" / "sound_documents.json"
    return {case["id"].removeprefix("sound-doc-"): case for case in json.loads(path.read_text(encoding="utf-8"))}


def scored(case: dict[str, Any], metric: str) -> Score:
    given = case["input"]
    return score(given["pred"], given["gold"], given["schema"], metric=metric, order_matters=given["order_matters"])


def test_every_vector_has_an_expectation(cases: dict[str, dict[str, Any]]) -> None:
    words = {number: told[0] for number, told in (SOUND | REFUSED).items()}
    assert {number: case["expected_in_words"] for number, case in cases.items()} == words


@pytest.mark.parametrize("number", sorted(SOUND))
def test_sound(cases: dict[str, dict[str, Any]], number: str) -> None:
    expected = SOUND[number][1]
    result = scored(cases[number], "sound/1")
    assert {name: getattr(result.counts, name) for name in COUNTS} == {name: expected[name] for name in COUNTS}
    assert result.skipped_open_maps == expected["skipped_open_maps"]
    assert result.matched_rows == expected.get("matched_rows", 0)
    total = sum(expected[name] for name in COUNTS)
    assert result.counts.total == total
    assert result.accuracy == (expected["matched"] / total if total else None)
    assert result.status == ("scored" if total else "nothing_to_score")


@pytest.mark.parametrize("number", sorted(REFUSED))
def test_what_sound_refuses(cases: dict[str, dict[str, Any]], number: str) -> None:
    _, kind, told = REFUSED[number]
    with pytest.raises(kind, match=told):
        scored(cases[number], "sound/1")


def test_omni(cases: dict[str, dict[str, Any]]) -> None:
    """The published metric says what the vectors say it says, errors included."""
    wrong = {}
    for number, case in cases.items():
        expected = case["omni"]
        if isinstance(expected, str):
            with pytest.raises(ValueError, match=r"\S") as raised:
                scored(case, "omni/1")
            assert expected.startswith("ValueError")
            assert isinstance(raised.value, SchemaError | OrderError)
            continue
        found = {**scored(case, "omni/1").as_dict()}
        found = {name: list(found[name]) if isinstance(found[name], tuple) else found[name] for name in expected}
        if found != expected:
            wrong[number] = (found, expected)
    assert wrong == {}


def test_repairing_the_typo_does_not_lower_accuracy(cases: dict[str, dict[str, Any]]) -> None:
    """The pair of documents that shows the published metric's fault: there 3/8 turns into 4/12."""
    before, after = (scored(cases[number], "sound/1").accuracy for number in ("00", "01"))
    assert before is not None
    assert after is not None
    assert before <= after
    published = [scored(cases[number], "omni/1").accuracy for number in ("00", "01")]
    assert published == [3 / 8, 4 / 12]
