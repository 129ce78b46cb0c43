"""Options: declared once, listed, checked all at once, and named by what they resolve to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest

from docassay.errors import ArgumentTypeError, ArgumentValueError
from docassay.providers.options import REQUIRED, Option, as_settings, option, options_of, resolve


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    mode: Literal["fast", "slow"] = option("fast", help="How.")
    size: int = option(3, help="How many.", check=lambda value: None if value > 0 else "must be above 0")
    wait: float = option(1.5, help="Seconds.")
    name: str | None = option(None, help="Who.")
    where: str = option(help="Address.")


def test_options_are_listed_as_a_person_reads_them() -> None:
    assert options_of(Config) == (
        Option("mode", "fast | slow", "fast", "How."),
        Option("size", "whole number", 3, "How many."),
        Option("wait", "number", 1.5, "Seconds."),
        Option("name", "text | null", None, "Who."),
        Option("where", "text", REQUIRED, "Address."),
    )
    assert [item.required for item in options_of(Config)] == [False, False, False, False, True]


def test_defaults_are_part_of_the_settings() -> None:
    config = resolve(Config, {"where": "here", "wait": 2}, where="x")
    settings = as_settings(config)
    assert settings == {"mode": "fast", "size": 3, "wait": 2.0, "name": None, "where": "here"}
    assert isinstance(settings["wait"], float)
    assert list(settings) == ["mode", "size", "wait", "name", "where"]


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(ArgumentValueError) as error:
        resolve(Config, {"mde": "fast", "mode": "quick", "size": 0, "wait": "soon", "name": 1}, where="provider 'x'")
    told = str(error.value)
    assert told.startswith("options of provider 'x': ")
    for part in (
        "there is no option 'mde' (there are: mode, size, wait, name, where); did you mean 'mode'?",
        "'where' is required",
        "'mode' is fast | slow, not \"quick\"",
        "'size': must be above 0",
        "'wait' is number, not \"soon\"",
        "'name' is text | null, not 1",
    ):
        assert part in told


@pytest.mark.parametrize("size", [True, 1.0, "1", None])
def test_a_whole_number_is_one(size: object) -> None:
    with pytest.raises(ArgumentValueError, match="'size' is whole number"):
        resolve(Config, {"where": "", "size": size}, where="x")


def test_settings_are_of_a_config() -> None:
    with pytest.raises(ArgumentTypeError):
        as_settings({"mode": "fast"})
