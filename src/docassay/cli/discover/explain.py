"""`docassay discover explain`: how a finding's number came about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from docassay.cli.common import DONE, json_option, print_json

if TYPE_CHECKING:
    from docassay.discovery.explanation import Explanation


@click.command()
@click.option(
    "--report",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder written by `discover evaluate`.",
)
@click.option("--finding", required=True, metavar="ID", help="The finding's id, or TASK/ID.")
@click.option("--task-id", metavar="ID", help="Only of this task.")
@click.option("--judge", metavar="NAME", help="Only under this judge (the name of its folder of reviews).")
@click.option(
    "--documents",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="Disputed documents shown.",
)
@json_option
def explain(report: Path, finding: str, task_id: str | None, judge: str | None, documents: int, as_json: bool) -> int:
    """Tell how a finding's number came about, down to the documents on which claim and checker differ.

    \b
    Examples:
      docassay discover explain --report report/ --finding f1
      docassay discover explain --report report/ --finding task-3/f1 --json
    """
    from dataclasses import asdict

    from docassay.discovery.explanation import explain_finding
    from docassay.pipelines.report_folder import read_labels_table, read_report

    told = explain_finding(read_report(report), read_labels_table(report), finding, task_id=task_id, judge=judge)
    if as_json:
        print_json([asdict(explanation) for explanation in told])
    else:
        click.echo("\n\n".join(_text(explanation, documents) for explanation in told))
    return DONE


def _text(explanation: Explanation, documents: int) -> str:
    lines = [f"{explanation.task_id} / {explanation.finding_id}, judged by {explanation.judge}"]
    lines += [f"Claim: {' '.join(explanation.claim.split())}", ""]
    lines += [f"  {step}" for step in explanation.steps]
    shown = explanation.disputes[:documents]
    if shown:
        lines += ["", f"Documents in dispute ({len(shown)} of {len(explanation.disputes)}):"]
        lines += [f"  {dispute}" for dispute in shown]
    return "\n".join(lines)
