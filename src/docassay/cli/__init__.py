"""The command line: parses, calls the library, prints; nothing is computed here."""

from __future__ import annotations

import click

from docassay.cli.common import LazyGroup, Verb, run
from docassay.version import __version__

ROOT = {
    "extract": Verb("docassay.cli.extract:extract", "Score JSON read off documents, and produce predictions."),
    "discover": Verb("docassay.cli.discover:discover", "Judge findings mined from a text corpus on their evidence."),
    "report": Verb("docassay.cli.report:report", "Write a self-contained HTML report of one or more runs."),
    "view": Verb("docassay.cli.view:view", "Explore a run on a local page."),
    "compare": Verb("docassay.cli.compare:compare", "Compare runs: differences, intervals, paired tests; for CI."),
    "completion": Verb("docassay.cli.completion:completion", "Print the shell completion script."),
}


@click.command(cls=LazyGroup, verbs=ROOT, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="docassay")
def cli() -> None:
    """Measure how well models read documents.

    Results go to stdout, progress and messages to stderr. Exit codes: 0 done; 1 done, and something asked to be
    flagged; 2 the input or the arguments are wrong; 130 interrupted.
    """


def main() -> None:
    """Entry point of the `docassay` command."""
    run(cli)
