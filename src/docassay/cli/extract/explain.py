"""`docassay extract explain`: how a value is read, and why two differ."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from docassay.cli.common import json_option, print_json

if TYPE_CHECKING:
    from docassay.extraction.values import Comparison, Reading

METRICS = ("sound/1", "omni/1")


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("values", metavar="VALUE [VALUE]", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--metric", type=click.Choice(METRICS), default=METRICS[0], show_default=True, help="Whose rules to apply."
)
@click.option(
    "--text", "as_text", is_flag=True, help="Take every VALUE as text, also one that looks like a JSON scalar."
)
@json_option
def explain(values: tuple[str, ...], metric: str, as_text: bool, as_json: bool) -> None:
    """Tell how a value is read and, given two, why they are equal or not.

    A VALUE that is a JSON number, true, false, null or a text in double quotes is taken as that JSON value; anything
    else is text as it stands. --text takes every VALUE as text; put `--` before a value that looks like an option.

    \b
    Example:
      docassay extract explain '(1,234)' -1234
      docassay extract explain 'USD (5.00)' '-5 USD' --metric omni/1
    """
    if len(values) > 2:
        raise click.UsageError(f"takes one or two values, {len(values)} given; quote a value that holds blanks")
    from docassay.extraction.values import compare, rules

    found = rules(metric)
    readings = [found.read(_parse(value, as_text, exact=metric != "omni/1")) for value in values]
    comparison = compare(*readings) if len(readings) == 2 else None
    if as_json:
        print_json(_comparison_json(comparison) if comparison else _reading_json(readings[0]))
        return
    for reading in readings:
        click.echo(_reading_lines(reading))
    if comparison:
        click.echo(f"{'equal' if comparison.equal else 'different'} under {metric}: {comparison.reason}")


def _parse(value: str, as_text: bool, *, exact: bool) -> object:
    """The JSON scalar that an argument spells, or the text itself."""
    from docassay.errors import DocumentError
    from docassay.extraction.document import load_json

    if as_text or not _SCALAR.fullmatch(value):
        return value
    try:
        return load_json(value.encode("utf-8", "surrogatepass"), where="VALUE", exact=exact)
    except DocumentError:
        return value


_SCALAR = re.compile(r'-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|".*"', re.DOTALL)


def _reading_lines(reading: Reading) -> str:
    from docassay.extraction.values import shown

    lines = [f"{shown(reading.raw)}  is read as {reading.route}"]
    width = max((len(step.name) for step in reading.steps), default=0)
    lines += [
        f"  {step.name:<{width}}  {shown(step.before)} -> {shown(step.after)}  {step.sentence}"
        for step in reading.steps
    ]
    lines.append(f"  = {'nothing' if reading.canonical is None else reading.canonical}")
    return "\n".join(lines)


def _reading_json(reading: Reading) -> dict[str, object]:
    from docassay.extraction.values import shown

    return {
        "raw": shown(reading.raw),
        "canonical": reading.canonical,
        "route": reading.route,
        "steps": [
            {"name": step.name, "before": step.before, "after": step.after, "sentence": step.sentence}
            for step in reading.steps
        ],
        "metric": reading.metric,
    }


def _comparison_json(comparison: Comparison) -> dict[str, object]:
    return {
        "equal": comparison.equal,
        "reason": comparison.reason,
        "a": _reading_json(comparison.a),
        "b": _reading_json(comparison.b),
    }
