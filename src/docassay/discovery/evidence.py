"""Decides whether a finding's quotes are what the corpus says, lie in the population, and bear on the claim."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from docassay.discovery.corpus import Corpus
from docassay.discovery.faults import Code, Faults, counted, shown
from docassay.discovery.population import NEGATIVE, POSITIVE
from docassay.discovery.submission import DraftFinding, Evidence
from docassay.discovery.tasks import ASSOCIATION, Task

__all__ = ["MIN_SUPPORTING_DOCUMENTS", "check_quotes", "check_roles", "counterexample_pool", "supports"]

MIN_SUPPORTING_DOCUMENTS = 3

Mask = NDArray[np.bool_]
Codes = NDArray[np.int8]


def check_quotes(draft: DraftFinding, corpus: Corpus, population: Mask | None, faults: Faults) -> None:
    """Each row's document, its place in the population (if that is known), and its quote; no span twice."""
    spans: dict[tuple[str, int, int], int] = {}
    for number, row in draft.evidence:
        path = f"{draft.path}.evidence[{number}]"
        earlier = spans.setdefault((row.doc_id, row.start, row.end), number)
        if earlier != number:
            expected = f"a span that evidence[{earlier}] has not"
            faults.add(
                Code.DUPLICATE_SPAN, path, f"[{shown(row.start)}:{shown(row.end)}] again", expected, [row.doc_id]
            )
        position = corpus.positions.get(row.doc_id)
        if position is None:
            faults.add(
                Code.EVIDENCE_SOURCE, f"{path}.doc_id", shown(row.doc_id), "a document of the corpus", [row.doc_id]
            )
            continue
        if population is not None and not population[position]:
            found = "a document outside the population"
            faults.add(Code.EVIDENCE_SOURCE, f"{path}.doc_id", found, "one of the population", [row.doc_id])
        _check_quote(row, corpus.texts[position], path, faults)


def check_roles(draft: DraftFinding, task: Task, corpus: Corpus, states: tuple[Codes, ...], faults: Faults) -> None:
    """One supporting quote; in audited tasks from enough positive documents, and counterexamples of the pool."""
    supporting = [(number, row) for number, row in draft.evidence if row.role == "supporting"]
    if draft.evidence and draft.evidence_complete and not supporting:
        faults.add(Code.NO_SUPPORTING_QUOTE, f"{draft.path}.evidence", "no supporting row", "at least one")
    if not task.audited:
        return
    documents = {row.doc_id for _, row in supporting}
    if draft.evidence_complete and 0 < len(documents) < MIN_SUPPORTING_DOCUMENTS:
        found, expected = counted(len(documents), "supporting document"), f"at least {MIN_SUPPORTING_DOCUMENTS}"
        faults.add(Code.TOO_FEW_SUPPORTING_DOCUMENTS, f"{draft.path}.evidence", found, expected, sorted(documents))
    if states:
        _check_supporting(draft, supporting, corpus, supports(states), faults)
        _check_counterexamples(draft, task, corpus, counterexample_pool(states), faults)


def supports(states: tuple[Codes, ...]) -> Mask:
    """Bool per document: positive for every condition."""
    positive: Mask = np.logical_and.reduce([state == POSITIVE for state in states])
    return positive


def counterexample_pool(states: tuple[Codes, ...]) -> Mask:
    """Bool per document: negative for the one condition; for two, positive for one and negative for the other."""
    if len(states) == 1:
        negative: Mask = states[0] == NEGATIVE
        return negative
    a, b = states
    discordant: Mask = ((a == POSITIVE) & (b == NEGATIVE)) | ((a == NEGATIVE) & (b == POSITIVE))
    return discordant


def _check_quote(row: Evidence, text: str, path: str, faults: Faults) -> None:
    if row.end > len(text):
        found, expected = f"end {shown(row.end)}", f"at most {len(text)}, the text's length in code points"
        faults.add(Code.QUOTE_OFFSET, f"{path}.end", found, expected, [row.doc_id])
    elif text[row.start : row.end] != row.quote:
        here = text.find(row.quote)
        expected = f"{shown(text[row.start : row.end])}, which is there"
        if here >= 0:
            expected += f" (the quote is at {here}:{here + len(row.quote)})"
        faults.add(Code.QUOTE_OFFSET, f"{path}.quote", shown(row.quote), expected, [row.doc_id])


def _check_supporting(
    draft: DraftFinding, rows: Sequence[tuple[int, Evidence]], corpus: Corpus, positive: Mask, faults: Faults
) -> None:
    for number, row in rows:
        position = corpus.positions.get(row.doc_id)
        if position is not None and not positive[position]:
            expected = "one assigned positive for every condition"
            path = f"{draft.path}.evidence[{number}].doc_id"
            faults.add(Code.SUPPORTING_NOT_POSITIVE, path, "a document that is not", expected, [row.doc_id])


def _check_counterexamples(draft: DraftFinding, task: Task, corpus: Corpus, pool: Mask, faults: Faults) -> None:
    rows = [(number, row) for number, row in draft.evidence if row.role == "counterexample"]
    words = "positive for one condition and negative for the other" if task.kind == ASSOCIATION else "assigned negative"
    outside = Code.COUNTEREXAMPLE_NOT_DISCORDANT if task.kind == ASSOCIATION else Code.COUNTEREXAMPLE_NOT_NEGATIVE
    for number, row in rows:
        position = corpus.positions.get(row.doc_id)
        if position is not None and not pool[position]:
            path = f"{draft.path}.evidence[{number}].doc_id"
            faults.add(outside, path, "a document that is not", f"one {words}", [row.doc_id])
    if not rows and draft.evidence_complete and pool.any():
        found = "no counterexample"
        expected = f"at least one, since the corpus has {counted(int(pool.sum()), 'document')} {words}"
        faults.add(Code.COUNTEREXAMPLE_MISSING, f"{draft.path}.evidence", found, expected)
