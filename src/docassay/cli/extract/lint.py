"""`docassay extract lint`: what is wrong with the ground truth, or likely to be disputed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from docassay.cli.common import (
    DONE,
    FLAGGED,
    SpreadCommand,
    err_console,
    json_option,
    out_console,
    quiet_option,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType

    from docassay.pipelines.lint_table import LintReport, TableFinding

_LONGEST = 240


@click.command(cls=SpreadCommand)
@click.option(
    "--manifest",
    required=True,
    metavar="TABLE",
    help="Parquet (a file, or a directory of parts), CSV or JSON lines, with doc_id, gt_path and schema.",
)
@click.option("--root", metavar="DIR", help="Where relative paths start.  [default: $DOCASSAY_ROOT, $OEB_ROOT, here]")
@click.option(
    "--run",
    "runs",
    metavar="DIR...",
    multiple=True,
    help="Runs of two or more systems: also tell where all of them agree against the ground truth.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N rows.")
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Findings shown of each code; --json prints all.",
)
@click.option(
    "--fail-on", metavar="CODE...", multiple=True, help="Exit code 1 if there is a finding of one of these codes."
)
@json_option
@quiet_option
def lint(
    manifest: str,
    root: str | None,
    runs: tuple[str, ...],
    limit: int | None,
    examples: int,
    fail_on: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> int:
    """Tell what is wrong with the ground truth, or likely to be disputed.

    Nothing is changed and no score depends on it. Each distinct ground truth is looked at once; a file that cannot be
    read is a finding. With --json, one object: the findings as they are met, then the counts.

    \b
    Examples:
      docassay extract lint --manifest jobs.parquet
      docassay extract lint --manifest jobs.parquet --run runs/a runs/b --json
    """
    from docassay.pipelines.lint_table import TABLE_CODES, lint_table

    unknown = [code for code in fail_on if code not in TABLE_CODES]
    if unknown:
        raise click.UsageError(f"--fail-on: there is no code {unknown[0]!r}; there are {', '.join(TABLE_CODES)}")
    with _progress(quiet) as progress:
        if as_json:
            report = _as_json(
                lambda each: lint_table(
                    manifest, root=root, runs=runs, limit=limit, examples=0, each=each, progress=progress
                )
            )
        else:
            report = lint_table(manifest, root=root, runs=runs, limit=limit, examples=examples, progress=progress)
    if not as_json:
        _show(report)
    return FLAGGED if any(report.counts.get(code) for code in fail_on) else DONE


def _as_json(run: Callable[[Callable[[TableFinding], None]], LintReport]) -> LintReport:
    """One JSON object, a finding a line, written as they come so that none has to be kept."""
    before = '{"findings": [\n'

    def each(finding: TableFinding) -> None:
        nonlocal before
        click.echo(before + json.dumps(asdict(finding)), nl=False)
        before = ",\n"

    report = run(each)
    rest = {key: value for key, value in asdict(report).items() if key != "examples"}
    opening = before if before != ",\n" else "\n"
    click.echo(f"{opening}], {json.dumps(rest)[1:]}")
    return report


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[int], None]]:
    with err_console(quiet).status("linting") as status:

        def show(rows: int) -> None:
            if rows % 20 == 0:
                status.update(f"linting: {rows:,} rows")

        yield show


def _show(report: LintReport) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from docassay.pipelines.lint_table import TABLE_CODES

    console = out_console()
    console.print(Text(_summary(report), style="bold"))
    if not report.counts:
        return
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("code", "findings", "documents", "meaning"):
        table.add_column(heading, justify="right" if heading in {"findings", "documents"} else "left")
    for code, count in report.counts.items():
        table.add_row(Text(code), f"{count:,}", f"{report.documents[code]:,}", Text(TABLE_CODES[code]))
    console.print(table)
    for code, findings in report.examples.items():
        console.print(Text(code, style="bold"))
        for finding in findings:
            console.print(_example(finding))


def _example(finding: TableFinding) -> RenderableType:
    from rich.padding import Padding
    from rich.text import Text

    from docassay.report.text import shortened, visible

    where = f"{finding.doc_id} {finding.address}".rstrip()
    told = Text(visible(f"{where}: {shortened(finding.found, _LONGEST)}"))
    told.append(f"\n{visible(shortened(finding.advice, _LONGEST))}", style="dim")
    return Padding(told, (0, 0, 0, 2), expand=False)


def _summary(report: LintReport) -> str:
    from docassay.report.text import visible

    total = sum(report.counts.values())
    asked = f"; {len(report.runs)} runs scored by {visible(report.signature or '')}" if report.runs else ""
    return f"ground truths: {report.linted:,} (of {report.rows:,} rows){asked}; findings: {total:,}"
