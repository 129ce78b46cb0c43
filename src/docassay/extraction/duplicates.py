"""Decides which keys a JSON text repeats inside one object; the last value of such a key wins when it is read."""

from __future__ import annotations

import json
from collections import Counter

__all__ = ["duplicate_keys"]


def duplicate_keys(data: bytes) -> tuple[str, ...]:
    """The keys that some object of the JSON text holds more than once, sorted; none where the text cannot be read."""
    repeated: set[str] = set()

    def note(pairs: list[tuple[str, object]]) -> None:
        counts = Counter(key for key, _ in pairs)
        repeated.update(key for key, count in counts.items() if count > 1)

    try:
        # Numbers stay text: their digits do not matter here, and Python refuses integers of thousands of digits.
        json.loads(data, object_pairs_hook=note, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return ()
    return tuple(sorted(repeated))
