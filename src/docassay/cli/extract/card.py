"""What `score-one` shows to a person: metrics, the six counts as a bar, the worst fields, and each wrong address."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.columns import Columns
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from docassay.extraction.metric import Score
from docassay.extraction.mistakes import FieldLoss, Mistake, mistakes, worst_fields
from docassay.extraction.verdicts import Counts

METRICS = ("accuracy", "precision", "recall", "f1", "addresses_found", "addresses_read_right")
WORST_FIELDS = 8
BAR_WIDTH = 72
VALUE_WIDTH = 48
LONGEST_INTEGER = 4096

# Each verdict has a colour and a shade of its own, so that the bar can be read without colours too.
STYLES = {
    "matched": ("█", "green"),
    "misread": ("▓", "red"),
    "unfound": ("░", "yellow"),
    "fabricated": ("▒", "magenta"),
    "invented_item": ("╳", "blue"),
    "invented_field": ("╱", "cyan"),
}

MEANINGS = {
    "misread": "the ground truth → the prediction, and why they differ",
    "unfound": "the ground truth has these, the prediction does not",
    "fabricated": "the prediction has these, the ground truth does not",
    "invented_item": "in rows that go with no row of the ground truth",
    "invented_field": "the schema has no such field",
}


def card(score: Score, *, every_verdict: bool = False) -> RenderableType:
    """The card of a score made with `verdicts=True`; `every_verdict` lists the matched addresses too."""
    parts = [_headline(score), _metrics(score), Text(), Bar(score.counts), _legend(score.counts), *_notes(score)]
    if worst := worst_fields(score, WORST_FIELDS):
        parts += [Text(), Text("Worst fields", style="bold"), _fields_table(worst)]
    wrong = mistakes(score)
    for name in MEANINGS:
        if found := [mistake for mistake in wrong if mistake.verdict.verdict == name]:
            parts += [Text(), _heading(name), _listing(name, found)]
    if every_verdict and score.counts.matched:
        parts += [Text(), _heading("matched"), _matched(score)]
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
    """How many of `width` characters each count above zero gets: one, and of the rest as much as is its part.

    What rounding leaves goes to the largest remainders (Hamilton's method), so that the bar is full.
    """
    present = {name: getattr(counts, name) for name in STYLES if getattr(counts, name)}
    free = max(width - len(present), 0)
    parts = {name: divmod(count * free, counts.total) for name, count in present.items()}
    left = free - sum(whole for whole, _ in parts.values())
    favoured = sorted(parts, key=lambda name: -parts[name][1])[:left]
    for name, (whole, _) in parts.items():
        yield name, 1 + whole + (name in favoured)


def _headline(score: Score) -> Text:
    signature = (f"   {score.signature}", "dim")
    if score.accuracy is None:
        return Text.assemble(("nothing to score", "bold yellow"), signature)
    addresses = f" = {score.counts.matched} of {score.counts.total} addresses"
    return Text.assemble((f"accuracy {score.accuracy:.4f}", "bold"), addresses, signature)


def _metrics(score: Score) -> Text:
    shown = ((name, getattr(score, name)) for name in METRICS[1:])
    return Text("   ".join(f"{name} {'–' if value is None else format(value, '.4f')}" for name, value in shown))


def _legend(counts: Counts) -> Columns:
    entries = []
    for name, (shade, colour) in STYLES.items():
        count = getattr(counts, name)
        style = (colour, "") if count else ("dim", "dim")
        entries.append(Text.assemble((f"{shade} ", style[0]), (f"{name} {count}", style[1])))
    return Columns(entries, padding=(0, 3))


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


def _fields_table(fields: Sequence[FieldLoss]) -> Padding:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("field")
    table.add_column("matched", justify="right")
    table.add_column("lost to")
    for loss in fields:
        table.add_row(loss.field, f"{loss.counts.matched} of {loss.counts.total}", _losses(loss.counts))
    return Padding(table, (0, 0, 0, 2), expand=False)


def _losses(counts: Counts) -> Text:
    losses = ((name, getattr(counts, name)) for name in MEANINGS)
    return Text(", ").join(Text(f"{count} {name}", style=STYLES[name][1]) for name, count in losses if count)


def _heading(name: str) -> Text:
    title = name.replace("_", " ").capitalize()
    return Text.assemble((title, f"bold {STYLES[name][1]}"), (f"  {MEANINGS.get(name, '')}", "dim"))


def _listing(name: str, found: Sequence[Mistake]) -> Padding:
    """The addresses of one verdict, with the values there are; under a misread one why they differ."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for mistake in found:
        verdict = mistake.verdict
        truth, answer = _value(verdict.gold_raw), _value(verdict.pred_raw)
        values = {"misread": f"{truth} → {answer}", "unfound": truth}.get(name, answer)
        grid.add_row(Text(verdict.address, style="bold"), Text(values))
        if name == "misread":
            grid.add_row("", Text(mistake.reason, style="dim"))
    return Padding(grid, (0, 0, 0, 2), expand=False)


def _matched(score: Score) -> Padding:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for verdict in score.verdicts or ():
        if verdict.verdict == "matched":
            values = f"{_value(verdict.gold_raw)} = {_value(verdict.pred_raw)}"
            grid.add_row(Text(verdict.address, style="bold"), Text(values))
    return Padding(grid, (0, 0, 0, 2), expand=False)


def _value(raw: object) -> str:
    """A value as JSON shows it, cut where it is long; what JSON cannot hold as Python shows it."""
    if isinstance(raw, int) and raw.bit_length() > LONGEST_INTEGER:
        return f"an integer of {raw.bit_length()} bits"
    text = json.dumps(raw, ensure_ascii=False, default=str).encode(errors="backslashreplace").decode()
    return text if len(text) <= VALUE_WIDTH else text[: VALUE_WIDTH - 1] + "…"
