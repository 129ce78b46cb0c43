"""Decides how several runs of the same documents rank, which of them differ, and what another weighting changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from docassay.core.statistics.paired import CORRECTIONS, MIN_DOCUMENTS, PERMUTATIONS, RESAMPLES
from docassay.errors import ArgumentValueError
from docassay.pipelines.compare import CompareOptions, Line
from docassay.pipelines.pairing import (
    WEIGHTINGS,
    Aligned,
    Side,
    align,
    side_of,
    version_notes,
    weighted,
    weighted_difference,
    weighted_interval,
)
from docassay.pipelines.run_data import Documents, attach, connect, open_runs, read_documents


@dataclass(frozen=True, slots=True)
class System:
    """One run among several, on the documents that all of them have."""

    side: Side
    figures: Mapping[str, float | None]
    """Accuracy under each weighting of `pairing.WEIGHTINGS`."""
    places: Mapping[str, int | None]
    """Rank under each weighting, 1 the best; equal figures share the better rank; None without a figure."""
    low: float | None
    high: float | None
    """Bootstrap interval of the headline figure, by documents."""
    reason: str | None
    """Why there is no interval."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems, the one ranked higher first."""

    better: str
    worse: str
    line: Line
    """better - worse under the headline weighting; `adjusted` is corrected over all pairs."""


@dataclass(frozen=True, slots=True)
class Flip:
    """Two systems that change places under another weighting."""

    weighting: str
    better: str
    """Ranked higher by the headline weighting."""
    worse: str
    headline_difference: float
    other_difference: float
    """better - worse, negative here."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Several runs, ranked by the headline weighting."""

    systems: tuple[System, ...]
    pairs: tuple[Pair, ...]
    flips: tuple[Flip, ...]
    documents: int
    options: CompareOptions
    notes: tuple[str, ...]
    min_documents: int = MIN_DOCUMENTS
    resamples: int = RESAMPLES
    permutations: int = PERMUTATIONS

    def indistinguishable(self, name: str) -> list[str]:
        """The systems from which this one was not told apart, by the corrected test or for want of documents."""
        return [
            pair.worse if pair.better == name else pair.better
            for pair in self.pairs
            if name in (pair.better, pair.worse) and not pair.line.significant(self.options.alpha)
        ]


def rank(paths: Sequence[str | Path], options: CompareOptions | None = None) -> Ranking:
    """Rank two or more extraction runs.

    Raises:
        ArgumentValueError: fewer than two runs.
        RunMismatchError: the runs' signatures differ in what matters.
        InputError: a path that is no finished run, or no document in common.
    """
    if len(paths) < 2:
        raise ArgumentValueError("one run has no rank; name two or more")
    runs = open_runs([Path(path) for path in paths])
    with connect() as connection:
        attach(connection, runs)
        return rank_documents(read_documents(connection, runs), options or CompareOptions())


def rank_documents(runs: Sequence[Documents], options: CompareOptions) -> Ranking:
    """Rank runs whose scores were read already."""
    aligned = align(runs)
    # Streams of their own, so that one part never shifts another's draws.
    for_systems, for_pairs = np.random.default_rng(options.seed).spawn(2)
    systems = _systems(aligned, for_systems, options)
    order = sorted(range(len(systems)), key=lambda i: -(systems[i].figures[options.weighting] or -1.0))
    pairs = _pairs(aligned, order, for_pairs, options)
    return Ranking(
        systems=tuple(systems[i] for i in order),
        pairs=tuple(pairs),
        flips=tuple(_flips([systems[i] for i in order], options.weighting)),
        documents=len(aligned.doc_id),
        options=options,
        notes=tuple(_notes(aligned)),
    )


def _systems(aligned: Aligned, generator: np.random.Generator, options: CompareOptions) -> list[System]:
    runs = range(len(aligned.runs))
    figures = [{name: weighted(aligned, run, name) for name in WEIGHTINGS} for run in runs]
    places = {name: _places([one[name] for one in figures]) for name in WEIGHTINGS}
    systems = []
    for run in runs:
        interval = weighted_interval(aligned, run, options.weighting, generator, 1 - options.alpha)
        own = {name: places[name][run] for name in WEIGHTINGS}
        systems.append(System(side_of(aligned, run), figures[run], own, interval.low, interval.high, interval.reason))
    return systems


def _places(figures: Sequence[float | None]) -> list[int | None]:
    return [None if own is None else 1 + sum(other is not None and other > own for other in figures) for own in figures]


def _pairs(
    aligned: Aligned, order: Sequence[int], generator: np.random.Generator, options: CompareOptions
) -> Iterator[Pair]:
    chosen = list(combinations(order, 2))
    paired = [
        weighted_difference(aligned, worse, better, options.weighting, generator, 1 - options.alpha)
        for better, worse in chosen
    ]
    adjusted = CORRECTIONS[options.correction]([one.p_value for one in paired])
    names = [run.run.name for run in aligned.runs]
    for (better, worse), one, p_value in zip(chosen, paired, adjusted, strict=True):
        yield Pair(names[better], names[worse], Line(f"{names[better]} - {names[worse]}", one, p_value))


def _flips(systems: Sequence[System], headline: str) -> Iterator[Flip]:
    for weighting in WEIGHTINGS:
        for better, worse in combinations(systems, 2):
            first = _gap(better, worse, headline)
            second = _gap(better, worse, weighting)
            if first is not None and second is not None and first > 0 > second:
                yield Flip(weighting, better.side.name, worse.side.name, first, second)


def _gap(better: System, worse: System, weighting: str) -> float | None:
    one, other = better.figures[weighting], worse.figures[weighting]
    return None if one is None or other is None else one - other


def _notes(aligned: Aligned) -> Iterator[str]:
    yield from version_notes(aligned.runs)
    for run, absent in zip(aligned.runs, aligned.absent, strict=True):
        if absent:
            yield f"{run.run.name} lacks {len(absent)} documents of other runs; only what all runs have is ranked"
