"""Which texts are read again and which are remembered: a bounded memory of canonical keys, shared by all documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

MOST_TEXTS: Final = 50_000
LONGEST_TEXT: Final = 64


class Remembered(dict[str, str]):
    """Canonical keys by text: `remembered[text]` reads a text it does not know, and keeps the key of a short one.

    Forgets everything when it holds `MOST_TEXTS`, so that it takes some 10 MB at most. Keys depend on the text alone,
    so that what is remembered can change no result.
    """

    def __init__(self, canon: Callable[[object], str]) -> None:
        super().__init__()
        self._canon = canon

    def __missing__(self, text: str) -> str:
        key = self._canon(text)
        if len(text) <= LONGEST_TEXT:
            if len(self) >= MOST_TEXTS:
                self.clear()
            self[text] = key
        return key
