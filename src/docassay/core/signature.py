"""The text behind every number: the metric, its version and every option that could change a result."""

from __future__ import annotations

from collections.abc import Iterable

from docassay import __version__


def signature(metric: str, ordered: Iterable[str] = ()) -> str:
    """`omni/1 order:free docassay:0.1.0`; ordered arrays are named, sorted: `order:lines,pages[*].rows`."""
    names = ",".join(sorted(ordered)) or "free"
    return f"{metric} order:{names} docassay:{__version__}"
