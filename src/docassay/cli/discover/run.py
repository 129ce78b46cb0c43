"""`docassay discover run`: an agent over the tasks."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import click

from docassay.cli.common import DONE, FLAGGED, err_console, json_option, out_console, print_json, quiet_option

if TYPE_CHECKING:
    from rich.console import Console

    from docassay.discovery.tasks import Track
    from docassay.pipelines.run_agent import AgentRun, Outcome

MEBIBYTE = 1 << 20


@click.command()
@click.option("--data", metavar="DIR", required=True, help="The data folder.")
@click.option("--command", metavar="TEXT", required=True, help="The agent, split as a shell would; no shell runs it.")
@click.option("--out", metavar="DIR", required=True, help="Folder for submissions, logs and outcomes.")
@click.option("--task-id", metavar="ID", multiple=True, help="Only this task; repeatable.")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Only the first N of the selected tasks.")
@click.option(
    "--track",
    type=click.Choice(["task_only", "unlabeled_pool"]),
    default="task_only",
    show_default=True,
    help="Whether agents get the unlabeled pool (learning/).",
)
@click.option("--timeout", metavar="S", type=float, default=1800.0, show_default=True, help="Seconds per task.")
@click.option("--max-memory", metavar="MIB", type=int, help="Memory per task, for each process and all together.")
@click.option("--max-output", metavar="MIB", type=int, default=64, show_default=True, help="Largest answer.")
@click.option("--max-log", metavar="MIB", type=int, default=10, show_default=True, help="Kept stderr per task.")
@click.option("--pass-env", metavar="NAME", multiple=True, help="A variable agents get although it looks secret.")
@click.option("--jobs", metavar="N", type=int, default=1, show_default=True, help="Agents at once.")
@click.option("--retry-invalid", is_flag=True, help="Also run tasks whose stored answer is invalid.")
@json_option
@quiet_option
def run(
    data: str,
    command: str,
    out: str,
    task_id: tuple[str, ...],
    limit: int | None,
    track: str,
    timeout: float,
    max_memory: int | None,
    max_output: int,
    max_log: int,
    pass_env: tuple[str, ...],
    jobs: int,
    retry_invalid: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run an agent over the tasks.

    One process per task gets a JSON request on stdin and writes one submission to stdout. A rerun reuses what is valid
    and runs what failed; changed options are refused. The exit code is 1 if any task failed or is invalid. This is no
    sandbox: see docs/discovery.md.

    \b
    Examples:
      docassay discover run --data data/ --command 'python agent.py' --out subs/
      docassay discover run --data data/ --out subs/ --command 'python -m docassay.examples.agents.lexical_miner'
    """
    from docassay.pipelines.run_agent import RunOptions, run_agent

    options = RunOptions(
        command=_split(command),
        track=cast("Track", track),
        task_ids=task_id,
        limit=limit,
        timeout=timeout,
        memory=None if max_memory is None else max_memory * MEBIBYTE,
        output=max_output * MEBIBYTE,
        log=max_log * MEBIBYTE,
        pass_env=pass_env,
        jobs=jobs,
        retry_invalid=retry_invalid,
    )
    with _watching(err_console(quiet)) as watch:
        done = run_agent(data, out, options, on_task=watch)
    if as_json:
        print_json([outcome.as_dict() for outcome in done.outcomes])
    else:
        _print(done)
    return DONE if done.count("valid") == len(done.outcomes) else FLAGGED


def _split(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise click.UsageError(f"--command cannot be split: {error}") from None


@contextmanager
def _watching(console: Console) -> Iterator[Callable[[str, Outcome | None], None]]:
    """A line per finished task, and on a terminal a spinner with its time for each that is running."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        running = {}

        def watch(task_id: str, outcome: Outcome | None) -> None:
            if outcome is None:
                running[task_id] = progress.add_task(task_id, total=None)
                return
            if task_id in running:
                progress.remove_task(running.pop(task_id))
            console.print(_line(outcome), highlight=False, markup=False, soft_wrap=True)

        yield watch


def _line(outcome: Outcome) -> str:
    from docassay.discovery.faults import counted

    seconds = "" if outcome.seconds is None else f" in {outcome.seconds:.1f} s"
    findings = outcome.findings
    what = "" if findings is None else f", {counted(findings, 'finding')}" if findings else ", abstains"
    reused = ", reused" if outcome.reused else ""
    reason = f": {outcome.reason}" if outcome.reason else ""
    left = f" ({outcome.survivors} processes could not be ended)" if outcome.survivors else ""
    return f"{outcome.task_id}: {outcome.status}{what}{seconds}{reused}{reason}{left}"


def _print(done: AgentRun) -> None:
    counts = ", ".join(f"{done.count(status)} {status}" for status in ("valid", "invalid", "failed"))
    reused = sum(outcome.reused for outcome in done.outcomes)
    out_console().print(
        f"{len(done.outcomes)} tasks: {counts}; {reused} reused; logs in {done.folder / 'logs'}", highlight=False
    )
