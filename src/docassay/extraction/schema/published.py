"""A schema as the published metric reads it: references inlined, the first alternative taken, open maps left out whole.

Source: the rules of omni-extract-bench 0.1.7, oddities included. References further down than a fixed depth, or ones
that are not plain local pointers, are refused; declared properties beside `additionalProperties` are not scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from docassay.errors import SchemaError
from docassay.extraction.schema.node import RawSchema

_INLINE_DEPTH = 12
_ALTERNATIVES = ("anyOf", "oneOf", "allOf")


def read_published(schema: RawSchema) -> PublishedNode:
    """The root node. Raises SchemaError where a reference is left that this reading cannot follow."""
    inlined = _inline(schema, schema, 0)
    left = _find_reference(inlined)
    if left is not None:
        raise SchemaError(
            f"the schema holds a $ref that omni/1 cannot follow: {left!r} (recursive, deeper than {_INLINE_DEPTH} "
            "levels, not found, or no plain local pointer); write it out, or score with sound/1, which follows them"
        )
    return PublishedNode(inlined)


class PublishedNode:
    """One place of an inlined schema, alternatives opened."""

    def __init__(self, raw: object) -> None:
        self._raw = _open(raw)
        self._children: dict[str, PublishedNode] = {}

    @cached_property
    def slot(self) -> bool:
        return not self.skipped_whole and not self._properties and self._raw.get("items") is None

    @cached_property
    def skipped_whole(self) -> bool:
        return _is_open_map(self._raw)

    @property
    def skips_undeclared(self) -> bool:
        return False

    @property
    def is_array(self) -> bool:
        return self._raw.get("type") == "array" or self._raw.get("items") is not None

    @property
    def types(self) -> frozenset[str]:
        kind = self._raw.get("type")
        return frozenset(name for name in (kind if isinstance(kind, list) else [kind]) if isinstance(name, str))

    def child(self, key: str) -> PublishedNode | None:
        node = self._children.get(key)
        if node is None and key in self._properties:
            node = self._children[key] = PublishedNode(self._properties[key])
        return node

    def element(self) -> PublishedNode | None:
        return self._element

    def declared(self) -> Iterator[str]:
        return iter(self._properties)

    @cached_property
    def _properties(self) -> Mapping[str, Any]:
        properties = self._raw.get("properties")
        return properties if isinstance(properties, dict) else {}

    @cached_property
    def _element(self) -> PublishedNode | None:
        items = self._raw.get("items")
        return None if items is None else PublishedNode(items)


def _open(node: object) -> RawSchema:
    if not isinstance(node, dict):
        return {}
    for keyword in _ALTERNATIVES:
        members = node.get(keyword)
        for member in members if isinstance(members, list) else ():
            if isinstance(member, dict) and member.get("type") != "null":
                return member
    return node


def _is_open_map(node: RawSchema) -> bool:
    extra = node.get("additionalProperties")
    if extra is True or isinstance(extra, dict):
        return True
    return any(
        isinstance(member, dict) and _is_open_map(member)
        for keyword in _ALTERNATIVES
        if isinstance(node.get(keyword), list)
        for member in node[keyword]
    )


def _inline(node: Any, root: RawSchema, depth: int) -> Any:
    if depth > _INLINE_DEPTH:
        return node
    if isinstance(node, list):
        return [_inline(member, root, depth + 1) for member in node]
    if not isinstance(node, dict):
        return node
    target = _resolve(node.get("$ref"), root)
    if target is not None:
        own = {key: value for key, value in node.items() if key != "$ref"}
        return _inline({**target, **own}, root, depth + 1)
    return {key: _inline(value, root, depth + 1) for key, value in node.items() if key != "$defs"}


def _resolve(pointer: object, root: RawSchema) -> dict[str, Any] | None:
    if not isinstance(pointer, str) or not pointer.startswith("#/"):
        return None
    node: object = root
    for step in pointer[2:].split("/"):
        if not isinstance(node, dict) or step not in node:
            return None
        node = node[step]
    return node if isinstance(node, dict) else None


def _find_reference(node: Any) -> object | None:
    stack = [node]
    while stack:
        here = stack.pop()
        if isinstance(here, dict):
            if "$ref" in here:
                return here["$ref"] or "(empty)"
            stack.extend(here.values())
        elif isinstance(here, list):
            stack.extend(here)
    return None
