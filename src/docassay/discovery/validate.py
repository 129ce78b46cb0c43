"""Decides whether a submission is valid for its task and corpus; tells every fault, and nothing in it is a crash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docassay.discovery.corpus import Corpus
from docassay.discovery.evidence import check_quotes, check_roles
from docassay.discovery.faults import Code, Fault, Faults, counted, shown
from docassay.discovery.population import Labels, arms, label, select
from docassay.discovery.statistics import Columns, statistic_names, statistics_of
from docassay.discovery.submission import DraftFinding, Number, Submission, parse_submission
from docassay.discovery.tasks import ASSOCIATION, Task

__all__ = ["TOLERANCE", "Validation", "validate_submission"]

TOLERANCE = 1e-6
"""Largest absolute difference between a stated and an expected statistic."""

_LISTED_NAMES = 5

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Validation:
    """The outcome for one submission.

    task_id: the task it was checked against.
    submission: the typed record; None if the structure is faulty (a valid submission always has one).
    faults: all faults, structural ones first, then by finding (a hostile submission's first MOST_FAULTS).
    faults_total: how many there were.
    """

    task_id: str
    submission: Submission | None
    faults: tuple[Fault, ...]
    faults_total: int

    @property
    def valid(self) -> bool:
        """Whether there is no fault."""
        return not self.faults_total

    def as_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "task_id": self.task_id,
            "valid": self.valid,
            "findings": None if self.submission is None else len(self.submission.findings),
            "faults_total": self.faults_total,
            "faults": [fault.as_dict() for fault in self.faults],
        }


def validate_submission(source: object, task: Task, corpus: Corpus) -> Validation:
    """Check a submission against its task and corpus.

    `source` is JSON text (bytes or str), an already parsed object, or a Submission. Never raises for what is in it.
    """
    draft = parse_submission(source, task)
    faults = Faults.continuing(draft.faults, draft.faults_total)
    for finding in draft.findings:
        _check_finding(finding, task, corpus, faults.of_finding(finding.index, finding.finding_id))
    return Validation(task.task_id, draft.submission, faults.items, faults.total)


def _check_finding(draft: DraftFinding, task: Task, corpus: Corpus, faults: Faults) -> None:
    population = _population(draft, task, corpus)
    labels = _labels(draft, corpus)
    sound = [_check_population(draft, task, population, faults)]
    chosen_arms = _arms(draft, task, corpus, population)
    sound.append(_check_arms(draft, task, chosen_arms, faults))
    sound.append(_check_partitions(draft, corpus, population, labels, faults))
    check_quotes(draft, corpus, population, faults)
    check_roles(draft, task, corpus, tuple(item.states for item in labels), faults)
    expected = None
    if all(sound) and population is not None and chosen_arms is not None and labels:
        expected = statistics_of(Columns(population, chosen_arms, labels), task, corpus)
    _check_statistics(draft, task, expected, faults)


def _population(draft: DraftFinding, task: Task, corpus: Corpus) -> Mask | None:
    """The selected documents; None if the population could not be read."""
    if task.agent_selected and draft.population is None:
        return None
    return select(draft.population, corpus)


def _labels(draft: DraftFinding, corpus: Corpus) -> tuple[Labels, ...]:
    """Each condition's labels in the order of the definitions; empty if the assignments could not be read."""
    if draft.definitions is None or draft.assignments is None:
        return ()
    by_id = {assignment.condition_id: assignment for assignment in draft.assignments}
    return tuple(label(by_id[definition.condition_id], corpus) for definition in draft.definitions)


def _check_population(draft: DraftFinding, task: Task, population: Mask | None, faults: Faults) -> bool:
    if population is None or not task.agent_selected:
        return population is not None
    selected = int(population.sum())
    if selected < task.min_population_n:
        expected = f"at least {task.min_population_n}"
        faults.add(Code.POPULATION_TOO_SMALL, f"{draft.path}.population", counted(selected, "document"), expected)
    return True


def _arms(draft: DraftFinding, task: Task, corpus: Corpus, population: Mask | None) -> NDArray[np.int8] | None:
    """Each document's arm; None if population or comparison could not be read."""
    if population is None:
        return None
    if not task.agent_selected or task.kind == ASSOCIATION:
        return arms(task.comparison, corpus, population)
    return None if draft.comparison is None else arms(draft.comparison, corpus, population)


def _check_arms(draft: DraftFinding, task: Task, chosen: NDArray[np.int8] | None, faults: Faults) -> bool:
    if chosen is None:
        return False
    if task.agent_selected and task.kind != ASSOCIATION:
        sizes = [int(np.count_nonzero(chosen == arm)) for arm in (0, 1)]
        if min(sizes) < task.min_group_n:
            found = f"{sizes[0]} and {sizes[1]} documents"
            faults.add(Code.GROUP_TOO_SMALL, f"{draft.path}.comparison", found, f"at least {task.min_group_n} each")
    return True


def _check_partitions(
    draft: DraftFinding, corpus: Corpus, population: Mask | None, labels: tuple[Labels, ...], faults: Faults
) -> bool:
    if population is None or not labels or draft.definitions is None:
        return False
    sound = True
    for definition, item in zip(draft.definitions, labels, strict=True):
        if not item.partition(population):
            sound = False
            _tell_partition(definition.condition_id, draft.path, corpus, population, item, faults)
    return sound


def _tell_partition(
    condition_id: str, path: str, corpus: Corpus, population: Mask, labels: Labels, faults: Faults
) -> None:
    expected = "each document of the population in exactly one list"
    where = f"{path}.assignments({shown(condition_id)})"

    def tell(what: str, doc_ids: list[str]) -> None:
        if doc_ids:
            faults.add(Code.NOT_A_PARTITION, where, f"{counted(len(doc_ids), 'document')} {what}", expected, doc_ids)

    def named(documents: Mask) -> list[str]:
        return [corpus.doc_ids[position] for position in np.flatnonzero(documents)]

    tell("that the corpus has not", list(labels.strangers))
    tell("in more than one list", named(labels.times > 1))
    tell("outside the population", named((labels.times > 0) & ~population))
    tell("in no list", named((labels.times == 0) & population))


def _check_statistics(draft: DraftFinding, task: Task, expected: dict[str, Number] | None, faults: Faults) -> None:
    """Names as far as they can be told, and values where the parts they come from are right."""
    if draft.statistics is None:
        return
    path = f"{draft.path}.statistics"
    names = statistic_names(task)
    missing = [name for name in names if name not in draft.statistics and name not in draft.mistyped_statistics]
    if missing:
        faults.add(Code.STATISTIC_MISSING, path, f"not {_names(missing)}", f"all {len(names)} statistics")
    known = set(names)
    extra = [name for name in (*draft.statistics, *draft.mistyped_statistics) if name not in known]
    if extra:
        faults.add(Code.STATISTIC_EXTRA, path, _names(extra), f"only the {len(names)} statistics of the task")
    for name, number in (expected or {}).items():
        if name in draft.statistics:
            _check_statistic(draft.statistics[name], number, f"{path}.{name}", faults)


def _check_statistic(found: Number, expected: Number, path: str, faults: Faults) -> None:
    if expected is None:
        if found is not None:
            faults.add(Code.STATISTIC_SHOULD_BE_NULL, path, shown(found), "null, as a denominator is zero")
    elif found is None or not _agree(found, expected):
        faults.add(Code.STATISTIC_MISMATCH, path, shown(found), f"{expected!r} within {TOLERANCE}")


def _agree(found: int | float, expected: int | float) -> bool:
    try:
        return abs(found - expected) <= TOLERANCE
    except OverflowError:  # an integer beyond every double
        return False


def _names(names: list[str]) -> str:
    more = len(names) - _LISTED_NAMES
    return ", ".join(shown(name) for name in names[:_LISTED_NAMES]) + (f" and {more} more" if more > 0 else "")
