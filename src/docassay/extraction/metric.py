"""From two documents to a score: the metrics by name, and `score`.

A metric is a frozen bundle of rules: how documents are prepared, how a schema is read, when two values are equal, what
the pairing maximises and how surplus addresses are classed. The engine is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from docassay.core.interpreter import collector_paused, deeply
from docassay.core.signature import signature
from docassay.errors import ArgumentTypeError, ArgumentValueError
from docassay.extraction.address import print_address, print_unquoted, reading_order
from docassay.extraction.alignment import Aligner, Objective, shared_bound
from docassay.extraction.flatten import Flattener
from docassay.extraction.listing import list_verdicts
from docassay.extraction.order import resolve_order
from docassay.extraction.paired import PairedDocuments
from docassay.extraction.preparation import Preparation
from docassay.extraction.rows import Row
from docassay.extraction.schema import read_schema
from docassay.extraction.schema.complete import read_complete
from docassay.extraction.schema.node import SchemaReader
from docassay.extraction.schema.published import read_published
from docassay.extraction.score import COUNT_NAMES, METRIC_NAMES, MetricName, Score
from docassay.extraction.space import Space, keep_space, take_space
from docassay.extraction.tally import Tally, tally_of
from docassay.extraction.values import DEFAULT_METRIC, rules
from docassay.extraction.verdicts import Classing, Counts

__all__ = [
    "COUNT_NAMES",
    "DEFAULT_METRIC",
    "MEMORY_BUDGET",
    "METRICS",
    "METRIC_NAMES",
    "OMNI",
    "SOUND",
    "Metric",
    "Score",
    "find_metric",
    "score",
]


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


MEMORY_BUDGET: Final = 1_500_000_000
"""Bytes that the pairing of one array may take before it gives up being exact; 20,000 mixed rows need a tenth."""


def score(
    prediction: object,
    ground_truth: object,
    schema: object,
    *,
    metric: str = DEFAULT_METRIC,
    order_matters: Iterable[str] = (),
    verdicts: bool = False,
    memory_budget: int = MEMORY_BUDGET,
) -> Score:
    """Score one prediction against one ground truth under a JSON Schema.

    All three are JSON values as a parser gives them; none is changed. A prediction that is no object states nothing.
    `order_matters` names the arrays whose order counts (`lines`, `books[*].chapters`); `verdicts` asks for the list of
    all verdicts. `memory_budget` bounds, in bytes, the table that the pairing of one array may need; where it would be
    exceeded the pairing is approximated, and the score says so.
    Raises ArgumentTypeError, SchemaError or OrderError for arguments that cannot be used.
    """
    chosen = find_metric(metric)
    if ground_truth is not None and not isinstance(ground_truth, dict):
        raise ArgumentTypeError(
            f"the ground truth must be a JSON object or null, not a {type(ground_truth).__name__}; "
            'wrap a list as {"rows": [...]} and describe it so in the schema'
        )
    with collector_paused():
        return deeply(_score, prediction, ground_truth, schema, chosen, order_matters, verdicts, memory_budget)


def find_metric(name: str) -> Metric:
    """The metric of that name. Raises ArgumentValueError listing the names there are."""
    metric = METRICS.get(name)
    if metric is None:
        raise ArgumentValueError(f"there is no metric {name!r}; choose one of: {', '.join(METRICS)}")
    return metric


def _score(
    prediction: object,
    ground_truth: object,
    schema: object,
    metric: Metric,
    order_matters: Iterable[str],
    verdicts: bool,
    memory_budget: int,
) -> Score:
    root = read_schema(schema, metric.reader)
    ordered = resolve_order(
        order_matters,
        root,
        metric.preparation,
        documents=() if metric.schema_names_arrays else (prediction, ground_truth),
    )
    space = take_space(root, metric.preparation, frozenset(ordered.values()), rules(metric.name))
    on_both_sides = metric.preparation.sidecars_on_both_sides
    predicted_flat = Flattener(space, drop_sidecars=True, keep_raw=verdicts)
    gold_flat = Flattener(space, drop_sidecars=on_both_sides, keep_raw=verdicts)
    gold = gold_flat.document(ground_truth)
    predicted = predicted_flat.document(prediction)
    documents, tally, rounds = _best(space, metric, predicted, gold, memory_budget)
    counts = tally.counts()
    skipped = sorted(predicted_flat.skipped | gold_flat.skipped, key=reading_order)
    show = print_address if metric.preparation.names_skipped_by_field else print_unquoted
    approximated = tuple(sorted(documents.aligner.approximated, reverse=True))
    listed = list_verdicts(documents) if verdicts else None
    keep_space(space)
    return Score(
        status="scored" if counts.total or metric.nothing_is_zero else "nothing_to_score",
        metric=metric.name,
        signature=signature(
            metric.name, ordered, **({} if memory_budget == MEMORY_BUDGET else {"memory": memory_budget})
        ),
        counts=counts,
        gt_rows=tally.gt_rows,
        pred_rows=tally.pred_rows,
        matched_rows=tally.matched_rows,
        matching_exact=not approximated,
        approximated=approximated,
        skipped_open_maps=tuple(show(steps) for steps in skipped),
        verdicts=listed,
        rounds=rounds,
        _zero=0.0 if metric.nothing_is_zero else None,
        _documents=documents,
    )


def _best(
    space: Space, metric: Metric, predicted: Row, gold: Row, memory_budget: int
) -> tuple[PairedDocuments, Tally, int]:
    """The documents under the best pairing, its counts, and how many rounds of assignment it took."""
    objective = Objective(1 + predicted.content.size, 1)  # matched values first, then shared addresses
    aligner = Aligner(space, objective, memory=memory_budget, any_ratio=metric.ratio)
    documents = PairedDocuments(space, aligner, predicted, gold, metric.classing)
    tally = tally_of(documents)
    rounds = 1
    if metric.ratio:
        tally, rounds = _best_ratio(documents, tally)
    return documents, tally, rounds


def _beyond_reach(documents: PairedDocuments, counts: Counts) -> bool:
    """Whether no pairing has a better ratio than one that matches the most, and of those shares the most.

    Another one shares more only by matching at least one value less, and never more than all addresses that could meet.
    """
    if documents.aligner.approximated:
        return False
    more = shared_bound(documents.predicted.content, documents.gold.content) - counts.matched - counts.misread
    return (counts.matched - 1) * counts.total <= counts.matched * (counts.total - more)


def _best_ratio(documents: PairedDocuments, tally: Tally) -> tuple[Tally, int]:
    """Maximise matched / total over all pairings, starting from any (Dinkelbach 1967).

    Each round maximises matched + ratio * shared for the ratio reached so far. The ratio only grows and stops at the
    optimum; ties go to more matched values. If nothing depends on the ratio, the first pairing is the best.
    """
    rounds = 1
    if documents.aligner.settled or _beyond_reach(documents, tally.counts()):
        return tally, rounds
    size = 1 + min(documents.predicted.content.size, documents.gold.content.size)
    reached = None
    while not documents.aligner.settled:
        counts = tally.counts()
        if reached is not None and counts.matched * reached.total <= reached.matched * counts.total:
            break
        reached = counts
        # scaled by total, and by size so that among equals the one with more matched values wins
        documents.aligner.reweigh(Objective(counts.total * size + 1, counts.matched * size))
        tally = tally_of(documents)
        rounds += 1
    return tally, rounds
