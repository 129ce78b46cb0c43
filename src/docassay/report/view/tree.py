"""Decides how a document's verdicts stand as one tree, ground truth beside prediction, paired rows on one line.

The addresses of the verdicts are those after pairing, so the tree shows exactly what was scored; values that state
nothing have no address and no line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from docassay.report.view.verdict_table import VerdictRow

_STEP = re.compile(r"\[(?P<quoted>\"(?:[^\"\\]|\\.)*\")\]|\[(?P<index>p?\d+)\]|\.?(?P<key>[^.\[\]]+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TreeLine:
    """One line: a value, or an object, array or row that holds some."""

    depth: int
    label: str
    row: int | None
    """The verdict's id; None for what holds others."""
    verdict: str
    gold: str | None
    predicted: str | None
    wrong: int
    """Addresses below (or here) that are not matched."""
    values: int
    """Addresses below, or 1."""


@dataclass(slots=True)
class _Node:
    label: str
    row: VerdictRow | None = None
    children: dict[str, _Node] = field(default_factory=dict)
    wrong: int = 0
    values: int = 0


def steps_of(address: str) -> list[str]:
    """The steps of a printed address as labels: `rows[0]["a.b"]` -> `rows`, `[0]`, `a.b`."""
    steps: list[str] = []
    at = 0
    while at < len(address):
        found = _STEP.match(address, at)
        if found is None or found.end() == at:
            return [*steps, address[at:]]
        if found["quoted"] is not None:
            steps.append(str(json.loads(found["quoted"])))
        else:
            steps.append(f"[{found['index']}]" if found["index"] is not None else found["key"])
        at = found.end()
    return steps


def tree_lines(rows: Iterable[VerdictRow], only_wrong: bool = False) -> list[TreeLine]:
    """The document as lines from top to bottom; with `only_wrong`, without what is matched throughout."""
    root = _Node("")
    for row in rows:
        _place(root, row)
    _count(root)
    return list(_lines(root, -1, only_wrong))


def _place(root: _Node, row: VerdictRow) -> None:
    node = root
    for label in steps_of(row.address):
        node = node.children.setdefault(label, _Node(label))
    node.row = row


def _count(root: _Node) -> None:
    """Sums from the leaves up, without recursion, since documents may be nested deeply."""
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(node.children.values())
    for node in reversed(order):
        own = node.row is not None
        node.values = own + sum(child.values for child in node.children.values())
        here = node.row is not None and node.row.verdict != "matched"
        node.wrong = here + sum(child.wrong for child in node.children.values())


def _lines(root: _Node, depth: int, only_wrong: bool) -> Iterator[TreeLine]:
    stack = [(root, depth)]
    while stack:
        node, depth = stack.pop()
        if only_wrong and not node.wrong:
            continue
        if depth >= 0:
            yield _line(node, depth)
        stack.extend((child, depth + 1) for child in reversed(node.children.values()))


def _line(node: _Node, depth: int) -> TreeLine:
    row = node.row
    if row is None:
        return TreeLine(depth, node.label, None, "", None, None, node.wrong, node.values)
    return TreeLine(depth, node.label, row.id, row.verdict, row.gold, row.predicted, node.wrong, node.values)
