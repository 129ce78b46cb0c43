"""Decides what a finding tells, which codes there are, and what each means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from docassay.extraction.address import Steps, print_address, print_field

CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "schema_invalid": "the schema is no valid JSON Schema, so nothing can be checked against it",
        "schema_violation": "the ground truth breaks its own schema",
        "null_not_allowed": "null where the schema has none: no matter for the score, where null means absent",
        "undeclared_key": "a key that the schema does not declare: systems that keep to the schema cannot report it",
        "open_map": "the schema leaves the keys open here: what is below is not scored",
        "left_out": "provenance (an envelope or a sidecar) that is taken off before documents are compared",
        "duplicate_rows": "rows of one array that are written alike",
        "rows_alike": "rows of one array that are written differently and cannot be told apart when compared",
        "metrics_disagree": "two values of one field that one metric takes as equal and the other does not",
        "read_differently": "a value that one metric reads as a number, date or time and the other does not",
        "ambiguous_date": "a date whose day and month can be told apart by convention only",
        "number_as_text": "text where the schema asks for a number",
        "text_as_number": "a number where the schema asks for text: leading zeros and notation are lost",
        "placeholder": "a word that means 'nothing here' is scored as a value; null is not",
    }
)
"""Every code of a finding in one ground truth, and what it means."""


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One thing to look at."""

    code: str
    """One of CODES."""
    address: str
    """Where it stands, such as `rows[0].price`."""
    field: str
    """The address with every index as `[*]`."""
    found: str
    """What stands there: as JSON text where it is a value."""
    advice: str
    """What to do about it."""


def finding(code: str, steps: Steps, found: str, advice: str) -> LintFinding:
    """A finding at a place."""
    return LintFinding(code, print_address(steps), print_field(steps), found, advice)
