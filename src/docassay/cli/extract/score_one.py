"""`docassay extract score-one`: one prediction against one ground truth."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from docassay.cli.common import SpreadCommand, json_option, out_console, print_json, quiet_option, stdout_is_terminal


@click.command(cls=SpreadCommand)
@click.option("--gt", "ground_truth", metavar="FILE", required=True, help="Ground truth, a JSON object; - is stdin.")
@click.option("--pred", "prediction", metavar="FILE", required=True, help="Prediction, a JSON object; - is stdin.")
@click.option("--schema", metavar="FILE", required=True, help="JSON Schema that the prediction was asked to fill.")
@click.option("--metric", metavar="NAME", help="omni/1 (as published) or sound/1.  [default: the library's]")
@click.option(
    "--order-matters",
    metavar="NAME...",
    multiple=True,
    help="Arrays whose order counts, such as `lines` or `books[*].chapters`; every other one is free.",
)
@click.option(
    "--verdicts", is_flag=True, help="One verdict per address: in the JSON, or also the matched ones on the card."
)
@click.option("--card", "as_card", is_flag=True, help="Print the card even where stdout is not a terminal.")
@json_option
@quiet_option
def score_one(
    ground_truth: str,
    prediction: str,
    schema: str,
    metric: str | None,
    order_matters: tuple[str, ...],
    verdicts: bool,
    as_card: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Score one prediction against one ground truth.

    Prints one JSON object, or on a terminal a card: metrics, the six counts, the worst fields, each wrong address.

    \b
    Example:
      docassay extract score-one --gt gold.json --pred pred.json --schema schema.json | jq .accuracy
    """
    from docassay.extraction.metric import DEFAULT_METRIC, score

    name = metric or DEFAULT_METRIC
    documents = [_load(path, name, quiet) for path in (prediction, ground_truth, schema)]
    wants_card = not as_json and (as_card or stdout_is_terminal())
    result = score(*documents, metric=name, order_matters=order_matters, verdicts=verdicts or wants_card)
    if wants_card:
        from docassay.cli.extract.card import card

        out_console().print(card(result, every_verdict=verdicts), soft_wrap=False)
    else:
        print_json(result.as_dict())


def _load(path: str, metric: str, quiet: bool) -> object:
    from docassay.extraction.document import load_json
    from docassay.extraction.duplicates import duplicate_keys
    from docassay.extraction.metric import find_metric

    where = "stdin" if path == "-" else path
    data = _read(path)
    value = load_json(data, where=where, exact=find_metric(metric).exact_decimals)
    if not quiet and (repeated := duplicate_keys(data)):
        click.echo(f"note: {where}: repeated keys, of which the last counts: {', '.join(repeated)}", err=True)
    return value


def _read(path: str) -> bytes:
    from docassay.errors import DocumentError

    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise DocumentError(f"{path}: cannot be read ({error.strerror}); check the path") from None
