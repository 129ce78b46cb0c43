"""`docassay discover statistics`: the numbers a finding must state."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from docassay.cli.common import print_json, quiet_option


@click.command()
@click.option("--data", metavar="DIR", required=True, help="The data folder.")
@click.option(
    "--finding", metavar="FILE", default="-", help="A draft finding or a submission; - is stdin.  [default: -]"
)
@click.option("--task-id", metavar="ID", help="The task; a submission names it itself.")
@quiet_option
def statistics(data: str, finding: str, task_id: str | None, quiet: bool) -> None:
    """Complete the statistics of a draft finding.

    The draft needs population, comparison, definitions and assignments. Prints it as JSON with `statistics` filled in;
    a whole submission is completed finding by finding.

    \b
    Examples:
      docassay discover statistics --data data/ --task-id TASK --finding draft.json
      my-agent | docassay discover statistics --data data/ > submission.json
    """
    from docassay.discovery.corpus import load_corpus
    from docassay.discovery.statistics import complete_statistics
    from docassay.discovery.strict_json import parse_json
    from docassay.discovery.tasks import load_data

    where = "stdin" if finding == "-" else finding
    value = parse_json(_read(finding), where=where)
    if not isinstance(value, dict):
        raise click.UsageError(f"{where} holds no finding: a JSON object is needed")
    known = load_data(data)
    task = known.task(task_id or _named(value, [task.task_id for task in known.tasks]))
    corpus = load_corpus(known, task)
    if "findings" not in value:
        print_json(complete_statistics(value, task, corpus))
        return
    if not isinstance(value["findings"], list) or not all(isinstance(item, dict) for item in value["findings"]):
        raise click.UsageError(f"{where}: findings must be a list of objects")
    print_json({**value, "findings": [complete_statistics(item, task, corpus) for item in value["findings"]]})


def _named(value: dict[str, Any], known: list[str]) -> str:
    """The task that a submission names, or the only one there is."""
    named = value.get("task_id")
    if isinstance(named, str):
        return named
    if len(known) == 1:
        return known[0]
    raise click.UsageError(f"give --task-id, since the data hold {len(known)} tasks")


def _read(path: str) -> bytes:
    from docassay.errors import DocumentError

    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise DocumentError(f"{path}: cannot be read: {error.strerror or error}") from error
