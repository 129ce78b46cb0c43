"""`docassay discover judge`: blind check and assessment of submissions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from docassay.cli.common import DONE, FLAGGED, INTERRUPTED, err_console, json_option, print_json, quiet_option

if TYPE_CHECKING:
    from docassay.discovery.tasks import TaskData
    from docassay.pipelines.judge_run import JudgeOptions
    from docassay.pipelines.judge_session import JudgeRun, Limits
    from docassay.pipelines.model_judge import ModelSettings

FOLDER = click.Path(file_okay=False, path_type=Path)
EXISTING = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.option("--data", required=True, type=EXISTING, help="The data folder: tasks.json, corpora, release.json.")
@click.option("--submissions", required=True, type=EXISTING, help="Folder with one file TASK.json per task.")
@click.option("--out", required=True, type=FOLDER, help="The folder of reviews; one judge configuration per folder.")
@click.option(
    "--judge",
    "kind",
    type=click.Choice(["model", "oracle", "none"]),
    default="model",
    show_default=True,
    help="A model; the planted truth of simulated data; or nobody: samples are laid out for a person.",
)
@click.option("--model", help="The model's name as the endpoint knows it.")
@click.option(
    "--base-url",
    default="https://api.openai.com/v1",
    show_default=True,
    metavar="URL",
    help="An OpenAI-compatible endpoint.",
)
@click.option("--planted", type=EXISTING, help="For --judge oracle: the planted answers.  [default: DATA-planted]")
@click.option(
    "--audit-documents",
    type=int,
    default=160,
    show_default=True,
    metavar="N",
    help="Documents audited per submission, 60 to 2000.",
)
@click.option(
    "--max-output-tokens",
    type=click.IntRange(min=1),
    default=8000,
    show_default=True,
    metavar="N",
    help="Limit per answer, reasoning included.",
)
@click.option(
    "--max-input-characters",
    type=click.IntRange(min=1),
    default=600_000,
    show_default=True,
    metavar="N",
    help="Longer questions are refused before they are sent.",
)
@click.option("--temperature", type=float, default=0.0, show_default=True, help="Negative leaves it to the server.")
@click.option("--extra", metavar="JSON", help='Further request parameters, such as \'{"reasoning_effort": "low"}\'.')
@click.option(
    "--repeat",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Another number judges the same again; use another --out.",
)
@click.option(
    "--seeds-from",
    type=EXISTING,
    metavar="DIR",
    help="Audit the very documents that another folder of reviews audited.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    metavar="N",
    help="Requests in flight at once, at most.",
)
@click.option("--max-calls", type=click.IntRange(min=0), metavar="N", help="Never send more requests than this.")
@click.option("--max-cost", type=click.FloatRange(min=0), metavar="USD", help="Never spend more than this.")
@click.option(
    "--prices",
    nargs=2,
    type=click.FloatRange(min=0),
    metavar="IN OUT",
    help="USD per million input and output tokens, for --max-cost and --dry-run.",
)
@click.option(
    "--controls",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Planted items per task whose answers are known; the catch rate is reported, no score changes.",
)
@click.option(
    "--references",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The file of known findings.  [default: DATA/references.json, if there]",
)
@click.option("--task-id", "task_ids", multiple=True, metavar="ID", help="Only this task; may be repeated.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N tasks.")
@click.option("--dry-run", is_flag=True, help="Print calls and tokens; ask and write nothing.")
@json_option
@quiet_option
def judge(**given: Any) -> int:
    """Have findings checked blindly and assessed, one review file per submission.

    The key is read from DOCASSAY_JUDGE_API_KEY, then JUDGE_API_KEY, then OPENAI_API_KEY. Every answer is kept the
    moment it arrives: run the same command again after a crash, a limit or Ctrl-C, and nothing answered is asked again.
    The exit code is 1 if a review could not be made.

    \b
    Examples:
      docassay discover judge --data data/ --submissions subs/ --model gpt-5-mini --out reviews/ --dry-run
      docassay discover judge --data data/ --submissions subs/ --judge oracle --out reviews/
    """
    from docassay.discovery.tasks import load_data

    data = load_data(given["data"])
    given["console"] = err_console(given["quiet"])
    options = _options(given)
    if given["kind"] == "model" and given["dry_run"]:
        return _plan(data, given, options)
    if given["dry_run"]:
        raise click.UsageError(f"--dry-run goes with --judge model; --judge {given['kind']} costs nothing")
    run = _run(data, given, options)
    if given["as_json"]:
        print_json(run.as_dict())
    else:
        _print(run)
    if run.interrupted:
        return INTERRUPTED
    return FLAGGED if run.failed else DONE


def _options(given: dict[str, Any]) -> JudgeOptions:
    from docassay.pipelines.judge_run import JudgeOptions, JudgeOutcome

    console = given["console"]

    def progress(outcome: JudgeOutcome) -> None:
        note = f": {outcome.message}" if outcome.message else ""
        console.print(f"{outcome.task_id} {outcome.state.value}{note}", markup=False, highlight=False)

    return JudgeOptions(
        submissions=given["submissions"],
        out=given["out"],
        task_ids=given["task_ids"],
        limit=given["limit"],
        budget=given["audit_documents"],
        controls=given["controls"],
        seeds_from=given["seeds_from"],
        references=given["references"],
        progress=progress,
    )


def _run(data: TaskData, given: dict[str, Any], options: JudgeOptions) -> JudgeRun:
    from docassay.pipelines import judge_session
    from docassay.pipelines.interrupts import Stop

    if given["kind"] == "none":
        return judge_session.sample_only(data, options)
    if given["kind"] == "oracle":
        from docassay.discovery.oracle import OracleJudge
        from docassay.discovery.simulate.write import default_planted

        return judge_session.judge_with_oracle(
            data, OracleJudge(data, given["planted"] or default_planted(given["data"])), options
        )
    console = given["console"]
    stop = Stop(lambda: console.print("stopping: finishing what is in flight; Ctrl-C again stops at once"))
    with console.status("judging") as status:
        return judge_session.judge_with_model(
            data,
            _settings(given),
            options,
            _limits(given),
            stop=stop,
            watch=lambda answered, kept: status.update(f"{answered} answers, {kept} of them kept from before"),
        )


def _plan(data: TaskData, given: dict[str, Any], options: JudgeOptions) -> int:
    from dataclasses import asdict

    from docassay.pipelines.judge_session import plan_with_model

    estimate = plan_with_model(data, _settings(given), options, _limits(given))
    if given["as_json"]:
        print_json(asdict(estimate))
    else:
        click.echo(estimate.sentence())
    return DONE


def _settings(given: dict[str, Any]) -> ModelSettings:
    from docassay.cli.extract.predict import options_argument
    from docassay.models import Endpoint
    from docassay.pipelines.model_judge import ModelSettings

    if not given["model"]:
        raise click.UsageError("--judge model needs --model")
    return ModelSettings(
        model=given["model"],
        endpoint=Endpoint(given["base_url"]),
        max_output_tokens=given["max_output_tokens"],
        max_input_characters=given["max_input_characters"],
        temperature=None if given["temperature"] < 0 else given["temperature"],
        extra=options_argument(given["extra"], "--extra"),
        repeat=given["repeat"],
    )


def _limits(given: dict[str, Any]) -> Limits:
    from docassay.models import Prices
    from docassay.pipelines.judge_session import Limits

    prices = given["prices"]
    return Limits(
        concurrency=given["concurrency"],
        max_calls=given["max_calls"],
        max_cost=given["max_cost"],
        prices=None if prices is None else Prices(*prices),
    )


def _print(run: JudgeRun) -> None:
    states: dict[str, int] = {}
    for outcome in run.outcomes:
        states[outcome.state.value] = states.get(outcome.state.value, 0) + 1
    click.echo(", ".join(f"{count} {state}" for state, count in states.items()))
    if run.calls:
        unknown = f", {run.answers_without_cost} answers stated no cost" if run.answers_without_cost else ""
        click.echo(f"{run.calls} requests, stated cost ${run.stated:.4f}{unknown}")
