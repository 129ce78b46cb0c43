"""Holds the bootstrap intervals to their definition, to scipy's, and to the coverage they claim."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from docassay.core.statistics.intervals import intervals, mean_intervals, ratios, resampled_ratios
from docassay.errors import ArgumentValueError


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_estimate_is_the_mean_of_what_is_there() -> None:
    values = np.array([[1.0, np.nan], [2.0, 0.5], [6.0, np.nan]])
    first, second = mean_intervals(values, generator=rng())
    assert (first.estimate, first.documents) == (3.0, 3)
    assert (second.estimate, second.documents) == (0.5, 1)


def test_one_document_has_no_interval_and_none_has_no_estimate() -> None:
    values = np.array([[1.0, np.nan]])
    one, none = mean_intervals(values, generator=rng())
    assert (one.estimate, one.low, one.high) == (1.0, None, None)
    assert (none.documents, none.estimate, none.low, none.high) == (0, None, None, None)
    (empty,) = mean_intervals(np.zeros((0, 1)), generator=rng())
    assert (empty.documents, empty.estimate) == (0, None)


def test_the_same_seed_gives_the_same_interval() -> None:
    values = rng(1).random((30, 3))
    assert mean_intervals(values, generator=rng(7)) == mean_intervals(values, generator=rng(7))
    assert mean_intervals(values, generator=rng(7)) != mean_intervals(values, generator=rng(8))


def test_columns_share_their_resamples() -> None:
    values = rng(1).random((40, 1))
    one, other = mean_intervals(np.hstack([values, 1 - values]), generator=rng())
    assert one.low is not None
    assert other.high is not None
    assert one.low == pytest.approx(1 - other.high, abs=1e-9)


def test_large_samples_agree_with_scipy() -> None:
    values = rng(2).exponential(size=2000)
    (ours,) = mean_intervals(values[:, None], generator=rng(), resamples=4000)
    theirs = scipy.stats.bootstrap((values,), np.mean, method="percentile", n_resamples=4000, rng=rng(5))
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=width / 20)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=width / 20)


def test_a_ratio_of_sums_weighs_documents_by_their_size() -> None:
    top, bottom = np.array([[1.0], [90.0]]), np.array([[10.0], [90.0]])
    assert ratios(top, bottom)[0] == 0.91
    draws = resampled_ratios(top, bottom, generator=rng())
    assert set(np.round(draws[:, 0], 6)) == {0.1, 0.91, 1.0}


def test_resamples_without_a_denominator_are_left_out() -> None:
    top, bottom = np.array([[1.0], [0.0]]), np.array([[1.0], [0.0]])
    draws = resampled_ratios(top, bottom, generator=rng())
    assert np.isnan(draws).any()
    (found,) = intervals(ratios(top, bottom), draws, np.array([2]))
    assert (found.low, found.high) == (1.0, 1.0)


@pytest.mark.parametrize("documents", [8, 60])
def test_intervals_cover_as_often_as_they_say(documents: int) -> None:
    source = rng(3)
    columns = 600
    values = source.normal(5.0, 2.0, size=(documents, columns))
    made = mean_intervals(values, generator=rng(), resamples=600)
    covered = np.mean([found.low <= 5.0 <= found.high for found in made])  # type: ignore[operator]
    assert 0.92 <= covered <= 0.98


def test_shapes_and_levels_that_cannot_be_are_refused() -> None:
    with pytest.raises(ArgumentValueError, match=r"\(2, 1\) and \(3, 1\)"):
        resampled_ratios(np.zeros((2, 1)), np.zeros((3, 1)), generator=rng())
    with pytest.raises(ArgumentValueError, match="level is 1"):
        mean_intervals_at(1.0)


def mean_intervals_at(level: float) -> None:
    mean_intervals(np.zeros((2, 1)), generator=rng(), level=level)
