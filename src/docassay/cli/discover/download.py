"""`docassay discover download`: task data from the Hugging Face hub."""

from __future__ import annotations

import click

from docassay.cli.common import json_option, out_console, print_json, quiet_option


@click.command()
@click.option(
    "--dataset",
    metavar="OWNER/NAME[@REV]",
    default="CodeSoulco/TextInsightBench",
    show_default=True,
    help="The dataset, and a branch, tag or commit of it.",
)
@click.option("--out", metavar="DIR", required=True, help="Folder for the data; what is there is not fetched again.")
@json_option
@quiet_option
def download(dataset: str, out: str, as_json: bool, quiet: bool) -> None:
    """Get task data from the Hugging Face hub.

    The commit that the revision names is recorded in download.json, and a folder holds one commit only. HF_ENDPOINT
    names another hub, HF_TOKEN opens private datasets. Check the data afterwards with `docassay discover verify`.

    \b
    Example:
      docassay discover download --dataset CodeSoulco/TextInsightBench@main --out data/
    """
    from docassay.discovery.download import download_data

    done = download_data(dataset, out, quiet=quiet)
    if as_json:
        print_json({"data": out, "dataset": done.dataset, "revision": done.revision, "commit": done.commit})
    else:
        out_console().print(f"{done.dataset} at {done.commit} in {out}", highlight=False)
