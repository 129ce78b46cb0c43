"""From two documents to a score: the metrics by name, and `score`.

A metric is a frozen bundle of rules: how documents are prepared, how a schema is read, when two values are equal, what
the pairing maximises and how surplus addresses are classed. The engine is one.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, TypeVar

from docassay.core.signature import signature
from docassay.errors import ArgumentTypeError, ArgumentValueError
from docassay.extraction.address import Steps, print_address, print_unquoted, reading_order
from docassay.extraction.alignment import Aligner, Objective
from docassay.extraction.flatten import Flattener, Row, Space
from docassay.extraction.order import resolve_order
from docassay.extraction.preparation import Preparation
from docassay.extraction.schema import read_schema
from docassay.extraction.schema.complete import read_complete
from docassay.extraction.schema.node import SchemaReader
from docassay.extraction.schema.published import read_published
from docassay.extraction.values import rules
from docassay.extraction.verdicts import Classing, Comparison, Counts, Tally, Verdict

MetricName: TypeAlias = Literal["omni/1", "sound/1"]
Status: TypeAlias = Literal["scored", "nothing_to_score"]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: a name and its rules."""

    name: MetricName
    preparation: Preparation
    reader: SchemaReader
    classing: Classing
    ratio: bool  # the pairing maximises accuracy itself; else matched values, then shared addresses
    schema_names_arrays: bool  # `order_matters` takes the schema's arrays only; else any list of either document too
    nothing_is_zero: bool  # a document that states nothing scores 0; else its metrics are null
    exact_decimals: bool  # decimals are compared as written, never through a double


OMNI: Final = Metric(
    name="omni/1",
    preparation=Preparation(
        asks_schema=False, sidecars_on_both_sides=False, names_skipped_by_field=False, prices_by_position=True
    ),
    reader=read_published,
    classing=Classing(unmet_elements_are_invented=False),
    ratio=False,
    schema_names_arrays=False,
    nothing_is_zero=True,
    exact_decimals=False,
)
SOUND: Final = Metric(
    name="sound/1",
    preparation=Preparation(
        asks_schema=True, sidecars_on_both_sides=True, names_skipped_by_field=True, prices_by_position=False
    ),
    reader=read_complete,
    classing=Classing(unmet_elements_are_invented=True),
    ratio=True,
    schema_names_arrays=True,
    nothing_is_zero=False,
    exact_decimals=True,
)
METRICS: Final[Mapping[str, Metric]] = MappingProxyType({metric.name: metric for metric in (OMNI, SOUND)})
DEFAULT_METRIC: Final[MetricName] = "sound/1"


@dataclass(frozen=True, slots=True)
class Score:
    """What one prediction is worth against one ground truth.

    Metrics are fractions in 0–1. `status` is "nothing_to_score" where neither document states anything that can be
    scored; the metrics are then None (0.0 under omni/1, as published). `gt_rows`, `pred_rows`, `matched_rows` count rows
    that are objects. `matching_exact` is False, and `approximated` lists the sizes of the arrays concerned, where a
    memory budget forced a pairing that may not be the best one. `skipped_open_maps` names what the schema leaves open.
    """

    status: Status
    metric: MetricName
    signature: str
    counts: Counts
    gt_rows: int
    pred_rows: int
    matched_rows: int
    matching_exact: bool
    approximated: tuple[int, ...]
    skipped_open_maps: tuple[str, ...]
    verdicts: tuple[Verdict, ...] | None
    rounds: int = field(compare=False, default=1)
    _zero: float | None = field(repr=False, default=None)
    _comparison: Comparison | None = field(repr=False, compare=False, default=None)

    @property
    def accuracy(self) -> float | None:
        """matched / total."""
        return self._ratio(self.counts.matched, self.counts.total)

    @property
    def precision(self) -> float | None:
        """matched / asserted."""
        return self._ratio(self.counts.matched, self.counts.asserted)

    @property
    def recall(self) -> float | None:
        """matched / gold."""
        return self._ratio(self.counts.matched, self.counts.gold)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall."""
        if self.precision is None or self.recall is None:
            return None
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def addresses_found(self) -> float | None:
        """(matched + misread) / total."""
        return self._ratio(self.counts.matched + self.counts.misread, self.counts.total)

    @property
    def addresses_read_right(self) -> float | None:
        """matched / (matched + misread)."""
        return self._ratio(self.counts.matched, self.counts.matched + self.counts.misread)

    def by_field(self) -> dict[str, Counts]:
        """The six counts of every field, in reading order; they sum to `counts`."""
        if self._comparison is None:
            raise ArgumentValueError("this score was copied without its documents; ask for by_field() where it is made")
        return _deeply(self._comparison.by_field)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values, verdicts included when they were asked for."""
        counts = self.counts
        found: dict[str, Any] = {
            "metric": self.metric,
            "signature": self.signature,
            "status": self.status,
            **{name: getattr(self, name) for name in METRIC_NAMES},
            **{name: getattr(counts, name) for name in COUNT_NAMES},
            "gt_rows": self.gt_rows,
            "pred_rows": self.pred_rows,
            "matched_rows": self.matched_rows,
            "matching_exact": self.matching_exact,
            "approximated": list(self.approximated),
            "skipped_open_maps": list(self.skipped_open_maps),
        }
        if self.verdicts is not None:
            names = Verdict.__dataclass_fields__
            found["verdicts"] = [{name: getattr(verdict, name) for name in names} for verdict in self.verdicts]
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles leave the documents behind."""
        return _rebuilt, tuple(
            None if name == "_comparison" else getattr(self, name) for name in self.__dataclass_fields__
        )

    def _ratio(self, part: int, whole: int) -> float | None:
        return part / whole if whole else self._zero


METRIC_NAMES: Final = ("accuracy", "precision", "recall", "f1", "addresses_found", "addresses_read_right")
_MEMORY: Final = 1_500_000_000
COUNT_NAMES: Final = (
    "total",
    "matched",
    "misread",
    "unfound",
    "fabricated",
    "invented_item",
    "invented_field",
    "asserted",
    "gold",
)


def score(
    prediction: object,
    ground_truth: object,
    schema: object,
    *,
    metric: str = DEFAULT_METRIC,
    order_matters: Iterable[str] = (),
    verdicts: bool = False,
) -> Score:
    """Score one prediction against one ground truth under a JSON Schema.

    All three are JSON values as a parser gives them; none is changed. A prediction that is no object states nothing.
    `order_matters` names the arrays whose order counts (`lines`, `books[*].chapters`); `verdicts` asks for the list of
    all verdicts. Raises ArgumentTypeError, SchemaError or OrderError for arguments that cannot be used.
    """
    chosen = find_metric(metric)
    if ground_truth is not None and not isinstance(ground_truth, dict):
        raise ArgumentTypeError(
            f"the ground truth must be a JSON object or null, not a {type(ground_truth).__name__}; "
            'wrap a list as {"rows": [...]} and describe it so in the schema'
        )
    with _collector_paused():
        return _deeply(_score, prediction, ground_truth, schema, chosen, order_matters, verdicts)


def find_metric(name: str) -> Metric:
    """The metric of that name. Raises ArgumentValueError listing the names there are."""
    metric = METRICS.get(name)
    if metric is None:
        raise ArgumentValueError(f"there is no metric {name!r}; choose one of: {', '.join(METRICS)}")
    return metric


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Scoring makes many objects and no cycles: looking for cycles meanwhile can cost more than the scoring."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _score(
    prediction: object,
    ground_truth: object,
    schema: object,
    metric: Metric,
    order_matters: Iterable[str],
    verdicts: bool,
) -> Score:
    root = read_schema(schema, metric.reader)
    ordered = resolve_order(
        order_matters,
        root,
        metric.preparation,
        documents=() if metric.schema_names_arrays else (prediction, ground_truth),
    )
    space = Space(root, rules(metric.name), metric.preparation, frozenset(ordered.values()), keep_raw=verdicts)
    predicted_flat = Flattener(space, drop_sidecars=True)
    gold_flat = Flattener(space, drop_sidecars=metric.preparation.sidecars_on_both_sides)
    gold = gold_flat.document(ground_truth)
    predicted = predicted_flat.document(prediction)
    space.forget_raw()
    comparison, tally, rounds = _best(space, metric, predicted, gold)
    counts = tally.counts()
    skipped = sorted(predicted_flat.skipped | gold_flat.skipped, key=reading_order)
    show = print_address if metric.preparation.names_skipped_by_field else print_unquoted
    approximated = tuple(sorted(comparison.aligner.approximated, reverse=True))
    return Score(
        status="scored" if counts.total or metric.nothing_is_zero else "nothing_to_score",
        metric=metric.name,
        signature=signature(metric.name, ordered),
        counts=counts,
        gt_rows=tally.gt_rows,
        pred_rows=tally.pred_rows,
        matched_rows=tally.matched_rows,
        matching_exact=not approximated,
        approximated=approximated,
        skipped_open_maps=tuple(show(steps) for steps in skipped),
        verdicts=comparison.verdicts() if verdicts else None,
        rounds=rounds,
        _zero=0.0 if metric.nothing_is_zero else None,
        _comparison=comparison,
    )


def _best(space: Space, metric: Metric, predicted: Row, gold: Row) -> tuple[Comparison, Tally, int]:
    """The comparison under the best pairing, its counts, and how many rounds of assignment it took."""
    objective = Objective(1 + predicted.content.size, 1)  # matched values first, then shared addresses
    aligner = Aligner(space, objective, memory=_MEMORY, any_ratio=metric.ratio)
    comparison = Comparison(space, aligner, predicted, gold, metric.classing)
    tally = comparison.tally()
    rounds = 1
    if metric.ratio:
        tally, rounds = _best_ratio(comparison, tally)
    return comparison, tally, rounds


def _best_ratio(comparison: Comparison, tally: Tally) -> tuple[Tally, int]:
    """Maximise matched / total over all pairings, starting from any (Dinkelbach 1967).

    Each round maximises matched + ratio * shared for the ratio reached so far. The ratio only grows and stops at the
    optimum; ties go to more matched values. If nothing depends on the ratio, the first pairing is the best.
    """
    size = 1 + min(comparison.predicted.content.size, comparison.gold.content.size)
    rounds = 1
    reached = None
    while not comparison.aligner.settled:
        counts = tally.counts()
        if reached is not None and counts.matched * reached.total <= reached.matched * counts.total:
            break
        reached = counts
        # scaled by total, and by size so that among equals the one with more matched values wins
        comparison.aligner.reweigh(Objective(counts.total * size + 1, counts.matched * size))
        tally = comparison.tally()
        rounds += 1
    return tally, rounds


def _deeply(function: Callable[..., Result], *arguments: object) -> Result:
    """Call; where documents are nested deeper than the interpreter's stack, call again on a stack that is deep enough."""
    try:
        return function(*arguments)
    except RecursionError:
        pass
    outcome: list[Result] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(function(*arguments))
        except RecursionError:
            failure.append(ArgumentValueError(f"the documents are nested deeper than {_DEEP_FRAMES // 10} levels"))
        except BaseException as error:  # noqa: BLE001  # handed to the caller below
            failure.append(error)

    limit, stack = sys.getrecursionlimit(), threading.stack_size()
    threading.stack_size(_DEEP_STACK)
    sys.setrecursionlimit(max(limit, _DEEP_FRAMES))
    try:
        thread = threading.Thread(target=run, name="docassay-deep")
        thread.start()
        thread.join()
    finally:
        threading.stack_size(stack)
        sys.setrecursionlimit(limit)
    if failure:
        raise failure[0]
    return outcome[0]


_DEEP_FRAMES: Final = 200_000
_DEEP_STACK: Final = 512 * 1024 * 1024


def _rebuilt(*values: Any) -> Score:
    return Score(*values)
