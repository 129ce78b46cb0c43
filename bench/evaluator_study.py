"""Measures what the discovery evaluator itself gets wrong, and writes docs/evaluator-study.md.

Three parts: planted flaws against the fixed gates; label-error intervals against the labels they estimate, with
checkers of known error rates; and the same with 14 real annotators, each as claimant and each other as checker.

    python -m bench.evaluator_study [--tasks N] [--documents N] [--worlds N] [--pairs N] [--print]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
from numpy.typing import NDArray

from docassay.core.statistics.estimators import CheckerRates, Estimate, krippendorff_alpha
from docassay.discovery.blind_check import Annotation
from docassay.discovery.claim_error import Verdict
from docassay.discovery.corpus import Corpus, load_corpus
from docassay.discovery.gates import FindingGate, gate_findings
from docassay.discovery.label_error import LabelError, label_error
from docassay.discovery.label_tables import AuditColumns, KnownRates, audit_columns
from docassay.discovery.oracle import Noise, OracleJudge
from docassay.discovery.population import NEGATIVE, NO_STATE, POSITIVE, STATES, UNKNOWN
from docassay.discovery.quality import Assessment, Support, TaskQuality, task_quality
from docassay.discovery.sampling import Condition, audit_sample, conditions_of
from docassay.discovery.simulate.layout import Quality, load_planted, submission_file
from docassay.discovery.simulate.write import simulate
from docassay.discovery.statistics import (
    Columns,
    association_statistics,
    columns_of_finding,
    group_statistics,
)
from docassay.discovery.submission import Finding, Submission
from docassay.discovery.tasks import ASSOCIATION, Task, load_data
from docassay.discovery.validate import validate_submission

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("DOCASSAY_SHARED", REPOSITORY.parent / "shared"))
ANNOTATORS = SHARED / "data" / "discovery" / "cfpb_1000_with_14_llm_labels.jsonl"
PAGE = REPOSITORY / "docs" / "evaluator-study.md"

BUDGET = 160
DRAWS = 2000
GOLD_ITEMS = 150
"""Known positives and known negatives that the checker's error rates are measured on, each."""
GOLD_SLICE = 300
"""Documents with a gold label that a real checker's error rates are measured on."""

CHECKERS = {
    "exact": Noise(),
    "good (95 / 98 %)": Noise(0.95, 0.98, 0.02, seed=1),
    "fair (90 / 95 %)": Noise(0.90, 0.95, 0.05, seed=2),
    "poor (80 / 90 %)": Noise(0.80, 0.90, 0.05, seed=3),
}
"""Name → error rates: sensitivity and specificity, and how often it says unknown."""

Codes = NDArray[np.int8]


@dataclass
class Coverage:
    """How often intervals held what they estimate."""

    held: int = 0
    made: int = 0
    width: float = 0.0

    def see(self, low: float | None, high: float | None, *truths: float | None) -> None:
        """One interval and what it should hold; nothing is counted where either is missing."""
        if low is None or high is None or any(truth is None for truth in truths):
            return
        slack = 1e-9
        self.held += all(low - slack <= float(truth or 0.0) <= high + slack for truth in truths)
        self.made += 1
        self.width += high - low

    def add(self, estimate: Estimate, truth: float | None) -> None:
        self.see(estimate.low, estimate.high, truth)

    def __str__(self) -> str:
        return f"{100 * self.held / self.made:.1f} % of {self.made:,}" if self.made else "–"

    @property
    def mean_width(self) -> str:
        return f"{self.width / self.made:.1f}" if self.made else "–"


@dataclass
class FlawCounts:
    """What the gates and label error did with the findings of one quality."""

    tasks: int = 0
    findings: int = 0
    caps: dict[str, int] = field(default_factory=dict)
    doubted: int = 0
    unresolved: int = 0
    width: float = 0.0


@dataclass
class CheckerCounts:
    """Coverage and bias under one checker."""

    flaws: dict[str, FlawCounts] = field(default_factory=dict)
    effect: Coverage = field(default_factory=Coverage)
    region: Coverage = field(default_factory=Coverage)
    disagreement: Coverage = field(default_factory=Coverage)
    hajek: Coverage = field(default_factory=Coverage)
    false_positive: Coverage = field(default_factory=Coverage)
    false_negative: Coverage = field(default_factory=Coverage)
    rate: Coverage = field(default_factory=Coverage)
    count: Coverage = field(default_factory=Coverage)
    true_effect: Coverage = field(default_factory=Coverage)
    naive_effect: Coverage = field(default_factory=Coverage)
    raw_bias: list[float] = field(default_factory=list)
    weighted_bias: list[float] = field(default_factory=list)
    verdicts: dict[str, list[bool]] = field(default_factory=dict)


def main() -> None:
    """Run the study and write its page."""
    parser = argparse.ArgumentParser(description="Measure what the discovery evaluator itself gets wrong.")
    parser.add_argument("--tasks", type=int, default=10, help="tasks per world")
    parser.add_argument("--documents", type=int, default=1500, help="documents per task")
    parser.add_argument("--worlds", type=int, default=4, help="worlds, each with a seed of its own")
    parser.add_argument("--rounds", type=int, default=2, help="audits per pair of annotators and product")
    parser.add_argument("--print", action="store_true", dest="only_print", help="do not write the page")
    given = parser.parse_args()
    started = time.monotonic()
    pieces = list(_study(given))
    seconds = time.monotonic() - started
    page = "\n".join([*_opening(given, seconds), *pieces]) + "\n"
    print(page)
    if not given.only_print:
        PAGE.write_text(page, encoding="utf-8")


def _opening(given: argparse.Namespace, seconds: float) -> list[str]:
    return [
        "# What the evaluator itself gets wrong",
        "",
        f"Made by `make evaluator-study` ({seconds / 60:.1f} minutes): {given.worlds} simulated worlds of "
        f"{given.tasks} tasks, {given.documents:,} documents each, audits of {BUDGET} documents, intervals at 95 %. "
        "Every figure comes from one run; none is chosen. What the figures mean is told in "
        "[judging](judging.md#what-the-evaluator-gets-wrong).",
        "",
    ]


def _study(given: argparse.Namespace) -> Iterator[str]:
    counts = {name: CheckerCounts() for name in CHECKERS}
    qualities: dict[str, Quality] = {}
    for seed in range(given.worlds):
        with tempfile.TemporaryDirectory() as folder:
            made = simulate(Path(folder) / "data", tasks=given.tasks, documents=given.documents, seed=100 + seed)
            qualities |= _world(made.data, made.planted, seed, counts)
    yield from _flaw_tables(counts, qualities)
    yield from _coverage_tables(counts)
    if ANNOTATORS.is_file():
        yield from _real_annotators(given.rounds)
    else:
        yield "## Real annotators\n\nNot run: the annotated documents are not there.\n"


# Simulated worlds


def _world(data_root: Path, planted_root: Path, seed: int, counts: dict[str, CheckerCounts]) -> dict[str, Quality]:
    data, planted = load_data(data_root), load_planted(planted_root)
    valid = {name: quality for name, quality in planted.qualities.items() if quality.assessment is not None}
    for number, task in enumerate(data.tasks):
        corpus = load_corpus(data, task)
        checkers = {name: _Checker(OracleJudge(data, planted_root, noise), task) for name, noise in CHECKERS.items()}
        for name, quality in valid.items():
            source = submission_file(planted_root, name, task.task_id).read_bytes()
            submission = validate_submission(source, task, corpus).submission
            assert submission is not None, f"{name} of {task.task_id} is valid"
            for title, checker in checkers.items():
                audit = _Audited(task, submission, corpus, checker, f"{seed}-{number}-{name}-{title}")
                audit.count(quality, counts[title])
    return valid


class _Checker:
    """Every label that a checker would give, not only those of a sample."""

    def __init__(self, judge: OracleJudge, task: Task) -> None:
        self.judge = judge
        self.task = task
        self.columns: dict[tuple[str, str], Codes] = {}
        self.truths: dict[tuple[str, str], Codes] = {}

    def labels(self, corpus: Corpus, inclusion: str, exclusion: str) -> Codes:
        key = inclusion, exclusion
        if key not in self.columns:
            self.columns[key], self.truths[key] = self.judge.all_labels(self.task.task_id, inclusion, exclusion)
        return self.columns[key]

    def rates(self, key: tuple[str, str], rng: np.random.Generator) -> CheckerRates:
        """What a set of known items shows of its errors."""
        checked, truth = self.columns[key], self.truths[key]
        right = []
        for state in (POSITIVE, NEGATIVE):
            known = np.flatnonzero((truth == state) & (checked != UNKNOWN))
            items = rng.choice(known, min(GOLD_ITEMS, known.size), replace=False)
            right += [items.size, int((checked[items] == state).sum())]
        return CheckerRates(*right)


@dataclass
class _Audited:
    """One submission under one checker."""

    task: Task
    submission: Submission
    corpus: Corpus
    checker: _Checker
    seed: str

    def count(self, quality: Quality, into: CheckerCounts) -> None:
        rng = np.random.default_rng(list(self.seed.encode()))
        sample = audit_sample(self.submission, self.corpus, seed=self.seed, budget=BUDGET)
        full = {
            condition: self.checker.labels(self.corpus, definition.inclusion, definition.exclusion)
            for finding in self.submission.findings
            for definition in finding.definitions
            for condition in [Condition(finding.finding_id, definition.condition_id)]
        }
        annotations = [
            Annotation(
                document.doc_id,
                tuple(STATES[full[c][document.position] - POSITIVE] for c in conditions_of(self.submission)),
                ("",) * len(full),
            )
            for document in sample.documents
        ]
        gates = {gate.finding_id: gate for gate in gate_findings(self.submission, annotations)}
        flaw = into.flaws.setdefault(quality.name, FlawCounts())
        for finding in self.submission.findings:
            columns = columns_of_finding(finding, self.task, self.corpus)
            laid_out = audit_columns(self.submission, finding, columns, self.corpus, sample, annotations)
            names = [definition.condition_id for definition in finding.definitions]
            error = label_error(finding.finding_id, names, laid_out, rng, draws=DRAWS)
            self._coverage(finding, columns, laid_out, error, full, into, rng)
            _count_flaw(flaw, gates[finding.finding_id], error)
        bounds = _bounds(self.submission, gates, quality)
        flaw.tasks += 1
        flaw.unresolved += bounds.quality is None
        flaw.width += (bounds.quality_high or 0.0) - (bounds.quality_low or 0.0)

    def _coverage(
        self,
        finding: Finding,
        columns: Columns,
        laid_out: AuditColumns,
        error: LabelError,
        full: dict[Condition, Codes],
        into: CheckerCounts,
        rng: np.random.Generator,
    ) -> None:
        checked = [
            np.where(columns.population, full[Condition(finding.finding_id, d.condition_id)], NO_STATE).astype(np.int8)
            for d in finding.definitions
        ]
        effect, low, high = _effect(self.task, columns, checked)
        claim = error.claim
        into.effect.add(claim.corrected, effect)
        if low is not None:
            into.region.see(claim.low, claim.high, low, high)
        for row, states, claimed in zip(
            [row for row in error.conditions if row.arm is None], checked, columns.states, strict=True
        ):
            known = (claimed != UNKNOWN) & (states != UNKNOWN) & columns.population
            wrong = claimed != states
            disagreement = float(wrong[known].mean())
            into.disagreement.add(row.stratified, disagreement)
            into.hajek.add(row.hajek, disagreement)
            into.false_positive.add(row.false_positive, _mean(claimed[known & (states == NEGATIVE)] == POSITIVE))
            into.false_negative.add(row.false_negative, _mean(claimed[known & (states == POSITIVE)] == NEGATIVE))
            decided = columns.population & (states != UNKNOWN)
            into.rate.add(row.corrected_rate, _mean(states[decided] == POSITIVE))
            into.count.add(row.corrected_count, float((states[columns.population] == POSITIVE).sum()))
            into.raw_bias.append((row.raw_disagreement or 0.0) - disagreement)
            into.weighted_bias.append((row.stratified.value or 0.0) - disagreement)
        if claim.verdict is not None and effect is not None and claim.claimed:
            into.verdicts.setdefault(claim.verdict.value, []).append(effect * claim.claimed > 0)
        self._truth(finding, columns, laid_out, error, into, rng)

    def _truth(
        self,
        finding: Finding,
        columns: Columns,
        laid_out: AuditColumns,
        plain: LabelError,
        into: CheckerCounts,
        rng: np.random.Generator,
    ) -> None:
        """The planted effect, with the checker's known errors carried through, and without."""
        keys = [(definition.inclusion, definition.exclusion) for definition in finding.definitions]
        truth = [np.where(columns.population, self.checker.truths[key], NO_STATE).astype(np.int8) for key in keys]
        names = [definition.condition_id for definition in finding.definitions]
        rates = {name: KnownRates(self.checker.rates(key, rng)) for name, key in zip(names, keys, strict=True)}
        corrected = label_error(finding.finding_id, names, laid_out, rng, rates=rates, draws=DRAWS)
        effect, _, _ = _effect(self.task, columns, truth)
        into.true_effect.add(corrected.claim.corrected, effect)
        into.naive_effect.add(plain.claim.corrected, effect)


def _effect(task: Task, columns: Columns, states: Sequence[Codes]) -> tuple[float | None, float | None, float | None]:
    """The difference by these labels, and its bounds from unknowns where the protocol has some."""
    if task.kind == ASSOCIATION:
        found = association_statistics(columns.population, states[0], states[1])
        return found["conditional_difference_pp"], None, None
    found = group_statistics(columns.population, columns.arms, states[0])
    return (
        found["delta_known_pp"],
        found["delta_identification_lower_pp"],
        found["delta_identification_upper_pp"],
    )


def _count_flaw(flaw: FlawCounts, gate: FindingGate, error: LabelError) -> None:
    flaw.findings += 1
    flaw.caps[gate.cap.value] = flaw.caps.get(gate.cap.value, 0) + 1
    flaw.doubted += error.claim.verdict not in (None, Verdict.SURVIVES)


def _bounds(submission: Submission, gates: dict[str, FindingGate], quality: Quality) -> TaskQuality:
    """Quality and bounds when the judge answers as the simulation says a judge should."""
    said = quality.assessment
    assert said is not None
    rows = [
        Assessment(
            finding_id=finding.finding_id,
            support=Support(said.support),
            task_fulfilled=said.task_fulfilled,
            statistical_validity=said.statistical_validity,
            evidence_entailment=said.evidence_entailment,
            analytical_depth=said.analytical_depth,
            calibration=said.calibration,
            duplicate_of=submission.findings[0].finding_id if quality.duplicates and number else None,
            reference_match=None,
            rationale="As planted.",
        )
        for number, finding in enumerate(submission.findings)
    ]
    return task_quality(rows, {name: gate.cap for name, gate in gates.items()})


def _mean(values: NDArray[np.bool_]) -> float | None:
    return float(values.mean()) if values.size else None


# Tables


def _flaw_tables(counts: dict[str, CheckerCounts], qualities: dict[str, Quality]) -> Iterator[str]:
    yield "## Which flaws the fixed gates catch\n"
    yield (
        "Share of findings that the gates cap below *supported* (of which *uncertain*), by checker: sensitivity / "
        "specificity. *Doubted* is the share whose label-error verdict is not *survives*, with the exact checker. "
        "*Bounds* is the mean width of a task's quality bounds with the fair checker, in points of 100, when the judge "
        "answers as it should.\n"
    )
    yield "| submission | what is wrong | " + " | ".join(counts) + " | doubted | bounds |"
    yield "| --- | --- |" + " ---: |" * (len(counts) + 2)
    exact, fair = counts["exact"].flaws, counts["fair (90 / 95 %)"].flaws
    for name, quality in qualities.items():
        cells = [_capped(row.flaws[name]) for row in counts.values()]
        doubted = f"{100 * exact[name].doubted / exact[name].findings:.0f} %"
        width = fair[name].width / fair[name].tasks
        yield f"| {name} | {quality.flaw or 'nothing'} | {' | '.join(cells)} | {doubted} | {width:.1f} |"
    yield ""


def _capped(row: FlawCounts) -> str:
    capped = row.findings - row.caps.get("supported", 0)
    unsure = row.caps.get("uncertain", 0)
    tail = f" ({100 * unsure / row.findings:.0f})" if unsure else ""
    return f"{100 * capped / row.findings:.0f} %{tail}"


def _coverage_tables(counts: dict[str, CheckerCounts]) -> Iterator[str]:
    yield "## Do label-error intervals hold what they estimate?\n"
    yield (
        "Each interval claims 95 %. The target is what the same checker would say of the whole population; the last "
        "two rows are held against the planted truth instead, without and with the checker's error rates measured on "
        f"{GOLD_ITEMS} known positives and {GOLD_ITEMS} known negatives (Rogan-Gladen).\n"
    )
    yield "| interval | " + " | ".join(counts) + " |"
    yield "| --- |" + " ---: |" * len(counts)
    rows = {
        "difference, over known documents": "effect",
        "difference, with unknowns at their worst": "region",
        "corrected rate": "rate",
        "disagreement, by stratum": "disagreement",
        "disagreement, Hájek and normal": "hajek",
        "false-positive rate": "false_positive",
        "false-negative rate": "false_negative",
        "corrected count, difference estimator and normal": "count",
        "true difference, checker taken at its word": "naive_effect",
        "true difference, checker's errors taken out": "true_effect",
    }
    for title, name in rows.items():
        yield f"| {title} | " + " | ".join(str(getattr(row, name)) for row in counts.values()) + " |"
    widths = {
        "difference, over known documents": "effect",
        "true difference, checker's errors taken out": "true_effect",
    }
    for title, name in widths.items():
        cells = " | ".join(f"{getattr(row, name).mean_width} points" for row in counts.values())
        yield f"| mean width: {title} | {cells} |"
    yield ""
    yield "| disagreement over the sample, minus that over the population | " + " | ".join(counts) + " |"
    yield "| --- |" + " ---: |" * len(counts)
    for title, name in {"raw": "raw_bias", "weighted by the design": "weighted_bias"}.items():
        found = [100 * np.array(getattr(row, name)) for row in counts.values()]
        yield f"| {title}: mean | " + " | ".join(f"{errors.mean():+.1f} points" for errors in found) + " |"
        yield f"| {title}: largest in 19 of 20 | " + " | ".join(_usual_most(errors) for errors in found) + " |"
    yield ""
    yield "How often the sign of the claim is the sign that the checker's labels give over the whole population:\n"
    yield "| verdict | " + " | ".join(counts) + " |"
    yield "| --- |" + " ---: |" * len(counts)
    for verdict in Verdict:
        cells = [_share(row.verdicts.get(verdict.value, [])) for row in counts.values()]
        yield f"| {verdict.value} | {' | '.join(cells)} |"
    yield ""


def _usual_most(errors: NDArray[np.float64]) -> str:
    return f"{np.quantile(np.abs(errors), 0.95):.1f} points"


def _share(values: Sequence[bool]) -> str:
    return f"{100 * sum(values) / len(values):.1f} % of {len(values):,}" if values else "–"


# Real annotators


def _real_annotators(rounds: int) -> Iterator[str]:
    rows = [json.loads(line) for line in ANNOTATORS.read_text(encoding="utf-8").splitlines()]
    models = list(rows[0]["llm_labels"])
    gold = np.array([row["gold_product"] for row in rows])
    said = {model: np.array([str(row["llm_labels"].get(model)) for row in rows]) for model in models}
    lengths = np.array([len(row["text"]) for row in rows])
    arms = (lengths >= np.median(lengths)).astype(np.int8)
    found = _Real()
    for number, product in enumerate(sorted(set(gold))):
        truth = _codes(gold == product)
        labels = {model: _codes(said[model] == product) for model in models}
        for claimant in models:
            for checker in models:
                if claimant != checker:
                    for turn in range(rounds):
                        rng = np.random.default_rng([number, models.index(claimant), models.index(checker), turn])
                        found.see(labels[claimant], labels[checker], truth, arms, rng)
    yield "## Real annotators\n"
    yield (
        f"{len(rows):,} complaint narratives with a gold product and the labels of {len(models)} models. One condition "
        "per product, arms by length of text (below the median, from it on), each of "
        f"{len(models) * (len(models) - 1)} pairs as claimant and checker, {rounds} audits each of {BUDGET} documents. "
        f"The checker's error rates are measured on {GOLD_SLICE} documents with gold labels, drawn anew every time: "
        "one pair of rates for both arms, or a pair for each arm.\n"
    )
    yield "| what should be held | claimed | held by the intervals |"
    yield "| --- | ---: | ---: |"
    yield f"| prevalence by the checker's labels | 95 % | {found.checker_rate} |"
    yield f"| difference by the checker's labels | 95 % | {found.checker_effect} |"
    yield f"| true prevalence, checker taken at its word | 95 % | {found.naive_rate} |"
    yield f"| true difference, checker taken at its word | 95 % | {found.naive_effect} |"
    yield f"| true prevalence, checker's errors taken out | 95 % | {found.true_rate} |"
    yield f"| true difference, checker's errors taken out, one pair of rates | 95 % | {found.true_effect} |"
    yield f"| true difference, checker's errors taken out, rates per arm | 95 % | {found.arms_effect} |"
    yield f"| true prevalence, gold labels as checker | 95 % | {found.gold_rate} |"
    yield f"| true difference, gold labels as checker | 95 % | {found.gold_effect} |"
    yield ""
    yield from _alphas(models, said)


def _alphas(models: Sequence[str], said: dict[str, NDArray[Any]]) -> Iterator[str]:
    """Agreement of the real annotators, by this package and by an independent one."""
    names = sorted({label for labels in said.values() for label in labels})
    table = np.array([[float(names.index(label)) for label in said[model]] for model in models])
    ours, theirs = krippendorff_alpha(table, "nominal"), krippendorff.alpha(table, level_of_measurement="nominal")
    assert ours is not None
    assert abs(ours - theirs) < 1e-9, "the two packages agree"
    yield (
        f"Krippendorff's alpha of the {len(models)} models over all products: {ours:.4f} "
        f"(an independent package: {theirs:.4f}).\n"
    )


@dataclass
class _Real:
    """Coverage over real annotators."""

    checker_rate: Coverage = field(default_factory=Coverage)
    checker_effect: Coverage = field(default_factory=Coverage)
    naive_rate: Coverage = field(default_factory=Coverage)
    naive_effect: Coverage = field(default_factory=Coverage)
    true_rate: Coverage = field(default_factory=Coverage)
    true_effect: Coverage = field(default_factory=Coverage)
    arms_effect: Coverage = field(default_factory=Coverage)
    gold_rate: Coverage = field(default_factory=Coverage)
    gold_effect: Coverage = field(default_factory=Coverage)

    def see(self, claimed: Codes, checker: Codes, truth: Codes, arms: Codes, rng: np.random.Generator) -> None:
        """One audit of one claimant by one checker, and by the gold labels."""
        design = _design(claimed, arms, rng)
        audited = _with(design, checker)
        plain = label_error("f", ["c"], audited, rng, draws=DRAWS)
        _hold(plain, self.checker_rate, self.checker_effect, checker, arms)
        _hold(plain, self.naive_rate, self.naive_effect, truth, arms)
        gold = rng.choice(truth.size, GOLD_SLICE, replace=False)
        overall = _rates(checker, truth, gold)
        common = label_error("f", ["c"], audited, rng, rates={"c": KnownRates(overall)}, draws=DRAWS)
        _hold(common, self.true_rate, self.true_effect, truth, arms)
        own = (_rates(checker, truth, gold[arms[gold] == 0]), _rates(checker, truth, gold[arms[gold] == 1]))
        by_arm = label_error("f", ["c"], audited, rng, rates={"c": KnownRates(overall, own)}, draws=DRAWS)
        _hold(by_arm, Coverage(), self.arms_effect, truth, arms)
        _hold(
            label_error("f", ["c"], _with(design, truth), rng, draws=DRAWS),
            self.gold_rate,
            self.gold_effect,
            truth,
            arms,
        )


def _hold(error: LabelError, rate: Coverage, effect: Coverage, target: Codes, arms: Codes) -> None:
    whole = next(row for row in error.conditions if row.arm is None)
    rate.add(whole.true_rate or whole.corrected_rate, float((target == POSITIVE).mean()))
    shares = [float((target[arms == arm] == POSITIVE).mean()) for arm in (0, 1)]
    effect.add(error.claim.corrected, 100 * (shares[1] - shares[0]))


def _rates(checker: Codes, truth: Codes, items: NDArray[np.int64]) -> CheckerRates:
    positive, negative = (items[truth[items] == state] for state in (POSITIVE, NEGATIVE))
    right = [int((checker[group] == state).sum()) for group, state in ((positive, POSITIVE), (negative, NEGATIVE))]
    return CheckerRates(positive.size, right[0], negative.size, right[1])


def _design(claimed: Codes, arms: Codes, rng: np.random.Generator) -> AuditColumns:
    """An audit sample by the protocol's rules: eight quoted positives, four quoted negatives, cells, fill."""
    size = claimed.size
    quoted = np.zeros(size, dtype=np.bool_)
    for state, count in ((POSITIVE, 8), (NEGATIVE, 4)):
        quoted[rng.choice(np.flatnonzero(claimed == state), count, replace=False)] = True
    cells = [members for state in (POSITIVE, NEGATIVE) if (members := np.flatnonzero(claimed == state)).size]
    quota = max(1, (BUDGET - int(quoted.sum())) // (2 * len(cells)))
    chosen, missed = quoted.copy(), np.ones(size)
    for members in cells:
        chosen[rng.permutation(members)[:quota]] = True
        missed[members] *= 1 - min(1.0, quota / members.size)
    others = np.flatnonzero(~chosen)
    fill = rng.permutation(others)[: BUDGET - int(chosen.sum())]
    chosen[fill] = True
    inclusion = np.where(quoted, 1.0, 1 - missed * (1 - fill.size / others.size))
    audited = np.where(chosen, POSITIVE, NO_STATE).astype(np.int8)
    return AuditColumns(np.ones(size, dtype=np.bool_), quoted, arms, (claimed,), (audited,), inclusion)


def _with(design: AuditColumns, checker: Codes) -> AuditColumns:
    """The design with a checker's labels on the audited documents."""
    checked = np.where(design.checked[0] != NO_STATE, checker, NO_STATE).astype(np.int8)
    return AuditColumns(design.population, design.quoted, design.arms, design.claimed, (checked,), design.inclusion)


def _codes(positive: NDArray[np.bool_]) -> Codes:
    return np.where(positive, POSITIVE, NEGATIVE).astype(np.int8)


if __name__ == "__main__":
    main()
