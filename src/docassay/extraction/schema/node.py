"""What every reading of a schema offers, whichever metric asks: children, elements, slots and open maps."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias

import orjson

from docassay.errors import ArgumentTypeError
from docassay.extraction.address import ANY, Steps

RawSchema: TypeAlias = Mapping[str, Any]


class SchemaNode(Protocol):
    """One place in a schema, as a metric reads it."""

    @property
    def slot(self) -> bool:
        """Whether the schema offers this very place for a value."""

    @property
    def skipped_whole(self) -> bool:
        """Whether nothing at or below this place is scored."""

    @property
    def skips_undeclared(self) -> bool:
        """Whether keys that are not declared here are left out of the score."""

    @property
    def is_array(self) -> bool:
        """Whether the schema says that an array stands here."""

    @property
    def types(self) -> frozenset[str]:
        """The JSON types that the schema names here; empty where it names none."""

    def child(self, key: str) -> SchemaNode | None:
        """The declared property, or None."""

    def element(self) -> SchemaNode | None:
        """What elements of an array here are, or None where the schema is silent."""

    def declared(self) -> Iterator[str]:
        """The declared property names."""


SchemaReader: TypeAlias = Callable[[RawSchema], SchemaNode]

_CACHE_SIZE = 64
_cache: OrderedDict[tuple[SchemaReader, bytes], SchemaNode] = OrderedDict()


def read_schema(schema: object, reader: SchemaReader) -> SchemaNode:
    """The root of a schema as `reader` sees it; schemas with the same JSON text are read once.

    Raises ArgumentTypeError for a schema that is missing, empty or no object, SchemaError for one that cannot be read.
    """
    if not isinstance(schema, dict) or not schema:
        raise ArgumentTypeError(f"the schema must be a non-empty JSON object, not {_describe(schema)}")
    try:
        text = orjson.dumps(schema)
    except (TypeError, RecursionError):
        return reader(schema)
    key = (reader, text)
    node = _cache.get(key)
    if node is None:
        node = _cache[key] = reader(orjson.loads(text))  # a copy: the caller may change theirs
        if len(_cache) > _CACHE_SIZE:
            _cache.popitem(last=False)
    return node


def arrays_of(node: SchemaNode, most: int = 200) -> list[Steps]:
    """The paths of the arrays a schema declares, breadth first; recursion is followed once, `most` bounds the list."""
    found: list[Steps] = []
    queue: list[tuple[SchemaNode, Steps, frozenset[int]]] = [(node, (), frozenset())]
    for here, path, above in queue:
        if len(found) >= most or id(here) in above:
            continue
        below = above | {id(here)}
        if here.is_array:
            found.append(path)
        element = here.element()
        if element is not None:
            queue.append((element, (*path, ANY), below))
        for key in here.declared():
            child = here.child(key)
            if child is not None:
                queue.append((child, (*path, key), below))
    return found


def _describe(value: object) -> str:
    if value is None:
        return "null"
    if value == {}:
        return "an empty one"
    return f"a {type(value).__name__}"
