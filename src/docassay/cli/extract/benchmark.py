"""`docassay extract benchmark`: several providers, predicted and scored, on one leaderboard."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from docassay.cli.common import (
    DONE,
    FLAGGED,
    INTERRUPTED,
    SpreadCommand,
    err_console,
    json_option,
    out_console,
    print_json,
    quiet_option,
)
from docassay.cli.extract.predict import (
    limit_option,
    options_argument,
    retry_errors_option,
    retry_waits_option,
    root_option,
    timeout_option,
    waits_argument,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from docassay.pipelines.benchmark import Benchmark, Plan


@click.command(cls=SpreadCommand)
@click.option("--manifest", required=True, help="Table with doc_id, doc_path, schema, and gt_path to be scored.")
@click.option("--out", required=True, help="Directory (or URI) with one directory per run.")
@click.option(
    "--providers", required=True, multiple=True, metavar="NAME...", help="Providers, and models as org/model."
)
@click.option("--options", help="Options by provider as JSON, or @file: an object, or a list of objects to compare.")
@click.option("--metric", metavar="NAME", help="How predictions are scored, such as omni/1.  [default: the library's]")
@click.option("--workers", type=int, metavar="N", help="Documents at once per run, up to what the provider allows.")
@timeout_option
@limit_option
@click.option("--max-cost", type=float, metavar="USD", help="Per run: stop before the stated costs exceed this.")
@retry_errors_option
@retry_waits_option
@root_option
@click.option("-y", "--yes", is_flag=True, help="Do not ask before money is spent.")
@json_option
@quiet_option
def benchmark(
    manifest: str,
    out: str,
    providers: tuple[str, ...],
    options: str | None,
    metric: str | None,
    workers: int | None,
    timeout: float,
    limit: int | None,
    max_cost: float | None,
    retry_errors: bool,
    retry_waits: str,
    root: str | None,
    yes: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Predict and score several providers, resumable.

    Shows the plan and asks before money is spent; without a terminal it asks nothing and needs -y. Safe to interrupt
    and to run again. The exit code is 1 if a provider refused the account or --max-cost was reached.

    \b
    Example:
      docassay extract benchmark --manifest docs.parquet --out runs/ --providers baseline datalab \\
        --options '{"datalab": [{"mode": "balanced"}, {"mode": "accurate"}]}'
    """
    from docassay.cli.progress import counting
    from docassay.pipelines.benchmark import Limits, plan_benchmark, run_benchmark
    from docassay.pipelines.interrupts import Stop
    from docassay.providers.contract import RetryPolicy

    limits = Limits(
        root=root,
        workers=workers,
        timeout=timeout,
        limit=limit,
        max_cost=max_cost,
        retry_errors=retry_errors,
        retry=RetryPolicy(waits=waits_argument(retry_waits)),
    )
    plan = plan_benchmark(
        manifest, out, providers=providers, options=options_argument(options), metric=metric, limits=limits
    )
    console = err_console(quiet)
    # The plan is what the question is about, so it is shown also when progress is not.
    _show_plan(err_console(quiet and (yes or not plan.costs_money)), plan)
    if plan.costs_money and not yes:
        _ask()
    stop = Stop(lambda: console.print("stopping: finishing what is in flight; Ctrl-C again stops at once"))
    with counting(console, [run.name for run in plan.runs]) as watch:
        result = run_benchmark(plan, watch=watch, stop=stop)
    for name, reason in result.stopped.items():
        console.print(f"{name}: documents are not answered: {reason}", highlight=False, markup=False, soft_wrap=True)
    if result.interrupted:
        console.print("what is done is kept; the same command does the rest", highlight=False)
        return INTERRUPTED
    if as_json:
        print_json(result.as_dict())
    else:
        out_console().print(_leaderboard(result))
    return FLAGGED if result.stopped else DONE


def _ask() -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError("this may cost money and there is no terminal to ask on; give -y to go ahead")
    click.confirm("This may cost money. Go ahead?", abort=True, err=True)


def _show_plan(console: Console, plan: Plan) -> None:
    from rich.table import Table

    console.print(
        f"{plan.documents} documents, {plan.to_score} with a ground truth to score by {plan.metric}, into {plan.out}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    table = Table(box=None)
    table.add_column("run", overflow="fold")
    table.add_column("to predict", justify="right")
    table.add_column("answered", justify="right")
    table.add_column("cost", overflow="fold")
    table.add_column("settings", overflow="fold")
    for run in plan.runs:
        settings = json.dumps(run.configured.settings["options"], ensure_ascii=False)
        table.add_row(run.name, str(run.to_predict), str(run.answered), run.cost_known, settings)
    console.print(table, highlight=False, markup=False)


def _leaderboard(result: Benchmark) -> Table:
    from rich.table import Table

    from docassay.report.numbers import of, percent, percent_interval

    table = Table(
        box=None,
        title=f"Leaderboard by {result.metric}",
        caption="Places go by accuracy with failures counted as 0; intervals are 95 %, by document. Whether two runs "
        "differ is for `docassay compare` to say.",
    )
    for heading in ("run", "accuracy", "interval", "over scored", "scored", "UNIFIED", "cost", "s/document"):
        table.add_column(heading, justify="left" if heading == "run" else "right", overflow="fold")
    for place in result.leaderboard:
        mean, scored, unified = place.accuracy, place.accuracy_scored, place.unified
        seconds = place.predicted["seconds_per_document"]
        table.add_row(
            place.run,
            percent(mean.estimate if mean else None),
            percent_interval(mean.low, mean.high) if mean else percent(None),
            percent(scored.estimate if scored else None),
            of(place.scored, place.documents),
            percent(unified.estimate if unified else None),
            _cost(place.predicted["cost"]),
            f"{seconds:.1f}" if isinstance(seconds, float) else percent(None),
        )
    return table


def _cost(cost: object) -> str:
    from docassay.cli.progress import money
    from docassay.pipelines.spending import Progress

    return money(Progress(cost=cost)) if isinstance(cost, dict) else "-"
