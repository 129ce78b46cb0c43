"""The estimators against independent packages, textbook cases and repeated sampling."""

from __future__ import annotations

import math
from typing import Literal

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from docassay.core.statistics.estimators import (
    CheckerRates,
    draw_stratum,
    estimate_from_draws,
    hajek_mean,
    krippendorff_alpha,
    rogan_gladen,
    rogan_gladen_joint,
    stratified_difference,
)


@pytest.mark.parametrize("level", ["nominal", "interval"])
@given(st.data())
def test_alpha_equals_an_independent_package(level: Literal["nominal", "interval"], data: st.DataObject) -> None:
    raters, units = data.draw(st.integers(2, 5)), data.draw(st.integers(2, 12))
    cells = st.one_of(st.integers(0, 3).map(float), st.just(float("nan")))
    ratings = np.array(data.draw(st.lists(cells, min_size=raters * units, max_size=raters * units)))
    ratings = ratings.reshape(raters, units)
    found = krippendorff_alpha(ratings, level)
    pairable = (~np.isnan(ratings)).sum(axis=0) >= 2
    if found is None:
        assert np.unique(ratings[:, pairable][~np.isnan(ratings[:, pairable])]).size < 2
    else:
        assert found == pytest.approx(krippendorff.alpha(ratings, level_of_measurement=level), abs=1e-9)


def test_hajek_weighs_by_inclusion_and_certainty_units_add_no_variance() -> None:
    assert hajek_mean([1, 0], [1.0, 0.25]).value == pytest.approx(1 / 5)
    whole = hajek_mean([1, 0, 0, 1], [1.0] * 4)
    assert (whole.low, whole.value, whole.high) == (0.5, 0.5, 0.5)
    assert hajek_mean([], []).value is None
    alone = hajek_mean([1, 0], [0.5, 1.0])
    assert alone.value == pytest.approx(2 / 3)
    assert alone.low is None


def test_hajek_intervals_cover_under_poisson_sampling() -> None:
    rng = np.random.default_rng(7)
    population = (rng.random(2000) < 0.3).astype(float)
    inclusion = np.where(population == 1, 0.2, 0.05)
    covered = 0
    for _ in range(300):
        taken = rng.random(2000) < inclusion
        found = hajek_mean(population[taken], inclusion[taken])
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= population.mean() <= found.high
    assert 0.90 <= covered / 300 <= 0.99


def test_stratified_difference_is_exact_when_everything_is_audited() -> None:
    found = stratified_difference(10, [3, 2], [[1, 0, 0], [-1, 0]], certain_total=2)
    assert (found.low, found.value, found.high) == (12, 12, 12)


def test_stratified_difference_by_hand() -> None:
    found = stratified_difference(100, [200], [[1.0, 0.0, 0.0, 0.0]])
    half = 1.959963984540054 * math.sqrt(200**2 * (1 - 4 / 200) * 0.25 / 4)
    assert found.value == pytest.approx(150)
    assert found.high == pytest.approx(150 + half)


def test_an_unaudited_stratum_gives_no_estimate_and_a_single_document_no_interval() -> None:
    assert stratified_difference(5, [10], [[]]).value is None
    single = stratified_difference(5, [10], [[1.0]])
    assert (single.value, single.low) == (15, None)
    assert stratified_difference(5, [0], [[]]).value == 5


def test_draws_keep_what_was_seen_and_the_size() -> None:
    rng = np.random.default_rng(1)
    draws = draw_stratum([3.0, 1.0, 0.0], [3, 1, 0], 6, [0.5, 0.5, 0.0], 500, rng)
    assert (draws.sum(axis=1) == 10).all()
    assert (draws[:, 0] >= 3).all()
    assert (draws[:, 1] >= 1).all()
    assert (draws[:, 2] == 0).all()
    assert (draw_stratum([3.0, 1.0], [3, 1], 0, [0.5, 0.5], 5, rng) == [3, 1]).all()


def test_draws_cover_a_finite_stratum_about_as_often_as_they_claim() -> None:
    rng = np.random.default_rng(2)
    size, audited, covered, rounds = 300, 40, 0, 400
    for _ in range(rounds):
        true = int(rng.integers(0, size + 1))
        seen = int(rng.hypergeometric(true, size - true, audited))
        found = estimate_from_draws(
            None if audited == 0 else seen / audited,
            draw_stratum([seen, audited - seen], [seen, audited - seen], size - audited, [0.5, 0.5], 800, rng)[:, 0],
        )
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= true <= found.high
    assert 0.92 <= covered / rounds <= 0.98


def test_rogan_gladen_inverts_misclassification() -> None:
    truth = np.array([0.0, 0.1, 0.5, 1.0])
    apparent = truth * 0.9 + (1 - truth) * 0.2
    assert rogan_gladen(apparent, np.array(0.9), np.array(0.8)) == pytest.approx(truth)
    assert np.isnan(rogan_gladen(np.array([0.5]), np.array([0.5]), np.array([0.5]))).all()


def test_rogan_gladen_joint_inverts_two_independent_checks() -> None:
    truth = np.array([[[0.2, 0.1], [0.3, 0.4]]])
    error_a, error_b = np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([[0.7, 0.05], [0.3, 0.95]])
    apparent = np.einsum("ij,djk,lk->dil", error_a, truth, error_b)
    one = np.ones(1)
    found = rogan_gladen_joint(apparent, (0.9 * one, 0.8 * one), (0.7 * one, 0.95 * one))
    assert found == pytest.approx(truth)


def test_checker_rates_draw_about_their_counts() -> None:
    rates = CheckerRates(100, 90, 200, 190)
    sensitivity, specificity = rates.draw(4000, np.random.default_rng(3))
    assert (rates.sensitivity, rates.specificity) == (0.9, 0.95)
    assert sensitivity.mean() == pytest.approx(0.9, abs=0.01)
    assert specificity.mean() == pytest.approx(0.95, abs=0.01)
    assert CheckerRates(0, 0, 0, 0).sensitivity is None
