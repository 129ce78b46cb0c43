"""Decides which words documents share: a table of documents by words, where a word stands for its plain inflections."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from docassay.discovery.corpus import Corpus

__all__ = ["WORD", "WordTable", "count_words", "stem"]

WORD = re.compile(r"[^\W\d_]{3,}")
SHORTEST_STEM = 4
_COMMON = """
about after again all also and any are because been before being but can could did does doing down during each
few for from further had has have having her here hers him his how into its itself just more most much must
not now off once only other our ours out over own same she should some such than that the their theirs them
then there these they this those through too under until upon very was were what when where which while who
whom why will with would you your yours
"""
COMMON_WORDS = frozenset(_COMMON.split())


@dataclass(frozen=True)
class WordTable:
    """Which documents use which words.

    stems: one per column. forms: the spellings seen for each, most frequent first.
    uses: documents x words, 1 where the document uses the word in any form.
    """

    stems: tuple[str, ...]
    forms: tuple[tuple[str, ...], ...]
    uses: sparse.csc_array

    @cached_property
    def per_word(self) -> NDArray[np.int64]:
        """How many documents use each word."""
        counts: NDArray[np.int64] = np.diff(self.uses.indptr).astype(np.int64)
        return counts

    def documents(self, column: int) -> NDArray[np.bool_]:
        """Bool per document: whether it uses the word."""
        found = np.zeros(self.uses.shape[0], dtype=np.bool_)
        found[self.uses.indices[self.uses.indptr[column] : self.uses.indptr[column + 1]]] = True
        return found


def count_words(corpus: Corpus, *, least: int, largest_share: float, left_out: Iterable[str]) -> WordTable:
    """The words that at least `least` documents use, at most `largest_share` of them, without the stems `left_out`."""
    rows: list[NDArray[np.int64]] = []
    number: dict[str, int] = {}
    spellings: dict[int, Counter[str]] = {}
    for text in corpus.texts:
        seen = set()
        for word in set(WORD.findall(text.lower())) - COMMON_WORDS:
            column = number.setdefault(stem(word), len(number))
            spellings.setdefault(column, Counter())[word] += 1
            seen.add(column)
        rows.append(np.fromiter(sorted(seen), dtype=np.int64, count=len(seen)))
    lengths = [len(row) for row in rows]
    indices = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    ones = np.ones(len(indices), dtype=np.int64)
    uses = sparse.csr_array((ones, indices, starts), shape=(len(rows), len(number))).tocsc()
    unwanted = {number[name] for name in left_out if name in number}
    used = np.diff(uses.indptr)
    frequent = np.flatnonzero((used >= least) & (used <= largest_share * max(1, len(rows))))
    kept = [int(column) for column in frequent if int(column) not in unwanted]
    names = {column: name for name, column in number.items()}
    forms = tuple(tuple(form for form, _ in spellings[column].most_common()) for column in kept)
    return WordTable(tuple(names[column] for column in kept), forms, uses[:, kept])


def stem(word: str) -> str:
    """A word without a plain English ending, so that leak, leaks, leaked and leaking are one."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
            return word.removesuffix(ending)
    return word
