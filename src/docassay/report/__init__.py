"""What a person reads: reports, comparisons and the local page, all made from finished runs; nothing is scored here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docassay.report.build import ReportOptions, Written, make_report

__all__ = ["ReportOptions", "Written", "make_report"]


def __getattr__(name: str) -> Any:
    """Public names are imported when first used: who writes a figure needs not all that a report stands on."""
    if name not in __all__:
        raise AttributeError(f"module 'docassay.report' has no attribute {name!r}")
    from docassay.report import build

    value = globals()[name] = getattr(build, name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
