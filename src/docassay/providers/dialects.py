"""How a JSON Schema is spelled for a vendor that reads only part of the language: the question stays the same.

All walks go by position: a key is a keyword only where a schema stands, so that properties called `default`, `$ref` or
`id` are names and nothing else. What was renamed on the way out is restored on the way in, also by position.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote

from docassay.errors import ProviderError

__all__ = [
    "BENCHMARK_KEYS",
    "Names",
    "Shape",
    "branches",
    "free_name",
    "inline",
    "is_null",
    "map_children",
    "map_schema",
    "question",
    "resolve",
    "restore",
    "shape_of",
    "types_of",
]

BENCHMARK_KEYS = frozenset({"evaluation_config", "default"})
"""Keywords that are about scoring, or would give an answer away; no vendor sees them."""

SCHEMAS_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
SCHEMAS_IN_LIST = frozenset({"anyOf", "oneOf", "allOf", "prefixItems", "items"})
ONE_SCHEMA = frozenset(
    {
        "items",
        "additionalItems",
        "additionalProperties",
        "unevaluatedItems",
        "unevaluatedProperties",
        "contains",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
        "contentSchema",
    }
)


def map_schema(schema: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """A copy of `schema` with `change` applied to every schema object, inner ones first."""
    if not isinstance(schema, Mapping):
        return schema
    return change({k: map_children(k, v, lambda sub: map_schema(sub, change)) for k, v in schema.items()})


def map_children(key: str, value: Any, visit: Callable[[Any], Any]) -> Any:
    """A keyword's value with `visit` applied to the schemas that stand directly in it, if any can."""
    if key in SCHEMAS_BY_NAME and isinstance(value, Mapping):
        return {name: visit(sub) for name, sub in value.items()}
    if key in SCHEMAS_IN_LIST and isinstance(value, list):
        return [visit(sub) for sub in value]
    return visit(value) if key in ONE_SCHEMA else value


def question(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` as every provider is asked it: without the keywords that belong to the benchmark."""
    stripped = map_schema(schema, lambda node: {k: v for k, v in node.items() if k not in BENCHMARK_KEYS})
    assert isinstance(stripped, dict)
    return stripped


def inline(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` with every `$ref` replaced by what it points to, and without `$defs` and `definitions`.

    Keywords beside a `$ref` win over the target's. Raises ProviderError, naming the reference, for one that leads
    nowhere or back into itself: such a schema cannot be written out.
    """
    inlined = _Inliner(schema).schema(schema, ())
    assert isinstance(inlined, dict)
    return inlined


def resolve(root: Mapping[str, Any], reference: str) -> Any:
    """What `reference` (`#/...`) points to in `root`. Raises ProviderError, naming it, where it leads nowhere."""
    target: Any = root
    for token in _pointer(reference):
        if isinstance(target, Mapping) and token in target:
            target = target[token]
        elif isinstance(target, list) and re.fullmatch(r"0|[1-9]\d*", token) and int(token) < len(target):
            target = target[int(token)]
        else:
            raise ProviderError(f"the schema cannot be sent: {reference!r} leads nowhere")
    return target


def types_of(node: Mapping[str, Any]) -> tuple[str, ...]:
    """The types that a schema object allows by `type`, `enum`, `const` or the keywords of one type; may be empty."""
    stated = node.get("type")
    if isinstance(stated, str):
        return (stated,)
    if isinstance(stated, list):
        return tuple(str(item) for item in stated)
    members = node["enum"] if isinstance(node.get("enum"), list) else [node["const"]] if "const" in node else []
    if members:
        return tuple(dict.fromkeys(_type_of(item) for item in members))
    if "properties" in node:
        return ("object",)
    return ("array",) if "items" in node or "prefixItems" in node else ()


def branches(node: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The alternatives of a union (`anyOf`, `oneOf`), or none."""
    found = node.get("anyOf") or node.get("oneOf") or []
    return tuple(branch for branch in found if isinstance(branch, Mapping))


def is_null(node: Mapping[str, Any]) -> bool:
    """Whether a schema object allows null and nothing else."""
    return types_of(node) == ("null",)


@dataclass(frozen=True, slots=True)
class Names:
    """What to undo in an extraction, position by position."""

    renamed: Mapping[str, str] = field(default_factory=dict)
    """In this object: name on the wire -> name in the schema."""
    children: Mapping[str, Names] = field(default_factory=dict)
    """In this object: name on the wire -> what to undo below it."""
    items: Names | None = None
    """In this array: what to undo in each item."""
    wrapped: str | None = None
    """This value travelled as the only member, of this name, of an object."""


def restore(extraction: object, names: Names) -> object:
    """`extraction` with the schema's own names and shapes."""
    if names.wrapped is not None and isinstance(extraction, dict) and set(extraction) <= {names.wrapped}:
        return restore(extraction.get(names.wrapped), Names(names.renamed, names.children, names.items))
    if isinstance(extraction, dict):
        return {
            names.renamed.get(key, key): restore(value, names.children.get(key, Names()))
            for key, value in extraction.items()
        }
    if isinstance(extraction, list) and names.items is not None:
        return [restore(item, names.items) for item in extraction]
    return extraction


@dataclass(frozen=True, slots=True)
class Shape:
    """What a schema asks for at one position, for vendors that know only objects, arrays and scalars."""

    kind: Literal["object", "array", "string", "number", "integer", "boolean"]
    description: str | None = None
    enum: tuple[object, ...] = ()
    """The allowed values, null left out; empty where any is allowed."""
    properties: Mapping[str, Shape] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    items: Shape | None = None


def shape_of(node: Any) -> Shape:
    """The shape of a schema without references: every field that any alternative offers, one kind per position.

    A scalar of several kinds is a string, which can spell them all.
    """
    if not isinstance(node, Mapping):
        return Shape("string")
    parts = list(_parts(node))
    description = next((str(part["description"]) for part in parts if part.get("description")), None)
    kinds = [kind for part in parts for kind in types_of(part) if kind != "null"]
    if "object" in kinds:
        return Shape("object", description, properties=_properties(parts), required=_required(node))
    if "array" in kinds:
        return Shape("array", description, items=shape_of(_any_item(parts)))
    return Shape(_scalar(kinds), description, enum=_enum(parts))


def free_name(name: str, taken: Mapping[str, object]) -> str:
    """A name for the reserved `name` that no sibling has."""
    candidate = f"{name}_value"
    while candidate in taken:
        candidate += "_"
    return candidate


def _parts(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A schema object and every alternative or addition to it at the same position, outermost first."""
    yield node
    for key in ("allOf", "anyOf", "oneOf"):
        for branch in node.get(key) or ():
            if isinstance(branch, Mapping):
                yield from _parts(branch)
    for key in ("if", "then", "else"):
        if isinstance(node.get(key), Mapping):
            yield from _parts(node[key])


def _properties(parts: list[Mapping[str, Any]]) -> dict[str, Shape]:
    offers: dict[str, list[Any]] = {}
    for part in parts:
        for name, sub in (part.get("properties") or {}).items():
            offers.setdefault(name, []).append(sub)
    return {name: shape_of(subs[0] if len(subs) == 1 else {"anyOf": subs}) for name, subs in offers.items()}


def _required(node: Mapping[str, Any]) -> tuple[str, ...]:
    """What is required whichever alternative is taken: the schema's own list and those of `allOf`."""
    always = [node, *(part for part in node.get("allOf") or () if isinstance(part, Mapping))]
    named = [name for part in always for name in part.get("required") or ()]
    only = [part for part in branches(node) if not is_null(part)]
    named += only[0].get("required") or () if len(only) == 1 else ()
    return tuple(dict.fromkeys(named))


def _any_item(parts: list[Mapping[str, Any]]) -> Any:
    items = [part["items"] for part in parts if isinstance(part.get("items"), Mapping)]
    for part in parts:
        listed = part.get("prefixItems") or (part["items"] if isinstance(part.get("items"), list) else [])
        items += [sub for sub in listed if isinstance(sub, Mapping)]
    return items[0] if len(items) == 1 else {"anyOf": items}


def _scalar(kinds: list[str]) -> Literal["string", "number", "integer", "boolean"]:
    found = set(kinds)
    if found == {"boolean"}:
        return "boolean"
    if found == {"integer"}:
        return "integer"
    return "number" if found and found <= {"integer", "number"} else "string"


def _enum(parts: list[Mapping[str, Any]]) -> tuple[object, ...]:
    """The values allowed where every alternative that allows more than null lists its own."""
    scalars = [part for part in parts if types_of(part) not in ((), ("null",))]
    lists = [
        part["enum"] if isinstance(part.get("enum"), list) else [part["const"]]
        for part in scalars
        if isinstance(part.get("enum"), list) or "const" in part
    ]
    if len(lists) < len(scalars):
        return ()
    return tuple(value for values in lists for value in values if value is not None)


def _type_of(value: object) -> str:
    names: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return "null" if value is None else names.get(type(value), "object")


class _Inliner:
    """Replaces references, remembering which it is inside of."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root

    def schema(self, node: Any, inside: tuple[str, ...]) -> Any:
        if not isinstance(node, Mapping):
            return node
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return self._members(node, inside)
        if reference in inside:
            raise ProviderError(f"the schema cannot be sent: {reference!r} refers to itself")
        target = self.schema(resolve(self.root, reference), (*inside, reference))
        beside = self._members({k: v for k, v in node.items() if k != "$ref"}, inside)
        return {**target, **beside} if isinstance(target, dict) else target

    def _members(self, node: Mapping[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
        kept = {k: v for k, v in node.items() if k not in ("$defs", "definitions")}
        return {k: map_children(k, v, lambda sub: self.schema(sub, inside)) for k, v in kept.items()}


def _pointer(reference: str) -> list[str]:
    if reference == "#":
        return []
    if not reference.startswith("#/"):
        raise ProviderError(f"the schema cannot be sent: {reference!r} is not a reference within it")
    return [token.replace("~1", "/").replace("~0", "~") for token in unquote(reference[2:]).split("/")]
