"""`docassay discover verify`: whether task data are whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from docassay.cli.common import DONE, FLAGGED, err_console, json_option, out_console, print_json, quiet_option

if TYPE_CHECKING:
    from docassay.discovery.verify import DataReport


@click.command()
@click.option("--data", metavar="DIR", required=True, help="The data folder: tasks.json, corpora, release.json.")
@json_option
@quiet_option
def verify(data: str, as_json: bool, quiet: bool) -> int:
    """Check task data: checksums, counts, identifiers.

    Lists everything that is wrong; the exit code is then 1.

    \b
    Example:
      docassay discover verify --data data/
    """
    from docassay.discovery.verify import verify_data

    with err_console(quiet).status("reading") as status:
        report = verify_data(data, on_task=lambda task_id: status.update(f"reading {task_id}"))
    if as_json:
        print_json(report.as_dict())
    else:
        _print(report)
    return DONE if report.ok else FLAGGED


def _print(report: DataReport) -> None:
    from rich.table import Table

    console = out_console()
    table = Table()
    for name in ("task", "kind", "source", "documents", ""):
        table.add_column(name, overflow="fold")
    for task in report.tasks:
        count = "-" if task.documents is None else f"{task.documents:,}"
        table.add_row(task.task_id, task.kind, task.source, count, "ok" if task.ok else "wrong")
    console.print(table)
    console.print(f"release {report.release or 'unknown'}, {len(report.tasks)} tasks", highlight=False)
    for problem in report.problems:
        about = f" ({problem.task_id})" if problem.task_id else ""
        console.print(f"{problem.file}{about}: {problem.message}", highlight=False, markup=False, soft_wrap=True)
