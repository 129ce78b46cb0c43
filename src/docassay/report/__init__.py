"""What a person reads: reports, comparisons and the local page, all made from finished runs; nothing is scored here."""

from __future__ import annotations

from docassay.report.build import ReportOptions, Written, make_report

__all__ = ["ReportOptions", "Written", "make_report"]
