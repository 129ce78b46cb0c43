"""Decides which runs may be compared and which documents pair, and what each weighting makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docassay.core.statistics.paired import PairedDifference, paired_means, paired_ratios
from docassay.errors import InputError, RunMismatchError
from docassay.pipelines.run_data import Documents, Floats

NO_SUITE = "(no suite)"

WEIGHTINGS = {
    "unified": "UNIFIED: mean of the suite means, failures as 0",
    "flat": "flat mean over documents, failures as 0",
    "pooled": "pooled addresses: matched over all addresses, failures as unfound",
    "scored": "flat mean over scored documents only",
}
"""How documents are weighed in one figure, and how that is said."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """Runs over the documents that all of them have, in the first run's order."""

    runs: tuple[Documents, ...]
    doc_id: tuple[str, ...]
    suite: tuple[str, ...]
    rows: tuple[NDArray[np.intp], ...]
    """Per run: the row of each paired document in that run's scores table."""
    absent: tuple[tuple[str, ...], ...]
    """Per run: documents that another run has and this one lacks."""

    def metric(self, run: int, name: str) -> Floats:
        """A metric or count of the paired documents; NaN where the run has none."""
        return self.runs[run].numbers[name][self.rows[run]]

    def filled(self, run: int, name: str) -> Floats:
        """A metric, 0 where the run failed on the document, NaN where there was nothing to score."""
        return self.runs[run].with_failures_as_zero(name)[self.rows[run]]

    def failed(self, run: int) -> NDArray[np.bool_]:
        """Which paired documents this run failed on."""
        return self.runs[run].failed[self.rows[run]]

    def scored(self, run: int) -> NDArray[np.bool_]:
        """Which paired documents this run has a score for."""
        return self.runs[run].scored[self.rows[run]]


@dataclass(frozen=True, slots=True)
class Side:
    """One run, and how far it got on the paired documents."""

    name: str
    path: str
    signature: str
    documents: int
    scored: int
    failed: int
    nothing_to_score: int
    absent: tuple[str, ...]
    """Documents that another run has and this one lacks."""


def align(runs: Sequence[Documents]) -> Aligned:
    """Pair the documents of comparable runs by `doc_id`.

    Raises:
        RunMismatchError: signatures differ in what matters.
        InputError: no document in common.
    """
    for other in runs[1:]:
        refuse_mixture(runs[0], other)
    index = [{doc: row for row, doc in enumerate(run.doc_id)} for run in runs]
    common = [doc for doc in runs[0].doc_id if all(doc in rows for rows in index[1:])]
    if not common:
        raise InputError(f"{runs[0].run.path} and {runs[1].run.path} have no doc_id in common; nothing pairs")
    every = dict.fromkeys(doc for run in runs for doc in run.doc_id)
    return Aligned(
        runs=tuple(runs),
        doc_id=tuple(common),
        suite=tuple(_suite(runs, index, doc) for doc in common),
        rows=tuple(np.array([rows[doc] for doc in common], dtype=np.intp) for rows in index),
        absent=tuple(tuple(doc for doc in every if doc not in rows) for rows in index),
    )


def refuse_mixture(one: Documents, other: Documents) -> None:
    """Refuse runs whose figures do not mean the same.

    Raises:
        RunMismatchError: names the parts of the signatures that differ.
    """
    left, right = what_matters(one.signature), what_matters(other.signature)
    if left != right:
        raise RunMismatchError(
            f"{one.run.name} ({one.signature or 'no signature'}) and {other.run.name} "
            f"({other.signature or 'no signature'}) were not scored alike; "
            "score both with the same metric and options"
        )


def what_matters(signature: str) -> str:
    """The part of a signature that changes what a figure means: all but the program's version."""
    return signature.rpartition(" docassay:")[0] or signature


def version_notes(runs: Sequence[Documents]) -> list[str]:
    """A remark where runs were scored by different versions of the program under the same metric."""
    versions = {run.run.name: _version(run.signature) for run in runs}
    if len(set(versions.values())) < 2:
        return []
    told = ", ".join(f"{name} by {version}" for name, version in versions.items())
    return [f"scored by different versions of docassay under the same metric: {told}"]


def weighted(aligned: Aligned, run: int, weighting: str) -> float | None:
    """The accuracy of one run over the paired documents under one weighting; None where nothing was scored."""
    if weighting == "pooled":
        matched, total = pooled_counts(aligned, run)
        return float(matched.sum() / total.sum()) if total.sum() > 0 else None
    values = aligned.metric(run, "accuracy") if weighting == "scored" else aligned.filled(run, "accuracy")
    if np.isnan(values).all():
        return None
    if weighting != "unified":
        return float(np.nanmean(values))
    suites = np.array(aligned.suite)
    means = [values[(suites == suite) & ~np.isnan(values)] for suite in dict.fromkeys(aligned.suite)]
    return float(np.mean([part.mean() for part in means if len(part)]))


def pooled_counts(aligned: Aligned, run: int) -> tuple[Floats, Floats]:
    """Matched and total addresses per document; a failed document has the ground truth's addresses, all unfound.

    How many those are, another run that scored the document tells; where none did, the document weighs nothing.
    """
    gold = np.zeros(len(aligned.doc_id))
    for other in range(len(aligned.runs)):
        gold = np.maximum(gold, np.nan_to_num(aligned.metric(other, "gold")))
    failed = aligned.failed(run)
    matched = np.nan_to_num(aligned.metric(run, "matched"))
    total = np.nan_to_num(aligned.metric(run, "total"))
    return np.where(failed, 0.0, matched), np.where(failed, gold, total)


def weighted_difference(
    aligned: Aligned, base: int, new: int, weighting: str, generator: np.random.Generator, level: float
) -> PairedDifference:
    """The paired difference in accuracy of two runs under one weighting."""
    if weighting == "pooled":
        left, right = ((m[:, None], t[:, None]) for m, t in (pooled_counts(aligned, run) for run in (base, new)))
        return paired_ratios(left, right, generator=generator, level=level)[0]
    read = aligned.metric if weighting == "scored" else aligned.filled
    one, other = read(base, "accuracy"), read(new, "accuracy")
    known = ~(np.isnan(one) | np.isnan(other))
    strata = _known_suites(aligned, known) if weighting == "unified" else None
    return paired_means(one[known][:, None], other[known][:, None], generator=generator, level=level, strata=strata)[0]


def weighted_interval(
    aligned: Aligned, run: int, weighting: str, generator: np.random.Generator, level: float
) -> PairedDifference:
    """The interval of one run's figure, from two documents on: its difference from nothing, by the same bootstrap."""
    nothing = np.zeros(len(aligned.doc_id))
    asked: Any = {"generator": generator, "level": level, "permutations": 1, "min_documents": 2}
    if weighting == "pooled":
        matched, total = pooled_counts(aligned, run)
        zero = (nothing[:, None], np.ones_like(nothing)[:, None])
        return paired_ratios(zero, (matched[:, None], total[:, None]), **asked)[0]
    values = aligned.metric(run, "accuracy") if weighting == "scored" else aligned.filled(run, "accuracy")
    known = ~np.isnan(values)
    strata = _known_suites(aligned, known) if weighting == "unified" else None
    return paired_means(nothing[known][:, None], values[known][:, None], strata=strata, **asked)[0]


def side_of(aligned: Aligned, run: int) -> Side:
    """How far one run got on the paired documents."""
    documents = aligned.runs[run]
    scored, failed = int(aligned.scored(run).sum()), int(aligned.failed(run).sum())
    total = len(aligned.doc_id)
    return Side(
        name=documents.run.name,
        path=str(documents.run.path),
        signature=documents.signature,
        documents=total,
        scored=scored,
        failed=failed,
        nothing_to_score=total - scored - failed,
        absent=aligned.absent[run],
    )


def _known_suites(aligned: Aligned, known: NDArray[np.bool_]) -> list[str]:
    return [suite for suite, has in zip(aligned.suite, known, strict=True) if has]


def _suite(runs: Sequence[Documents], index: Sequence[dict[str, int]], doc: str) -> str:
    """The suite that the first run to name one gives the document."""
    named = (run.suite[rows[doc]] for run, rows in zip(runs, index, strict=True))
    return next((suite for suite in named if suite is not None), NO_SUITE)


def _version(signature: str) -> str:
    return signature.rpartition(" docassay:")[2] or "?"
