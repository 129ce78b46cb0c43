"""Label error: exact where all is audited, covering where it is not, and the right word for the claim."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from docassay.core.statistics.estimators import CheckerRates
from docassay.discovery.claim_error import Verdict
from docassay.discovery.label_error import LabelError, label_error
from docassay.discovery.label_tables import AuditColumns, KnownRates
from docassay.discovery.population import NEGATIVE, NO_ARM, NO_STATE, POSITIVE, UNKNOWN
from docassay.discovery.statistics import association_statistics, group_statistics

Codes = NDArray[np.int8]


@dataclass(frozen=True)
class World:
    """What is claimed, and what a checker would say of everything."""

    claimed: tuple[Codes, ...]
    checker: tuple[Codes, ...]
    arms: Codes

    @property
    def size(self) -> int:
        return self.arms.size

    def audit(self, chosen: NDArray[np.bool_], inclusion: NDArray[np.float64] | float = 1.0) -> AuditColumns:
        everything = np.ones(self.size, dtype=np.bool_)
        checked = tuple(np.where(chosen, states, NO_STATE).astype(np.int8) for states in self.checker)
        probabilities = np.broadcast_to(np.asarray(inclusion, dtype=float), self.size)
        return AuditColumns(everything, ~everything, self.arms, self.claimed, checked, probabilities)

    def sample(self, rng: np.random.Generator, per_state: int = 40) -> AuditColumns:
        """A stratified sample by the first condition's claim."""
        chosen, inclusion = np.zeros(self.size, dtype=np.bool_), np.ones(self.size)
        for state in (POSITIVE, NEGATIVE, UNKNOWN):
            members = np.flatnonzero(self.claimed[0] == state)
            chosen[rng.permutation(members)[:per_state]] = True
            inclusion[members] = min(1.0, per_state / max(1, members.size))
        return self.audit(chosen, inclusion)


def world(
    size: int = 2000,
    rates: tuple[float, float] = (0.2, 0.4),
    flips: float = 0.05,
    unknown: float = 0.0,
    seed: int = 0,
    conditions: int = 1,
) -> World:
    rng = np.random.default_rng(seed)
    arms = rng.integers(0, 2, size).astype(np.int8)
    claimed, checker = [], []
    base = rng.random(size)
    for number in range(conditions):
        chance = base if number == 0 else 0.6 * base + 0.4 * rng.random(size)
        truth = chance < np.where(arms == 1, rates[1], rates[0])
        checker.append(_codes(truth, rng.random(size) < unknown))
        claimed.append(_codes(truth ^ (rng.random(size) < flips), rng.random(size) < unknown))
    return World(tuple(claimed), tuple(checker), arms if conditions == 1 else np.full(size, NO_ARM, dtype=np.int8))


def _codes(positive: NDArray[np.bool_], unknown: NDArray[np.bool_]) -> Codes:
    return np.where(unknown, UNKNOWN, np.where(positive, POSITIVE, NEGATIVE)).astype(np.int8)


def found(columns: AuditColumns, seed: int = 1, rates: KnownRates | None = None) -> LabelError:
    names = ["a", "b"][: len(columns.claimed)]
    known = None if rates is None else dict.fromkeys(names, rates)
    return label_error("f", names, columns, np.random.default_rng(seed), rates=known, draws=800)


def test_a_full_audit_gives_the_checkers_own_statistics() -> None:
    made = world(unknown=0.1)
    error = found(made.audit(np.ones(made.size, dtype=np.bool_)))
    exact = group_statistics(np.ones(made.size, dtype=np.bool_), made.arms, made.checker[0])
    claim = error.claim
    assert (claim.corrected.low, claim.corrected.value, claim.corrected.high) == (
        pytest.approx(exact["delta_known_pp"]),
    ) * 3
    assert claim.low == claim.region_low == pytest.approx(exact["delta_identification_lower_pp"])
    assert claim.high == claim.region_high == pytest.approx(exact["delta_identification_upper_pp"])
    claimed = group_statistics(np.ones(made.size, dtype=np.bool_), made.arms, made.claimed[0])
    assert claim.claimed == pytest.approx(claimed["delta_known_pp"])
    whole = error.conditions[0]
    known = (made.claimed[0] != UNKNOWN) & (made.checker[0] != UNKNOWN)
    disagreement = (made.claimed[0] != made.checker[0])[known].mean()
    assert whole.raw_disagreement == whole.hajek.value == pytest.approx(disagreement)
    assert whole.stratified.low == whole.stratified.high == pytest.approx(disagreement)
    assert whole.corrected_count.value == pytest.approx((made.checker[0] == POSITIVE).sum())


def test_a_full_audit_of_an_association_gives_its_joint_cells() -> None:
    made = world(unknown=0.05, conditions=2)
    error = found(made.audit(np.ones(made.size, dtype=np.bool_)))
    exact = association_statistics(np.ones(made.size, dtype=np.bool_), *made.checker)
    for name in ("n11", "n10", "n01", "n00"):
        assert error.claim.joint[name].value == pytest.approx(exact[name])
    assert error.claim.corrected.value == pytest.approx(exact["conditional_difference_pp"])
    assert error.claim.lift is not None
    assert error.claim.lift.value == pytest.approx(exact["lift"])
    assert error.claim.measure == "conditional_difference_pp"
    low, value, high = error.claim.region_low, error.claim.corrected.value, error.claim.region_high
    assert low is not None
    assert value is not None
    assert high is not None
    assert low < value < high


def test_bounds_of_an_association_hold_every_way_the_unknowns_could_fall() -> None:
    rng = np.random.default_rng(3)
    for seed in range(12):
        made = world(60, unknown=0.2, conditions=2, seed=seed)
        claim = found(made.audit(np.ones(made.size, dtype=np.bool_))).claim
        assert claim.region_low is not None
        assert claim.region_high is not None
        for _ in range(60):
            filled = [
                np.where(states == UNKNOWN, rng.choice([POSITIVE, NEGATIVE], made.size), states)
                for states in made.checker
            ]
            exact = association_statistics(np.ones(made.size, dtype=np.bool_), *filled)["conditional_difference_pp"]
            assert exact is not None
            assert claim.region_low - 1e-9 <= exact <= claim.region_high + 1e-9


def test_intervals_cover_about_as_often_as_they_claim_and_raw_rates_are_biased() -> None:
    made = world(3000, (0.05, 0.12), flips=0.04)
    exact = group_statistics(np.ones(made.size, dtype=np.bool_), made.arms, made.checker[0])["delta_known_pp"]
    disagreement = (made.claimed[0] != made.checker[0]).mean()
    assert exact is not None
    held, raw, weighted, rounds = 0, [], [], 150
    for turn in range(rounds):
        error = found(made.sample(np.random.default_rng(turn)), seed=turn)
        corrected, whole = error.claim.corrected, error.conditions[0]
        assert corrected.low is not None
        assert corrected.high is not None
        held += corrected.low <= exact <= corrected.high
        raw.append(whole.raw_disagreement)
        weighted.append(whole.hajek.value)
    assert 0.90 <= held / rounds <= 1.0
    assert abs(np.mean(weighted) - disagreement) < 0.01
    assert np.mean(raw) - disagreement > 0.05


def test_quoted_documents_count_only_for_themselves() -> None:
    made = world(400, flips=0.3)
    sampled = made.sample(np.random.default_rng(0), per_state=30)
    quoted = sampled.quoted.copy()
    picked = np.flatnonzero((made.claimed[0] == POSITIVE) & (made.checker[0] == POSITIVE))[:20]
    quoted[picked] = True
    checked = sampled.checked[0].copy()
    checked[picked] = POSITIVE
    with_picks = AuditColumns(
        sampled.population, quoted, sampled.arms, sampled.claimed, (checked,), np.where(quoted, 1.0, sampled.inclusion)
    )
    plain, flattered = found(sampled).conditions[0], found(with_picks).conditions[0]
    assert plain.raw_disagreement is not None
    assert flattered.raw_disagreement is not None
    assert flattered.raw_disagreement < plain.raw_disagreement - 0.02
    assert flattered.stratified.value == pytest.approx(plain.stratified.value, abs=0.04)


def test_every_verdict_has_its_case() -> None:
    rng = np.random.default_rng(5)
    assert found(world(4000, (0.1, 0.5)).sample(rng, 80)).claim.verdict is Verdict.SURVIVES
    assert found(world(4000, (0.3, 0.3), flips=0.0).sample(rng, 80)).claim.verdict is not Verdict.SURVIVES
    none = world(4000, (0.3, 0.3), flips=0.0, unknown=0.3)
    assert found(none.sample(rng, 80)).claim.verdict is Verdict.SIGN_NOT_ESTABLISHED
    short = found(world(4000, (0.2, 0.3), flips=0.1).sample(rng, 10)).claim
    assert short.verdict is Verdict.UNDERPOWERED
    assert short.needed is not None
    assert short.audited < short.needed <= 4000
    assert f"about {short.needed} of 4000 would" in short.sentence
    made = world(4000, (0.2, 0.4), flips=0.0)
    tilted = made.claimed[0].copy()
    tilted[(made.arms == 1) & (tilted == NEGATIVE) & (rng.random(made.size) < 0.6)] = POSITIVE
    overdone = World((tilted,), made.checker, made.arms)
    attenuated = found(overdone.sample(rng, 300)).claim
    assert attenuated.verdict is Verdict.ATTENUATED
    assert "smaller than claimed" in attenuated.sentence


def test_the_documents_said_to_be_needed_are_about_enough() -> None:
    """If the estimate stays where it is: so the audits looked at are those whose estimate is about right."""
    made = world(6000, (0.2, 0.3), flips=0.1, seed=8)
    exact = group_statistics(np.ones(made.size, dtype=np.bool_), made.arms, made.checker[0])["delta_known_pp"]
    audits = [found(made.sample(np.random.default_rng(turn), 20)).claim for turn in range(120)]
    short = next(
        claim
        for claim in audits
        if claim.verdict is Verdict.UNDERPOWERED and claim.corrected.value == pytest.approx(exact, abs=1.5)
    )
    assert short.needed is not None
    established = (Verdict.SURVIVES, Verdict.ATTENUATED)
    settled = sum(
        found(made.sample(np.random.default_rng(turn), short.needed // 2), seed=turn).claim.verdict in established
        for turn in range(30)
    )
    before = sum(claim.verdict in established for claim in audits) / len(audits)
    assert settled / 30 >= 0.4
    assert before <= 0.3
    assert short.needed < 600


def test_without_a_claim_or_an_arm_there_is_no_verdict() -> None:
    made = world(200)
    one_arm = World(made.claimed, made.checker, np.zeros(made.size, dtype=np.int8))
    claim = found(one_arm.sample(np.random.default_rng(0))).claim
    assert (claim.claimed, claim.corrected.value, claim.verdict, claim.needed) == (None, None, None, None)
    assert claim.sentence == "There is no claimed difference that label error could be carried to."


def test_known_errors_are_taken_out() -> None:
    made = world(6000, (0.2, 0.5), flips=0.0)
    rng = np.random.default_rng(9)
    errs = np.where(made.checker[0] == POSITIVE, rng.random(made.size) < 0.3, rng.random(made.size) < 0.1)
    noisy = np.where(errs, np.where(made.checker[0] == POSITIVE, NEGATIVE, POSITIVE), made.checker[0]).astype(np.int8)
    seen = World(made.claimed, (noisy,), made.arms)
    rates = KnownRates(CheckerRates(1000, 700, 1000, 900))
    plain, corrected = (found(seen.sample(rng, 400), rates=known).claim for known in (None, rates))
    assert plain.corrected.value == pytest.approx(0.6 * 30, abs=4)
    assert corrected.corrected.low is not None
    assert corrected.corrected.high is not None
    assert corrected.corrected.low <= 30 <= corrected.corrected.high
    assert corrected.corrects_checker
    whole = found(seen.sample(rng, 400), rates=rates).conditions[0]
    assert whole.true_rate is not None
    assert whole.true_rate.value == pytest.approx((made.checker[0] == POSITIVE).mean(), abs=0.05)


def test_rates_per_arm_take_out_what_common_rates_cannot() -> None:
    """A checker that misses more in one arm makes a difference of its own."""
    made = world(8000, (0.4, 0.4), flips=0.0)
    rng = np.random.default_rng(10)
    misses = (made.checker[0] == POSITIVE) & (made.arms == 1) & (rng.random(made.size) < 0.4)
    seen = World(made.claimed, (np.where(misses, NEGATIVE, made.checker[0]).astype(np.int8),), made.arms)
    own = (CheckerRates(2000, 2000, 2000, 2000), CheckerRates(2000, 1200, 2000, 2000))
    common = KnownRates(CheckerRates(4000, 3200, 4000, 4000))
    audit = seen.sample(rng, 600)
    shared, by_arm = found(audit, rates=common).claim, found(audit, rates=KnownRates(common.overall, own)).claim
    assert shared.corrected.high is not None
    assert shared.corrected.high < -5
    assert by_arm.corrected.low is not None
    assert by_arm.corrected.high is not None
    assert by_arm.corrected.low <= 0 <= by_arm.corrected.high


def test_known_errors_of_an_association_are_taken_out() -> None:
    made = world(6000, (0.4, 0.4), flips=0.0, conditions=2)
    rng = np.random.default_rng(12)
    noisy = []
    for states in made.checker:
        errs = rng.random(made.size) < 0.1
        noisy.append(np.where(errs, np.where(states == POSITIVE, NEGATIVE, POSITIVE), states).astype(np.int8))
    seen = World(made.claimed, tuple(noisy), made.arms)
    exact = association_statistics(np.ones(made.size, dtype=np.bool_), *made.checker)["conditional_difference_pp"]
    chosen = rng.random(made.size) < 0.3
    audit = seen.audit(chosen, 0.3)
    plain = found(audit).claim
    corrected = found(audit, rates=KnownRates(CheckerRates(1000, 900, 1000, 900))).claim
    assert exact is not None
    assert plain.corrected.high is not None
    assert plain.corrected.high < exact
    assert corrected.corrected.low is not None
    assert corrected.corrected.high is not None
    assert corrected.corrected.low <= exact <= corrected.corrected.high
