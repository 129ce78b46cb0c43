"""The text behind every number: the metric, its version and every option that could change a result."""

from __future__ import annotations

from collections.abc import Iterable

from docassay.version import __version__


def signature(metric: str, ordered: Iterable[str] = (), **options: object) -> str:
    """`omni/1 order:free docassay:0.1.0`; ordered arrays are named, sorted: `order:lines,pages[*].rows`.

    `options` holds what was set to another value than the default, and could change a result.
    """
    names = ",".join(sorted(ordered)) or "free"
    told = "".join(f" {name}:{value}" for name, value in sorted(options.items()))
    return f"{metric} order:{names}{told} docassay:{__version__}"
