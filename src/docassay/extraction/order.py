"""Which arrays' order counts: the names in `order_matters`, checked against the arrays there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from docassay.errors import ArgumentTypeError, ArgumentValueError, OrderError
from docassay.extraction.address import ANY, Steps, parse_name, print_name
from docassay.extraction.preparation import Preparation
from docassay.extraction.schema import SchemaNode
from docassay.extraction.schema.node import arrays_of


def resolve_order(
    names: Iterable[str], schema: SchemaNode, preparation: Preparation, *, documents: tuple[object, ...]
) -> dict[str, Steps]:
    """Each name's path. With `documents`, lists in them are arrays too, raw and prepared (the published rule).

    Raises ArgumentTypeError for what is no list of names, OrderError for an unknown or ambiguous name.
    """
    if isinstance(names, str):
        raise ArgumentTypeError(
            f"order_matters must be a list of array names, not the text {names!r}; write [{names!r}]"
        )
    try:
        wanted = list(names)
    except TypeError:
        raise ArgumentTypeError(f"order_matters must be a list of array names, not a {type(names).__name__}") from None
    if documents and _may_be_ambiguous(schema, preparation, documents):
        _refuse_ambiguity(_known(schema, preparation, documents))
    if not wanted:
        return {}
    return dict(_resolved(wanted, schema, preparation, documents))


def _resolved(
    wanted: list[str], schema: SchemaNode, preparation: Preparation, documents: tuple[object, ...]
) -> Iterator[tuple[str, Steps]]:
    known = {print_name(path): path for path in _known(schema, preparation, documents)} if documents else {}
    for name in wanted:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"order_matters holds {name!r}; every entry must be the name of an array")
        path = known.get(name) if documents else _declared(name, schema)
        if path is None:
            there = known if documents else [print_name(path) for path in arrays_of(schema)]
            raise OrderError(f"order_matters names {name!r}, which is no array here; {_listed(sorted(there))}")
        yield print_name(path), path


def _declared(name: str, schema: SchemaNode) -> Steps | None:
    try:
        path = parse_name(name)
    except ArgumentValueError:
        return None
    node: SchemaNode | None = schema
    for step in path:
        if node is None:
            return None
        node = node.child(step) if isinstance(step, str) else node.element()
    return path if node is not None and node.is_array else None


def _known(schema: SchemaNode, preparation: Preparation, documents: Iterable[object]) -> set[Steps]:
    found = set(arrays_of(schema, most=10_000))
    for document in documents:
        found.update(_lists(document, None))
        found.update(_lists(document, preparation))
    return found


def _lists(document: object, preparation: Preparation | None) -> Iterator[Steps]:
    stack: list[tuple[Any, Steps]] = [(document, ())]
    while stack:
        value, path = stack.pop()
        if preparation is not None:
            value = preparation.unwrap(value, None)
        if isinstance(value, dict):
            stack.extend((below, (*path, key)) for key, below in value.items() if isinstance(key, str))
        elif isinstance(value, list):
            if path:
                yield path
            stack.extend((below, (*path, ANY)) for below in value)


def _may_be_ambiguous(schema: SchemaNode, preparation: Preparation, documents: tuple[object, ...]) -> bool:
    """Only an empty key at the root can make two names alike."""
    if schema.child("") is not None:
        return True
    return any(
        isinstance(root, Mapping) and "" in root
        for document in documents
        for root in (document, preparation.unwrap(document, None))
    )


def _refuse_ambiguity(known: set[Steps]) -> None:
    names: dict[str, Steps] = {}
    for path in sorted(known, key=str):
        other = names.setdefault(print_name(path), path)
        if other != path:
            raise OrderError(
                f"two different arrays are both written {print_name(path)!r}, because of an empty key at the root; "
                "rename the key, or score with sound/1, which tells them apart"
            )


def _listed(names: list[str]) -> str:
    return f"the arrays are: {', '.join(names)}" if names else "there are no arrays"
