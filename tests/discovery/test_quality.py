"""Points: the worked example, and what can never be."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docassay.discovery.aggregate import TaskLabel, TaskOutcome, summarise
from docassay.discovery.gates import THRESHOLDS, gate_findings
from docassay.discovery.quality import Assessment, Support, TaskStatus, effective_support, task_quality
from docassay.discovery.review import protocol_digest

EXAMPLE = Assessment("f1", Support.SUPPORTED, True, 0.8, 0.9, 0.75, 0.8, None, None, "Because.")
UNIT = st.floats(0, 1)
SUPPORTS = st.sampled_from(list(Support))


@st.composite
def assessments(draw: st.DrawFn) -> list[Assessment]:
    rows: list[Assessment] = []
    for number in range(draw(st.integers(1, 3))):
        numbers = [draw(UNIT) for _ in range(4)]
        duplicate = rows[0].finding_id if rows and draw(st.booleans()) else None
        rows.append(Assessment(f"f{number}", draw(SUPPORTS), draw(st.booleans()), *numbers, duplicate, None, "Why."))
    return rows


def test_the_worked_example() -> None:
    assert task_quality([EXAMPLE], {"f1": Support.SUPPORTED}).quality == pytest.approx(83.5)
    assert task_quality([EXAMPLE], {"f1": Support.PARTIAL}).quality == pytest.approx(41.75)
    halved = task_quality([replace(EXAMPLE, support=Support.PARTIAL)], {"f1": Support.SUPPORTED})
    assert halved.quality == pytest.approx(41.75)
    standard = task_quality([EXAMPLE], {}, profile="standard")
    assert standard.quality == pytest.approx(35 + 20 + 18 + 7.5 + 8)


@given(assessments(), st.lists(SUPPORTS, min_size=3, max_size=3))
def test_a_gate_only_caps_and_bounds_hold_every_resolution(rows: list[Assessment], caps: list[Support]) -> None:
    by_id = {row.finding_id: cap for row, cap in zip(rows, caps, strict=False)}
    gated, free = task_quality(rows, by_id), task_quality(rows, dict.fromkeys(by_id, Support.SUPPORTED))
    assert gated.quality_low is not None
    assert gated.quality_high is not None
    assert free.quality_high is not None
    assert gated.quality_high <= free.quality_high + 1e-9
    assert 0 <= gated.quality_low <= gated.quality_high <= 100 + 1e-9
    if gated.quality is not None:
        assert gated.quality == pytest.approx(gated.quality_low)
        assert gated.quality == pytest.approx(gated.quality_high)
    for resolved in (Support.SUPPORTED, Support.PARTIAL, Support.UNSUPPORTED):
        settled = [replace(row, support=resolved) if row.support is Support.UNCERTAIN else row for row in rows]
        settled_caps = {name: resolved if cap is Support.UNCERTAIN else cap for name, cap in by_id.items()}
        quality = task_quality(settled, settled_caps).quality
        assert quality is not None
        assert gated.quality_low - 1e-9 <= quality <= gated.quality_high + 1e-9


def test_the_more_restrictive_support_holds() -> None:
    order = [Support.UNSUPPORTED, Support.UNCERTAIN, Support.PARTIAL, Support.SUPPORTED]
    for number, judge in enumerate(order):
        for cap in order:
            assert effective_support(judge, cap) is order[min(number, order.index(cap))]
        assert effective_support(judge, None) is judge


@given(st.lists(st.sampled_from(list(TaskStatus)), min_size=1, max_size=8))
def test_what_has_no_score_never_moves_a_mean(statuses: list[TaskStatus]) -> None:
    tasks = [TaskLabel(f"t{i}", "group_difference", "s", "discovery") for i in range(len(statuses))]
    outcomes = [
        TaskOutcome(f"t{i}", status, 60.0 if status is TaskStatus.SCORED else None) for i, status in enumerate(statuses)
    ]
    summary = summarise(tasks, outcomes)
    scored = statuses.count(TaskStatus.SCORED)
    assert summary.scored_tasks == scored
    assert summary.conditional_quality_mean == (60.0 if scored else None)
    assert summary.quality_mean == (60.0 if scored == len(statuses) else None)
    others = summary.pending_tasks + summary.missing_tasks + summary.invalid_tasks
    assert others + scored + statuses.count(TaskStatus.ABSTAINED) == len(statuses)


def test_the_protocols_digest_is_made_of_the_thresholds_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    before = protocol_digest()
    monkeypatch.setattr("docassay.discovery.review.THRESHOLDS", replace(THRESHOLDS, partial_share=0.2))
    assert protocol_digest() != before
    assert gate_findings.__defaults__ == (THRESHOLDS,)
