"""A PDF's text layer as lines of spans: words that stand together, with where they stand."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from docassay.errors import ProviderError

__all__ = ["Line", "Span", "read_lines"]

SPACE = 0.18
"""A gap of this share of the height parts words, also where the text layer has no space."""
COLUMN = 1.0
"""A gap of this share of the height parts spans."""

_pdfium = threading.Lock()
"""PDFium is not safe to use from several threads."""


@dataclass(frozen=True, slots=True)
class Span:
    """Words on one line with no wide gap between them. Points, from the page's left and top."""

    text: str
    left: float
    right: float
    top: float
    bottom: float
    spaced: bool = False
    """Whether the text layer has white space before it."""

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """Half way between left and right."""
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class Line:
    """Spans at one height, from left to right."""

    page: int
    number: int
    """Of all lines of the document."""
    spans: tuple[Span, ...]

    @property
    def top(self) -> float:
        return min(span.top for span in self.spans)

    @property
    def bottom(self) -> float:
        return max(span.bottom for span in self.spans)


def read_lines(data: bytes) -> tuple[Line, ...]:
    """Every line of every page, in order. Raises ProviderError for what is no readable PDF."""
    import pypdfium2

    with _pdfium:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            raise ProviderError(f"the document cannot be read as a PDF: {error}") from None
        try:
            pages = [list(_characters(page)) for page in document]
        finally:
            document.close()
    rows = [(number, row) for number, page in enumerate(pages) for row in _rows(page)]
    return tuple(Line(page, number, tuple(_spans(row))) for number, (page, row) in enumerate(rows))


def _characters(page: Any) -> Iterator[Span]:
    """The visible characters of a page."""
    height = page.get_height()
    text = page.get_textpage()
    spaced = False
    for index in range(text.count_chars()):
        character = text.get_text_range(index, 1)
        if character.strip():
            left, bottom, right, top = text.get_charbox(index, loose=True)
            yield Span(character, left, right, height - top, height - bottom, spaced)
        spaced = not character.strip()
    text.close()
    page.close()


def _rows(characters: list[Span]) -> list[list[Span]]:
    """Characters whose middles are at one height, each row from left to right, rows from top to bottom."""
    rows: list[list[Span]] = []
    for character in sorted(characters, key=lambda c: (c.top + c.bottom, c.left)):
        if rows and _level(rows[-1][0], character):
            rows[-1].append(character)
        else:
            rows.append([character])
    return [sorted(row, key=lambda c: c.left) for row in rows]


def _level(one: Span, other: Span) -> bool:
    apart = abs((one.top + one.bottom) - (other.top + other.bottom)) / 2
    return apart <= 0.35 * min(one.height, other.height)


def _spans(row: list[Span]) -> Iterator[Span]:
    start = 0
    for end in range(1, len(row) + 1):
        if end == len(row) or row[end].left - row[end - 1].right > COLUMN * row[end - 1].height:
            yield _join(row[start:end])
            start = end


def _join(characters: list[Span]) -> Span:
    text = characters[0].text
    for before, after in itertools.pairwise(characters):
        parted = after.spaced or after.left - before.right > SPACE * before.height
        text += f" {after.text}" if parted else after.text
    return Span(
        text,
        characters[0].left,
        max(character.right for character in characters),
        min(character.top for character in characters),
        max(character.bottom for character in characters),
    )
