"""What `score-one` shows to a person: metrics, the six counts as a bar, the worst fields, and each wrong address."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from docassay.extraction.metric import Counts, Score
from docassay.extraction.mistakes import Mistake, mistakes, worst_fields

METRICS = ("accuracy", "precision", "recall", "f1", "addresses_found", "addresses_read_right")
WORST_FIELDS = 8
BAR_WIDTH = 72
VALUE_WIDTH = 48

# Each verdict has a colour and a shade of its own, so that the bar can be read without colours too.
STYLES = {
    "matched": ("█", "green"),
    "misread": ("▓", "red"),
    "unfound": ("░", "yellow"),
    "fabricated": ("▒", "magenta"),
    "invented_item": ("╳", "blue"),
    "invented_field": ("╱", "cyan"),
}


def card(score: Score, *, every_verdict: bool = False) -> RenderableType:
    """The card of a score made with `verdicts=True`; `every_verdict` lists the matched addresses too."""
    parts = [_headline(score), _metrics(score), Text(), Bar(score.counts), _legend(score.counts)]
    parts += _notes(score)
    if worst := worst_fields(score, WORST_FIELDS):
        parts += [Text(), Text("Worst fields", style="bold"), _fields_table([(w.field, w.counts) for w in worst])]
    if wrong := mistakes(score):
        parts += [Text(), Text("Wrong addresses", style="bold"), *(_mistake(mistake) for mistake in wrong)]
    if every_verdict:
        parts += [Text(), Text("Matched addresses", style="bold"), *_matched(score)]
    return Group(*parts)


@dataclass(frozen=True, slots=True)
class Bar:
    """The six counts as one line, proportional; a count above zero is never narrower than one character."""

    counts: Counts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(options.max_width, BAR_WIDTH)
        bar = Text()
        for name, cells in shares(self.counts, width):
            shade, colour = STYLES[name]
            bar.append(shade * cells, style=colour)
        yield bar


def shares(counts: Counts, width: int) -> Iterator[tuple[str, int]]:
    """How many of `width` characters each count gets: at least one if above zero, the largest giving way."""
    present = {name: getattr(counts, name) for name in STYLES if getattr(counts, name)}
    cells = {name: max(1, round(Fraction(count * width, counts.total))) for name, count in present.items()}
    if cells:
        largest = max(cells, key=lambda name: cells[name])
        cells[largest] = max(1, cells[largest] + width - sum(cells.values()))
    return iter(cells.items())


def _headline(score: Score) -> Text:
    if score.accuracy is None:
        return Text.assemble(("nothing to score", "bold yellow"), ("   " + score.signature, "dim"))
    return Text.assemble(("accuracy ", "bold"), (f"{score.accuracy:.4f}", "bold"), ("   " + score.signature, "dim"))


def _metrics(score: Score) -> Text:
    shown = ((name, getattr(score, name)) for name in METRICS[1:])
    return Text("   ".join(f"{name} {'–' if value is None else format(value, '.4f')}" for name, value in shown))


def _legend(counts: Counts) -> Text:
    legend = Text()
    for name, (shade, colour) in STYLES.items():
        count = getattr(counts, name)
        legend.append(f"{shade} ", style=colour if count else "dim")
        legend.append(f"{name} {count}   ", style="" if count else "dim")
    legend.append(f"of {counts.total} addresses", style="dim")
    return legend


def _notes(score: Score) -> list[RenderableType]:
    notes: list[RenderableType] = []
    if score.gt_rows or score.pred_rows:
        rows = f"rows: {score.matched_rows} paired of {score.gt_rows} in the ground truth, {score.pred_rows} predicted"
        notes.append(Text(rows, style="dim"))
    if score.skipped_open_maps:
        notes.append(Text(f"not scored, open maps: {', '.join(score.skipped_open_maps)}", style="dim"))
    if not score.matching_exact:
        sizes = ", ".join(map(str, score.approximated))
        notes.append(Text(f"rows were paired approximately in arrays of {sizes} rows", style="yellow"))
    return notes


def _fields_table(fields: list[tuple[str, Counts]]) -> Padding:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("field")
    table.add_column("matched", justify="right")
    table.add_column("lost to")
    for field, counts in fields:
        table.add_row(field, f"{counts.matched}/{counts.total}", _losses(counts))
    return Padding(table, (0, 0, 0, 2))


def _losses(counts: Counts) -> Text:
    losses = Text()
    for name, (_, colour) in STYLES.items():
        count = getattr(counts, name)
        if name != "matched" and count:
            losses.append(", " if losses else "").append(f"{count} {name}", style=colour)
    return losses


def _mistake(mistake: Mistake) -> Padding:
    verdict = mistake.verdict
    line = Text.assemble((verdict.verdict, STYLES[verdict.verdict][1]), "  ", (verdict.address, "bold"), "  ")
    expected = "–" if verdict.gold_canon is None else _value(verdict.gold_raw)
    got = "–" if verdict.pred_canon is None else _value(verdict.pred_raw)
    line.append(f"{expected} → {got}")
    line.append(f"  {mistake.reason}", style="dim")
    return Padding(line, (0, 0, 0, 2))


def _matched(score: Score) -> Iterator[RenderableType]:
    for verdict in score.verdicts or ():
        if verdict.verdict == "matched":
            values = f"{_value(verdict.gold_raw)} = {_value(verdict.pred_raw)}"
            yield Padding(Text.assemble((verdict.address, "bold"), "  ", values), (0, 0, 0, 2))


def _value(raw: object) -> str:
    text = json.dumps(raw, ensure_ascii=False, default=str)
    return text if len(text) <= VALUE_WIDTH else text[: VALUE_WIDTH - 1] + "…"
