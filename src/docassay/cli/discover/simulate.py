"""`docassay discover simulate`: task data with planted effects, and submissions of known worth."""

from __future__ import annotations

from pathlib import Path

import click

from docassay.cli.common import err_console, json_option, out_console, print_json, quiet_option


@click.command()
@click.option("--out", metavar="DIR", required=True, help="Folder for the task data; must be empty or absent.")
@click.option("--planted", metavar="DIR", help="Folder for the answers.  [default: the data folder with -planted]")
@click.option("--tasks", metavar="N", type=int, default=5, show_default=True, help="Tasks; five designs take turns.")
@click.option("--documents", metavar="N", type=int, default=1000, show_default=True, help="Documents per task.")
@click.option("--seed", metavar="S", type=int, default=0, show_default=True, help="The same seed, the same bytes.")
@click.option("--pool", metavar="N", type=int, default=0, show_default=True, help="Unlabeled documents in learning/.")
@json_option
@quiet_option
def simulate(
    out: str, planted: str | None, tasks: int, documents: int, seed: int, pool: int, as_json: bool, quiet: bool
) -> None:
    """Make task data with planted effects.

    Writes corpora in the released format, and beside them, apart from what agents see, the true labels and submissions
    of every quality: right, flawed in one way, invalid in one way, made for the score.

    \b
    Example:
      docassay discover simulate --out data/ --tasks 5 --documents 1000 --seed 7
    """
    from docassay.discovery.simulate.write import simulate as make

    with err_console(quiet).status("making tasks") as status:
        made = make(
            Path(out),
            planted=planted,
            tasks=tasks,
            documents=documents,
            seed=seed,
            pool=pool,
            on_task=lambda task_id: status.update(f"made {task_id}"),
        )
    if as_json:
        print_json(made.as_dict())
        return
    console = out_console()
    console.print(f"{made.tasks} tasks with {made.documents:,} documents in {made.data}", highlight=False)
    console.print(f"true labels and {made.submissions} submissions in {made.planted}", highlight=False)
