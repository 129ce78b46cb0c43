"""One async client for OpenAI-compatible endpoints: structured output, retries, budget, cache, receipts.

cache = AnswerCache(path)                          # one SQLite file; None asks every time
budget = Budget(max_calls=500, max_cost=5.0, prices=Prices(1.25, 10.0))
async with ModelClient(Endpoint(base_url), cache=cache, budget=budget, concurrency=8) as model:
    print(model.estimate(requests).sentence())     # a dry run: sends nothing, needs no key
    answer = await model.complete(request)         # answer.status, answer.value, answer.receipt
"""

from __future__ import annotations

from docassay.models.budget import Budget
from docassay.models.cache import AnswerCache
from docassay.models.client import ModelClient
from docassay.models.contract import (
    AnswerMode,
    AnswerStatus,
    Attempt,
    Endpoint,
    Estimate,
    FilePart,
    Message,
    Model,
    ModelAnswer,
    ModelRequest,
    Prices,
    Receipt,
    RetryPolicy,
    TextPart,
    TokenParameter,
    Usage,
)

__all__ = [
    "AnswerCache",
    "AnswerMode",
    "AnswerStatus",
    "Attempt",
    "Budget",
    "Endpoint",
    "Estimate",
    "FilePart",
    "Message",
    "Model",
    "ModelAnswer",
    "ModelClient",
    "ModelRequest",
    "Prices",
    "Receipt",
    "RetryPolicy",
    "TextPart",
    "TokenParameter",
    "Usage",
]
