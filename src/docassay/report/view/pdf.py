"""Decides how a document's page is shown: rendered by PDFium, with a value's text boxed where the text layer has it."""

from __future__ import annotations

import calendar
import io
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from docassay.errors import DocumentError, MissingDependencyError

WIDTH = 1100
"""Width of a rendered page, in pixels."""
MAX_HEIGHT = 6000
MAX_PAGES = 400
"""Pages searched for a value, from the first."""
MAX_BOXES = 50
_OPEN = 4  # documents kept open


@dataclass(frozen=True, slots=True)
class Box:
    """A stretch of text on a page, as shares of the page's width and height from the top left corner."""

    page: int
    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Hits:
    """Where a value stands in a document, and how it was spelled there."""

    pages: int
    spelling: str | None
    """The spelling that was found; None where none was."""
    boxes: tuple[Box, ...]


class PdfFiles:
    """PDF files, opened when first asked for; PDFium is not thread-safe, so one thread at a time uses it."""

    def __init__(self) -> None:
        try:
            import pypdfium2
        except ImportError as error:
            raise MissingDependencyError("pypdfium2", "report") from error
        self._pdfium = pypdfium2
        self._lock = threading.Lock()
        self._open: OrderedDict[Path, Any] = OrderedDict()

    def page_png(self, path: Path, page: int) -> bytes | None:
        """One page as PNG; None where there is no such page.

        Raises:
            DocumentError: the file cannot be read as PDF.
        """
        with self._lock:
            document = self._document(path)
            if not 0 <= page < len(document):
                return None
            one = document[page]
            width, height = one.get_size()
            scale = min(WIDTH / max(width, 1), MAX_HEIGHT / max(height, 1))
            out = io.BytesIO()
            one.render(scale=scale).to_pil().save(out, format="PNG")
            return out.getvalue()

    def find(self, path: Path, raw: str | None) -> Hits:
        """Where the text layer has a value, given as JSON text; the first spelling that occurs counts.

        Raises:
            DocumentError: the file cannot be read as PDF.
        """
        with self._lock:
            document = self._document(path)
            pages = len(document)
            for spelling in spellings(raw) if raw is not None else ():
                boxes = tuple(self._boxes(document, spelling))
                if boxes:
                    return Hits(pages, spelling, boxes)
            return Hits(pages, None, ())

    def _document(self, path: Path) -> Any:
        if path not in self._open:
            try:
                self._open[path] = self._pdfium.PdfDocument(path)
            except (self._pdfium.PdfiumError, OSError) as error:
                raise DocumentError(f"{path} cannot be shown as PDF: {error}") from error
            while len(self._open) > _OPEN:
                self._open.popitem(last=False)[1].close()
        self._open.move_to_end(path)
        return self._open[path]

    def _boxes(self, document: Any, spelling: str) -> Iterator[Box]:
        found = 0
        for number in range(min(len(document), MAX_PAGES)):
            page = document[number]
            width, height = page.get_size()
            text = page.get_textpage()
            searcher = text.search(spelling, match_case=False)
            while (occurrence := searcher.get_next()) is not None and found < MAX_BOXES:
                if not _stands_alone(text, *occurrence):
                    continue
                found += 1
                for rect in range(text.count_rects(*occurrence)):
                    left, bottom, right, top = text.get_rect(rect)
                    yield Box(number, left / width, 1 - top / height, (right - left) / width, (top - bottom) / height)
            if found >= MAX_BOXES:
                return


def spellings(raw: str) -> Iterator[str]:
    """How a value may stand on the page, the likeliest first: as it is, and numbers and dates in common notations."""
    try:
        value = json.loads(raw, parse_float=Decimal, parse_int=Decimal)
    except ValueError:
        return
    if isinstance(value, Decimal):
        yield from dict.fromkeys(_number_spellings(value))
    elif isinstance(value, str) and value.strip():
        text = value.strip()
        yield text
        number = _as_number(text)
        if number is not None:
            yield from (one for one in dict.fromkeys(_number_spellings(number)) if one != text)
        yield from _date_spellings(text)


def _number_spellings(value: Decimal) -> Iterator[str]:
    plain = f"{value:f}"
    yield plain
    size = abs(value)
    if size == size.to_integral_value():
        whole = int(size)
        yield from (f"{whole:,}", str(whole), f"{whole:,}.00", f"{whole}.00")
        yield f"{whole:,}".replace(",", ".")
        return
    decimals = max(2, -int(size.as_tuple().exponent))
    text = f"{size:,.{decimals}f}"
    yield from (text, text.replace(",", ""), text.translate(str.maketrans(",.", ".,")))


def _as_number(text: str) -> Decimal | None:
    bare = text.lstrip("$€£ ").replace(",", "")
    try:
        number = Decimal(bare)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


_MONTHS = tuple(calendar.month_name[1:])


def _date_spellings(text: str) -> Iterator[str]:
    found = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?", text)
    if found is None:
        return
    year, month, day = (int(part) for part in found.groups())
    if not 1 <= month <= 12:
        return
    name = _MONTHS[month - 1]
    for named in dict.fromkeys((name, name[:3], f"{name[:3]}.")):
        yield from (
            f"{named} {day}, {year}",
            f"{day} {named} {year}",
            f"{named} {day:02}, {year}",
            f"{day:02}-{named}-{year}",
        )
    for one in (
        "{m:02}/{d:02}/{y}",
        "{m}/{d}/{y}",
        "{d:02}/{m:02}/{y}",
        "{d:02}.{m:02}.{y}",
        "{d}.{m}.{y}",
        "{y}/{m:02}/{d:02}",
    ):
        yield one.format(y=year, m=month, d=day)


def _stands_alone(text: Any, index: int, count: int) -> bool:
    """Whether an occurrence is a value of its own: not part of a word or of a longer number around it."""
    start = max(0, index - 2)
    before = text.get_text_range(start, index - start) if index else ""
    after = text.get_text_range(index + count, min(2, text.count_chars() - index - count))
    inside = text.get_text_range(index, count)
    return not (_continues(inside, after) or _continues(inside[::-1], before[::-1]))


def _continues(inside: str, beyond: str) -> bool:
    """Whether what is beyond the end belongs to the same word or number."""
    if not inside or not beyond or not (inside[-1].isascii() and inside[-1].isalnum()):
        return False
    if beyond[0].isascii() and beyond[0].isalnum():
        return True
    return inside[-1].isdigit() and beyond[0] in ".," and beyond[1:].isdigit()
