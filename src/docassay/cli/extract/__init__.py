"""`docassay extract`: JSON read off documents."""

from __future__ import annotations

import click

from docassay.cli.common import LazyGroup, Verb

VERBS = {
    "score-one": Verb("docassay.cli.extract.score_one:score_one", "Score one prediction against one ground truth."),
    "score": Verb("docassay.cli.extract.score:score", "Score a table of documents into two Parquet datasets."),
    "predict": Verb("docassay.cli.extract.predict:predict", "Produce predictions with a vendor or a model."),
    "benchmark": Verb("docassay.cli.extract.benchmark:benchmark", "Predict and score several providers, resumable."),
    "explain": Verb("docassay.cli.extract.explain:explain", "Tell how a value is read, and why two differ."),
    "lint": Verb("docassay.cli.extract.lint:lint", "Tell what is wrong with the ground truth."),
    "manifest": Verb("docassay.cli.extract.manifest:manifest", "Build a manifest from folders."),
    "providers": Verb("docassay.cli.extract.providers:providers", "List providers, their keys and their options."),
}


@click.command(cls=LazyGroup, verbs=VERBS)
def extract() -> None:
    """Score JSON read off documents, and produce predictions."""
