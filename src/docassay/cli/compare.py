"""`docassay compare`: what changed between runs, with intervals and paired tests, for a person or for CI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from docassay.cli.common import DONE, FLAGGED, err_console, out_console, print_json, quiet_option

if TYPE_CHECKING:
    from rich.text import Text

    from docassay.pipelines.compare import CompareOptions, Comparison
    from docassay.pipelines.metric_comparison import MetricComparison
    from docassay.pipelines.ranking import Ranking
    from docassay.report.comparison import Table

FORMATS = ("table", "json", "markdown", "junit")


@click.command(short_help="Compare runs: differences, intervals, paired tests; for CI.")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--by",
    multiple=True,
    type=click.Choice(("field", "suite", "document")),
    help="Also break the comparison down; may be given several times.",
)
@click.option(
    "--fail-if-worse",
    type=click.FloatRange(0, 1),
    metavar="X",
    help="Exit 1 if accuracy falls by more than X (0.01 is one percentage point), or if a suite or a field falls by "
    "more than X and the corrected test rejects chance.",
)
@click.option(
    "--allow-missing", is_flag=True, help="With --fail-if-worse: documents that only BASE has are no failure."
)
@click.option("--alpha", default=0.05, show_default=True, help="Level of the tests; intervals have level 1 - alpha.")
@click.option(
    "--correction",
    type=click.Choice(("holm", "bh")),
    default="holm",
    show_default=True,
    help="For the many p-values of one table: Holm (family-wise) or Benjamini-Hochberg (false discovery rate).",
)
@click.option(
    "--weighting",
    type=click.Choice(("unified", "flat", "pooled", "scored")),
    default="unified",
    show_default=True,
    help="The headline: mean of suite means, mean over documents, pooled addresses (all three with failures as 0), or "
    "mean over scored documents only.",
)
@click.option(
    "--metrics",
    is_flag=True,
    help="Score the inputs of each RUN under both metrics and show where omni/1 and sound/1 differ.",
)
@click.option("--root", type=click.Path(path_type=Path), help="With --metrics: where relative paths of the run start.")
@click.option("--allow-changed-truth", is_flag=True, help="Compare although the ground truth of the runs differs.")
@click.option("--seed", default=0, show_default=True, help="Seed of the bootstrap and of the permutations.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="Rows shown of a long table.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="How the result is written.",
)
@quiet_option
def compare(
    runs: tuple[Path, ...],
    by: tuple[str, ...],
    fail_if_worse: float | None,
    allow_missing: bool,
    alpha: float,
    correction: str,
    weighting: str,
    metrics: bool,
    root: Path | None,
    allow_changed_truth: bool,
    seed: int,
    limit: int,
    form: str,
    quiet: bool,
) -> int:
    """Compare extraction RUNS, paired by document.

    Two runs, BASE and NEW: differences in accuracy, precision, recall, f1, coverage and each verdict, what turned right
    or wrong, and with --fail-if-worse an exit code for CI. Three and more: the ranking, all pairs, and whether another
    weighting would change it. With --metrics: one or more runs, each under both metrics.

    \b
    Examples:
      docassay compare runs/main runs/branch --by field --fail-if-worse 0.01
      docassay compare runs/main runs/branch --format markdown >> "$GITHUB_STEP_SUMMARY"
      docassay compare runs/a runs/b runs/c
      docassay compare --metrics runs/a runs/b
    """
    from docassay.pipelines.compare import CompareOptions

    options = CompareOptions(
        alpha=alpha,
        correction=correction,
        weighting=weighting,
        seed=seed,
        fail_if_worse=fail_if_worse,
        allow_missing=allow_missing,
        allow_changed_truth=allow_changed_truth,
    )
    if metrics:
        return _metrics(runs, root, limit, form, quiet)
    if len(runs) == 2:
        return _two(runs, options, by, limit, form)
    return _many(runs, options, form)


def _two(runs: tuple[Path, ...], options: CompareOptions, by: tuple[str, ...], limit: int, form: str) -> int:
    from docassay.pipelines.compare import compare as compare_runs
    from docassay.report import comparison as written

    result = compare_runs(runs[0], runs[1], options)
    if form == "json":
        print_json(written.comparison_record(result))
    elif form == "markdown":
        click.echo(written.comparison_markdown(result, by, limit), nl=False)
    elif form == "junit":
        click.echo(written.comparison_junit(result), nl=False)
    else:
        _show_two(result, by, limit)
    for flag in result.flags:
        click.secho(f"worse than allowed: {flag.where}: {flag.reason}", fg="red", err=True)
    return FLAGGED if result.flags else DONE


def _many(runs: tuple[Path, ...], options: CompareOptions, form: str) -> int:
    from docassay.pipelines.ranking import rank
    from docassay.report import comparison as written

    if len(runs) < 2:
        raise click.UsageError("name two runs, BASE and NEW, or more (one run alone only with --metrics)")
    if options.fail_if_worse is not None:
        raise click.UsageError("--fail-if-worse needs exactly two runs, BASE and NEW")
    result = rank(runs, options)
    if form == "json":
        print_json(written.ranking_record(result))
    elif form == "markdown":
        click.echo(written.ranking_markdown(result), nl=False)
    elif form == "junit":
        click.echo(written.ranking_junit(result), nl=False)
    else:
        _show_many(result)
    return DONE


def _show_two(result: Comparison, by: tuple[str, ...], limit: int) -> None:
    from rich.text import Text

    from docassay.report import comparison as written

    console = out_console()
    console.print(Text(written.verdict_on(result), style="bold"))
    for note in result.notes:
        console.print(Text(f"note: {note}", style="yellow"))
    for table in written.comparison_tables(result, by, limit):
        _show_table(table)
    console.print(Text(written.turned_sentence(result)))
    console.print(Text(written.method(result), style="dim"))
    console.print(Text(written.signature(result), style="dim"))


def _show_many(result: Ranking) -> None:
    from rich.text import Text

    from docassay.report import comparison as written

    console = out_console()
    for note in result.notes:
        console.print(Text(f"note: {note}", style="yellow"))
    for table in written.ranking_tables(result):
        _show_table(table)
    for sentence in written.flip_sentences(result):
        console.print(Text(sentence))
    console.print(Text(written.method(result), style="dim"))
    console.print(Text(written.signature(result), style="dim"))


def _show_table(table: Table) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    from docassay.report.text import visible

    shown = RichTable(title=Text(table.title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD)
    for index, name in enumerate(table.header):
        shown.add_column(Text(visible(name)), justify="left" if index in table.left else "right")
    for row in table.rows:
        shown.add_row(*(_cell(visible(cell)) for cell in row))
    console = out_console()
    console.print(shown)
    if table.more:
        console.print(f"… and {table.more:,} more (--limit, or --format json for all)", style="dim")


def _cell(value: str) -> Text:
    from rich.text import Text

    return Text(value, style={"better": "green", "worse": "red"}.get(value, ""))


def _metrics(runs: tuple[Path, ...], root: Path | None, limit: int, form: str, quiet: bool) -> int:
    from docassay.pipelines.metric_comparison import compare_metrics
    from docassay.report import metric_comparison as written

    if form == "junit":
        raise click.UsageError("--metrics has no JUnit form; use table, json or markdown")
    with err_console(quiet).status("scoring under both metrics"):
        result = compare_metrics(runs, root=root)
    if form == "json":
        print_json(written.metric_record(result))
    elif form == "markdown":
        click.echo(written.metric_markdown(result, limit), nl=False)
    else:
        _show_metrics(result, limit)
    return DONE


def _show_metrics(result: MetricComparison, limit: int) -> None:
    from rich.text import Text

    from docassay.report import metric_comparison as written

    for table in written.metric_tables(result, limit):
        _show_table(table)
    for sentence in written.metric_sentences(result):
        out_console().print(Text(sentence))
