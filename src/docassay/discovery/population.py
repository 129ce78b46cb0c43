"""Decides which documents a finding speaks of, which arm each is in, and which state each has: one column for each."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docassay.discovery.corpus import NO_DAY, Column, Corpus
from docassay.discovery.submission import (
    Assignment,
    Comparison,
    CutoffComparison,
    Filter,
    GroupComparison,
    Population,
    Scalar,
)
from docassay.discovery.tasks import FixedComparison

__all__ = [
    "NEGATIVE",
    "NO_ARM",
    "NO_STATE",
    "POSITIVE",
    "STATES",
    "UNKNOWN",
    "Labels",
    "arms",
    "label",
    "select",
    "states",
]

Mask = NDArray[np.bool_]
Codes = NDArray[np.int8]

NO_ARM = -1
NO_STATE, POSITIVE, NEGATIVE, UNKNOWN = 0, 1, 2, 3
STATES = ("positive", "negative", "unknown")
"""The names of the states POSITIVE, NEGATIVE and UNKNOWN, in this order."""


def select(population: Population | None, corpus: Corpus) -> Mask:
    """Bool per document: those that meet every filter. Without a population (fixed comparisons) all are selected.

    Equality is Python's between a text and a text, a number and a number (1 = 1.0 = true); bounds compare text by code
    point and numbers by size; text against number never matches, nor does an absent or null value.
    """
    selected: Mask = np.ones(len(corpus), dtype=np.bool_)
    for rule in population.filters if population is not None else ():
        column = corpus.column(rule.field)
        matches = _test(rule)
        selected &= column.where(matches(value) for value in column.values)
    return selected


def arms(comparison: Comparison | FixedComparison | None, corpus: Corpus, selected: Mask) -> Codes:
    """int8 per document: 0 or 1 for its arm, NO_ARM if it is in neither, or not selected, or there is no comparison."""
    result: Codes = np.full(len(corpus), NO_ARM, dtype=np.int8)
    # Arm 1 first: a document that fits both arms (fixed comparisons of equal values) belongs to arm 0.
    if comparison is not None:
        for arm in (1, 0):
            result[_arm(comparison, arm, corpus) & selected] = arm
    return result


@dataclass(frozen=True, slots=True)
class Labels:
    """One condition's assignment over the corpus.

    states: int8 per document: POSITIVE, NEGATIVE or UNKNOWN, or NO_STATE if it is in no list.
    times: how many of the three lists each document is in.
    strangers: ids that no document of the corpus has.
    """

    states: Codes
    times: Codes
    strangers: tuple[str, ...]

    def partition(self, selected: Mask) -> bool:
        """Whether every selected document is in exactly one list, and no other document is in any."""
        return not self.strangers and np.array_equal(self.times, selected.astype(np.int8))


def label(assignment: Assignment, corpus: Corpus) -> Labels:
    """Read an assignment against the corpus; a document in several lists has the last one's state."""
    codes: Codes = np.full(len(corpus), NO_STATE, dtype=np.int8)
    times: Codes = np.zeros(len(corpus), dtype=np.int8)
    strangers: list[str] = []
    for state, ids in ((POSITIVE, assignment.positive), (NEGATIVE, assignment.negative), (UNKNOWN, assignment.unknown)):
        positions = _locate(ids, corpus)
        strangers.extend(ids[index] for index in np.flatnonzero(positions < 0))
        inside = positions[positions >= 0]
        codes[inside] = state
        times[inside] += 1  # ids are distinct within a list, so that no position repeats here
    return Labels(codes, times, tuple(strangers))


def states(assignment: Assignment, corpus: Corpus) -> Codes:
    """The states of one condition, int8 per document (`label` tells of faults too)."""
    return label(assignment, corpus).states


def _locate(ids: Sequence[str], corpus: Corpus) -> NDArray[np.intp]:
    """Each id's position in the corpus, -1 for an id that is not there."""
    find = corpus.positions.get
    return np.fromiter((find(doc_id, -1) for doc_id in ids), dtype=np.intp, count=len(ids))


def _test(rule: Filter) -> Callable[[Any], bool]:
    if isinstance(rule.value, tuple):
        return _is_among(rule.value)
    if rule.op == "eq":
        return _is_among((rule.value,))
    return _is_bounded(rule.value, at_least=rule.op == "gte")


def _is_among(wanted: tuple[Scalar, ...]) -> Callable[[Any], bool]:
    values = frozenset(wanted)
    return lambda value: isinstance(value, str | int | float) and value in values


def _is_bounded(bound: Scalar, *, at_least: bool) -> Callable[[Any], bool]:
    same: tuple[type, ...] = (str,) if isinstance(bound, str) else (int, float)
    compare: Callable[[Any, Any], Any] = operator.ge if at_least else operator.le
    return lambda value: isinstance(value, same) and bool(compare(value, bound))


def _arm(comparison: Comparison | FixedComparison, arm: int, corpus: Corpus) -> Mask:
    if isinstance(comparison, GroupComparison):
        column = corpus.column(comparison.field)
        among = _is_among(comparison.groups[arm])
        return column.where(among(value) for value in column.values)
    if isinstance(comparison, CutoffComparison):
        return _side(comparison.cutoff, arm, corpus)
    if comparison.cutoff is not None:
        return _side(comparison.cutoff, arm, corpus)
    assert comparison.groups is not None, "a fixed comparison has groups or a cutoff"
    return _equal(corpus.column(comparison.field, derived=False), comparison.groups[arm])


def _side(cutoff: str, arm: int, corpus: Corpus) -> Mask:
    """Arm 0 lies before the cutoff's day, arm 1 on it or after; documents without a day are on neither side."""
    day = date.fromisoformat(cutoff).toordinal()
    before = corpus.days < day
    has_day: Mask = corpus.days != NO_DAY
    return has_day & (before if arm == 0 else ~before)


def _equal(column: Column, value: Any) -> Mask:
    """A fixed comparison's group: null selects the documents whose field is absent or null."""
    if value is None:
        return np.asarray(column.codes < 0)
    return column.where(found == value for found in column.values)
