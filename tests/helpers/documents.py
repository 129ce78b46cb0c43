"""Random documents that are hard to score: few distinct values, so many ties and duplicates, and rows within rows."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

VALUES = ("A", "B", "C")
TEXT: dict[str, Any] = {"type": "string"}


def an_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def an_array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


# Arrays three deep, scalar arrays beside and below rows, and an array of arrays.
SCHEMA = an_object(
    title=TEXT,
    owner=an_object(name=TEXT),
    rows=an_array(
        an_object(
            key=TEXT,
            value=TEXT,
            tags=an_array(TEXT),
            parts=an_array(an_object(name=TEXT, steps=an_array(an_object(x=TEXT, y=TEXT)))),
        )
    ),
    grid=an_array(an_array(TEXT)),
)
ARRAYS = ("rows", "rows[*].tags", "rows[*].parts", "rows[*].parts[*].steps", "grid", "grid[*]")

values = st.sampled_from(VALUES)
leaves = st.one_of(values, values, values, st.sampled_from([None, "", " "]))


def documents(schema: dict[str, Any] = SCHEMA, longest: int = 3) -> st.SearchStrategy[Any]:
    """Documents of a schema; some lack fields, hold one more, or an object or array where a value should be."""
    if "items" in schema:
        return st.lists(documents(schema["items"], max(1, longest - 1)), max_size=longest)
    if "properties" in schema:
        fields = {name: documents(below, longest) for name, below in schema["properties"].items()}
        return st.fixed_dictionaries({}, optional={**fields, "undeclared": leaves})
    odd = st.one_of(st.fixed_dictionaries({"odd": leaves}), st.lists(leaves, max_size=2))
    return st.one_of(*[leaves] * 12, odd)


def shuffled(node: Any, chance: random.Random) -> Any:
    """The same document with all keys and all array elements in another order."""
    if isinstance(node, dict):
        return {key: shuffled(node[key], chance) for key in chance.sample(list(node), len(node))}
    if isinstance(node, list):
        return [shuffled(element, chance) for element in chance.sample(node, len(node))]
    return node
