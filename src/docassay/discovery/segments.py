"""Cuts a text into the numbered segments that a blind checker may cite, and documents into batches.

Source: the evidence-check protocol's segment and batch rules (sentence ends, line ends, 600 code points; 12 documents,
24,000 code points). Positions and lengths are Unicode code points.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["LIMITS", "SegmentLimits", "batches", "segments"]


@dataclass(frozen=True, slots=True)
class SegmentLimits:
    """The limits that decide what a checker sees at once; part of the protocol's digest."""

    segment_length: int = 600
    """Longest segment, in code points."""
    earliest_cut: int = 300
    """A longer one is cut at its last ASCII space from here on, else at the full length."""
    batch_documents: int = 12
    batch_length: int = 24_000
    """Code points of text in one batch; a longer document is a batch of its own."""


LIMITS = SegmentLimits()

_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s|\Z)|\n|\Z)", re.DOTALL)


def segments(text: str, limits: SegmentLimits = LIMITS) -> tuple[str, ...]:
    """The segments of a text in order; a segment's number is its position.

    A segment begins at the first non-space character and ends after `.`, `!` or `?` before white space or the end of
    the text, after a line feed, or with the text. Its first character is never its end. Blank text has none.
    """
    return tuple(piece for match in _SENTENCE.finditer(text) for piece in _pieces(match.group(), limits))


def batches(lengths: Iterable[int], limits: SegmentLimits = LIMITS) -> tuple[range, ...]:
    """Ranges of positions, in order, that are sent together; `lengths` are the documents' lengths in code points."""
    closed: list[range] = []
    start, held, position = 0, 0, -1
    for position, length in enumerate(lengths):
        full = position - start == limits.batch_documents or held + length > limits.batch_length
        if full and position > start:
            closed.append(range(start, position))
            start, held = position, 0
        held += length
    if position >= start:
        closed.append(range(start, position + 1))
    return tuple(closed)


def _pieces(sentence: str, limits: SegmentLimits) -> Iterator[str]:
    while len(sentence) > limits.segment_length:
        cut = sentence.rfind(" ", limits.earliest_cut, limits.segment_length)
        cut = cut if cut >= 0 else limits.segment_length
        yield sentence[:cut]
        sentence = sentence[cut:]
    yield sentence
