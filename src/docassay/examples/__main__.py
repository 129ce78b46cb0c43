"""`python -m docassay.examples`, which is `make demo`: everything docassay does, shown on the bundled documents."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from docassay import Score, examples, score
from docassay.extraction.verdicts import VERDICTS


HEADINGS = {"fabricated": "fabri-\ncated", "invented_item": "invented\nitem", "invented_field": "invented\nfield"}


def main() -> None:
    """Score both predictions of every bundled document and show the table."""
    console = Console()
    console.rule("Extraction: five documents, two answers each")
    console.print(table(scores()))


def scores() -> Iterator[tuple[str, str, Score]]:
    """Document, prediction and score of every bundled pair."""
    for name in examples.names():
        example = examples.load(name)
        for letter, prediction in example.predictions.items():
            yield name, letter, score(prediction, example.ground_truth, example.schema)


def table(results: Iterator[tuple[str, str, Score]]) -> Table:
    """One line per pair: accuracy and the six counts, narrow enough for a terminal of 80 columns."""
    shown = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    shown.add_column("document, answer", no_wrap=True, vertical="bottom")
    for heading in ("accuracy", *VERDICTS, "of"):
        shown.add_column(HEADINGS.get(heading, heading), justify="right", no_wrap=True, vertical="bottom")
    for name, letter, result in results:
        counts = [str(getattr(result.counts, verdict) or "·") for verdict in VERDICTS]
        accuracy = "–" if result.accuracy is None else f"{result.accuracy:.3f}"
        shown.add_row(f"{name} {letter}", accuracy, *counts, str(result.counts.total))
    return shown


if __name__ == "__main__":
    main()
