"""Digests, statistics and validity agree with the shared vectors, but for the departures named here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from docassay.core.digest import canonical_json, digest_object
from docassay.discovery.corpus import corpus_from_rows
from docassay.discovery.robustness import AxisDetails
from docassay.discovery.statistics import columns_of, expected_statistics, robustness_details, statistic_names
from docassay.discovery.submission import read_draft_finding
from docassay.discovery.tasks import read_task
from docassay.discovery.validate import validate_submission
from docassay.errors import DocumentError

DEPARTURES = {"python_3_11_or_newer": "only YYYY-MM-DD is a date, on every Python version"}

SEVERAL_FAULTS = {
    "val-032": ["condition_count", "condition_count"],
    "val-041": ["not_a_partition", "supporting_not_positive"],
    "val-045": ["no_evidence", "counterexample_missing"],
    "val-142": ["not_a_partition", "evidence_source", "evidence_source"],
}
"""Changes that break more than one rule; every other invalid vector has exactly its one fault."""


def cases(shared_dir: Path, name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((shared_dir / "vectors" / "discovery" / f"{name}.json").read_text())
    assert loaded
    return loaded


def test_digests(shared_dir: Path) -> None:
    for case in cases(shared_dir, "digests"):
        value, expected = case["input"]["value"], case["expected"]
        if "error" in expected:
            with pytest.raises(DocumentError, match="surrogate"):
                digest_object(value)
            continue
        assert digest_object(value) == expected["sha256"], case["id"]
        if "canonical_text" in expected:
            assert canonical_json(value) == expected["canonical_text"], case["id"]


def test_statistics(shared_dir: Path) -> None:
    for case in cases(shared_dir, "statistics"):
        if DEPARTURES.keys() & set(case["tags"]):
            continue
        given, expected = case["input"], case["expected"]["statistics"]
        found = expected_statistics(given["finding"], given["task"], given["documents"])
        assert list(found) == list(statistic_names(read_task(given["task"]))), case["id"]
        assert found.keys() == expected.keys(), case["id"]
        for name, number in expected.items():
            assert same(found[name], number), (case["id"], name, found[name], number)


def test_the_departure_on_dates_is_real(shared_dir: Path) -> None:
    """The skipped case differs only in what its compact and week dates are: no dates here."""
    (case,) = [case for case in cases(shared_dir, "statistics") if "python_3_11_or_newer" in case["tags"]]
    given, expected = case["input"], case["expected"]["statistics"]
    found = expected_statistics(given["finding"], given["task"], given["documents"])
    differing = {name for name in expected if not same(found[name], expected[name])}
    assert differing
    assert all(name.startswith("robustness_report_year_") for name in differing)


def test_strata_behind_the_statistics(shared_dir: Path) -> None:
    for case in cases(shared_dir, "statistics"):
        if DEPARTURES.keys() & set(case["tags"]):
            continue
        task, corpus = read_task(case["input"]["task"]), corpus_from_rows(case["input"]["documents"])
        draft, _ = read_draft_finding(case["input"]["finding"], task)
        assert draft.definitions is not None
        assert draft.assignments is not None
        columns = columns_of(draft.population, draft.comparison, draft.definitions, draft.assignments, task, corpus)
        found = {axis: details_value(item) for axis, item in robustness_details(columns, task, corpus).items()}
        assert found == (case["expected"].get("audit_details") or {}), case["id"]


def test_validity(shared_dir: Path) -> None:
    for case in cases(shared_dir, "validity"):
        given, expected = case["input"], case["expected"]
        source = given["submission_text"] if "submission_text" in given else given["submission"]
        found = validate_submission(source, read_task(given["task"]), corpus_from_rows(given["documents"]))
        assert found.valid == expected["valid"], case["id"]
        assert found.faults_total == len(found.faults)
        if not found.valid:
            codes = [str(fault.code) for fault in found.faults]
            if case["id"] == "val-161":  # empty arms: every number that depends on them is wrong too
                assert codes[0] == "group_too_small"
            else:
                assert codes == SEVERAL_FAULTS.get(case["id"], [expected["category"]]), case["id"]


def same(found: float | None, expected: float | None) -> bool:
    if found is None or expected is None:
        return found is expected
    return abs(found - expected) <= 1e-9


def details_value(item: AxisDetails) -> dict[str, Any]:
    strata = [
        {"stratum": row.name, "arm0_n": row.arm0_n, "arm1_n": row.arm1_n, "delta_pp": row.delta_pp}
        for row in item.comparable
    ]
    return {
        "comparable_strata": strata,
        "removed_stratum": item.removed,
        "universe_n": item.population_n,
        "missing_metadata_n": item.missing_n,
    }
