"""A schema as `sound/1` reads it: the union of all alternatives, references followed as they are met.

Declared properties are scored also beside `additionalProperties`; only undeclared keys of an open map are left out.
Source of the vocabulary: JSON Schema 2020-12, Core and Validation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import Any
from urllib.parse import unquote

from docassay.errors import SchemaError
from docassay.extraction.schema.node import RawSchema

_SCALAR_TYPES = frozenset({"string", "number", "integer", "boolean"})
_IN_PLACE_LISTS = ("anyOf", "oneOf", "allOf")
_IN_PLACE = ("if", "then", "else")
_APPLICATORS = frozenset({"$ref", "$dynamicRef", *_IN_PLACE_LISTS, *_IN_PLACE, "dependentSchemas"})
"""Keywords by which other schemas apply at the same place."""
_LOOKED_UP = frozenset({"$ref", "$dynamicRef", "patternProperties"})
_ELEMENT_KEYWORDS = ("items", "prefixItems", "additionalItems")


def read_complete(schema: RawSchema) -> CompleteNode:
    """The root node. Raises SchemaError for a reference that leads nowhere, or a pattern that cannot be read."""
    book = _Book(schema)
    root = book.node([schema])
    assert root is not None  # the schema is a non-empty object
    if book.may_fail():
        book.check(root)
    return root


class CompleteNode:
    """All schemas that apply at one place, alternatives side by side."""

    def __init__(self, book: _Book, parts: tuple[RawSchema, ...]) -> None:
        self._book = book
        self._parts = parts
        self._children: dict[str, CompleteNode | None] = {}

    @cached_property
    def slot(self) -> bool:
        if any(_is_scalar(part) for part in self._parts):
            return True
        return not self.skips_undeclared and not any(_has_structure(part) for part in self._parts)

    @property
    def skipped_whole(self) -> bool:
        return False

    @cached_property
    def skips_undeclared(self) -> bool:
        return any(_is_open(part.get("additionalProperties")) for part in self._parts)

    @cached_property
    def is_array(self) -> bool:
        return any("array" in _types(part) or _elements(part) for part in self._parts)

    @cached_property
    def types(self) -> frozenset[str]:
        return frozenset().union(*(_types(part) for part in self._parts))

    def child(self, key: str) -> CompleteNode | None:
        if key not in self._children:
            raws = [properties[key] for properties in self._properties if key in properties]
            for pattern, raw in self._patterns:
                if self._book.pattern(pattern).search(key):
                    raws.append(raw)
            self._children[key] = self._book.node(raws)
        return self._children[key]

    def element(self) -> CompleteNode | None:
        return self._element

    def declared(self) -> Iterator[str]:
        return iter(dict.fromkeys(chain.from_iterable(self._properties)))

    def below(self) -> Iterator[CompleteNode]:
        """Every node one level down, for a check of the whole schema."""
        nodes = [self.child(key) for key in self.declared()]
        nodes += [self._book.node([raw]) for _, raw in self._patterns]
        nodes.append(self._element)
        yield from (node for node in nodes if node is not None)

    @cached_property
    def _properties(self) -> list[dict[str, Any]]:
        return [properties for part in self._parts if (properties := _properties(part))]

    @cached_property
    def _patterns(self) -> list[tuple[str, Any]]:
        return [pattern for part in self._parts for pattern in _patterns(part).items()]

    @cached_property
    def _element(self) -> CompleteNode | None:
        return self._book.node([raw for part in self._parts for raw in _elements(part)])


class _Book:
    """One schema document: resolves references and gives each set of schemas one node, so that recursion is finite."""

    def __init__(self, root: RawSchema) -> None:
        self._root = root
        self._nodes: dict[tuple[int, ...], CompleteNode] = {}
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._anchors: dict[str, object] | None = None

    def node(self, raws: list[object]) -> CompleteNode | None:
        parts = self._expand(raws)
        if parts is None:
            return None
        key = tuple(id(part) for part in parts)
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = CompleteNode(self, parts)
        return node

    def may_fail(self) -> bool:
        """Whether anything here has to be looked up or compiled: a quick look, to spare most schemas the check."""
        return any(not _LOOKED_UP.isdisjoint(here) for here in _objects(self._root))

    def check(self, root: CompleteNode) -> None:
        """Meet every node once, so that a broken reference is found whatever the documents hold."""
        seen = {id(root)}
        stack = [root]
        while stack:
            for node in stack.pop().below():
                if id(node) not in seen:
                    seen.add(id(node))
                    stack.append(node)

    def pattern(self, text: str) -> re.Pattern[str]:
        found = self._patterns.get(text)
        if found is None:
            try:
                found = self._patterns[text] = re.compile(text)
            except re.error as error:
                raise SchemaError(f"patternProperties: {text!r} is not a regular expression: {error}") from None
        return found

    def _expand(self, raws: list[object]) -> tuple[RawSchema, ...] | None:
        if len(raws) == 1 and isinstance(raw := raws[0], dict) and _APPLICATORS.isdisjoint(raw):
            return (raw,)
        found: dict[int, RawSchema] = {}
        offered = False
        queue = list(raws)
        for raw in queue:
            if raw is True or raw == {}:
                offered = True
            if not isinstance(raw, dict) or id(raw) in found:
                continue
            offered = True
            found[id(raw)] = raw
            reference = raw.get("$ref", raw.get("$dynamicRef"))
            if isinstance(reference, str):
                queue.append(self._resolve(reference))
            for keyword in _IN_PLACE_LISTS:
                members = raw.get(keyword)
                queue.extend(members if isinstance(members, list) else ())
            queue.extend(raw[keyword] for keyword in _IN_PLACE if keyword in raw)
            dependent = raw.get("dependentSchemas")
            queue.extend(dependent.values() if isinstance(dependent, dict) else ())
        return tuple(found.values()) if offered else None

    def _resolve(self, reference: str) -> object:
        if reference in ("#", ""):
            return self._root
        if not reference.startswith("#"):
            raise SchemaError(f"$ref {reference!r} leads outside the schema; put what it names under $defs")
        fragment = unquote(reference[1:])
        if not fragment.startswith("/"):
            return self._anchor(fragment, reference)
        node: object = self._root
        for raw_step in fragment[1:].split("/"):
            step = raw_step.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict) and step in node:
                node = node[step]
            elif isinstance(node, list) and step.isdecimal() and int(step) < len(node):
                node = node[int(step)]
            else:
                raise SchemaError(f"$ref {reference!r} leads nowhere: the schema has no {step!r} there")
        return node

    def _anchor(self, name: str, reference: str) -> object:
        if self._anchors is None:
            self._anchors = {}
            for here in _objects(self._root):
                for keyword in ("$anchor", "$dynamicAnchor"):
                    if isinstance(here.get(keyword), str):
                        self._anchors.setdefault(here[keyword], here)
        if name not in self._anchors:
            raise SchemaError(f"$ref {reference!r} leads nowhere: the schema has no $anchor {name!r}")
        return self._anchors[name]


def _objects(root: object) -> Iterator[dict[str, Any]]:
    """Every object of a schema once; one made in Python may hold itself."""
    stack = [root]
    seen = set()
    while stack:
        here = stack.pop()
        if isinstance(here, (dict, list)) and id(here) not in seen:
            seen.add(id(here))
            if isinstance(here, dict):
                yield here
            stack.extend(here.values() if isinstance(here, dict) else here)


def _types(part: RawSchema) -> frozenset[str]:
    kind = part.get("type")
    names = kind if isinstance(kind, list) else [kind]
    return frozenset(name for name in names if isinstance(name, str))


def _properties(part: RawSchema) -> dict[str, Any]:
    properties = part.get("properties")
    return properties if isinstance(properties, dict) else {}


def _patterns(part: RawSchema) -> dict[str, Any]:
    patterns = part.get("patternProperties")
    return patterns if isinstance(patterns, dict) else {}


def _elements(part: RawSchema) -> list[object]:
    found: list[object] = []
    for keyword in _ELEMENT_KEYWORDS:
        value = part.get(keyword)
        if isinstance(value, list):
            found.extend(value)
        elif value is not None:
            found.append(value)
    return found


def _is_open(extra: object) -> bool:
    return extra is True or isinstance(extra, dict)


def _is_scalar(part: RawSchema) -> bool:
    return bool(_types(part) & _SCALAR_TYPES) or "enum" in part or "const" in part


def _has_structure(part: RawSchema) -> bool:
    return bool(_properties(part) or _patterns(part) or _elements(part))
