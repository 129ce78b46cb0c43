"""What `score` shows to a person: the means with their intervals, by suite and over all, and what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from docassay.report.numbers import count, percent, percent_interval, plural

if TYPE_CHECKING:
    from docassay.core.statistics.intervals import Interval
    from docassay.pipelines.score_table import TableRun
    from docassay.runs.summary import Group, Summary

DIGITS = 2


def print_summary(console: Console, run: TableRun) -> None:
    """Print the card of a finished run; paths and signatures, which are copied, in one line each."""
    summary = run.summary
    console.print(Text(f"{run.metric} · {run.path}", style="bold"), soft_wrap=True)
    tables = [_metrics(summary), *([_suites(summary)] if summary.suites else []), _errors(summary.flat)]
    for table in tables:
        console.print(table)
        console.print()
    console.print(Text(coverage(summary.flat)), soft_wrap=True)
    console.print(Text(summary.signature, style="dim"), soft_wrap=True)


def coverage(group: Group) -> str:
    """What the means rest on, in a sentence."""
    told = f"The means rest on {count(group.scored)} of {plural(group.documents, 'document')}"
    if group.coverage is not None:
        told += f" ({percent(group.coverage)})"
    others = [f"{count(group.errors)} failed"] if group.errors else []
    others += [f"{count(group.nothing_to_score)} with nothing to score"] if group.nothing_to_score else []
    return f"{told}; {', '.join(others)}." if others else f"{told}."


def _metrics(summary: Summary) -> Table:
    table = _table("all documents (flat)", "mean over scored", "95 % interval", "failures as 0")
    for name in ("accuracy", "precision", "recall", "f1", "addresses_found", "addresses_read_right"):
        mean, zero = summary.flat.means[name], summary.flat.means_failures_zero[name]
        table.add_row(name, _estimate(mean), _interval(mean), _estimate(zero))
    return table


def _suites(summary: Summary) -> Table:
    table = _table("accuracy by suite", "scored", "mean over scored", "95 % interval", "failures as 0")
    for suite in summary.suites:
        scored = f"{count(suite.scored)} of {count(suite.documents)}"
        table.add_row(Text(suite.name or ""), scored, *_accuracies(suite.means, suite.means_failures_zero))
    if summary.unified is not None:
        name = f"UNIFIED, {plural(summary.unified.suites, 'suite')}"
        table.add_row(name, "", *_accuracies(summary.unified.means, summary.unified.means_failures_zero), style="bold")
    return table


def _accuracies(means: Mapping[str, Interval], zeros: Mapping[str, Interval]) -> tuple[str, str, str]:
    mean = means["accuracy"]
    return _estimate(mean), _interval(mean), _estimate(zeros["accuracy"])


def _errors(group: Group) -> Table:
    table = _table("error rate", "mean", "95 % interval", "of")
    for name, rate in group.error_rates.items():
        whole = "documents" if name == "failed" else "a document's addresses"
        table.add_row(name, _estimate(rate), _interval(rate), whole)
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, overflow="fold")
    for other in others:
        table.add_column(other, justify="right", overflow="fold")
    return table


def _estimate(interval: Interval) -> str:
    return percent(interval.estimate, DIGITS)


def _interval(interval: Interval) -> str:
    return percent_interval(interval.low, interval.high, DIGITS)
