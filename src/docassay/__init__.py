"""docassay measures how well models read documents: extraction and discovery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docassay.version import __version__

if TYPE_CHECKING:
    from docassay.extraction.lint import lint
    from docassay.extraction.metric import Score, score
    from docassay.extraction.values import explain
    from docassay.pipelines.benchmark import benchmark
    from docassay.pipelines.lint_table import lint_table
    from docassay.pipelines.predict_table import predict_document, predict_table
    from docassay.pipelines.score_table import score_table

__all__ = [
    "Score",
    "__version__",
    "benchmark",
    "explain",
    "lint",
    "lint_table",
    "predict_document",
    "predict_table",
    "score",
    "score_table",
]

_HOMES = {
    "Score": "docassay.extraction.metric",
    "benchmark": "docassay.pipelines.benchmark",
    "explain": "docassay.extraction.values",
    "lint": "docassay.extraction.lint",
    "lint_table": "docassay.pipelines.lint_table",
    "predict_document": "docassay.pipelines.predict_table",
    "predict_table": "docassay.pipelines.predict_table",
    "score": "docassay.extraction.metric",
    "score_table": "docassay.pipelines.score_table",
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
