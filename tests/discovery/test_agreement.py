"""Agreement of judges, and of the real annotators, against an independent package."""

from __future__ import annotations

import json
from pathlib import Path

import krippendorff
import numpy as np
import pytest

from docassay.core.statistics.estimators import CheckerRates, krippendorff_alpha
from docassay.discovery.agreement import alpha_of
from docassay.discovery.label_error import label_error
from docassay.discovery.label_tables import AuditColumns, KnownRates
from docassay.discovery.population import NEGATIVE, NO_STATE, POSITIVE


def test_raters_are_compared_on_what_both_rated() -> None:
    first = {"a": "supported", "b": "partial", "c": "partial", "only": "uncertain"}
    second = {"a": "supported", "b": "partial", "c": "unsupported"}
    found = alpha_of("support", "nominal", [first, second])
    table = np.array([[0.0, 1, 1], [0, 1, 2]])
    assert (found.units, found.judges) == (3, 2)
    assert found.identical == pytest.approx(2 / 3)
    assert found.alpha == pytest.approx(krippendorff.alpha(table, level_of_measurement="nominal"))


def test_nothing_in_common_is_no_agreement_and_no_zero() -> None:
    found = alpha_of("support", "nominal", [{"a": "x"}, {"b": "x"}])
    assert (found.units, found.identical, found.alpha) == (0, None, None)
    same = alpha_of("calibration", "interval", [{"a": 0.5}, {"a": 0.5}])
    assert (same.identical, same.alpha) == (1.0, None)


def annotators(shared_dir: Path) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    path = shared_dir / "data" / "discovery" / "cfpb_1000_with_14_llm_labels.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    said = {name: np.array([str(row["llm_labels"][name]) for row in rows]) for name in rows[0]["llm_labels"]}
    return np.array([row["gold_product"] for row in rows]), said, np.array([len(row["text"]) for row in rows])


def test_real_annotators_agree_as_an_independent_package_says(shared_dir: Path) -> None:
    gold, said, _ = annotators(shared_dir)
    names = sorted({label for labels in said.values() for label in labels})
    table = np.array([[float(names.index(label)) for label in labels] for labels in said.values()])
    ours = krippendorff_alpha(table, "nominal")
    assert ours == pytest.approx(krippendorff.alpha(table, level_of_measurement="nominal"), abs=1e-12)
    right = np.array([(labels == gold).astype(float) for labels in said.values()])
    for level in ("nominal", "interval"):
        theirs = krippendorff.alpha(right, level_of_measurement=level)
        assert krippendorff_alpha(right, level) == pytest.approx(theirs, abs=1e-12)


def test_corrected_intervals_hold_the_truth_of_real_annotators(shared_dir: Path) -> None:
    """Each model as claimant and the next as checker, whose errors a gold slice tells; the study does every pair."""
    gold, said, lengths = annotators(shared_dir)
    arms = (lengths >= np.median(lengths)).astype(np.int8)
    models, held, made = list(said), 0, 0
    naive_held = 0
    for product in sorted(set(gold)):
        truth = codes(gold == product)
        exact = float((truth == POSITIVE).mean())
        for number, claimant in enumerate(models):
            rng = np.random.default_rng([number, made])
            checker = codes(said[models[(number + 1) % len(models)]] == product)
            columns = audited(codes(said[claimant] == product), checker, arms, rng)
            slice_ = rng.choice(truth.size, 300, replace=False)
            known = [slice_[truth[slice_] == state] for state in (POSITIVE, NEGATIVE)]
            right = [int((checker[known[i]] == state).sum()) for i, state in enumerate((POSITIVE, NEGATIVE))]
            rates = KnownRates(CheckerRates(known[0].size, right[0], known[1].size, right[1]))
            whole = label_error("f", ["c"], columns, rng, rates={"c": rates}, draws=600).conditions[0]
            made += 1
            held += inside(whole.true_rate, exact)
            naive_held += inside(whole.corrected_rate, exact)
    assert 0.90 <= held / made <= 1.0
    assert naive_held / made < 0.75


def inside(estimate: object, value: float) -> bool:
    low, high = getattr(estimate, "low", None), getattr(estimate, "high", None)
    assert low is not None
    assert high is not None
    return bool(low <= value <= high)


def codes(positive: np.ndarray) -> np.ndarray:
    return np.where(positive, POSITIVE, NEGATIVE).astype(np.int8)


def audited(claimed: np.ndarray, checker: np.ndarray, arms: np.ndarray, rng: np.random.Generator) -> AuditColumns:
    """Eighty documents of each claimed state."""
    chosen, inclusion = np.zeros(claimed.size, dtype=np.bool_), np.ones(claimed.size)
    for state in (POSITIVE, NEGATIVE):
        members = np.flatnonzero(claimed == state)
        chosen[rng.permutation(members)[:80]] = True
        inclusion[members] = min(1.0, 80 / members.size)
    checked = np.where(chosen, checker, NO_STATE).astype(np.int8)
    everything = np.ones(claimed.size, dtype=np.bool_)
    return AuditColumns(everything, ~everything, arms, (claimed,), (checked,), inclusion)
