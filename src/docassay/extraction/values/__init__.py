"""Decides what a value is compared as: text to number, date, time or nothing, and the key that equality is."""

from __future__ import annotations

from docassay.extraction.values.canon import DEFAULT_METRIC, ValueRules, rules
from docassay.extraction.values.explain import compare, explain, shown
from docassay.extraction.values.reading import Comparison, Fold, Reading, Step, Trace

__all__ = [
    "DEFAULT_METRIC",
    "Comparison",
    "Fold",
    "Reading",
    "Step",
    "Trace",
    "ValueRules",
    "compare",
    "explain",
    "rules",
    "shown",
]
