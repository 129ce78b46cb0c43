"""Foreign text is shown, cut and carried without acting on anything."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docassay.report import text
from docassay.report.difference import SHOWN, mark, plain

BIDI = "\u202e\u2066\u2069\u200f\u061c"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("שלום", "שלום"),
        ("a\tb\nc\rd", "a⇥b⏎c␍d"),
        ("\x00\x1b[31m", "␀␛[31m"),
        ("\x7f", "␡"),
        ("abc\u202edef", "abc⟨U+202E⟩def"),
        ("\u2028", "⟨U+2028⟩"),
        ("a\u200db", "a\u200db"),
        ("\ue000", "⟨U+E000⟩"),
    ],
)
def test_what_cannot_be_seen_is_shown(raw: str, shown: str) -> None:
    assert text.visible(raw) == shown


@given(st.text())
def test_visible_text_has_no_controls_and_stays_visible(raw: str) -> None:
    shown = text.visible(raw)
    assert not any(ord(c) < 32 or c in BIDI for c in shown)
    assert text.visible(shown) == shown


@given(st.text())
def test_markdown_holds_no_cell_border_line_break_or_mention(raw: str) -> None:
    cell = text.markdown(raw)
    assert "\n" not in cell
    assert "|" not in cell.replace("\\|", "")
    assert "<" not in cell.replace("\\<", "")
    assert all(cell[i + 1 : i + 2] == "\u200b" for i, c in enumerate(cell) if c == "@")


@given(st.text())
def test_xml_can_carry_any_text(raw: str) -> None:
    element = ElementTree.Element("x", name=text.xml(raw))
    ElementTree.fromstring(ElementTree.tostring(element, encoding="unicode"))


def test_a_cut_says_how_much_is_left_out() -> None:
    assert text.shortened("abcdef", 6) == "abcdef"
    assert text.shortened("a" * 1500, 10) == "aaaaaaaaaa… (+1,490 characters)"


def _text(marked: object) -> str:
    return "".join(part.text for part in marked.parts)  # type: ignore[attr-defined]


@given(st.text(st.characters(codec="ascii", categories=("L", "N", "P")), max_size=60), st.data())
def test_marking_loses_nothing_and_marks_only_differences(one: str, data: st.DataObject) -> None:
    other = data.draw(st.one_of(st.just(one), st.text("ab1", max_size=60)))
    left, right = mark(one, other)
    assert (_text(left), _text(right)) == (one, other)
    kept = ["".join(part.text for part in side.parts if not part.changed) for side in (left, right)]
    assert kept[0] == kept[1]
    assert (one == other) == (not any(part.changed for side in (left, right) for part in side.parts))


def test_the_digit_that_differs_is_marked_alone() -> None:
    left, right = mark("48092.5", "48992.5")
    assert [(p.text, p.changed) for p in left.parts] == [("48", False), ("0", True), ("92.5", False)]
    assert [p.text for p in right.parts if p.changed] == ["9"]


def test_texts_with_nothing_in_common_are_marked_whole() -> None:
    left, _ = mark('"Total"', "17")
    assert [(p.text, p.changed) for p in left.parts] == [('"Total"', True)]


def test_long_values_are_shown_around_their_first_difference() -> None:
    one, other = "x" * 5000 + "A" + "y" * 5000, "x" * 5000 + "B" + "y" * 5000
    left, right = mark(one, other)
    assert [p.text for p in left.parts if p.changed] == ["A"]
    assert [p.text for p in right.parts if p.changed] == ["B"]
    assert left.before == 5000 - 60
    assert left.before + len(_text(left)) + left.after == len(one)
    assert len(_text(left)) == SHOWN


def test_a_lone_value_is_cut_at_its_end() -> None:
    assert plain("z" * 300).after == 300 - SHOWN
    assert plain("z").after == 0
