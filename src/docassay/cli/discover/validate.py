"""`docassay discover validate`: every fault of submissions."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from docassay.cli.common import DONE, FLAGGED, err_console, json_option, out_console, print_json, quiet_option

if TYPE_CHECKING:
    from rich.console import Console

    from docassay.discovery.faults import Fault
    from docassay.discovery.tasks import TaskData
    from docassay.discovery.validate_files import FileValidation

SHOWN = 20
"""Faults of one kind in one finding that are printed for a person; --json has them all."""


@click.command()
@click.option("--data", metavar="DIR", required=True, help="The data folder.")
@click.option(
    "--submission", metavar="FILE|DIR", required=True, help="One submission, a folder of them, or - for stdin."
)
@click.option("--task-id", metavar="ID", multiple=True, help="Only these tasks; for a file, the task it answers.")
@json_option
@quiet_option
def validate(data: str, submission: str, task_id: tuple[str, ...], as_json: bool, quiet: bool) -> int:
    """List all faults of submissions.

    Each fault has the finding, a code, the field, what was found and what was expected. The exit code is 1 if any
    submission is invalid; docs/discovery.md explains the codes.

    \b
    Examples:
      docassay discover validate --data data/ --submission subs/
      docassay discover validate --data data/ --submission subs/TASK.json --json
    """
    from docassay.discovery.tasks import load_data

    results = _results(load_data(data), submission, task_id, err_console(quiet))
    if as_json:
        print_json([result.as_dict() for result in results])
    else:
        for result in results:
            _print(result, out_console())
    return FLAGGED if any(result.status == "invalid" for result in results) else DONE


def _results(
    data: TaskData, submission: str, task_ids: tuple[str, ...], console: Console
) -> tuple[FileValidation, ...]:
    from docassay.discovery.validate_files import validate_file, validate_folder, validate_text

    path = Path(submission)
    if submission != "-" and path.is_dir():
        with console.status("validating") as status:
            return validate_folder(data, path, task_ids=task_ids, on_task=lambda name: status.update(f"reading {name}"))
    if len(task_ids) > 1:
        raise click.UsageError("one submission answers one task: give --task-id once")
    task_id = task_ids[0] if task_ids else None
    if submission == "-":
        return (validate_text(data, sys.stdin.buffer.read(), where="stdin", task_id=task_id),)
    return (validate_file(data, path, task_id=task_id),)


def _print(result: FileValidation, console: Console) -> None:
    from docassay.discovery.faults import counted

    validation = result.validation
    number = "" if validation is None or validation.valid else f", {counted(validation.faults_total, 'fault')}"
    console.print(f"{result.task_id}: {result.status}{number}", highlight=False, markup=False)
    faults = () if validation is None else validation.faults
    for finding, group in groupby(sorted(faults, key=_place), key=_place):
        of_finding = list(group)
        console.print(f"  {_title(finding, of_finding[0])}", highlight=False, markup=False)
        for code, same in groupby(of_finding, key=lambda fault: fault.code):
            _print_code(str(code), list(same), console)


def _place(fault: Fault) -> int:
    return -1 if fault.finding is None else fault.finding


def _title(finding: int, fault: Fault) -> str:
    return "submission" if finding < 0 else f"finding {finding} ({fault.finding_id or 'without id'})"


def _print_code(code: str, faults: list[Fault], console: Console) -> None:
    for fault in faults[:SHOWN]:
        text = str(fault).removeprefix(f"{code}: ")
        console.print(f"    {code}: {text}", highlight=False, markup=False, soft_wrap=True)
    if len(faults) > SHOWN:
        console.print(f"    {code}: and {len(faults) - SHOWN} more", highlight=False)
