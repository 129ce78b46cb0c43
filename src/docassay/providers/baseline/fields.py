"""What a schema asks for, as a tree of fields with the words that may label each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from docassay.providers.dialects import Shape, inline, shape_of

__all__ = ["Field", "field_tree", "leaves", "likeness", "words"]

ABBREVIATIONS = {
    "no": "number", "nr": "number", "num": "number", "id": "number", "identifier": "number", "ref": "reference",
    "qty": "quantity", "desc": "description", "amt": "amount", "tel": "phone", "telephone": "phone", "mobile": "phone",
    "zip": "postcode", "dob": "birth", "addr": "address", "organisation": "company", "organization": "company",
    "begin": "start", "from": "start", "until": "end", "surname": "last", "dept": "department", "vat": "tax",
}  # fmt: skip
IDLE = frozenset({"of", "the", "on", "at", "in", "a", "an", "for", "and", "is", "was", "your", "our", "by"})
LONGEST_USEFUL_DESCRIPTION = 4
DESCRIPTION_COUNTS = 0.85
ALTERNATIVES = ("allOf", "anyOf", "oneOf")
DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Field:
    """One position of the schema."""

    path: tuple[str, ...]
    """Property names from the root; an array's items have the array's path."""
    kind: str
    """`object`, `array`, `string`, `number`, `integer` or `boolean`."""
    format: str | None
    enum: tuple[object, ...]
    phrases: tuple[tuple[frozenset[str], float], ...]
    """Words that label it, and how much such a label counts."""
    own: frozenset[str] = frozenset()
    """Words that are its own and not those of what it lies in; a label has at least one of them."""
    properties: tuple[Field, ...] = ()
    items: Field | None = None

    @property
    def name(self) -> str:
        return self.path[-1] if self.path else ""

    @property
    def is_scalar(self) -> bool:
        return self.kind not in ("object", "array")

    def likeness(self, label: frozenset[str]) -> float:
        """How well a label's words fit, from 0 to 1."""
        if self.own and not self.own & label:
            return 0.0
        return max((counts * likeness(phrase, label) for phrase, counts in self.phrases), default=0.0)


def field_tree(schema: Mapping[str, Any]) -> Field:
    """The schema's root; references are resolved. Raises ProviderError for a reference that cannot be."""
    return _field((), inline(schema), frozenset())


def leaves(field: Field) -> Iterator[Field]:
    """Scalars and arrays below `field`, through objects only."""
    if field.kind != "object":
        yield field
        return
    for child in field.properties:
        yield from leaves(child)


def words(text: str) -> frozenset[str]:
    """The words of a name or a label that say something, each in one form."""
    spread = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).lower().replace("e-mail", "email")
    found = re.findall(r"[^\W\d_]+|\d+", spread)
    return frozenset(_one_form(word) for word in found if word not in IDLE)


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that two labels have in common (Dice's coefficient)."""
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def _one_form(word: str) -> str:
    plain = ABBREVIATIONS.get(word, word)
    return plain[:-1] if len(plain) > 3 and plain.endswith("s") and not plain.endswith("ss") else plain


def _field(path: tuple[str, ...], node: Any, around: frozenset[str]) -> Field:
    shape: Shape = shape_of(node)
    parts = list(_parts(node))
    phrases = _phrases(path, parts, around)
    inside = around | (words(path[-1]) if path else words(_first(parts, "title") or ""))
    properties: dict[str, Field] = {}
    if shape.kind == "object" and len(path) < DEEPEST:
        for part in parts:
            for name, child in (part.get("properties") or {}).items():
                properties.setdefault(name, _field((*path, name), child, inside))
    items = next((part["items"] for part in parts if isinstance(part.get("items"), Mapping)), None)
    return Field(
        path,
        shape.kind,
        _first(parts, "format"),
        shape.enum,
        phrases,
        frozenset().union(*(phrase for phrase, _ in phrases)) - (around - _owner(path)),
        tuple(properties.values()),
        None if items is None or shape.kind != "array" else _field(path, items, around),
    )


def _phrases(
    path: tuple[str, ...], parts: list[Mapping[str, Any]], around: frozenset[str]
) -> tuple[tuple[frozenset[str], float], ...]:
    """Name, title, a short description, the name with and without the words of what it lies in.

    A `name` is also labelled by what it is the name of: `Employee: ...` for `employee.name`.
    """
    name = words(path[-1]) if path else frozenset()
    title = words(_first(parts, "title") or "")
    description = words(_first(parts, "description") or "")
    found = [(name, 1.0), (title, 1.0)]
    if len(description) <= LONGEST_USEFUL_DESCRIPTION:
        found.append((description, DESCRIPTION_COUNTS))
    found += [(name | around, 1.0), (name - around, 0.9)]
    found.append((_owner(path), DESCRIPTION_COUNTS))
    return tuple((phrase, counts) for phrase, counts in found if phrase)


def _owner(path: tuple[str, ...]) -> frozenset[str]:
    """The words of the object whose name a field is; none for other fields."""
    return words(path[-2]) if len(path) > 1 and words(path[-1]) == words("name") else frozenset()


def _first(parts: list[Mapping[str, Any]], key: str) -> str | None:
    return next((part[key] for part in parts if isinstance(part.get(key), str)), None)


def _parts(node: Any) -> Iterator[Mapping[str, Any]]:
    """A schema object and its alternatives, outermost first."""
    if isinstance(node, Mapping):
        yield node
        for key in ALTERNATIVES:
            for branch in node.get(key) or ():
                yield from _parts(branch)
