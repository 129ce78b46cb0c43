"""What is told about a value: the records that a reading and a comparison are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Fold:
    """One named rule that rewrites text, with a sentence that a reader can disagree with."""

    name: str
    """Short name, stable enough to group differences by."""
    sentence: str
    """What the rule does and, where it is not obvious, why."""
    apply: Callable[[str], str]
    """The rule itself: text in, text out."""


@dataclass(frozen=True, slots=True)
class Step:
    """One rule that changed something on the way from a raw value to its canonical form."""

    name: str
    """Name of the rule."""
    before: str
    """The text the rule met."""
    after: str
    """The text it left."""
    sentence: str
    """What the rule does, in words."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How one value is read under one metric."""

    raw: object
    """The value as it stands in the document."""
    canonical: str | None
    """What it is compared as; None when it states nothing."""
    route: str
    """What it was taken for: absent, boolean, number, date, time, text, and what else the metric knows."""
    steps: tuple[Step, ...]
    """Every rule that changed something, in order."""
    metric: str
    """The metric whose rules were applied."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether two values are equal under one metric, and why."""

    a: Reading
    """How the first value is read."""
    b: Reading
    """How the second value is read."""
    equal: bool
    """Whether their canonical forms are the same."""
    reason: str
    """One sentence that names what makes them equal or keeps them apart."""


@dataclass(slots=True)
class Trace:
    """Collects the route and the steps while a value is read."""

    route: str = ""
    """The route taken; set once it is known."""
    steps: list[Step] = field(default_factory=list)
    """The steps so far."""

    def note(self, name: str, before: str, after: str, sentence: str) -> None:
        """Record a step if it changed something."""
        if before != after:
            self.steps.append(Step(name, before, after, sentence))


def apply_folds(text: str, folds: tuple[Fold, ...], trace: Trace | None) -> str:
    """Run the folds in order; with a trace, every one that changes the text is noted."""
    if trace is None:
        for fold in folds:
            text = fold.apply(text)
        return text
    for fold in folds:
        after = fold.apply(text)
        trace.note(fold.name, text, after, fold.sentence)
        text = after
    return text


def note(trace: Trace | None, name: str, before: str, after: str, sentence: str) -> None:
    """Record a step, where there is a trace and something changed."""
    if trace is not None:
        trace.note(name, before, after, sentence)


def routed(trace: Trace | None, route: str, key: str) -> str:
    """The key, its route told to the trace."""
    if trace is not None:
        trace.route = route
    return key
