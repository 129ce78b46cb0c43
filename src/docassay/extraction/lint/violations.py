"""Decides where a ground truth breaks its own JSON Schema, so far as no other code says it better."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from decimal import Decimal
from typing import Any, Final

from docassay.errors import MissingDependencyError
from docassay.extraction.address import Steps, print_address
from docassay.extraction.lint.finding import LintFinding, finding

_OF_TYPES: Final = frozenset({"type", "anyOf", "oneOf"})
_OF_KEYS: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
_LONGEST: Final = 200


def violations(
    document: dict[str, Any], schema: dict[str, Any], retyped: Set[str], undeclared_in: Set[str]
) -> Iterator[LintFinding]:
    """What a validator of JSON Schema says.

    Args:
        document: the ground truth.
        schema: its schema; which draft it is in, `$schema` says.
        retyped: addresses that are already told of as text for a number, or the reverse.
        undeclared_in: addresses of objects whose undeclared keys are already told of.

    Raises:
        MissingDependencyError: jsonschema is not installed.
    """
    try:
        from jsonschema import exceptions, validators
        from referencing import Registry
        from referencing.exceptions import Unresolvable
    except ImportError:
        raise MissingDependencyError("jsonschema", "run") from None
    kind = validators.validator_for(schema, default=validators.Draft202012Validator)
    try:
        kind.check_schema(schema)
        # a registry of its own, for the validator's would fetch what a reference names from the network
        errors = list(kind(schema, registry=Registry()).iter_errors(_with_doubles(document)))
    except exceptions.SchemaError as fault:
        yield finding("schema_invalid", (), _one_line(f"{fault.json_path}: {fault.message}"), "correct the schema")
        return
    except (exceptions.UnknownType, Unresolvable, re.error) as fault:
        yield finding("schema_invalid", (), _one_line(str(fault)), "correct the schema")
        return
    for error in errors:
        steps: Steps = tuple(error.absolute_path)
        address = print_address(steps)
        if error.validator in _OF_TYPES and address in retyped:
            continue
        if error.validator in _OF_KEYS and address in undeclared_in:
            continue
        if error.instance is None:
            advice = 'leave the key out, or allow it: {"type": [..., "null"]}'
            yield finding("null_not_allowed", steps, "null", advice)
        else:
            yield finding("schema_violation", steps, _one_line(error.message), "correct the value, or the schema")


def _with_doubles(value: Any) -> Any:
    """Long decimals as the doubles that a validator reckons with."""
    if isinstance(value, dict):
        return {key: _with_doubles(below) for key, below in value.items()}
    if isinstance(value, list):
        return [_with_doubles(below) for below in value]
    return float(value) if isinstance(value, Decimal) else value


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
