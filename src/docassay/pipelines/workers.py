"""Decides how processes that score batches are got ready while the command has yet to import what it needs itself.

Imports take longest of a small run, so this module has none that are heavy.
"""

from __future__ import annotations

from typing import Final

from docassay.executors.local import prepare

__all__ = ["SCORE_BATCH", "prepare_scoring"]

SCORE_BATCH: Final = "docassay.pipelines.score_worker:score_batch"
"""The work, as engines find it."""


def prepare_scoring() -> None:
    """Let worker processes import what they need, beside this one. Another call changes nothing."""
    prepare(SCORE_BATCH)
