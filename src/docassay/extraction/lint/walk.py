"""Decides what a ground truth states under its schema, and what of it metrics leave out or hold against everyone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from docassay.errors import SchemaError
from docassay.extraction.address import Steps, print_address
from docassay.extraction.lint.finding import LintFinding, finding
from docassay.extraction.metric import OMNI, SOUND
from docassay.extraction.schema import SchemaNode, read_schema
from docassay.extraction.values import rules, shown

_STATES_NOTHING: Final = rules(SOUND.name).states_nothing


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value that is scored, the schema at its place as sound/1 reads it, and where it stands."""

    value: Any
    node: SchemaNode | None
    steps: Steps


@dataclass(slots=True)
class Stated:
    """What one ground truth states."""

    leaves: list[Leaf] = field(default_factory=list)
    """The values that sound/1 scores, in the order of the document."""
    findings: list[LintFinding] = field(default_factory=list)
    """Undeclared keys, open maps and what is left out."""
    undeclared_in: set[str] = field(default_factory=set)
    """Addresses of the objects that hold undeclared keys."""


def walk(document: dict[str, Any], schema: dict[str, Any]) -> Stated:
    """Go through a ground truth once, as sound/1 prepares and reads it, with omni/1 alongside."""
    stated = Stated()
    _Walk(stated).value(document, read_schema(schema, SOUND.reader), _published(schema), ())
    return stated


def _published(schema: dict[str, Any]) -> SchemaNode | None:
    try:
        return read_schema(schema, OMNI.reader)
    except SchemaError:
        return None


@dataclass(frozen=True, slots=True)
class _Walk:
    stated: Stated

    def value(self, value: Any, node: SchemaNode | None, published: SchemaNode | None, steps: Steps) -> None:
        """Whatever stands at one place; `published` is the place as omni/1 reads it, None where it leaves it out."""
        if isinstance(value, dict):
            self._wrapped(value, node, published, steps)
        elif isinstance(value, list):
            element = node.element() if node else None
            its_published = published.element() if published else None
            for index, below in enumerate(value):
                self.value(below, element, its_published, (*steps, index))
        elif not _STATES_NOTHING(value):
            self.stated.leaves.append(Leaf(value, node, steps))

    def _wrapped(
        self, value: dict[str, Any], node: SchemaNode | None, published: SchemaNode | None, steps: Steps
    ) -> None:
        inner = SOUND.preparation.unwrap(value, node)
        if inner is not value:
            self._note("left_out", steps, value, "an envelope: both metrics compare what is under `value` alone")
            self.value(inner, node, published, steps)
            return
        if OMNI.preparation.unwrap(value, node) is not value:
            advice = "looks like an envelope: omni/1 compares what is under `value` alone, sound/1 all declared fields"
            self._note("left_out", steps, value, advice)
        self._object(value, node, published, steps)

    def _object(
        self, value: dict[str, Any], node: SchemaNode | None, published: SchemaNode | None, steps: Steps
    ) -> None:
        hidden = 0
        hides_all = published is not None and published.skipped_whole
        for key, below in value.items():
            path = (*steps, key)
            child = node.child(key) if node else None
            if self._sidecar(key, below, value, node, path):
                continue
            if child is None and node is not None and node.skips_undeclared:
                hidden += _count(below)
                continue
            if child is None and node is not None and _count(below):
                self.stated.undeclared_in.add(print_address(steps))
                advice = "it counts as unfound for all who keep to the schema: declare it there, or remove it here"
                self._note("undeclared_key", path, below, advice)
            self.value(below, child, None if published is None or hides_all else published.child(key), path)
        self._open_map(steps, hidden, _count(value) if hides_all else 0)

    def _sidecar(self, key: str, below: Any, beside: dict[str, Any], node: SchemaNode | None, path: Steps) -> bool:
        """Whether sound/1 leaves the key out as a sidecar of one beside it; told of where either metric does."""
        if OMNI.preparation.sidecar_base(node, key) not in beside or not _count(below):
            return False
        left_out = SOUND.preparation.sidecar_base(node, key) is not None
        advice = (
            "a sidecar: sound/1 leaves it out on both sides; omni/1 drops it from predictions only, so that it always "
            "counts as unfound: remove it here"
            if left_out
            else "declared, but looks like a sidecar: omni/1 drops it from predictions, so that it always counts as "
            "unfound there; sound/1 compares it"
        )
        self._note("left_out", path, below, advice)
        return left_out

    def _open_map(self, steps: Steps, hidden: int, hidden_by_published: int) -> None:
        if not hidden and not hidden_by_published:
            return
        if hidden == hidden_by_published:
            found = f"{_values(hidden)} not scored"
        else:
            found = f"{_values(hidden)} not scored under sound/1, {hidden_by_published} under omni/1"
        self.stated.findings.append(finding("open_map", steps, found, "declare the keys to have them scored"))

    def _note(self, code: str, steps: Steps, value: object, advice: str) -> None:
        self.stated.findings.append(finding(code, steps, _shown_shortly(value), advice))


def _count(value: object) -> int:
    """How many values are stated at and below a place."""
    if isinstance(value, dict):
        return sum(_count(below) for below in value.values())
    if isinstance(value, list):
        return sum(_count(below) for below in value)
    return int(not _STATES_NOTHING(value))


def _values(count: int) -> str:
    return f"{count} value{'' if count == 1 else 's'}"


def _shown_shortly(value: object) -> str:
    if isinstance(value, dict):
        return f"an object with the keys {', '.join(map(shown, list(value)[:5]))}{', …' if len(value) > 5 else ''}"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    return shown(value)
