"""docassay measures how well models read documents: extraction and discovery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from docassay.extraction.metric import Score, score
    from docassay.extraction.values import explain

__all__ = ["Score", "__version__", "explain", "score"]

_HOMES = {
    "Score": "docassay.extraction.metric",
    "explain": "docassay.extraction.values",
    "score": "docassay.extraction.metric",
}


def __getattr__(name: str) -> Any:
    """Public names are imported when first used, so that the command line starts in a blink."""
    if name not in _HOMES:
        raise AttributeError(f"module 'docassay' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
