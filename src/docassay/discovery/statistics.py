"""Decides every number a finding must state, computed from columns: population, arms, states.

Double precision, no rounding; null where a denominator is zero. Formulas: the discovery contract, section on statistics
(docs/discovery.md); bounds from unknowns are worst-case identification bounds (Manski 1989, Anatomy of the Selection
Problem): every unknown of one arm positive and of the other negative.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docassay.discovery.corpus import Corpus, corpus_from_rows
from docassay.discovery.population import NEGATIVE, POSITIVE, UNKNOWN, Labels, arms, label, select
from docassay.discovery.robustness import AXES, Arms, AxisDetails, axis_details, axis_statistics
from docassay.discovery.submission import (
    Assignment,
    Comparison,
    Definition,
    Finding,
    Number,
    Population,
    finding_value,
    read_draft_finding,
)
from docassay.discovery.tasks import ASSOCIATION, Task, read_task
from docassay.errors import TaskDataError

__all__ = [
    "Columns",
    "association_statistics",
    "columns_of",
    "columns_of_finding",
    "complete_statistics",
    "expected_statistics",
    "group_statistics",
    "robustness_details",
    "statistic_names",
    "statistics_of",
]

Mask = NDArray[np.bool_]
Codes = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Columns:
    """A finding as columns over the corpus.

    population: bool per document.
    arms: int8 per document, 0, 1 or -1 for neither (all -1 for associations).
    labels: each condition's assignment, in the order of `definitions`.
    """

    population: Mask
    arms: Codes
    labels: tuple[Labels, ...]

    @property
    def states(self) -> tuple[Codes, ...]:
        """Each condition's states, int8 per document."""
        return tuple(labels.states for labels in self.labels)


def expected_statistics(
    finding: Finding | Mapping[str, Any],
    task: Task | Mapping[str, Any],
    documents: Corpus | Iterable[Mapping[str, Any]],
) -> dict[str, Number]:
    """Every statistic a finding must state, by name, in the contract's order.

    `finding` needs population, comparison, definitions and assignments; its statistics, evidence and texts are not
    looked at, so a draft will do. `documents` is a loaded corpus (fast), or rows with `doc_id`, `text` and metadata.

    Raises TaskDataError if those parts are faulty, or the assignments do not partition the population.
    """
    known_task = task if isinstance(task, Task) else read_task(task)
    corpus = documents if isinstance(documents, Corpus) else corpus_from_rows(documents)
    return statistics_of(_checked_columns(finding, known_task, corpus), known_task, corpus)


def complete_statistics(
    finding: Mapping[str, Any], task: Task | Mapping[str, Any], documents: Corpus | Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """A copy of a draft finding with its `statistics` computed; raises as `expected_statistics` does."""
    return {**finding, "statistics": expected_statistics(finding, task, documents)}


def columns_of(
    population: Population | None,
    comparison: Comparison | None,
    definitions: tuple[Definition, ...],
    assignments: tuple[Assignment, ...],
    task: Task,
    corpus: Corpus,
) -> Columns:
    """The columns of a finding's parts; for fixed-comparison tasks the task's comparison is used."""
    selected = select(population, corpus)
    by_id = {assignment.condition_id: assignment for assignment in assignments}
    return Columns(
        population=selected,
        arms=arms(comparison if task.agent_selected else task.comparison, corpus, selected),
        labels=tuple(label(by_id[definition.condition_id], corpus) for definition in definitions),
    )


def columns_of_finding(finding: Finding, task: Task, corpus: Corpus) -> Columns:
    """The columns of a finding whose structure is right."""
    return columns_of(finding.population, finding.comparison, finding.definitions, finding.assignments, task, corpus)


def statistics_of(columns: Columns, task: Task, corpus: Corpus) -> dict[str, Number]:
    """The statistics of columns that partition the population."""
    if task.kind == ASSOCIATION:
        result = association_statistics(columns.population, columns.states[0], columns.states[1])
    else:
        result = group_statistics(columns.population, columns.arms, columns.states[0])
    if task.agent_selected:
        result |= _totals(columns.population)
    if task.audited:
        result |= _robustness(columns, task, corpus)
    return result


def robustness_details(columns: Columns, task: Task, corpus: Corpus) -> dict[str, AxisDetails]:
    """Per axis the strata behind the robustness numbers; empty for tasks without them."""
    if not task.audited:
        return {}
    known = _known_arms(columns, task)
    return {axis: axis_details(known, corpus, axis) for axis in AXES}


def statistic_names(task: Task) -> tuple[str, ...]:
    """The names of all statistics a finding of this task states, in the contract's order."""
    return tuple(statistics_of(_no_documents(task), task, Corpus((), (), {})))


def group_statistics(population: Mask, arms: Codes, states: Codes) -> dict[str, Number]:
    """Counts and rates per arm, the difference in percentage points, and its bounds from unknowns.

    Per arm i: total, known = total - unknown, positive, unknown, rate = positive / known (null if nothing is known).
    delta = 100 (rate1 - rate0). With n the total, p positive, u unknown: lower = 100 (p1/n1 - (p0+u0)/n0), upper =
    100 ((p1+u1)/n1 - p0/n0); null only if an arm is empty.
    """
    result: dict[str, Number] = {}
    totals, positives, unknowns = [], [], []
    rates: list[float | None] = []
    for arm in (0, 1):
        inside = arms == arm
        total, positive, unknown = (_n(inside), _n(inside & (states == POSITIVE)), _n(inside & (states == UNKNOWN)))
        known = total - unknown
        rate = positive / known if known else None
        result |= {
            f"group{arm}_total_n": total,
            f"group{arm}_known_n": known,
            f"group{arm}_positive_n": positive,
            f"group{arm}_unknown_n": unknown,
            f"group{arm}_rate_known": rate,
        }
        totals.append(total)
        positives.append(positive)
        unknowns.append(unknown)
        rates.append(rate)
    result["excluded_metadata_n"] = _n(population) - sum(totals)
    result["delta_known_pp"] = _difference(rates[1], rates[0])
    lowest = [_ratio(positive, total) for positive, total in zip(positives, totals, strict=True)]
    highest = [_ratio(p + u, total) for p, u, total in zip(positives, unknowns, totals, strict=True)]
    result["delta_identification_lower_pp"] = _difference(lowest[1], highest[0])
    result["delta_identification_upper_pp"] = _difference(highest[1], lowest[0])
    return result


def association_statistics(population: Mask, a: Codes, b: Codes) -> dict[str, Number]:
    """The joint counts of two conditions over documents known for both, and how far B goes with A.

    n11 is A and B, n10 A without B, n01 B without A, n00 neither. P(B|A) = n11 / (n11+n10), P(B|not A) = n01 /
    (n01+n00), difference in percentage points, lift = n11 n / ((n11+n10)(n11+n01)); null for a zero denominator.
    """
    known = population & _is_known(a) & _is_known(b)
    a_yes, b_yes = a == POSITIVE, b == POSITIVE
    n11, n10 = _n(known & a_yes & b_yes), _n(known & a_yes & ~b_yes)
    n01, n00 = _n(known & ~a_yes & b_yes), _n(known & ~a_yes & ~b_yes)
    total = n11 + n10 + n01 + n00
    given_a, given_not_a = _ratio(n11, n11 + n10), _ratio(n01, n01 + n00)
    return {
        "known_joint_n": total,
        "unknown_joint_n": _n(population) - total,
        "n11": n11,
        "n10": n10,
        "n01": n01,
        "n00": n00,
        "p_b_given_a": given_a,
        "p_b_given_not_a": given_not_a,
        "conditional_difference_pp": _difference(given_a, given_not_a),
        "lift": _ratio(n11 * total, (n11 + n10) * (n11 + n01)),
    }


def _checked_columns(finding: Finding | Mapping[str, Any], task: Task, corpus: Corpus) -> Columns:
    """The columns of a draft, or TaskDataError for what its statistics cannot be computed from."""
    value = finding_value(finding) if isinstance(finding, Finding) else finding
    draft, faults = read_draft_finding(value, task)
    needed = ("population", "comparison", "definitions", "assignments")
    wrong = [fault for fault in faults if fault.field.removeprefix("findings[0].").startswith(needed)]
    missing = draft.definitions is None or draft.assignments is None
    if wrong or missing:
        shown = wrong or list(faults)
        raise TaskDataError("no statistics for this finding: " + "; ".join(str(fault) for fault in shown[:5]))
    assert draft.definitions is not None
    assert draft.assignments is not None
    columns = columns_of(draft.population, draft.comparison, draft.definitions, draft.assignments, task, corpus)
    for definition, labels in zip(draft.definitions, columns.labels, strict=True):
        if not labels.partition(columns.population):
            raise TaskDataError(
                f"no statistics for this finding: the assignment of {definition.condition_id!r} does not put each of"
                f" the {_n(columns.population)} documents of the population in exactly one list"
            )
    return columns


def _totals(population: Mask) -> dict[str, Number]:
    selected, total = _n(population), len(population)
    return {
        "corpus_total_n": total,
        "population_total_n": selected,
        "population_coverage": _ratio(selected, total),
    }


def _robustness(columns: Columns, task: Task, corpus: Corpus) -> dict[str, Number]:
    known = _known_arms(columns, task)
    result: dict[str, Number] = {f"robustness_known_arm{arm}_n": _n(known.known[arm]) for arm in (0, 1)}
    for axis in AXES:
        for name, number in axis_statistics(known, corpus, axis).items():
            result[f"robustness_{axis}_{name}"] = number
    return result


def _known_arms(columns: Columns, task: Task) -> Arms:
    if task.kind == ASSOCIATION:
        a, b = columns.states
        known = columns.population & _is_known(a) & _is_known(b)
        return Arms(columns.population, (known & (a == NEGATIVE), known & (a == POSITIVE)), b == POSITIVE)
    outcome = columns.states[0]
    known = _is_known(outcome)
    return Arms(columns.population, (known & (columns.arms == 0), known & (columns.arms == 1)), outcome == POSITIVE)


def _no_documents(task: Task) -> Columns:
    nothing: Codes = np.zeros(0, dtype=np.int8)
    labels = Labels(nothing, nothing, ())
    return Columns(nothing.astype(np.bool_), nothing, (labels, labels))


def _is_known(states: Codes) -> Mask:
    known: Mask = (states == POSITIVE) | (states == NEGATIVE)
    return known


def _n(mask: Mask) -> int:
    return int(np.count_nonzero(mask))


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _difference(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else 100 * (one - other)
