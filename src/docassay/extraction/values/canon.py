"""Decides when two values are equal: the only equality there is, and its trace, under each metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from docassay.errors import ArgumentValueError
from docassay.extraction.values import omni, sound
from docassay.extraction.values.memory import Remembered
from docassay.extraction.values.reading import Reading, Trace


@dataclass(frozen=True, slots=True)
class ValueRules:
    """How one metric reads values."""

    metric: str
    """Name of the metric."""
    canon: Callable[[object], str]
    """JSON scalar to canonical key; two values are equal exactly when their keys are."""
    states_nothing: Callable[[object], bool]
    """Whether a scalar has no address at all."""
    trace_canon: Callable[[object, Trace | None], str]
    """`canon` by every rule in full, telling the trace what was done."""

    def read(self, raw: object) -> Reading:
        """How a value is read: its canonical form, the route and every rule that changed something."""
        trace = Trace()
        key = self.trace_canon(raw, trace)
        absent = self.states_nothing(raw) or trace.route == "absent"
        return Reading(raw, None if absent else key, trace.route, tuple(trace.steps), self.metric)

    @property
    def texts(self) -> Remembered:
        """Canonical keys of texts, remembered from document to document."""
        return _texts(self)


@cache
def _texts(rules: ValueRules) -> Remembered:
    return Remembered(rules.canon)


OMNI = ValueRules("omni/1", omni.canon, omni.states_nothing, omni.trace_canon)
SOUND = ValueRules("sound/1", sound.canon, sound.states_nothing, sound.trace_canon)
RULES = {rule.metric: rule for rule in (OMNI, SOUND)}
DEFAULT_METRIC = SOUND.metric
"""The metric whose rules hold where none is named."""


def rules(metric: str) -> ValueRules:
    """The value rules of a metric by its name (`omni/1`, `sound/1`).

    Raises ArgumentValueError for a name that is none.
    """
    found = RULES.get(metric)
    if found is None:
        raise ArgumentValueError(f"metric {metric!r} is unknown; known are {', '.join(RULES)}")
    return found
