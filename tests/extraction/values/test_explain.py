"""`explain` and its command: routes, folds, reasons, and how the command line takes a value."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from click.testing import CliRunner, Result

from docassay import explain
from docassay.cli.extract.explain import METRICS
from docassay.cli.extract.explain import explain as command
from docassay.errors import ArgumentTypeError, ArgumentValueError
from docassay.extraction.metric import METRICS as BUNDLES
from docassay.extraction.values import Comparison, Reading, rules


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_a_reading_tells_every_fold_that_changed_something() -> None:
    reading = explain("“Müller-Straße, (Nord).”", metric="sound/1")
    assert isinstance(reading, Reading)
    assert (reading.route, reading.canonical) == ("text", "text mullerstrassenord")
    assert [step.name for step in reading.steps] == ["ends", "case", "accents", "brackets", "separators"]
    assert [a.after for a in reading.steps[:-1]] == [b.before for b in reading.steps[1:]]
    published = explain("“Müller-Straße, (Nord).”", metric="omni/1")
    assert [step.name for step in published.steps] == [
        "case", "decompose", "typography", "punctuation", "quotes", "brackets",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "route"),
    [
        (None, "absent"), (True, "boolean"), (5, "number"), ("(5)", "number"), ("Oct 31, 2024", "date"),
        ("9:00", "time"), ("2024-10-31T09:00Z", "time"), ("-", "dash"), ("512-784-7407", "identifier"),
        ("5 kg", "quantity"), ("x.com", "address"), ("word", "text"), ("(007)", "text"),
    ],
)  # fmt: skip
def test_routes_of_sound(value: object, route: str) -> None:
    assert explain(value, metric="sound/1").route == route


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (None, "\u200b", "Both state nothing"),
        ("x", "x", "the same value"),
        ("P.O. Box", "po box", "compared as 'text pobox'"),
        ("", "x", '"" states nothing, "x" is text'),
        ("5", "5 kg", "\"5\" reads as a number, \"5 kg\" as an amount"),
        ("BBB-", "BBB", "Both read as text, but 'bbb-' is not 'bbb'"),
        (Decimal("1e400"), 10**400 + 1, "Both read as a number"),
        (True, 1, "true reads as a truth value"),
    ],
)  # fmt: skip
def test_reasons(a: object, b: object, words: str) -> None:
    comparison = explain(a, b, metric="sound/1")
    assert isinstance(comparison, Comparison)
    assert words in comparison.reason


def test_arguments_are_checked() -> None:
    with pytest.raises(ArgumentTypeError, match=r"one JSON scalar.*not a list"):
        explain([1])
    with pytest.raises(ArgumentTypeError, match="not a dict"):
        explain("x", {})
    with pytest.raises(ArgumentValueError, match=r"'omni/2' is unknown; known are omni/1, sound/1"):
        rules("omni/2")


def test_the_command_offers_every_metric() -> None:
    assert set(METRICS) == set(BUNDLES)


def test_one_value() -> None:
    result = run("(1,234)")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        '"(1,234)"  is read as number',
        '  number  "(1,234)" -> "-1234"  It is a number: groups, brackets, $ and % are notation.',
        "  = number -1234",
    ]


def test_two_values() -> None:
    assert run("(1,234)", "-1234").stdout.splitlines()[-1].startswith("equal under sound/1: Both are compared as")
    assert run("(1,234)", "1234").stdout.splitlines()[-1].startswith("different under sound/1:")
    assert run("(1,234)", "1234", "--metric", "omni/1").stdout.splitlines()[-1].startswith("equal under omni/1:")


@pytest.mark.parametrize(
    ("argument", "options", "raw"),
    [
        ("20241031", (), "20241031"),
        ("20241031", ("--text",), '"20241031"'),
        ('"20241031"', (), '"20241031"'),
        ("true", (), "true"),
        ("null", (), "null"),
        ("1e400", (), "1E+400"),
        ("0.10", (), "0.1"),
        ("-5", (), "-5"),
        ("NaN", (), '"NaN"'),
        ("[1]", (), '"[1]"'),
        ('"a', (), '"\\"a"'),
        ("--x", ("--",), '"--x"'),
        ("9" * 5000, (), "9" * 5000),
    ],
)
def test_how_an_argument_is_taken(argument: str, options: tuple[str, ...], raw: str) -> None:
    result = run("--json", *options, argument)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["raw"] == raw


def test_json_of_two_values() -> None:
    told = json.loads(run("Total[2]", "total", "--json").stdout)
    assert told["equal"] is True
    assert told["a"]["canonical"] == told["b"]["canonical"] == "text total"
    assert [step["name"] for step in told["a"]["steps"]] == ["case", "footnotes"]
    assert all(step["sentence"] for step in told["a"]["steps"])
    nothing = json.loads(run("", "--json").stdout)
    assert nothing["canonical"] is None


def test_wrong_use() -> None:
    assert run().exit_code == 2
    result = run("1", "2", "3")
    assert result.exit_code == 2
    assert "one or two values, 3 given" in result.stderr
