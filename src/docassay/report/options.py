"""Decides what can be asked of a report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """How much a report lists."""

    title: str | None = None
    documents: int = 20
    """Worst documents of each run that are listed with their wrong addresses."""
    addresses: int = 30
    """Wrong addresses listed for each of them; the rest is counted."""
    fields: int = 40
    alpha: float = 0.05
    seed: int = 0
