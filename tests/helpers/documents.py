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


BOOKS = an_object(
    books=an_array(
        an_object(
            title=TEXT,
            chapters=an_array(
                an_object(heading=TEXT, keywords=an_array(TEXT), sections=an_array(an_object(x=TEXT, y=TEXT, z=TEXT)))
            ),
        )
    )
)


def library(chance: random.Random, books: int, distinct: int) -> dict[str, Any]:
    """Books of up to six chapters of up to seven sections, of so many distinct words."""

    def word() -> str:
        return f"word{chance.randrange(distinct)}"

    def section() -> dict[str, str]:
        return {key: word() for key in "xyz" if chance.random() < 0.9}

    def chapter() -> dict[str, Any]:
        sections = [section() for _ in range(chance.randrange(8))]
        return {"heading": word(), "keywords": [word() for _ in range(chance.randrange(4))], "sections": sections}

    def book() -> dict[str, Any]:
        return {"title": word(), "chapters": [chapter() for _ in range(chance.randrange(1, 7))]}

    return {"books": [book() for _ in range(books)]}


def misread(node: Any, chance: random.Random, errors: float, distinct: int) -> Any:
    """A reading of a document: that share of values wrong, some fields and elements missing, arrays shuffled."""
    if isinstance(node, dict):
        return {
            key: misread(below, chance, errors, distinct) for key, below in node.items() if chance.random() > errors / 3
        }
    if isinstance(node, list):
        kept = [misread(below, chance, errors, distinct) for below in node if chance.random() > errors / 2]
        return chance.sample(kept, len(kept))
    return f"word{chance.randrange(distinct)}" if chance.random() < errors else node
