"""A baseline agent: finds words whose use differs most between arms, or goes most with another, beyond metadata.

It labels a document by whether it uses a word, which anybody can check, and says that it looked at words alone. A
difference counts only if it is large for as many words as were tried, and if at least half of it is left, with the same
sign, within entities, ratings and years. Where nothing is left it abstains.

Run it with `--command 'python -m docassay.examples.agents.lexical_miner'` of `docassay discover run`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from docassay.discovery.corpus import NO_DAY, Corpus, corpus_from_rows, read_corpus
from docassay.discovery.population import arms
from docassay.discovery.robustness import AXES, MIN_KNOWN_PER_ARM
from docassay.discovery.statistics import complete_statistics
from docassay.discovery.submission import Comparison, CutoffComparison, GroupComparison
from docassay.discovery.tasks import ASSOCIATION, GROUP, Task, read_task
from docassay.examples.agents.words import WORD, WordTable, count_words, stem

__all__ = ["main", "mine"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

SIGNIFICANCE = 0.01
"""Chance that any of the words tried would pass if none differed (Bonferroni)."""
KEPT_SHARE = 0.5
"""How much of a difference must be left within strata."""
MOST_VALUES = 12
"""Values of a field that are compared with each other."""
SHARED_LETTERS = 4
"""First letters by which words count as one family."""
MOST_PAIRED = 150
"""Words that are paired for an association."""
N_SUPPORTING, N_COUNTEREXAMPLES, LONGEST_QUOTE = 4, 2, 240


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two arms (bool per document), how they are made, in words, and the field that makes them."""

    zero: Mask
    one: Mask
    comparison: Comparison | None
    names: tuple[str, str]
    field: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A word whose use differs between the arms of a contrast; for associations arm 1 uses the word `given`."""

    word: int
    contrast: Contrast
    score: float
    given: int | None = None


def main() -> None:
    """Read a request from stdin and write a submission to stdout."""
    request = json.load(sys.stdin)
    task = read_task(request["task"])
    if "documents" in request:
        corpus = corpus_from_rows(request["documents"])
    else:
        corpus = read_corpus(Path(request["corpus"]["path"]))
    print(f"{len(corpus)} documents", file=sys.stderr)
    json.dump(mine(task, corpus), sys.stdout, ensure_ascii=False)


def mine(task: Task, corpus: Corpus) -> dict[str, Any]:
    """A submission for a task: up to `max_findings` findings, or an abstention with its reason."""
    if len(corpus) < max(task.min_population_n, 2 * MIN_KNOWN_PER_ARM):
        return _submission(task, [], f"The corpus has {len(corpus)} documents, too few for this task.")
    words = count_words(
        corpus,
        least=max(2 * MIN_KNOWN_PER_ARM, len(corpus) // 100),
        largest_share=0.5,
        left_out=_metadata_words(task, corpus),
    )
    candidates = list(_candidates(task, corpus, words))
    findings: list[dict[str, Any]] = []
    for candidate in _distinct(candidates, words):
        finding = _finding(task, corpus, words, candidate, len(findings) + 1, len(candidates))
        if finding is not None:
            findings.append(finding)
        if len(findings) == task.max_findings:
            break
    reason = (
        f"No difference in the use of {len(words.stems)} words is large and lasts within entities, ratings and years."
    )
    return _submission(task, findings, "" if findings else reason)


def _submission(task: Task, findings: list[dict[str, Any]], reason: str) -> dict[str, Any]:
    return {"task_id": task.task_id, "findings": findings, "abstention_reason": reason}


def _metadata_words(task: Task, corpus: Corpus) -> set[str]:
    """Stems of words that metadata consist of: texts that use them repeat the metadata."""
    names = {*task.allowed_metadata_fields, *AXES} - {"timestamp", "report_year"}
    values = (value for name in names for value in corpus.column(name).values if isinstance(value, str))
    return {stem(word) for value in values for word in WORD.findall(value.lower())}


# Which differences there are


def _candidates(task: Task, corpus: Corpus, words: WordTable) -> Iterator[Candidate]:
    """Words that pass, each with a score; larger is better."""
    if not words.stems:
        return
    if task.kind == ASSOCIATION:
        yield from _associations(corpus, words)
        return
    contrasts = list(_contrasts(task, corpus))
    tests = len(contrasts) * len(words.stems)
    for contrast in contrasts:
        scores = _scores(corpus, words, contrast, tests)
        for word in np.flatnonzero(scores > 0):
            yield Candidate(int(word), contrast, float(scores[word]))


def _contrasts(task: Task, corpus: Corpus) -> Iterator[Contrast]:
    if not task.agent_selected:
        yield from _fixed_contrast(task, corpus)
    elif task.kind == GROUP:
        fields = [name for name in task.allowed_metadata_fields if name not in ("timestamp", "rating")]
        found = [contrast for name in fields for contrast in _group_contrasts(task, corpus, name)]
        # Words that go with ratings are mostly praise and blame, so ratings are a last resort.
        if not found and "rating" in task.allowed_metadata_fields:
            found = list(_group_contrasts(task, corpus, "rating"))
        yield from found
    else:
        yield from _time_contrasts(task, corpus)


def _fixed_contrast(task: Task, corpus: Corpus) -> Iterator[Contrast]:
    everything = np.ones(len(corpus), dtype=np.bool_)
    given = arms(task.comparison, corpus, everything)
    assert task.comparison is not None
    groups = task.comparison.groups or (f"before {task.comparison.cutoff}", f"from {task.comparison.cutoff} on")
    yield Contrast(given == 0, given == 1, None, (str(groups[0]), str(groups[1])), task.comparison.field)


def _group_contrasts(task: Task, corpus: Corpus, name: str) -> Iterator[Contrast]:
    column = corpus.column(name)
    values = [value for value in column.values if isinstance(value, str | int | float) and not isinstance(value, bool)]
    counts = {value: column.where(other == value for other in column.values) for value in values}
    least = max(task.min_group_n, 2 * MIN_KNOWN_PER_ARM)
    large = sorted(
        (value for value in counts if counts[value].sum() >= least), key=lambda value: -int(counts[value].sum())
    )
    for zero, one in combinations(large[:MOST_VALUES], 2):
        comparison = GroupComparison(name, ((zero,), (one,)))
        yield Contrast(counts[zero], counts[one], comparison, (f"{name} {zero}", f"{name} {one}"), name)


def _time_contrasts(task: Task, corpus: Corpus) -> Iterator[Contrast]:
    """Cutoffs at the quartiles of the days that there are."""
    days = corpus.days[corpus.days != NO_DAY]
    if not len(days):
        return
    for day in sorted({int(value) for value in np.quantile(days, (0.25, 0.5, 0.75), method="nearest")}):
        zero, one = (corpus.days != NO_DAY) & (corpus.days < day), corpus.days >= day
        if min(zero.sum(), one.sum()) >= max(task.min_group_n, 2 * MIN_KNOWN_PER_ARM):
            cutoff = date.fromordinal(day).isoformat()
            names = (f"before {cutoff}", f"from {cutoff} on")
            yield Contrast(zero, one, CutoffComparison(cutoff), names, "report_year")


def _associations(corpus: Corpus, words: WordTable) -> Iterator[Candidate]:
    """Pairs of frequent words: arm 1 uses the first, arm 0 does not; the second is what is compared."""
    frequent = np.argsort(-words.per_word, kind="stable")[:MOST_PAIRED]
    tests = len(frequent) * (len(frequent) - 1)
    for first in frequent:
        uses = words.documents(int(first))
        if min(uses.sum(), (~uses).sum()) < 2 * MIN_KNOWN_PER_ARM:
            continue
        contrast = Contrast(~uses, uses, None, ("texts without it", "texts with it"), "")
        scores = _scores(corpus, words, contrast, tests)
        for second in frequent:
            if scores[second] > 0 and not _related(words, int(first), int(second)):
                yield Candidate(int(second), contrast, float(scores[second]), int(first))


def _related(words: WordTable, first: int, second: int) -> bool:
    """Words of one family, or so often together that they are one expression."""
    one, other = words.stems[first], words.stems[second]
    together = int(words.documents(first)[words.documents(second)].sum())
    rarer = int(min(words.per_word[first], words.per_word[second]))
    return one[:SHARED_LETTERS] == other[:SHARED_LETTERS] or together > 0.8 * rarer


def _scores(corpus: Corpus, words: WordTable, contrast: Contrast, tests: int) -> Floats:
    """Per word the size of the difference in standard errors times what is left of it within strata; 0 if it fails."""
    n0, n1 = int(contrast.zero.sum()), int(contrast.one.sum())
    used0, used1 = _uses(words, contrast.zero), _uses(words, contrast.one)
    delta = used1 / n1 - used0 / n0
    pooled = (used0 + used1) / (n0 + n1)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n0 + 1 / n1))
    size = np.abs(np.divide(delta, error, out=np.zeros_like(delta), where=error > 0))
    left = np.ones_like(delta)
    for axis in AXES:
        if axis != contrast.field:
            within = _standardized(corpus, words, contrast, axis)
            share = np.divide(within, delta, out=np.zeros_like(delta), where=delta != 0)
            left = np.minimum(left, np.where(np.isnan(share), 1.0, share))
    enough = (
        (size > NormalDist().inv_cdf(1 - SIGNIFICANCE / (2 * max(1, tests))))
        & (left >= KEPT_SHARE)
        & (used0 + used1 >= MIN_KNOWN_PER_ARM)
    )
    return np.where(enough, size * left, 0.0)


def _uses(words: WordTable, documents: Mask) -> Floats:
    counts: Floats = np.asarray(words.uses.T @ documents.astype(np.float64))
    return counts


def _standardized(corpus: Corpus, words: WordTable, contrast: Contrast, axis: str) -> Floats:
    """Per word the difference within comparable strata, weighted by their size; NaN where there is no such stratum."""
    strata = corpus.strata(axis)
    sizes = [_per_stratum(strata.codes, arm, len(strata.names)) for arm in (contrast.zero, contrast.one)]
    eligible = np.flatnonzero((sizes[0] >= MIN_KNOWN_PER_ARM) & (sizes[1] >= MIN_KNOWN_PER_ARM))
    if not len(eligible):
        return np.full(len(words.stems), np.nan)
    rates = [_rates(words, strata.codes, arm, eligible) for arm in (contrast.zero, contrast.one)]
    weight = (sizes[0] + sizes[1])[eligible].astype(np.float64)
    standardized: Floats = weight @ (rates[1] - rates[0]) / weight.sum()
    return standardized


def _per_stratum(codes: NDArray[np.int32], documents: Mask, strata: int) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = np.bincount(codes[documents & (codes >= 0)], minlength=strata).astype(np.int64)
    return counts


def _rates(words: WordTable, codes: NDArray[np.int32], documents: Mask, strata: NDArray[np.intp]) -> Floats:
    """Strata x words: the share of the stratum's documents that use the word."""
    row = np.full(int(codes.max()) + 1, -1)
    row[strata] = np.arange(len(strata))
    inside = np.flatnonzero(documents & (codes >= 0))
    inside = inside[row[codes[inside]] >= 0]
    ones = np.ones(len(inside))
    member = sparse.csr_array((ones, (row[codes[inside]], inside)), shape=(len(strata), len(codes)))
    counts = (member @ words.uses).toarray()
    rates: Floats = counts / np.asarray(member.sum(axis=1)).reshape(-1, 1)
    return rates


def _distinct(candidates: Iterable[Candidate], words: WordTable) -> Iterator[Candidate]:
    """The best candidates, without those that find again what a better one found."""
    chosen: list[int] = []
    for candidate in sorted(candidates, key=lambda item: -item.score):
        own = [candidate.word] if candidate.given is None else [candidate.given, candidate.word]
        if not any(_alike(words, word, other) for word in own for other in chosen):
            chosen += own
            yield candidate


def _alike(words: WordTable, one: int, other: int) -> bool:
    """Whether two words are one, or mostly used by the same documents."""
    uses, others = words.documents(one), words.documents(other)
    return one == other or bool((uses & others).sum() > 0.5 * (uses | others).sum())


# What is submitted


def _finding(
    task: Task, corpus: Corpus, words: WordTable, candidate: Candidate, number: int, passed: int
) -> dict[str, Any] | None:
    """The finding of a candidate; None if it cannot be quoted as the contract wants."""
    columns = [candidate.word] if candidate.given is None else [candidate.given, candidate.word]
    evidence = _evidence(corpus, words, columns)
    if evidence is None:
        return None
    draft: dict[str, Any] = {
        "finding_id": f"f{number}",
        "claim": "to be filled in below",
        "kind": task.kind,
        "scope": "All documents of this corpus, and the words in them; not what their writers mean or lived through.",
        "definitions": [_definition(words, column) for column in columns],
        "assignments": [_assignment(corpus, words, column) for column in columns],
        "statistics": {},
        "evidence": evidence,
        "limitations": _limitations(words, passed),
    }
    if task.agent_selected:
        draft |= {"population": {"filters": []}, "comparison": _comparison(candidate.contrast.comparison)}
    finding = complete_statistics(draft, task, corpus)
    finding["claim"] = _claim(task, words, candidate, finding["statistics"])
    return finding


def _comparison(comparison: Comparison | None) -> dict[str, Any] | None:
    if isinstance(comparison, GroupComparison):
        return {"field": comparison.field, "groups": [list(group) for group in comparison.groups]}
    return None if comparison is None else {"field": "timestamp", "cutoff": comparison.cutoff}


def _definition(words: WordTable, column: int) -> dict[str, str]:
    forms = ", ".join(words.forms[column][:6])
    return {
        "condition_id": f"uses-{words.stems[column]}",
        "inclusion": f"The text contains one of these words, whatever it says with it: {forms}.",
        "exclusion": "None of these words stands in the text.",
    }


def _assignment(corpus: Corpus, words: WordTable, column: int) -> dict[str, Any]:
    uses = words.documents(column)
    return {
        "condition_id": f"uses-{words.stems[column]}",
        "positive_doc_ids": [corpus.doc_ids[index] for index in np.flatnonzero(uses)],
        "negative_doc_ids": [corpus.doc_ids[index] for index in np.flatnonzero(~uses)],
        "unknown_doc_ids": [],
    }


def _evidence(corpus: Corpus, words: WordTable, columns: Sequence[int]) -> list[dict[str, Any]] | None:
    uses = [words.documents(column) for column in columns]
    supporting = np.flatnonzero(np.logical_and.reduce(uses))[:N_SUPPORTING]
    pool = np.flatnonzero(~uses[0] if len(uses) == 1 else uses[0] != uses[1])
    rows = [
        _quote(corpus, int(index), _place(corpus.texts[index], words.forms[column]), "supporting")
        for index in supporting
        for column in columns
    ]
    against = [int(index) for index in pool if corpus.texts[index].strip()][:N_COUNTEREXAMPLES]
    rows += [_quote(corpus, index, 0, "counterexample") for index in against]
    if len(supporting) < 3 or (len(pool) and not against):
        return None
    return list({(row["doc_id"], row["start"], row["end"]): row for row in rows}.values())


def _place(text: str, forms: Sequence[str]) -> int:
    """Where a word first stands, by letters as they are in the text."""
    wanted = set(forms)
    return next((match.start() for match in WORD.finditer(text) if match[0].lower() in wanted), 0)


def _quote(corpus: Corpus, index: int, place: int, role: str) -> dict[str, Any]:
    """The line or sentence around a place, cut to a length that is still read."""
    text = corpus.texts[index]
    breaks = [match + 1 for mark in ".!?\n" if (match := text.rfind(mark, 0, place)) >= 0]
    start = max([0, place - LONGEST_QUOTE // 2, *breaks])
    ends = [match + 1 for mark in ".!?\n" if (match := text.find(mark, place)) >= 0]
    end = min([len(text), start + LONGEST_QUOTE, *ends])
    start += len(text[start:end]) - len(text[start:end].lstrip())
    if not text[start:end].strip():
        start, end = 0, min(len(text), LONGEST_QUOTE)
    return {"doc_id": corpus.doc_ids[index], "start": start, "end": end, "quote": text[start:end], "role": role}


def _claim(task: Task, words: WordTable, candidate: Candidate, numbers: Mapping[str, Any]) -> str:
    word = words.forms[candidate.word][0]
    within = ", ".join(
        f"{axis} {numbers[f'robustness_{axis}_standardized_delta_pp']:+.1f}"
        for axis in AXES
        if numbers.get(f"robustness_{axis}_standardized_delta_pp") is not None
    )
    checked = f" Standardised within strata: {within}." if within else ""
    if task.kind == ASSOCIATION:
        assert candidate.given is not None
        given = words.forms[candidate.given][0]
        return (
            f"Texts that use the word “{given}” also use “{word}” in {_percent(numbers['p_b_given_a'])} of cases,"
            f" texts without it in {_percent(numbers['p_b_given_not_a'])}"
            f" ({numbers['conditional_difference_pp']:+.1f} points).{checked}"
        )
    zero, one = candidate.contrast.names
    return (
        f"The word “{word}” is used in {_percent(numbers['group1_rate_known'])} of texts ({one}) and in"
        f" {_percent(numbers['group0_rate_known'])} ({zero}): {numbers['delta_known_pp']:+.1f} points.{checked}"
    )


def _percent(rate: float) -> str:
    return f"{100 * rate:.1f} %"


def _limitations(words: WordTable, passed: int) -> list[str]:
    return [
        "A word can be used to deny, fear or report something of somebody else; only its use was counted.",
        f"The word was chosen among {len(words.stems)} words and {passed} differences that passed, so that its"
        " difference is likely to be overstated.",
        "Entities, ratings and years were looked at; other differences between the arms were not.",
        "The documents are no random sample, and nothing is said about causes.",
    ]


if __name__ == "__main__":
    main()
