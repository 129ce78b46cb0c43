"""Limits are held under concurrency; what the server saw is what counts."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

import pytest

from docassay.errors import ArgumentValueError, BudgetError
from docassay.models import Budget, Endpoint, Message, ModelClient, ModelRequest, Prices, RetryPolicy, Usage
from docassay.models.fake import (
    Asked,
    FakeModel,
    Reply,
    answer,
    connection_reset,
    error,
    rate_limited,
    refuses_mode,
    refuses_parameter,
    slow,
)
from docassay.models.wire import input_tokens_limit

QUICK = RetryPolicy(waits=(0.01, 0.02, 0.03, 0.04, 0.05), timeout=5.0)
REQUESTS = [ModelRequest("m", (Message("user", f"q{i}"),), 100, schema={"type": "object"}) for i in range(60)]


def ask_all(
    server: FakeModel, budget: Budget, requests: list[ModelRequest] = REQUESTS, **options: object
) -> list[object]:
    async def run() -> list[object]:
        settings = {"policy": QUICK, "concurrency": 16, **options}
        async with ModelClient(Endpoint(server.base_url), budget=budget, **settings) as client:  # type: ignore[arg-type]
            return list(await asyncio.gather(*map(client.complete, requests), return_exceptions=True))

    return asyncio.run(run())


def priced(prices: Prices, rng: random.Random) -> tuple[list[float], object]:
    """A server that charges `prices` for tokens it chooses, within what was asked for."""
    charged: list[float] = []

    def reply(asked: Asked) -> Reply:
        tokens = rng.randint(5, 40), rng.randint(1, asked.body["max_tokens"])
        charged.append((tokens[0] * prices.input_per_million + tokens[1] * prices.output_per_million) / 1e6)
        return answer({}, usage=tokens, cost=charged[-1], delay=rng.random() / 50)

    return charged, reply


@pytest.mark.parametrize("limit", [0, 1, 7, 30])
def test_calls_are_bounded_whatever_happens_to_them(limit: int) -> None:
    faults = [rate_limited(), error(500), connection_reset(), error(503)] * 3
    rules = [refuses_mode("json_schema"), refuses_parameter("max_tokens")]
    budget = Budget(max_calls=limit)
    with FakeModel(faults, default=answer({}, delay=0.01), rules=rules) as server:
        outcomes = ask_all(server, budget)
        assert len(server.asked) == limit == budget.calls
    assert sum(isinstance(outcome, BudgetError) for outcome in outcomes) >= len(REQUESTS) - limit


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("given", [True, False])
def test_cost_is_bounded(seed: int, given: bool) -> None:
    prices = Prices(2.0, 10.0)
    charged, reply = priced(prices, random.Random(seed))
    budget = Budget(max_cost=0.02, prices=prices if given else None)
    with FakeModel(default=reply) as server:  # type: ignore[arg-type]
        outcomes = ask_all(server, budget)
    assert sum(charged) <= 0.02
    assert budget.spent == pytest.approx(sum(charged)) == pytest.approx(budget.stated)
    assert any(isinstance(outcome, BudgetError) for outcome in outcomes)
    if given:
        dearest = (input_tokens_limit(REQUESTS[0]) * 2.0 + 100 * 10.0) / 1e6
        assert sum(charged) > 0.02 - dearest, "it stops only when the next request might not fit"


def test_without_prices_the_first_request_goes_alone() -> None:
    with FakeModel([answer({}, cost=0.001, delay=0.2)], default=answer({}, cost=0.001)) as server:
        ask_all(server, Budget(max_cost=1000.0))
        first, second = server.asked[:2]
    assert second.at - first.at >= 0.2


def test_a_cost_limit_is_not_pretended_where_no_cost_is_stated() -> None:
    with FakeModel() as server:
        outcomes = ask_all(server, Budget(max_cost=5.0))
        assert len(server.asked) == 1
    refused = [outcome for outcome in outcomes if isinstance(outcome, BudgetError)]
    assert len(refused) == len(REQUESTS) - 1
    assert "states no cost" in str(refused[0])


def test_prices_serve_where_no_cost_is_stated() -> None:
    budget = Budget(max_cost=0.0102, prices=Prices(0.0, 10.0))
    with FakeModel(default=answer({}, usage=(10, 50), delay=0.005)) as server:
        ask_all(server, budget)
        assert len(server.asked) == 19, "0.0005 each, and 0.001 must be free before the next is sent"
    assert budget.stated == 0.0
    assert budget.answers_without_cost == 19


def test_what_may_have_been_charged_counts() -> None:
    budget = Budget(max_cost=0.0035, prices=Prices(0.0, 10.0))
    with FakeModel(default=slow(answer({}), 3.0)) as server:
        ask_all(server, budget, REQUESTS[:1], policy=replace(QUICK, timeout=0.6))
        assert len(server.asked) == 3
    assert budget.spent == pytest.approx(0.003)


def test_refusals_and_rate_limits_cost_no_money() -> None:
    budget = Budget(max_cost=0.0011, prices=Prices(0.0, 10.0))
    with FakeModel([rate_limited(), error(503)], rules=[refuses_mode("json_schema")]) as server:
        assert ask_all(server, budget, REQUESTS[:1])[0].ok  # type: ignore[attr-defined]
        assert len(server.asked) == 4
    assert budget.spent <= 0.0011


def test_prices_that_are_too_low_are_corrected_by_what_is_stated() -> None:
    budget = Budget(max_cost=10.0, prices=Prices(0.0, 1.0))
    reservation = asyncio.run(budget.reserve("m", 10, 100))
    reservation.settle(Usage(10, 10), 1.0)
    ceiling = budget.ceiling("m")
    assert ceiling is not None
    assert ceiling.per_output == pytest.approx(0.1)
    assert budget.spent == 1.0


def test_free_models_are_not_stopped() -> None:
    with FakeModel(default=answer({}, cost=0.0)) as server:
        ask_all(server, Budget(max_cost=0.5))
        assert len(server.asked) == len(REQUESTS)


@pytest.mark.parametrize("limits", [{"max_calls": -1}, {"max_cost": -0.1}, {"max_cost": float("nan")}])
def test_impossible_limits_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(ArgumentValueError):
        Budget(**limits)  # type: ignore[arg-type]
