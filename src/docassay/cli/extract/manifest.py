"""`docassay extract manifest`: a table of documents from folders of files."""

from __future__ import annotations

from collections.abc import Sequence

import click

from docassay.cli.common import err_console, json_option, print_json, quiet_option


@click.command()
@click.option("--gt", required=True, metavar="DIR", help="Folder of ground truths, JSON files, also in subfolders.")
@click.option("--pred", required=True, metavar="DIR", help="Folder of predictions, named like the ground truths.")
@click.option(
    "--schema",
    required=True,
    metavar="FILE|DIR",
    help="One JSON Schema for all, or a folder of them, named like the documents or their folders.",
)
@click.option("--out", required=True, metavar="TABLE", help="Ends in .parquet, .csv or .jsonl.")
@click.option("--suites", is_flag=True, help="The first folder below --gt names the document's suite.")
@json_option
@quiet_option
def manifest(gt: str, pred: str, schema: str, out: str, suites: bool, as_json: bool, quiet: bool) -> None:
    """Build a manifest from folders.

    Files with the same path below --gt and --pred make one document, whose id is that path without `.json`. A ground
    truth without a prediction is a row too, and will score as a failure.

    \b
    Example:
      docassay extract manifest --gt labels/ --pred predictions/ --schema schema.json --out jobs.parquet
    """
    from docassay.runs.folders import manifest_from_folders, write_manifest

    found = manifest_from_folders(gt, pred, schema, suites=suites)
    write_manifest(found, out)
    console = err_console(quiet)
    for names, what in (
        (found.without_prediction, "without a prediction (rows that will score as failures)"),
        (found.without_ground_truth, "predictions without ground truth (left out)"),
    ):
        if names:
            console.print(f"note: {len(names)} {what}: {_shown(names)}", highlight=False, soft_wrap=True)
    if as_json:
        told = {"out": out, "documents": len(found.pairs)}
        print_json(told | {name: list(getattr(found, name)) for name in ("without_prediction", "without_ground_truth")})
    else:
        click.echo(f"{out}: {len(found.pairs):,} documents")


def _shown(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
