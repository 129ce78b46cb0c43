"""Segments and batches: what holds for every text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from docassay.discovery.segments import LIMITS, batches, segments

TEXTS = st.text(alphabet=st.sampled_from("ab. !?\n\r\t\u00a0\u2028😀"), max_size=1500)


@given(TEXTS)
def test_segments_lose_nothing_but_white_space_between_them(text: str) -> None:
    position = 0
    for segment in segments(text):
        found = text.index(segment, position)
        assert not text[position:found].strip()
        position = found + len(segment)
    assert not text[position:].strip()


@given(TEXTS)
def test_segments_are_short_and_begin_with_text_unless_cut(text: str) -> None:
    for segment in segments(text):
        assert 0 < len(segment) <= LIMITS.segment_length
    assert segments(text) or not text.strip()


@given(st.lists(st.integers(0, 30_000), max_size=60))
def test_batches_hold_every_document_once_in_order(lengths: list[int]) -> None:
    made = batches(lengths)
    assert [position for members in made for position in members] == list(range(len(lengths)))
    for members in made:
        assert len(members) <= LIMITS.batch_documents
        held = sum(lengths[position] for position in members)
        assert held <= LIMITS.batch_length or len(members) == 1
