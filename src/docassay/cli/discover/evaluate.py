"""`docassay discover evaluate`: gates, quality and the report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from docassay.cli.common import DONE, FLAGGED, err_console, json_option, print_json, quiet_option

if TYPE_CHECKING:
    from docassay.discovery.outcome import Report

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
EXISTING = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.option("--data", required=True, type=EXISTING, help="The data folder: tasks.json, corpora, release.json.")
@click.option("--submissions", required=True, type=EXISTING, help="Folder with one file TASK.json per task.")
@click.option(
    "--reviews",
    multiple=True,
    type=EXISTING,
    help="A folder of reviews; several are reported each alone, with their agreement. None: all tasks are pending.",
)
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="The report's folder; it must not hold anything yet."
)
@click.option(
    "--checker-rates",
    type=FILE,
    help="JSON of a checker's known answers: positives, positives_right, negatives, negatives_right.",
)
@click.option("--average", is_flag=True, help="Also average quality over the judges, per task.")
@click.option("--references", type=FILE, help="The file of known findings.  [default: DATA/references.json, if there]")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="Q",
    help="Exit with 1 if a judge's quality is below or null.",
)
@json_option
@quiet_option
def evaluate(**given: Any) -> int:
    """Recompute every gate and write the report: report.json, report.md, findings.parquet, labels.parquet.

    A stale, broken or foreign review is its task's status and never stops the report. Nothing is overwritten.

    \b
    Examples:
      docassay discover evaluate --data data/ --submissions subs/ --reviews reviews/ --out report/
      docassay discover evaluate --data data/ --submissions subs/ --reviews a/ --reviews b/ --out both/
    """
    from docassay.discovery.outcome import as_json
    from docassay.discovery.tasks import load_data
    from docassay.pipelines.evaluate import EvaluateOptions, read_checker_rates
    from docassay.pipelines.evaluate import evaluate as make_report
    from docassay.pipelines.report_folder import check_free, write_report

    check_free(given["out"])
    console = err_console(given["quiet"])
    options = EvaluateOptions(
        submissions=given["submissions"],
        reviews=given["reviews"],
        checker_rates=None if given["checker_rates"] is None else read_checker_rates(given["checker_rates"]),
        average=given["average"],
        references=given["references"],
        progress=lambda task_id: console.print(task_id, markup=False, highlight=False),
    )
    report = make_report(load_data(given["data"]), options)
    write_report(report, given["out"])
    if given["as_json"]:
        print_json(as_json(report))
    else:
        _print(report, given["out"])
    return FLAGGED if given["fail_under"] is not None and _is_under(report, given["fail_under"]) else DONE


def _is_under(report: Report, limit: float) -> bool:
    means = [judge.summary.quality_mean for judge in report.judges]
    return any(mean is None or mean < limit for mean in means)


def _print(report: Report, out: Path) -> None:
    from rich.table import Table

    from docassay.cli.common import out_console
    from docassay.discovery.report_text import summary_lines

    table = Table("", *(judge.name for judge in report.judges))
    columns = [summary_lines(judge.summary) for judge in report.judges]
    for line in zip(*columns, strict=True):
        table.add_row(line[0][0], *(figure for _, figure in line))
    out_console().print(table)
    click.echo(str(out))
