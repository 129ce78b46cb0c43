"""`docassay extract score`: a table of documents into two Parquet datasets and a summary."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from docassay.cli.common import (
    DONE,
    FLAGGED,
    SpreadCommand,
    err_console,
    json_option,
    out_console,
    print_json,
    quiet_option,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from docassay.pipelines.score_table import Progress, TableRun


@click.command(cls=SpreadCommand)
@click.option(
    "--manifest",
    required=True,
    metavar="TABLE",
    help="Parquet (a file, or a directory of parts), CSV or JSON lines; a path or a URI.",
)
@click.option("--out", required=True, metavar="DIR", help="The run directory; a path or a URI such as s3://bucket/run.")
@click.option("--root", metavar="DIR", help="Where relative paths start.  [default: $DOCASSAY_ROOT, $OEB_ROOT, here]")
@click.option(
    "--metric",
    "metrics",
    metavar="NAME...",
    multiple=True,
    help="omni/1 (as published) or sound/1; several give a run each, below DIR.  [default: the library's]",
)
@click.option(
    "--order-matters",
    metavar="NAME...",
    multiple=True,
    help="Arrays whose order counts, such as `lines` or `books[*].chapters`.",
)
@click.option("--no-verdicts", is_flag=True, help="Scores only, no row for each address.")
@click.option("--suite-column", metavar="NAME", help="The column that names each document's suite.  [default: suite]")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N documents.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="What one document may take; one that takes longer gets an error row.",
)
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="X",
    help="Exit code 1 if the mean accuracy, failures counted as 0, is under X.",
)
@click.option(
    "--engine",
    type=click.Choice(["local", "ray", "modal"]),
    default="local",
    show_default=True,
    help="Where documents are scored.",
)
@click.option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="Processes at once.  [default: all processors]"
)
@click.option(
    "--batch-rows",
    type=click.IntRange(min=1),
    metavar="N",
    help="Documents that a process takes at most at a time.  [default: chosen]",
)
@click.option(
    "--ray-address", metavar="ADDRESS", help="An existing Ray cluster.  [default: $RAY_ADDRESS, or a new one here]"
)
@click.option("--retry-errors", is_flag=True, help="Score again what failed earlier; its files may have changed.")
@click.option("--overwrite", is_flag=True, help="Score anew, whatever the run directory holds.")
@json_option
@quiet_option
def score(
    manifest: str,
    out: str,
    root: str | None,
    metrics: tuple[str, ...],
    fail_under: float | None,
    no_verdicts: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Score a table of documents.

    The manifest has the columns doc_id, gt_path, pred_path and schema (JSON text); all others ride along. The run
    directory gets a row for each document in scores.parquet, a row for each address in verdicts.parquet, and the means
    with their intervals in summary.json. Interrupted at any moment, the same command does the rest.

    \b
    Example:
      docassay extract score --manifest jobs.parquet --out run/ --workers 8
    """
    from docassay.pipelines.workers import prepare_scoring

    if options["engine"] == "local":
        prepare_scoring()  # beside the imports of this process
    from docassay.pipelines.score_table import score_table

    options |= {"root": root, "verdicts": not no_verdicts}
    if metrics:
        options |= {"metrics": metrics} if len(metrics) > 1 else {"metric": metrics[0]}
    with _progress(out, quiet) as progress:
        scored: TableRun | tuple[TableRun, ...] = score_table(manifest, out, progress=progress, **options)
    runs = scored if isinstance(scored, tuple) else (scored,)
    if as_json:
        told = [{"run": run.path, "metric": run.metric, **run.summary.as_dict()} for run in runs]
        print_json(told if isinstance(scored, tuple) else told[0])
    else:
        from docassay.cli.extract.summary_card import print_summary

        for run in runs:
            print_summary(out_console(), run)
    return _flag(runs, fail_under, quiet)


def _flag(runs: Sequence[TableRun], fail_under: float | None, quiet: bool) -> int:
    if fail_under is None:
        return DONE
    code = DONE
    for run in runs:
        accuracy = run.summary.flat.means_failures_zero["accuracy"].estimate
        if accuracy is None or accuracy < fail_under:
            found = "no document was scored" if accuracy is None else f"accuracy {accuracy:.4f}, failures counted as 0,"
            err_console(quiet).print(f"{run.path}: {found} is under {fail_under:g}", highlight=False, soft_wrap=True)
            code = FLAGGED
    return code


@contextmanager
def _progress(out: str, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """One line with the plan, then a bar where a person watches."""
    console = err_console(quiet)
    planned = False
    try:
        with nullcontext() if quiet or not console.is_terminal else _bar(console) as advance:

            def show(progress: Progress) -> None:
                nonlocal planned
                if not planned:
                    planned = True
                    console.print(_plan(progress, out), highlight=False, soft_wrap=True)
                if advance is not None:
                    advance(progress)

            yield show
    except KeyboardInterrupt:
        console.print("what is done is kept; the same command does the rest", highlight=False)
        raise


@contextmanager
def _bar(console: Console) -> Iterator[Callable[[Progress], None]]:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[told]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, told="")

        def advance(progress: Progress) -> None:
            speed = bar.tasks[task].speed
            told = f"{progress.errors:,} errors" + (f" · {speed:,.0f}/s" if speed else "")
            bar.update(task, total=progress.documents, completed=progress.done, told=told)

        yield advance


def _plan(progress: Progress, out: str) -> str:
    workers = f"{progress.workers:,} worker{'s' if progress.workers > 1 else ''}"
    earlier = f", {progress.resumed:,} of them done earlier" if progress.resumed else ""
    return f"{progress.documents:,} documents ({progress.bytes / 1e6:,.1f} MB){earlier}, {workers}, into {out}"
