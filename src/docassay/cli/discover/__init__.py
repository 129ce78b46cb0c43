"""`docassay discover`: findings mined from a text corpus."""

from __future__ import annotations

import click

from docassay.cli.common import LazyGroup, Verb

VERBS = {
    "simulate": Verb("docassay.cli.discover.simulate:simulate", "Make task data with planted effects."),
    "download": Verb("docassay.cli.discover.download:download", "Get task data from the Hugging Face hub."),
    "verify": Verb("docassay.cli.discover.verify:verify", "Check task data: checksums, counts, identifiers."),
    "run": Verb("docassay.cli.discover.run:run", "Run an agent over the tasks."),
    "statistics": Verb("docassay.cli.discover.statistics:statistics", "Complete the statistics of a draft finding."),
    "validate": Verb("docassay.cli.discover.validate:validate", "List all faults of submissions."),
    "judge": Verb("docassay.cli.discover.judge:judge", "Blind check and assessment by a model."),
    "evaluate": Verb("docassay.cli.discover.evaluate:evaluate", "Gates, quality and the report."),
    "explain": Verb("docassay.cli.discover.explain:explain", "Tell how a finding's number came about."),
}


@click.command(cls=LazyGroup, verbs=VERBS)
def discover() -> None:
    """Judge findings mined from a text corpus on their evidence."""
