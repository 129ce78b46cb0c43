"""The paired statistics against scipy and statsmodels, and against what they claim in a simulation."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from docassay.core.statistics.paired import (
    MIN_DOCUMENTS,
    benjamini_hochberg,
    holm,
    paired_means,
    paired_ratios,
)
from docassay.errors import ArgumentValueError


def _rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def _columns(documents: int, shift: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = _rng(seed)
    base = rng.beta(8, 2, size=(documents, 1))
    return base, np.clip(base + rng.normal(shift, 0.08, size=base.shape), 0, 1)


def _mean_difference(a: np.ndarray, b: np.ndarray, axis: int = -1) -> np.ndarray:
    return np.mean(b - a, axis=axis)


@pytest.mark.parametrize("shift", [0.0, 0.02, 0.1])
def test_exact_permutation_p_value_is_scipys(shift: float) -> None:
    base, new = _columns(12, shift)
    ours = paired_means(base, new, generator=_rng())[0]
    theirs = stats.permutation_test(
        (base[:, 0], new[:, 0]), _mean_difference, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=1e-12)


@pytest.mark.parametrize("shift", [0.0, 0.015])
def test_sampled_permutation_p_value_is_scipys_up_to_its_own_noise(shift: float) -> None:
    base, new = _columns(80, shift)
    ours = paired_means(base, new, generator=_rng())[0]
    theirs = stats.permutation_test(
        (base[:, 0], new[:, 0]), _mean_difference, permutation_type="samples", n_resamples=9999, rng=_rng(5)
    )
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=0.02)


def test_permutation_p_value_of_many_documents_is_near_the_t_test() -> None:
    base, new = _columns(400, 0.008)
    ours = paired_means(base, new, generator=_rng())[0]
    assert ours.p_value == pytest.approx(stats.ttest_rel(new[:, 0], base[:, 0]).pvalue, abs=0.02)


def test_bootstrap_interval_of_many_documents_is_scipys() -> None:
    base, new = _columns(400, 0.02)
    ours = paired_means(base, new, generator=_rng(), resamples=20_000)[0]
    theirs = stats.bootstrap(
        (base[:, 0], new[:, 0]), _mean_difference, paired=True, n_resamples=20_000, method="percentile", rng=_rng(3)
    ).confidence_interval
    assert ours.low == pytest.approx(theirs.low, abs=6e-4)
    assert ours.high == pytest.approx(theirs.high, abs=6e-4)


def test_bootstrap_interval_of_few_documents_is_as_wide_as_a_t_interval() -> None:
    base, new = _columns(12, 0.02)
    ours = paired_means(base, new, generator=_rng(), resamples=20_000)[0]
    theirs = stats.ttest_rel(new[:, 0], base[:, 0]).confidence_interval()
    assert ours.low is not None
    assert ours.high is not None
    assert ours.high - ours.low == pytest.approx(theirs.high - theirs.low, rel=0.12)


def test_pooled_ratio_is_that_of_the_sums_and_swaps_whole_documents() -> None:
    rng = _rng(2)
    total = rng.integers(5, 50, size=(14, 1)).astype(float)
    base, new = (rng.binomial(total.astype(int), p).astype(float) for p in (0.8, 0.9))
    ours = paired_ratios((base, total), (new, total), generator=_rng(), permutations=2**14)[0]
    assert ours.base == pytest.approx(base.sum() / total.sum())
    assert ours.new == pytest.approx(new.sum() / total.sum())
    # With equal totals a swap changes the difference as a sign flip of the numerators does.
    theirs = stats.permutation_test(
        (base[:, 0], new[:, 0]), _mean_difference, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=1e-12)


def test_many_columns_are_each_what_they_are_alone() -> None:
    rng = _rng(4)
    base, new = rng.random((30, 5)), rng.random((30, 5))
    base[:12, 2] = np.nan
    together = paired_means(base, new, generator=_rng(9))
    for column in range(5):
        alone = paired_means(base[:, [column]], new[:, [column]], generator=_rng(9))[0]
        assert astuple(alone)[:-1] == pytest.approx(astuple(together[column])[:-1])
    assert together[2].documents == 18
    assert together[2].difference == pytest.approx((new[12:, 2] - base[12:, 2]).mean())


def test_strata_weigh_alike_whatever_their_size() -> None:
    base = np.zeros((60, 1))
    new = np.array([0.0] * 50 + [1.0] * 10)[:, None]
    paired = paired_means(base, new, generator=_rng(), strata=["large"] * 50 + ["small"] * 10)[0]
    assert paired.difference == pytest.approx(0.5)
    assert (paired.low, paired.high) == (0.5, 0.5), "within a stratum nothing varies"


def test_strata_of_one_document_still_show_variance() -> None:
    rng = _rng(6)
    base, new = rng.random((20, 1)), rng.random((20, 1))
    paired = paired_means(base, new, generator=_rng(), strata=list(range(20)))[0]
    assert paired.low is not None
    assert paired.high is not None
    assert paired.high - paired.low > 0.1


@pytest.mark.parametrize("documents", [0, 1, MIN_DOCUMENTS - 1])
def test_too_few_documents_give_neither_interval_nor_p_value(documents: int) -> None:
    values = np.linspace(0, 1, documents)[:, None]
    paired = paired_means(values, values / 2, generator=_rng())[0]
    assert (paired.low, paired.high, paired.p_value) == (None, None, None)
    assert paired.reason == f"too few documents ({documents} of at least {MIN_DOCUMENTS})"
    assert (paired.difference is None) == (documents == 0)


def test_documents_that_one_side_lacks_do_not_count() -> None:
    base = np.array([[0.5]] * 20)
    new = base.copy()
    new[:12] = np.nan
    assert paired_means(base, new, generator=_rng())[0].documents == 8


def test_equal_sides_have_p_one_and_no_width() -> None:
    values = _rng().random((15, 1))
    paired = paired_means(values, values.copy(), generator=_rng())[0]
    assert (paired.difference, paired.low, paired.high, paired.p_value) == (0, 0, 0, 1)


def test_one_seed_gives_one_answer() -> None:
    base, new = _columns(40, 0.01)
    assert paired_means(base, new, generator=_rng(7)) == paired_means(base, new, generator=_rng(7))


def test_wrong_shapes_and_levels_are_named() -> None:
    with pytest.raises(ArgumentValueError, match="shape"):
        paired_means(np.zeros((3, 1)), np.zeros((4, 1)), generator=_rng())
    with pytest.raises(ArgumentValueError, match="level is 95"):
        paired_means(np.zeros((3, 1)), np.zeros((3, 1)), generator=_rng(), level=95)
    with pytest.raises(ArgumentValueError, match="2 labels for 3 documents"):
        paired_means(np.zeros((3, 1)), np.zeros((3, 1)), generator=_rng(), strata=["a", "b"])


P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(P_VALUES)
def test_corrections_are_statsmodels(p_values: list[float]) -> None:
    for ours, name in ((holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        assert ours(p_values) == pytest.approx(multipletests(p_values, method=name)[1])


def test_an_untested_figure_is_no_member_of_the_family() -> None:
    assert holm([0.01, None, 0.04]) == [0.02, None, 0.04]
    assert benjamini_hochberg([None, None]) == [None, None]


@pytest.mark.slow
@pytest.mark.parametrize(("documents", "pooled"), [(12, False), (40, False), (40, True)])
def test_intervals_cover_and_tests_reject_as_often_as_they_claim(documents: int, pooled: bool) -> None:
    """Per-document accuracies of two systems whose true difference is known, skewed as real ones are."""
    truth = 0.9 - 0.85
    rng = _rng(11)
    covered = rejected = 0
    runs = 1500
    for _ in range(runs):
        sizes = rng.integers(10, 30, size=documents)
        hardness = rng.beta(20, 20, size=documents) - 0.5
        sides = [rng.binomial(sizes, np.clip(p + 0.2 * hardness, 0, 1)).astype(float) for p in (0.85, 0.9, 0.9)]
        paired, null = (_both(sides[a], sides[b], sizes.astype(float), pooled, rng) for a, b in ((0, 1), (1, 2)))
        assert paired.low is not None
        assert paired.high is not None
        assert null.p_value is not None
        covered += paired.low <= truth <= paired.high
        rejected += null.p_value < 0.05
    # Three standard errors of a simulated proportion around the claim.
    noise = 3 * np.sqrt(0.05 * 0.95 / runs)
    assert covered / runs == pytest.approx(0.95, abs=noise + 0.01)
    assert rejected / runs <= 0.05 + noise


def _both(base: np.ndarray, new: np.ndarray, sizes: np.ndarray, pooled: bool, rng: np.random.Generator):  # type: ignore[no-untyped-def]
    if pooled:
        sides = ((base[:, None], sizes[:, None]), (new[:, None], sizes[:, None]))
        return paired_ratios(*sides, generator=rng, resamples=600, permutations=400)[0]
    return paired_means(
        (base / sizes)[:, None], (new / sizes)[:, None], generator=rng, resamples=600, permutations=400
    )[0]
