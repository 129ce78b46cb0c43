"""Holds a summary to hand-counted means: over what was scored, with failures as 0, by suite and unified."""

from __future__ import annotations

import json
import math
from typing import Any

import pyarrow as pa
import pytest

from docassay.core.columns import arrow_schema
from docassay.runs.summary import RATES, summarise, summary_columns
from docassay.runs.tables import SCORES

SCHEMA = pa.schema([*arrow_schema(SCORES), pa.field("suite", pa.string())])


def scored(accuracy: float, suite: str | None = None, total: int = 10, **more: Any) -> dict[str, Any]:
    known = {"status": "scored", "accuracy": accuracy, "total": total, "suite": suite, **dict.fromkeys(RATES, 0)}
    metrics = dict.fromkeys(("precision", "recall", "f1", "addresses_found", "addresses_read_right"), accuracy)
    return metrics | known | more


def failed(suite: str | None = None) -> dict[str, Any]:
    return {"status": "error", "error": "no", "suite": suite}


def empty(suite: str | None = None) -> dict[str, Any]:
    return {"status": "nothing_to_score", "total": 0, "suite": suite, **dict.fromkeys(RATES, 0)}


def table(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist([dict.fromkeys(SCHEMA.names) | row for row in rows], schema=SCHEMA)


def test_means_stand_beside_what_they_rest_on() -> None:
    rows = table(scored(1.0), scored(0.5), failed(), empty())
    flat = summarise([rows], "sig", None).flat
    assert (flat.documents, flat.scored, flat.nothing_to_score, flat.errors, flat.coverage) == (4, 2, 1, 1, 0.5)
    assert (flat.means["accuracy"].estimate, flat.means["accuracy"].documents) == (0.75, 2)
    zero = flat.means_failures_zero["accuracy"]
    assert (zero.estimate, zero.documents) == (0.5, 3)
    assert (flat.error_rates["failed"].estimate, flat.error_rates["failed"].documents) == (0.25, 4)


def test_error_rates_and_accuracy_sum_to_one() -> None:
    rows = table(
        scored(0.5, misread=2, unfound=1, fabricated=1, invented_item=1, invented_field=0),
        scored(0.7, misread=0, unfound=0, fabricated=0, invented_item=0, invented_field=3),
        failed(),
    )
    flat = summarise([rows], "sig", None).flat
    assert flat.error_rates["misread"].estimate == pytest.approx(0.1)
    whole = [flat.means["accuracy"].estimate, *(flat.error_rates[name].estimate for name in RATES)]
    assert math.fsum(value for value in whole if value is not None) == pytest.approx(1.0)


def test_unified_weighs_suites_alike_and_documents_do_not() -> None:
    rows = table(*(scored(1.0, "large") for _ in range(8)), scored(0.0, "small"), scored(0.5, "small"), failed("small"))
    summary = summarise([rows], "sig", "suite")
    assert [(suite.name, suite.documents, suite.scored) for suite in summary.suites] == [
        ("large", 8, 8),
        ("small", 3, 2),
    ]
    assert summary.unified is not None
    assert summary.unified.means["accuracy"].estimate == pytest.approx((1.0 + 0.25) / 2)
    assert summary.unified.means_failures_zero["accuracy"].estimate == pytest.approx((1.0 + 0.5 / 3) / 2)
    assert summary.flat.means["accuracy"].estimate == pytest.approx(8.5 / 10)
    interval = summary.unified.means["accuracy"]
    assert interval.low is not None
    assert interval.high is not None
    assert interval.low < 0.625 < interval.high


def test_failing_never_pays() -> None:
    """With failures as 0, no mean gets better by failing on a document instead of scoring anything on it."""
    honest = summarise([table(scored(1.0, "a"), scored(0.1, "a"), scored(0.2, "b"))], "sig", "suite")
    dodging = summarise([table(scored(1.0, "a"), failed("a"), failed("b"))], "sig", "suite")
    assert honest.unified is not None
    assert dodging.unified is not None
    for one, other in (
        (honest.flat.means_failures_zero, dodging.flat.means_failures_zero),
        (honest.unified.means_failures_zero, dodging.unified.means_failures_zero),
    ):
        assert one["accuracy"].estimate > other["accuracy"].estimate  # type: ignore[operator]
    assert dodging.unified.without_mean == 1
    assert dodging.unified.means["accuracy"].estimate == 1.0


def test_documents_without_a_suite_are_in_the_flat_mean_alone() -> None:
    summary = summarise([table(scored(1.0, "a"), scored(0.0, None))], "sig", "suite")
    assert [suite.name for suite in summary.suites] == ["a"]
    assert summary.unified is not None
    assert (summary.unified.means["accuracy"].estimate, summary.flat.means["accuracy"].estimate) == (1.0, 0.5)


def test_no_documents_no_numbers() -> None:
    for rows in ([], [table()]):
        summary = summarise(rows, "sig", "suite")
        assert (summary.flat.documents, summary.flat.coverage) == (0, None)
        assert summary.flat.means["accuracy"].estimate is None
        assert summary.unified is not None
        assert summary.unified.means["accuracy"].estimate is None
        json.loads(summary.as_json())


def test_how_the_rows_are_divided_into_parts_changes_nothing() -> None:
    rows = [scored(i / 30, "ab"[i % 2], misread=i % 4) for i in range(30)] + [failed("a"), empty("b")]
    whole = summarise([table(*rows)], "sig", "suite")
    parts = summarise([table(*rows[:7]), table(), table(*rows[7:])], "sig", "suite")
    assert whole == parts


def test_the_signature_tells_how_the_intervals_were_made() -> None:
    summary = summarise([table(scored(1.0))], "omni/1 order:free docassay:9", "suite")
    assert summary.signature == (
        "omni/1 order:free docassay:9 suite:suite interval:bootstrap-by-document resamples:1000 seed:0 level:0.95"
    )


def test_only_the_columns_named_are_needed() -> None:
    rows = table(scored(0.5, "a"), failed("a"))
    assert summarise([rows.select(summary_columns("suite"))], "s", "suite") == summarise([rows], "s", "suite")


def test_json_has_no_nan() -> None:
    told = json.loads(summarise([table(failed("a"), empty("a"))], "sig", "suite").as_json())
    assert told["flat"]["means"]["accuracy"] == {"documents": 0, "estimate": None, "low": None, "high": None}
    assert told["suites"][0]["error_rates"]["failed"]["estimate"] == 0.5
