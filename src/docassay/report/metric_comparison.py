"""Decides how a comparison of metrics is written: tables for a person, Markdown for a page, JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from docassay.pipelines.metric_comparison import COMPARED, PUBLISHED, SOUND, MetricComparison, MetricDifference
from docassay.report import numbers, text
from docassay.report.comparison import Table, markdown_table


def metric_record(result: MetricComparison) -> dict[str, Any]:
    """The whole comparison as one JSON object, with every address whose verdict differs."""
    return {"kind": "metrics", "ranking_changes": result.ranking_changes, **asdict(result)}


def metric_tables(result: MetricComparison, limit: int) -> Iterator[Table]:
    """Accuracy of each system under both metrics, and what decides where they differ."""
    yield Table(
        "Accuracy under both metrics, failures as 0",
        (
            "run",
            *(f"{m} unified" for m in COMPARED),
            *(f"{m} flat" for m in COMPARED),
            "difference",
            "rank",
            "documents",
        ),
        tuple(_system_row(result, index) for index in range(len(result.systems))),
    )
    if not result.groups:
        return
    shown = result.groups[:limit]
    yield Table(
        "What decides where the verdicts differ",
        ("rule", "addresses", "example: ground truth", "prediction", PUBLISHED, SOUND, "in"),
        tuple((group.name, numbers.count(group.count), *_example(group.example)) for group in shown),
        frozenset({0, 2, 3, 4, 5, 6}),
        len(result.groups) - len(shown),
    )


def metric_sentences(result: MetricComparison) -> list[str]:
    """What to take away: how many verdicts differ, and whether the ranking does."""
    addresses = sum(system.addresses for system in result.systems)
    sentences = [f"{numbers.of(len(result.differences), addresses)} addresses have another verdict."]
    if len(result.systems) > 1:
        sentences.append(
            "The systems rank differently under the two metrics."
            if result.ranking_changes
            else "The systems rank alike under both metrics."
        )
    return sentences


def metric_markdown(result: MetricComparison, limit: int) -> str:
    """The comparison as Markdown."""
    lines = ["## docassay compare --metrics", ""]
    for table in metric_tables(result, limit):
        lines.extend(markdown_table(table))
    lines.extend(f"- {sentence}" for sentence in metric_sentences(result))
    lines.extend(["", *(f"`{text.one_line(signature)}`  " for signature in result.signatures), ""])
    return "\n".join(lines)


def _system_row(result: MetricComparison, index: int) -> tuple[str, ...]:
    system = result.systems[index]
    figures = [numbers.percent(by[metric]) for by in (system.unified, system.flat) for metric in COMPARED]
    one, other = (system.unified[metric] for metric in COMPARED)
    change = None if one is None or other is None else other - one
    ranks = [numbers.count(system.places[metric]) for metric in COMPARED]
    rank = ranks[0] if ranks[0] == ranks[1] else f"{ranks[0]} → {ranks[1]}"
    failed = f", {numbers.count(system.failed)} failed" if system.failed else ""
    return (system.name, *figures, numbers.points(change), rank, f"{numbers.count(system.documents)}{failed}")


def _example(one: MetricDifference) -> tuple[str, ...]:
    value = one.sound_value if one.sound_value is not None else one.published_value
    return (
        _value(one.gold),
        _value(value),
        (one.published or "(no such address)").replace("_", " "),
        (one.sound or "(no such address)").replace("_", " "),
        f"{one.system}: {one.doc_id} {one.address}",
    )


def _value(raw: str | None) -> str:
    return "(absent)" if raw is None else text.shortened(raw, 60)
