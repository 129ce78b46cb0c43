"""A score's parts agree with each other, and it says what it was made with."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import orjson
import pytest
from hypothesis import given
from tests.helpers.documents import SCHEMA, documents

from docassay import __version__, score
from docassay.errors import ArgumentValueError
from docassay.extraction.metric import COUNT_NAMES, METRIC_NAMES, METRICS
from docassay.extraction.verdicts import VERDICTS

GOLD = {"title": "A", "rows": [{"key": "k1", "value": "1"}, {"key": "k2", "value": "2"}, {"key": "k3"}]}
PREDICTION = {
    "title": "B",
    "rows": [{"key": "k2", "value": "2"}, {"key": "k1", "value": "9", "odd": "x"}, {"key": "z"}],
}


def test_a_score_adds_up() -> None:
    found = score(PREDICTION, GOLD, SCHEMA)
    counts = found.counts
    assert (counts.matched, counts.misread, counts.unfound) == (3, 2, 1)
    assert (counts.invented_item, counts.invented_field, counts.fabricated) == (1, 1, 0)
    assert (counts.gold, counts.asserted, counts.total) == (6, 7, 8)
    assert found.accuracy == 3 / 8
    assert found.precision == 3 / 7
    assert found.recall == 3 / 6
    assert found.f1 == pytest.approx(6 / 13)
    assert found.addresses_found == 5 / 8
    assert found.addresses_read_right == 3 / 5
    assert (found.gt_rows, found.pred_rows, found.matched_rows) == (3, 3, 2)


def test_verdicts_say_where_and_what() -> None:
    found = score(PREDICTION, GOLD, SCHEMA, verdicts=True).verdicts
    assert found is not None
    told = {verdict.address: (verdict.verdict, verdict.gold_raw, verdict.pred_raw) for verdict in found}
    assert told == {
        "rows[0].key": ("matched", "k1", "k1"),
        "rows[0].odd": ("invented_field", None, "x"),
        "rows[0].value": ("misread", "1", "9"),
        "rows[1].key": ("matched", "k2", "k2"),
        "rows[1].value": ("matched", "2", "2"),
        "rows[2].key": ("unfound", "k3", None),
        "rows[p2].key": ("invented_item", None, "z"),
        "title": ("misread", "A", "B"),
    }
    assert [verdict.field for verdict in found][:3] == ["rows[*].key", "rows[*].odd", "rows[*].value"]
    assert score(PREDICTION, GOLD, SCHEMA).verdicts is None


@pytest.mark.parametrize("metric", METRICS)
@given(documents(), documents())
def test_counts_verdicts_and_fields_agree(metric: str, prediction: Any, gold: Any) -> None:
    found = score(prediction, gold, SCHEMA, metric=metric, verdicts=True)
    fields = found.by_field()
    assert found.verdicts is not None
    for name in VERDICTS:
        count = getattr(found.counts, name)
        assert count == sum(verdict.verdict == name for verdict in found.verdicts)
        assert count == sum(getattr(counts, name) for counts in fields.values())
    assert {verdict.field for verdict in found.verdicts} == set(fields)
    assert len({verdict.address for verdict in found.verdicts}) == found.counts.total


def test_a_score_is_plain_json() -> None:
    told = orjson.loads(orjson.dumps(score(PREDICTION, GOLD, SCHEMA, verdicts=True).as_dict()))
    assert {"metric", "signature", "status", *METRIC_NAMES, *COUNT_NAMES, "verdicts"} <= set(told)
    assert told["metric"] == "sound/1"
    assert told["verdicts"][0]["address"] == "rows[0].key"


def test_copies_leave_the_documents_behind() -> None:
    found = score(PREDICTION, GOLD, SCHEMA, verdicts=True)
    for twin in (pickle.loads(pickle.dumps(found)), copy.copy(found)):
        assert twin == found
        assert twin.as_dict() == found.as_dict()
        with pytest.raises(ArgumentValueError, match="by_field"):
            twin.by_field()


def test_nothing_to_score_is_null_not_zero() -> None:
    sound, omni = (score({}, {}, SCHEMA, metric=metric) for metric in ("sound/1", "omni/1"))
    assert sound.status == "nothing_to_score"
    assert sound.accuracy is None
    assert sound.f1 is None
    assert (omni.status, omni.accuracy) == ("scored", 0.0)


def test_an_empty_answer_is_scored() -> None:
    assert score({}, GOLD, SCHEMA).accuracy == 0.0


def test_the_signature_changes_when_and_only_when_a_result_could() -> None:
    def signed(**options: Any) -> str:
        return score(PREDICTION, GOLD, SCHEMA, **options).signature

    plain = signed()
    assert plain == f"sound/1 order:free docassay:{__version__}"
    assert signed(verdicts=True) == plain
    assert signed(order_matters=[]) == plain
    assert score({}, {"title": "other"}, SCHEMA).signature == plain
    different = [
        signed(metric="omni/1"),
        signed(order_matters=["rows"]),
        signed(order_matters=["rows", "grid"]),
        signed(memory_budget=1_000_000),
    ]
    assert len({plain, *different}) == 5
    assert signed(order_matters=["grid", "rows"]) == signed(order_matters=["rows", "grid"])


@pytest.mark.parametrize("metric", METRICS)
def test_beyond_the_memory_budget_the_pairing_says_that_it_is_approximate(metric: str) -> None:
    chance = random.Random(7)
    gold = {"rows": [{"key": chance.choice("abcdefghijklm"), "value": chance.choice("nopqrstuvw")} for _ in range(150)]}
    prediction = {"rows": [{**row, "value": chance.choice("nopqrs")} for row in gold["rows"]]}
    exact = score(prediction, gold, SCHEMA, metric=metric)
    bounded = score(prediction, gold, SCHEMA, metric=metric, memory_budget=100)
    assert (exact.matching_exact, exact.approximated) == (True, ())
    assert (bounded.matching_exact, bounded.approximated) == (False, (150,))
    assert bounded.counts.matched <= exact.counts.matched


def test_rows_that_tell_themselves_apart_need_no_memory() -> None:
    wide = {"rows": [{"key": f"k{number}", "value": "same"} for number in range(300)]}
    assert score(wide, wide, SCHEMA, memory_budget=100).matching_exact


@pytest.mark.parametrize("metric", METRICS)
def test_an_ordered_array_compares_by_position(metric: str) -> None:
    gold, swapped = {"grid": [["a"], ["b"]]}, {"grid": [["b"], ["a"]]}
    assert score(swapped, gold, SCHEMA, metric=metric).accuracy == 1.0
    assert score(swapped, gold, SCHEMA, metric=metric, order_matters=["grid"]).accuracy == 0.0
    found = score({"grid": [["a"], ["b"], ["c"]]}, gold, SCHEMA, metric=metric, order_matters=["grid"]).counts
    assert (found.matched, found.invented_item, found.fabricated) == ((2, 1, 0) if metric == "sound/1" else (2, 0, 1))
