"""Which printed label names which field, and which text near it is the value: the best pairs first, each used once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from docassay.providers.baseline.fields import Field, leaves, words
from docassay.providers.baseline.pages import Line, Span
from docassay.providers.baseline.values import dates_in, read_value, split_list

__all__ = ["Filled", "fill_by_labels"]

SEPARATED = re.compile(r"^(.{1,60}?)\s*(?::|\.{3,}|(?:\. ){3,}|…+|_{3,})\s*(.*)$", re.DOTALL)
BULLET = re.compile(r"^[-•*–▪·]\s*(.+)$")
LEAST_FOR_TEXT = 0.66
LEAST_FOR_TYPED = 0.5
"""A value that reads as a date, a number or a member of an enumeration supports its label."""
IS_A_LABEL = 0.8
IS_A_HEADING = 0.8
RIGHT_HEADING, WRONG_HEADING, NO_HEADING = 0.15, -0.3, -0.1
BELOW, WITHOUT_SEPARATOR = -0.05, -0.08
NEAR_BELOW = 2.5
"""How far below its label a value may stand, in heights of the label."""
SAME_EDGE = 18.0
"""Points by which left edges may differ in one column."""
MOST_WORDS_OF_A_LABEL = 7


@dataclass(frozen=True, slots=True)
class Filled:
    """A field with its value."""

    field: Field
    value: object


@dataclass(frozen=True, slots=True)
class _Place:
    """Text that may be a label, with text that may be its value."""

    label: frozenset[str]
    label_span: int
    value: str
    value_span: int
    line: Line
    bonus: float
    least: float = 0.0
    """Likeness that is needed where the text alone does not show that it is a label."""


@dataclass(frozen=True, slots=True)
class _Pair:
    score: float
    field: Field
    place: _Place
    value: object


def fill_by_labels(root: Field, lines: tuple[Line, ...]) -> list[Filled]:
    """Values for the scalars and lists of `root` that stand beside or below their labels in `lines`."""
    fields = [field for field in _fillable(root) if not _is_table(field)]
    headings = _headings(root, lines)
    known = {id(span) for line in lines for span in line.spans if _names_any(fields, span)}
    places = [place for line in lines for place in _places(line, lines, known)]
    pairs = [pair for place in places for pair in _pairs(place, fields, headings[place.line.number])]
    filled = list(_best(pairs))
    return filled + _by_own_word(fields, filled, lines, known)


def _fillable(root: Field) -> Iterator[Field]:
    """Scalars, lists, and objects whose members are all dates (a period printed as one value)."""
    yield from leaves(root)
    for child in root.properties:
        if child.kind == "object":
            yield from _periods(child)


def _periods(field: Field) -> Iterator[Field]:
    if field.properties and all(child.format == "date" for child in field.properties):
        yield field
    for child in field.properties:
        if child.kind == "object":
            yield from _periods(child)


def _is_table(field: Field) -> bool:
    return field.kind == "array" and (field.items is None or not field.items.is_scalar)


def _headings(root: Field, lines: tuple[Line, ...]) -> dict[int, tuple[str, ...] | None]:
    """For each line, the path of the object whose name stands alone on a line above it."""
    objects = list(_objects(root))
    found: dict[int, tuple[str, ...] | None] = {}
    current: tuple[str, ...] | None = None
    for line in lines:
        label = words(line.spans[0].text) if len(line.spans) == 1 else frozenset()
        best = max(objects, key=lambda field: field.likeness(label), default=None)
        if best is not None and best.likeness(label) >= IS_A_HEADING:
            current = best.path
        found[line.number] = current
    return found


def _objects(field: Field) -> Iterator[Field]:
    for child in field.properties:
        if child.kind == "object" or _is_table(child):
            yield child
            yield from _objects(child)


def _names_any(fields: list[Field], span: Span) -> bool:
    """Whether a span is a label, or begins with one: then it is no value of another."""
    if span.text.rstrip().endswith(":"):
        return True
    separated = SEPARATED.match(span.text)
    label = words(separated.group(1) if separated else span.text)
    return any(field.likeness(label) >= IS_A_LABEL for field in fields)


def _places(line: Line, lines: tuple[Line, ...], known: set[int]) -> Iterator[_Place]:
    for number, span in enumerate(line.spans):
        separated = SEPARATED.match(span.text)
        label = words(separated.group(1) if separated else span.text)
        if len(label) > MOST_WORDS_OF_A_LABEL:
            continue
        if separated and separated.group(2):
            yield _Place(label, id(span), separated.group(2), id(span), line, 0.0)
            continue
        if id(span) not in known:
            yield from _run_on(span, line)
        after = line.spans[number + 1] if number + 1 < len(line.spans) else None
        if after is not None and id(after) not in known:
            yield _Place(label, id(span), after.text, id(after), line, 0.0)
        bullets = _bullets(span, line, lines)
        if bullets:
            yield _Place(label, id(span), "; ".join(bullets), id(span), line, 0.0)
            continue
        below = _below(span, line, lines)
        if below is not None and id(below) not in known:
            yield _Place(label, id(span), below.text, id(below), line, BELOW)


def _run_on(span: Span, line: Line) -> Iterator[_Place]:
    """A label and its value in one span with nothing between them: every place where the label may end."""
    pieces = span.text.split()
    for end in range(1, min(len(pieces), MOST_WORDS_OF_A_LABEL)):
        label = words(" ".join(pieces[:end]))
        yield _Place(label, id(span), " ".join(pieces[end:]), id(span), line, WITHOUT_SEPARATOR, IS_A_LABEL)


def _below(span: Span, line: Line, lines: tuple[Line, ...]) -> Span | None:
    """The nearest span below that begins where `span` begins."""
    for other in lines[line.number + 1 : line.number + 4]:
        if other.page != line.page or other.top - span.bottom > NEAR_BELOW * span.height:
            return None
        beneath = [candidate for candidate in other.spans if abs(candidate.left - span.left) <= SAME_EDGE]
        if beneath:
            return beneath[0]
    return None


def _bullets(span: Span, line: Line, lines: tuple[Line, ...]) -> list[str]:
    """The items of a bulleted list that follows."""
    items: list[str] = []
    for other in lines[line.number + 1 :]:
        match = BULLET.match(other.spans[0].text)
        if other.page != line.page or match is None or other.spans[0].left < span.left - SAME_EDGE:
            break
        items.append(match.group(1))
    return items


def _pairs(place: _Place, fields: list[Field], heading: tuple[str, ...] | None) -> Iterator[_Pair]:
    for field in fields:
        like = field.likeness(place.label)
        typed = field.kind not in ("string", "array") or field.format == "date" or bool(field.enum)
        if like < max(place.least, LEAST_FOR_TYPED if typed else LEAST_FOR_TEXT):
            continue
        value = _value(field, place.value)
        if value is not None:
            yield _Pair(like + place.bonus + _by_heading(field, heading), field, place, value)


def _value(field: Field, text: str) -> object | None:
    if field.kind == "object":
        dates = dates_in(text)
        return dates if len(dates) == len(field.properties) else None
    if field.kind == "array" and field.items is not None and field.items.kind == "string":
        return split_list(text) or None
    return read_value(field, text)


def _by_heading(field: Field, heading: tuple[str, ...] | None) -> float:
    if heading is None:
        return 0.0
    if field.path[: len(heading)] == heading:
        return RIGHT_HEADING
    return NO_HEADING if len(field.path) == 1 else WRONG_HEADING


def _best(pairs: list[_Pair]) -> Iterator[Filled]:
    """Pairs by falling score; a field is filled once, and a text is a label or a value once."""
    fields: set[tuple[str, ...]] = set()
    labels: set[int] = set()
    values: set[int] = set()
    for pair in sorted(pairs, key=lambda pair: (-pair.score, pair.place.line.number)):
        place = pair.place
        covered = {(*pair.field.path, child.name) for child in pair.field.properties} or {pair.field.path}
        if covered & fields or place.label_span in labels | values or place.value_span in values | labels:
            continue
        fields |= covered
        labels.add(place.label_span)
        values.add(place.value_span)
        if pair.field.kind != "object":
            yield Filled(pair.field, pair.value)
            continue
        assert isinstance(pair.value, list)
        yield from (Filled(child, value) for child, value in zip(pair.field.properties, pair.value, strict=True))


def _by_own_word(fields: list[Field], filled: list[Filled], lines: tuple[Line, ...], known: set[int]) -> list[Filled]:
    """Texts without a label that say themselves what they are, in large type, such as the name of a bank."""
    done = {item.field.path for item in filled}
    spans = [span for line in lines for span in line.spans if line.page == 0 and id(span) not in known]
    usual = sorted(span.height for span in spans)[len(spans) // 2] if spans else 0.0
    large = sorted((span for span in spans if span.height > 1.2 * usual), key=lambda span: -span.height)
    found = []
    for field in fields:
        if field.path in done or field.kind != "string" or field.format or field.enum:
            continue
        own = words(field.name)
        match = next((span for span in large if own < words(span.text)), None)
        if match is not None:
            found.append(Filled(field, match.text))
    return found
