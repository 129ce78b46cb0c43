"""Decides what is wrong with one ground truth, or likely to be disputed: nothing here changes a score."""

from __future__ import annotations

from itertools import chain
from typing import Any

from docassay.core.interpreter import deeply
from docassay.errors import ArgumentTypeError
from docassay.extraction.lint.finding import CODES, LintFinding
from docassay.extraction.lint.repeated import repeated_rows
from docassay.extraction.lint.stated import disagreements, value_findings
from docassay.extraction.lint.violations import violations
from docassay.extraction.lint.walk import walk
from docassay.extraction.metric import SOUND
from docassay.extraction.schema import read_schema

__all__ = ["CODES", "LintFinding", "lint"]


def lint(ground_truth: object, schema: object) -> list[LintFinding]:
    """All findings of one ground truth, grouped by code in the order of `CODES`.

    Both are JSON values as a parser gives them; none is changed. What the schema leaves open, and what scoring takes
    off (provenance envelopes, sidecars), is told of as such and not looked into.

    Raises ArgumentTypeError for a ground truth that is no object, SchemaError for a schema that cannot be read,
    MissingDependencyError where jsonschema is not installed.
    """
    if not isinstance(ground_truth, dict):
        raise ArgumentTypeError(f"the ground truth must be a JSON object, not a {type(ground_truth).__name__}")
    return deeply(_lint, ground_truth, schema)


def _lint(ground_truth: dict[str, Any], schema: object) -> list[LintFinding]:
    root = read_schema(schema, SOUND.reader)
    assert isinstance(schema, dict)
    stated = walk(ground_truth, schema)
    of_values = list(chain.from_iterable(map(value_findings, stated.leaves)))
    told = {finding.address for finding in of_values if finding.code in {"number_as_text", "text_as_number"}}
    found = [
        *violations(ground_truth, schema, told, stated.undeclared_in),
        *stated.findings,
        *repeated_rows(ground_truth, root, schema),
        *disagreements(stated.leaves),
        *of_values,
    ]
    order = {code: number for number, code in enumerate(CODES)}
    return sorted(found, key=lambda finding: order[finding.code])
