"""What is wrong with one ground truth, or likely to be disputed: nothing here changes a score.

Each finding has a stable code (`CODES` tells what it means), an address, what was found, and what to do about it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from docassay.core.interpreter import deeply
from docassay.errors import ArgumentTypeError, MissingDependencyError
from docassay.extraction.address import ANY, Steps, print_address, print_field
from docassay.extraction.flatten import Flattener
from docassay.extraction.metric import OMNI, SOUND
from docassay.extraction.rows import Row, Rows
from docassay.extraction.schema import SchemaNode, read_schema
from docassay.extraction.space import Space
from docassay.extraction.values import compare, rules, shown

CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "schema_violation": "the ground truth breaks its own schema",
        "undeclared_key": "a key that the schema does not declare: whoever reads it right is still scored on it",
        "duplicate_rows": "rows of one array that are written alike",
        "rows_alike": "rows of one array that are written differently and compared as the same",
        "metrics_disagree": "two values of one field that one metric takes as equal and the other does not",
        "read_differently": "a value that one metric reads as a number, date or time and the other as text",
        "ambiguous_date": "a date whose day and month can be told apart by convention only",
        "number_as_text": "text where the schema asks for a number",
        "text_as_number": "a number where the schema asks for text: leading zeros and notation are lost",
        "placeholder": "a word that means 'nothing here' is scored as a value; null is not",
        "open_map": "the schema leaves the keys open here: what is below is not scored",
    }
)
PLACEHOLDERS: Final = frozenset(
    {
        "-", "--", "---", "–", "—", "?", "n/a", "n.a.", "na", "none", "null", "nil", "nan", "unknown", "not available",
        "not applicable", "not provided", "not found", "not stated", "tbd", "blank", "empty", "undefined", "missing",
    }
)  # fmt: skip
_DATE = re.compile(r"\s*(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})\s*")
_NUMBER_TYPES = frozenset({"number", "integer"})
_MOMENTS = frozenset({"number", "date", "time"})


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One thing to look at. `found` is what stands there, as JSON text where it is a value."""

    code: str
    address: str
    field: str
    found: str
    advice: str


def lint(ground_truth: object, schema: object) -> list[LintFinding]:
    """All findings of one ground truth, grouped by code in the order of `CODES`.

    Raises ArgumentTypeError for a ground truth that is no object, SchemaError for a schema that cannot be read.
    """
    if not isinstance(ground_truth, dict):
        raise ArgumentTypeError(f"the ground truth must be a JSON object, not a {type(ground_truth).__name__}")
    return deeply(_lint, ground_truth, schema)


def _lint(ground_truth: dict[str, Any], schema: object) -> list[LintFinding]:
    root = read_schema(schema, SOUND.reader)
    space = Space(root, rules(SOUND.name), SOUND.preparation, frozenset(), keep_raw=True)
    document = Flattener(space, drop_sidecars=True).document(ground_truth)
    leaves = list(_leaves(ground_truth, root, ()))
    found = [
        *_violations(ground_truth, schema),
        *_undeclared(ground_truth, root, ()),
        *_repeated_rows(document, ()),
        *_disagreements(leaves),
        *(finding for leaf in leaves for look in _LOOKS for finding in look(*leaf)),
        *_open_maps(ground_truth, root, ()),
    ]
    order = {code: number for number, code in enumerate(CODES)}
    return sorted(found, key=lambda finding: order[finding.code])


def _finding(code: str, steps: Steps, found: str, advice: str) -> LintFinding:
    return LintFinding(code, print_address(steps), print_field(steps), found, advice)


# --- the whole document ---------------------------------------------------------------------------------------------


def _violations(document: dict[str, Any], schema: object) -> Iterator[LintFinding]:
    try:
        from jsonschema import validators
    except ImportError:
        raise MissingDependencyError("jsonschema", "run") from None
    assert isinstance(schema, dict)
    validator = validators.validator_for(schema, default=validators.validator_for({}))
    for error in validator(schema).iter_errors(document):
        steps: Steps = tuple(error.absolute_path)
        yield _finding("schema_violation", steps, error.message[:200], "correct the value, or the schema")


def _undeclared(value: object, node: SchemaNode | None, steps: Steps) -> Iterator[LintFinding]:
    for below, child, path, open_here in _below(value, node, steps):
        if child is None and node is not None and isinstance(path[-1], str):
            if not open_here:
                yield _finding("undeclared_key", path, shown_shortly(below), "declare it in the schema, or remove it")
        elif child is not None:
            yield from _undeclared(below, child, path)


def _open_maps(value: object, node: SchemaNode | None, steps: Steps) -> Iterator[LintFinding]:
    hidden = 0
    for below, child, path, open_here in _below(value, node, steps):
        if child is None and open_here:
            hidden += _count(below)
        elif child is not None:
            yield from _open_maps(below, child, path)
    if hidden:
        yield _finding(
            "open_map",
            steps,
            f"{hidden} value{'s' if hidden > 1 else ''} not scored",
            "declare the keys to have them scored",
        )


def _below(
    value: object, node: SchemaNode | None, steps: Steps
) -> Iterator[tuple[object, SchemaNode | None, Steps, bool]]:
    """What stands one level down: the value, its schema node, its steps, and whether undeclared keys are left open."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield below, node.child(key) if node else None, (*steps, key), bool(node and node.skips_undeclared)
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield below, node.element() if node else None, (*steps, index), False


def _count(value: object) -> int:
    if isinstance(value, dict):
        return sum(_count(below) for below in value.values())
    if isinstance(value, list):
        return sum(_count(below) for below in value)
    return int(not SOUND_RULES.states_nothing(value))


# --- rows -----------------------------------------------------------------------------------------------------------


def _repeated_rows(row: Row, prefix: Steps) -> Iterator[LintFinding]:
    for place, rows in row.arrays.items():
        here = prefix + tuple(step for step in place.steps()[_depth(prefix) :])
        yield from _repeated(rows, here)
        for below in rows.rows:
            yield from _repeated_rows(below, (*here, below.position))


def _depth(prefix: Steps) -> int:
    return len(prefix)


def _repeated(rows: Rows, here: Steps) -> Iterator[LintFinding]:
    for content, count in rows.content.counts.items():
        if count == 1 or not (content.is_object or content.arrays):
            continue
        same = [row for row in rows.rows if row.content is content]
        positions = ", ".join(str(row.position) for row in same[:10])
        written = {repr(_written(row)) for row in same}
        code = "duplicate_rows" if len(written) == 1 else "rows_alike"
        advice = "check the document: a row read twice, or two rows that need another field to tell them apart"
        yield _finding(code, (*here, same[0].position), f"{count} rows: {positions}", advice)


def _written(row: Row) -> object:
    below = [(place.id, [_written(inner) for inner in rows.rows]) for place, rows in row.arrays.items()]
    return sorted((item, shown(raw)) for item, raw in row.leaves or ()), below


# --- values ---------------------------------------------------------------------------------------------------------

_Leaf = tuple[Any, SchemaNode | None, Steps]
OMNI_RULES: Final = rules(OMNI.name)
SOUND_RULES: Final = rules(SOUND.name)


def _leaves(value: object, node: SchemaNode | None, steps: Steps) -> Iterator[_Leaf]:
    if isinstance(value, (dict, list)):
        for below, child, path, open_here in _below(value, node, steps):
            if child is not None or not open_here:
                yield from _leaves(below, child, path)
    elif not SOUND_RULES.states_nothing(value):
        yield value, node, steps


def _disagreements(leaves: list[_Leaf]) -> Iterator[LintFinding]:
    """Within a field: values that one metric merges and the other keeps apart, one example of each merge."""
    fields: dict[Steps, list[_Leaf]] = {}
    for leaf in leaves:
        fields.setdefault(tuple(step if isinstance(step, str) else ANY for step in leaf[2]), []).append(leaf)
    for group in fields.values():
        for one, other in ((OMNI_RULES, SOUND_RULES), (SOUND_RULES, OMNI_RULES)):
            merged: dict[str, dict[str, _Leaf]] = {}
            for leaf in group:
                merged.setdefault(one.canon(leaf[0]), {}).setdefault(other.canon(leaf[0]), leaf)
            for kept_apart in merged.values():
                if len(kept_apart) > 1:
                    first, second = list(kept_apart.values())[:2]
                    why = compare(other.read(first[0]), other.read(second[0])).reason
                    found = f"{shown(first[0])} and {shown(second[0])}"
                    yield _finding("metrics_disagree", first[2], found, f"equal under {one.metric} only. {why}")


def _read_differently(value: Any, _node: SchemaNode | None, steps: Steps) -> Iterator[LintFinding]:
    routes = {found.metric: found.read(value).route for found in (OMNI_RULES, SOUND_RULES)}
    if len(set(routes.values())) > 1 and _MOMENTS & set(routes.values()) and "text" in routes.values():
        told = ", ".join(f"{metric}: {route}" for metric, route in routes.items())
        yield _finding("read_differently", steps, shown(value), f"{told}; write it so that both agree")


def _ambiguous_date(value: Any, _node: SchemaNode | None, steps: Steps) -> Iterator[LintFinding]:
    found = _DATE.fullmatch(value) if isinstance(value, str) else None
    if found and found[1].lstrip("0") != found[3].lstrip("0") and 1 <= int(found[1]) <= 12 and 1 <= int(found[3]) <= 12:
        read = SOUND_RULES.read(value).canonical
        yield _finding("ambiguous_date", steps, shown(value), f"it is read as {read}; write it as YYYY-MM-DD")


def _types(value: Any, node: SchemaNode | None, steps: Steps) -> Iterator[LintFinding]:
    types = node.types if node is not None else frozenset()
    if isinstance(value, str) and types & _NUMBER_TYPES and "string" not in types:
        yield _finding("number_as_text", steps, shown(value), "write it as a JSON number")
    if (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and "string" in types
        and not types & _NUMBER_TYPES
    ):
        yield _finding("text_as_number", steps, shown(value), "write it as text, as the document has it")


def _placeholder(value: Any, _node: SchemaNode | None, steps: Steps) -> Iterator[LintFinding]:
    if isinstance(value, str) and value.strip().casefold() in PLACEHOLDERS:
        yield _finding(
            "placeholder", steps, shown(value), "write null, unless the document says so and it is asked for"
        )


_LOOKS: Final[tuple[Callable[[Any, SchemaNode | None, Steps], Iterator[LintFinding]], ...]] = (
    _read_differently,
    _ambiguous_date,
    _types,
    _placeholder,
)


def shown_shortly(value: object) -> str:
    """A value as JSON text, or what kind of container it is."""
    if isinstance(value, dict):
        return f"an object with {len(value)} keys"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    return shown(value)


def counted(findings: list[LintFinding]) -> dict[str, int]:
    """How many findings there are of each code, in the order of `CODES`."""
    counts = Counter(finding.code for finding in findings)
    return {code: counts[code] for code in CODES if counts[code]}
