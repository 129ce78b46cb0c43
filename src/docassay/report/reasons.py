"""Decides what is said about a wrong address: the verdict in words, and for two values why they are not equal."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import lru_cache

VERDICT_WORDS = {
    "matched": "both have the value, and it is equal",
    "misread": "both have a value here, and they differ",
    "unfound": "the prediction has no value here",
    "fabricated": "ground truth has no value here; the schema offers the place",
    "invented_item": "the predicted row pairs with no row of the ground truth",
    "invented_field": "the schema offers no such field",
}
"""What each verdict means, in words."""

LONG = 20_000
"""Values longer than this are not explained: reading them would take longer than a reader has."""


def metric_of(signature: str) -> str:
    """The metric's name at the head of a signature."""
    return signature.split(" ", 1)[0]


def reason(verdict: str, gold: str | None, predicted: str | None, metric: str) -> str:
    """One sentence for an address; `gold` and `predicted` are JSON text as in the verdicts table."""
    if verdict != "misread" or gold is None or predicted is None:
        return VERDICT_WORDS.get(verdict, verdict)
    if len(gold) + len(predicted) > LONG:
        return VERDICT_WORDS["misread"]
    return _why(gold, predicted, metric)


def value_of(raw: str, metric: str) -> object:
    """The JSON scalar of a verdicts cell; decimals exact where the metric compares them so."""
    from docassay.extraction.metric import find_metric

    return json.loads(raw, parse_float=Decimal if find_metric(metric).exact_decimals else float)


@lru_cache(maxsize=20_000)
def _why(gold: str, predicted: str, metric: str) -> str:
    from docassay.extraction.values import Comparison, explain

    compared = explain(value_of(gold, metric), value_of(predicted, metric), metric=metric)
    assert isinstance(compared, Comparison)
    return compared.reason
