"""Decides how a prediction run counts: outcomes, stated costs by unit, and whether one more document may be bought."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from docassay.providers.contract import Outcome
from docassay.providers.evidence import Kept

__all__ = ["Progress", "Spending", "Tally"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a prediction run is. Documents that earlier runs answered count as done."""

    total: int = 0
    ok: int = 0
    failed: int = 0
    timeouts: int = 0
    in_flight: int = 0
    cost: Mapping[str, float] = field(default_factory=dict)
    """Stated costs by unit."""
    seconds: float | None = None
    """Average seconds per document answered in this run."""

    @property
    def done(self) -> int:
        """Documents with an outcome."""
        return self.ok + self.failed + self.timeouts


@dataclass(slots=True)
class Tally:
    """Counts as answers come in."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    costs: dict[str, Decimal] = field(default_factory=dict)
    unstated: int = 0
    """Answered documents without a stated cost."""
    seconds: list[float] = field(default_factory=list)
    """Of each document answered in this run."""
    in_flight: int = 0

    def add(self, kept: Kept) -> None:
        """Count a document that has an outcome."""
        self._count(kept, 1)

    def begin(self, earlier: Kept | None) -> None:
        """A document is asked, perhaps again: until it ends its earlier outcome does not count."""
        self.in_flight += 1
        if earlier is not None:
            self._count(earlier, -1)

    def end(self, kept: Kept | None) -> None:
        """A document is no longer asked; it has this outcome, its earlier one, or none."""
        self.in_flight -= 1
        if kept is not None:
            self._count(kept, 1)

    def _count(self, kept: Kept, sign: int) -> None:
        self.outcomes[kept.outcome] += sign
        if kept.cost is not None:
            amount = sign * Decimal(str(kept.cost.amount))
            self.costs[kept.cost.unit] = self.costs.get(kept.cost.unit, Decimal(0)) + amount
        elif kept.outcome is Outcome.OK:
            self.unstated += sign

    def progress(self, total: int) -> Progress:
        """How far a run over `total` documents is."""
        return Progress(
            total=total,
            ok=self.outcomes[Outcome.OK],
            failed=self.outcomes[Outcome.FAILED],
            timeouts=self.outcomes[Outcome.TIMEOUT],
            in_flight=self.in_flight,
            cost={unit: float(amount) for unit, amount in self.costs.items()},
            seconds=sum(self.seconds) / len(self.seconds) if self.seconds else None,
        )


class Spending:
    """Keeps a limit in US dollars: a document is begun only if one as dear as the dearest so far still fits.

    Until a first cost is known documents go one at a time; and if an answer comes without a cost before any with one,
    nothing more is bought, because the limit could not be kept.
    """

    def __init__(self, limit: float | None) -> None:
        self.limit = None if limit is None else Decimal(str(limit))
        self.spent = Decimal(0)
        self.reason: str | None = None
        """Why nothing more may be bought."""
        self._dearest: Decimal | None = None
        self._unpriced = 0

    def add(self, kept: Kept) -> None:
        """Count what one document cost."""
        if kept.cost is not None and kept.cost.unit == "USD":
            amount = Decimal(str(kept.cost.amount))
            self.spent += amount
            self._dearest = amount if self._dearest is None else max(self._dearest, amount)
        elif kept.outcome is Outcome.OK:
            self._unpriced += 1

    def allows(self, in_flight: int) -> bool:
        """Whether one more document may be begun beside those in flight."""
        if self.limit is None:
            return True
        if self._dearest is None and self._unpriced:
            self.reason = f"max-cost of ${self.limit} cannot be kept: the provider states no cost"
            return False
        if self._dearest is None:
            return in_flight == 0
        reserved = self._dearest * (in_flight + 1 + self._unpriced)
        if self.spent + reserved <= self.limit:
            return True
        if in_flight == 0:
            self.reason = f"max-cost: ${self.spent} of ${self.limit} are spent, and one more document may exceed it"
        return False
