"""What is remembered of a text is what reading it again would give; the memory is bounded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docassay.extraction.values import rules
from docassay.extraction.values.memory import LONGEST_TEXT, MOST_TEXTS, Remembered

METRICS = ("omni/1", "sound/1")


@pytest.mark.parametrize("metric", METRICS)
@given(st.text(max_size=2 * LONGEST_TEXT))
def test_what_is_remembered_is_what_is_read(metric: str, text: str) -> None:
    found = rules(metric)
    assert found.texts[text] == found.texts[text] == found.canon(text)


def test_metrics_remember_apart() -> None:
    omni, sound = (rules(metric).texts["(1,234)"] for metric in METRICS)
    assert omni != sound


def test_a_text_is_read_once() -> None:
    read: list[object] = []

    def canon(value: object) -> str:
        read.append(value)
        return str(value)

    texts = Remembered(canon)
    assert [texts["a"], texts["a"], texts["b"]] == ["a", "a", "b"]
    assert read == ["a", "b"]


def test_memory_is_bounded() -> None:
    texts = Remembered(str)
    for number in range(MOST_TEXTS + 10):
        assert texts[f"{number}"] == f"{number}"
        assert len(texts) <= MOST_TEXTS
    before = len(texts)
    assert texts["x" * (LONGEST_TEXT + 1)] == "x" * (LONGEST_TEXT + 1)
    assert len(texts) == before
