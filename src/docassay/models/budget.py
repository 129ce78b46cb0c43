"""Whether one more request may be sent: limits on calls and cost are held before sending, not noticed afterwards.

Every HTTP request reserves one call and its worst cost before it is sent. A stated cost replaces the reservation; where
none is stated, prices and usage do; where nothing is known (a timeout, a broken connection), the whole reservation
counts as spent, since the endpoint may have charged it. An endpoint's error answer costs a call and no money.

The worst cost needs prices. Without them it is learned: the first request goes alone, and each stated cost bounds both
prices from above (cost / input tokens, cost / output tokens; answers that the endpoint's own cache made cheaper do not
count). Only requests before the first stated cost of a model are then unbounded, and they go one at a time.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass

from docassay.errors import ArgumentValueError, BudgetError
from docassay.models.contract import Prices, Usage

__all__ = ["Budget", "Ceiling", "Reservation"]

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Prices that are certainly not exceeded, in USD per token."""

    per_input: float
    per_output: float

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        return self.per_input * input_tokens + self.per_output * output_tokens


class Budget:
    """Limits shared by every request of a run; may be shared by several clients of one event loop."""

    def __init__(
        self, *, max_calls: int | None = None, max_cost: float | None = None, prices: Prices | None = None
    ) -> None:
        if max_calls is not None and max_calls < 0:
            raise ArgumentValueError(f"max_calls is at least 0, not {max_calls}")
        if max_cost is not None and not (math.isfinite(max_cost) and max_cost >= 0):
            raise ArgumentValueError(f"max_cost is a number of USD from 0, not {max_cost!r}")
        self.max_calls = max_calls
        self.max_cost = max_cost
        self.prices = prices
        self.calls = 0
        """HTTP requests sent or about to be."""
        self.spent = 0.0
        """USD that count against the limit: stated, computed from prices, or reserved and not known."""
        self.stated = 0.0
        """USD that endpoints stated."""
        self.answers_without_cost = 0
        """Answers whose cost was not stated."""
        self._reserved = 0.0
        self._open = 0
        self._learned: dict[str, Ceiling] = {}
        self._mute: set[str] = set()
        self._waiting: list[asyncio.Future[None]] = []

    async def reserve(self, model: str, input_tokens: int, output_tokens: int) -> Reservation:
        """Reserve one request of at most so many tokens; waits while open requests may still give money back.

        Raises:
            BudgetError: a limit could be exceeded, or a cost limit cannot be held for this endpoint.
        """
        while True:
            self._refuse_another_call()
            worst = self._worst(model, input_tokens, output_tokens)
            if self.max_cost is None or self._fits_now(model, worst):
                return self._take(model, worst)
            self._refuse_if_it_never_fits(model, worst)
            await self._change()

    def ceiling(self, model: str) -> Ceiling | None:
        """The prices that reservations are made with: given, unless a stated cost exceeded them; else learned."""
        learned = self._learned.get(model)
        if learned is not None or self.prices is None:
            return learned
        return Ceiling(self.prices.input_per_million / MILLION, self.prices.output_per_million / MILLION)

    def _refuse_another_call(self) -> None:
        if self.max_calls is not None and self.calls >= self.max_calls:
            raise BudgetError(f"the limit of {self.max_calls} calls is reached; nothing more was sent")

    def _worst(self, model: str, input_tokens: int, output_tokens: int) -> float | None:
        ceiling = self.ceiling(model)
        return None if ceiling is None else ceiling.cost(input_tokens, output_tokens)

    def _fits_now(self, model: str, worst: float | None) -> bool:
        assert self.max_cost is not None
        if worst is None:
            return not self._open and model not in self._mute and self.spent < self.max_cost
        return self.spent + self._reserved + worst <= self.max_cost

    def _refuse_if_it_never_fits(self, model: str, worst: float | None) -> None:
        assert self.max_cost is not None
        if worst is None and model in self._mute:
            raise BudgetError(
                f"{model}: the endpoint states no cost, so a limit of ${self.max_cost:g} cannot be held; give its "
                "prices, or limit the number of calls"
            )
        if self.spent + (worst or 0.0) > self.max_cost or (worst is None and self.spent >= self.max_cost):
            needed = "" if worst is None else f" and the next request may cost ${worst:.4f}"
            raise BudgetError(f"${self.spent:.4f} of ${self.max_cost:g} is spent{needed}; nothing more was sent")

    def _take(self, model: str, worst: float | None) -> Reservation:
        alone = 0.0 if self.max_cost is None else self.max_cost - self.spent
        reservation = Reservation(self, model, held=alone if worst is None else worst, worst=worst or 0.0)
        self.calls += 1
        self._open += 1
        self._reserved += reservation.held
        return reservation

    def _close(self, reservation: Reservation, spent: float) -> None:
        self._open -= 1
        self._reserved = self._reserved - reservation.held if self._open else 0.0
        self.spent += spent
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)

    def _learn(self, model: str, usage: Usage, cost: float) -> None:
        """Lower a learned ceiling by a stated cost, or raise any ceiling that a stated cost exceeds."""
        if not usage.input_tokens or not usage.output_tokens or usage.cached_tokens:
            return
        seen = Ceiling(cost / usage.input_tokens, cost / usage.output_tokens)
        known = self.ceiling(model)
        expected = 0.0 if known is None else known.cost(usage.input_tokens, usage.output_tokens)
        if known is None or not expected:
            self._learned[model] = seen
        elif cost > expected:
            factor = cost / expected
            self._learned[model] = Ceiling(known.per_input * factor, known.per_output * factor)
        elif self.prices is None:
            lower = Ceiling(min(seen.per_input, known.per_input), min(seen.per_output, known.per_output))
            self._learned[model] = lower

    def _change(self) -> asyncio.Future[None]:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        return turn


class Reservation:
    """One request's share of a budget; closed exactly once, by what became of the request."""

    def __init__(self, budget: Budget, model: str, *, held: float, worst: float) -> None:
        self._budget = budget
        self._model = model
        self._open = True
        self.held = held
        """USD that no other request may use meanwhile."""
        self.worst = worst
        """USD that it can cost; 0 where no price is known."""

    def settle(self, usage: Usage, cost: float | None) -> None:
        """An answer came, with what it states; `cost` in USD, None where it states none."""
        if cost is None:
            self._close(self._computed(usage))
            self._budget.answers_without_cost += 1
            return
        self._budget.stated += cost
        self._budget._learn(self._model, usage, cost)
        self._close(cost)

    def charge_nothing(self) -> None:
        """The endpoint answered with an error: the call counts, no money does."""
        self._close(0.0)

    def charge_all(self) -> None:
        """Nobody knows whether it was charged: the whole reservation counts."""
        self._close(self.worst)

    def withdraw(self) -> None:
        """Nothing reached the endpoint: neither the call nor money counts."""
        if self._open:
            self._budget.calls -= 1
        self._close(0.0)

    def _computed(self, usage: Usage) -> float:
        ceiling = self._budget.ceiling(self._model)
        if ceiling is None:
            self._budget._mute.add(self._model)
            return 0.0
        if usage.input_tokens is None or usage.output_tokens is None:
            return self.worst
        return ceiling.cost(usage.input_tokens, usage.output_tokens)

    def _close(self, spent: float) -> None:
        if self._open:
            self._open = False
            self._budget._close(self, spent)
