"""Decides what stands round a value under `sound/1` and is no part of it: bullets, quotes, closing marks."""

from __future__ import annotations

import re

from docassay.extraction.values.reading import Fold

_BULLET = re.compile("^[\u2022\u2023\u25e6\u25aa\u25b6\u2219\u25cf\u25a0]\\s+(?=\\S)")
_CLOSING = {
    '"': '"',
    "'": "'",
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u2018": "\u2019",
    "\u201a": "\u2018\u2019",
    "\u00ab": "\u00bb",
    "\u00bb": "\u00ab",
    "\u2039": "\u203a",
    "\u203a": "\u2039",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
    "\uff02": "\uff02",
    "`": "`'",
}
_END_MARKS = ".,\u3002\u3001\u060c\uff0c\uff0e \t\r\n\u00a0\u3000"


def _unbullet(text: str) -> str:
    text = text.strip()
    return text if text.isascii() else _BULLET.sub("", text, count=1)


def _unquote(text: str) -> str:
    """Without the quotes round a value and the periods and commas at its end, however they are nested."""
    start, end = 0, len(text)
    if text[:1].isalnum() and text[-1].isalnum():
        return text
    while True:
        before = start, end
        while end > start and (text[end - 1] in _END_MARKS or text[end - 1].isspace()):
            end -= 1
        while start < end and text[start].isspace():
            start += 1
        if end - start > 2 and text[end - 1] in _CLOSING.get(text[start], ()) and _quotes_once(text, start, end):
            start, end = start + 1, end - 1
        if before == (start, end):
            return text[start:end] or text


def _quotes_once(text: str, start: int, end: int) -> bool:
    return text.find(text[start], start + 1, end - 1) < 0 and text.find(text[end - 1], start + 1, end - 1) < 0


END_FOLDS = (Fold("ends", "Quotes round the value go, and periods and commas at its end.", _unquote),)
EDGE_FOLDS = (
    Fold("bullet", "White space at the ends and a bullet before the text are layout.", _unbullet),
    *END_FOLDS,
)
"""What goes from the ends of a text as written, in order; `END_FOLDS` once more when letters have folded."""
