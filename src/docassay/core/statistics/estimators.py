"""Decides what an audit sample says about a population: design-weighted rates, corrected rates, agreement.

Every function is pure; where chance is needed, the generator is passed in. An estimate that cannot be made is None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CheckerRates",
    "Estimate",
    "draw_stratum",
    "estimate_from_draws",
    "hajek_mean",
    "krippendorff_alpha",
    "rogan_gladen",
    "rogan_gladen_joint",
    "stratified_difference",
]

Floats = NDArray[np.float64]

Z_95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval; `value` is None where there is nothing to estimate it from."""

    value: float | None
    low: float | None
    high: float | None

    def as_dict(self) -> dict[str, float | None]:
        """As it stands in a report."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class CheckerRates:
    """What is known of a checker from items with known answers: how many positives and negatives it got right."""

    positives: int
    positives_right: int
    negatives: int
    negatives_right: int

    @property
    def sensitivity(self) -> float | None:
        """Share of true positives that it calls positive."""
        return self.positives_right / self.positives if self.positives else None

    @property
    def specificity(self) -> float | None:
        """Share of true negatives that it calls negative."""
        return self.negatives_right / self.negatives if self.negatives else None

    def draw(self, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Sensitivities and specificities from their Jeffreys posteriors, Beta(right + 1/2, wrong + 1/2)."""
        sensitivity = rng.beta(self.positives_right + 0.5, self.positives - self.positives_right + 0.5, draws)
        specificity = rng.beta(self.negatives_right + 0.5, self.negatives - self.negatives_right + 0.5, draws)
        return sensitivity, specificity


def hajek_mean(values: Sequence[float] | Floats, inclusion: Sequence[float] | Floats) -> Estimate:
    """Mean over the population from a sample with unequal inclusion probabilities.

    ŷ = Σ(yᵢ/πᵢ) / Σ(1/πᵢ); variance by linearisation, V = Σ (1-πᵢ)/πᵢ² (yᵢ-ŷ)² / N̂² · m/(m-1) over the m units that
    were not certain (πᵢ < 1), which alone contribute. Source: Hájek 1971; Särndal, Swensson and Wretman 1992, 5.7, for
    designs close to Poisson sampling. The interval is normal, cut to the range of 0 to 1 for values in it.

    Args:
        values: Shape (n,).
        inclusion: Shape (n,), in (0, 1].
    """
    y, pi = np.asarray(values, dtype=float), np.asarray(inclusion, dtype=float)
    if not y.size:
        return Estimate(None, None, None)
    total = float(np.sum(1 / pi))
    mean = float(np.sum(y / pi) / total)
    chance = int(np.sum(pi < 1))
    if chance == 1:
        return Estimate(mean, None, None)
    inflate = chance / (chance - 1) if chance else 0.0
    half = Z_95 * math.sqrt(inflate * float(np.sum((1 - pi) / pi**2 * (y - mean) ** 2))) / total
    share = bool(np.all((y >= 0) & (y <= 1)))
    return Estimate(
        mean, max(0.0, mean - half) if share else mean - half, min(1.0, mean + half) if share else mean + half
    )


def stratified_difference(
    claimed_total: float,
    sizes: Sequence[int],
    differences: Sequence[Sequence[float] | Floats],
    certain_total: float = 0.0,
) -> Estimate:
    """A total corrected by audited differences: claimed total + Σ_h N_h·d̄_h + the certainty units' differences.

    V = Σ N_h² (1-n_h/N_h) s_h²/n_h, with the finite-population factor. Source: the difference estimator, Särndal,
    Swensson and Wretman 1992, 6.3, under stratified simple random sampling, Cochran 1977, 5.

    Args:
        claimed_total: Sum of the claimed values over the whole population.
        sizes: N_h, the documents per stratum that were sampled by chance or could have been.
        differences: Per stratum the audited differences (checked - claimed), n_h each. A stratum with documents and no
            audited one leaves the estimate without a value; one with a single audited one, without an interval.
        certain_total: Sum of the differences over the documents that were audited for certain.
    """
    value, variance, known = claimed_total + certain_total, 0.0, True
    for size, row in zip(sizes, differences, strict=True):
        d = np.asarray(row, dtype=float)
        if not d.size and size:
            return Estimate(None, None, None)
        value += size * float(d.mean()) if size else 0.0
        if 0 < d.size < size:
            known = known and d.size > 1
            variance += size**2 * (1 - d.size / size) * float(d.var(ddof=1)) / d.size if d.size > 1 else 0.0
    half = Z_95 * math.sqrt(variance)
    return Estimate(value, value - half if known else None, value + half if known else None)


def draw_stratum(
    counts: Sequence[float] | Floats,
    seen: Sequence[float] | Floats,
    unseen: int,
    prior: Sequence[float] | Floats,
    draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Posterior draws of a finite stratum's category counts: what was seen, plus a draw of what was not.

    Shares ~ Dirichlet(counts + prior), unseen documents ~ Multinomial(unseen, shares): the finite-population factor is
    exact, and a stratum without a single disagreement keeps a share of doubt. Source: the Polya posterior with a
    Jeffreys-type prior, Ghosh and Meeden 1997.

    Args:
        counts: Shape (k,), effective counts per category (weighted where the weights differ).
        seen: Shape (k,), documents per category that were really audited.
        unseen: Documents of the stratum that were not audited.
        prior: Shape (k,), prior mass per category; a category of zero count and zero prior never occurs.

    Returns:
        Shape (draws, k): documents per category.
    """
    alpha = np.asarray(counts, dtype=float) + np.asarray(prior, dtype=float)
    base = np.broadcast_to(np.asarray(seen, dtype=float), (draws, alpha.size))
    if unseen <= 0:
        return base.copy()
    gamma = rng.standard_gamma(alpha, size=(draws, alpha.size)) + 1e-300 * (alpha > 0)
    shares = gamma / gamma.sum(axis=1, keepdims=True)
    return base + rng.multinomial(unseen, shares)


def estimate_from_draws(value: float | None, draws: Floats, level: float = 0.95) -> Estimate:
    """An equal-tailed interval from draws; draws that are not finite (an empty denominator) are left out."""
    finite = draws[np.isfinite(draws)]
    if value is None or not finite.size:
        return Estimate(value, None, None)
    low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(value, float(low), float(high))


def rogan_gladen(rate: Floats, sensitivity: Floats, specificity: Floats) -> Floats:
    """True prevalence behind an apparent one: (q + Sp - 1) / (Se + Sp - 1), cut to 0 to 1; NaN for a useless checker.

    Source: Rogan and Gladen 1978. Arrays broadcast.
    """
    youden = np.asarray(sensitivity + specificity - 1, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        corrected = (rate + specificity - 1) / youden
    return np.where(youden > 0, np.clip(corrected, 0.0, 1.0), np.nan)


def rogan_gladen_joint(shares: Floats, a: tuple[Floats, Floats], b: tuple[Floats, Floats]) -> Floats:
    """The same for two conditions at once: true joint shares behind apparent ones, errors independent given the truth.

    M_A⁻¹ · Q · M_B⁻ᵀ with M = [[Se, 1-Sp], [1-Se, Sp]], negative shares cut to 0, and renormalised.
    Source: the matrix method, Barron 1977.

    Args:
        shares: Shape (draws, 2, 2), apparent shares; index 0 is positive.
        a: Sensitivities and specificities for the first condition, shape (draws,) each.
        b: For the second condition.
    """
    corrected = np.einsum("dij,djk,dlk->dil", _inverse(*a), shares, _inverse(*b))
    cut = np.clip(corrected, 0.0, None)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(cut / cut.sum(axis=(1, 2), keepdims=True))


def krippendorff_alpha(ratings: Floats, level: Literal["nominal", "interval"]) -> float | None:
    """Agreement beyond chance: 1 - observed / expected disagreement; None if fewer than two values can be paired.

    Source: Krippendorff 2011, "Computing Krippendorff's alpha-reliability". With all ratings equal there is no expected
    disagreement, and alpha has no value.

    Args:
        ratings: Shape (raters, units), NaN where a rater said nothing. Nominal categories are numbers too.
    """
    table = np.asarray(ratings, dtype=float)
    units = [column[~np.isnan(column)] for column in table.T]
    pairable = [values for values in units if values.size > 1]
    if not pairable:
        return None
    pooled = np.concatenate(pairable)
    observed = sum(_disagreement(values, level) / (values.size - 1) for values in pairable) / pooled.size
    expected = _disagreement(pooled, level) / (pooled.size * (pooled.size - 1))
    return None if expected == 0 else 1 - observed / expected


def _disagreement(values: Floats, level: str) -> float:
    """Sum of the squared distances over all ordered pairs."""
    if level == "nominal":
        _, counts = np.unique(values, return_counts=True)
        return float(values.size**2 - np.sum(counts.astype(float) ** 2))
    centred = values - values.mean()
    return float(2 * values.size * np.sum(centred**2))


def _inverse(sensitivity: Floats, specificity: Floats) -> Floats:
    """Inverse of [[Se, 1-Sp], [1-Se, Sp]] per draw, NaN for a useless checker; shape (draws, 2, 2)."""
    youden = np.where(sensitivity + specificity > 1, sensitivity + specificity - 1, np.nan)
    rows = np.array([[specificity, specificity - 1], [sensitivity - 1, sensitivity]])
    return np.asarray(np.moveaxis(rows, -1, 0) / youden[:, None, None])
