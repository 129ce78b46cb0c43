"""Decides what a benchmark is: one run per configuration, predicted side by side, scored alike, ranked with intervals.

runs/<provider>-<digest>/                  a predictions directory; the digest is of the resolved settings
runs/<provider>-<digest>/score/            the run that scores it
runs/leaderboard.json                      what came out
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docassay.core.filenames import safe_name
from docassay.errors import ArgumentValueError, ManifestError, RunMismatchError
from docassay.extraction.metric import DEFAULT_METRIC, find_metric
from docassay.pipelines.interrupts import Stop
from docassay.pipelines.predict_table import Order, Predicted, check_order, predict_rows, run_interruptible
from docassay.pipelines.predictions import PREDICTING, Predictions, Row, next_step, settings_digest
from docassay.pipelines.score_table import TableRun, score_table
from docassay.pipelines.spending import Progress, Tally
from docassay.providers.contract import DEFAULT_TIMEOUT, Credentials, Provider, RetryPolicy
from docassay.providers.registry import Configured, check_packages, configure, open_provider, read_credentials
from docassay.runs.manifest import ID, column_faults
from docassay.runs.sources import Source, open_source
from docassay.runs.store import Store

if TYPE_CHECKING:
    from docassay.core.statistics.intervals import Interval

__all__ = [
    "Benchmark",
    "Limits",
    "Place",
    "Plan",
    "PlannedRun",
    "benchmark",
    "plan_benchmark",
    "run_benchmark",
    "run_name",
]

LEADERBOARD = "leaderboard.json"
SCORE = "score"
JOBS = "jobs.parquet"
DIGEST_CHARACTERS = 12


@dataclass(frozen=True, slots=True)
class Limits:
    """What holds for every run of a benchmark; see `docassay.pipelines.predict_table.Order`."""

    root: str | None = None
    workers: int | None = None
    timeout: float = DEFAULT_TIMEOUT
    limit: int | None = None
    max_cost: float | None = None
    """US dollars per run."""
    retry_errors: bool = False
    retry: RetryPolicy = field(default_factory=RetryPolicy)


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One configuration, and what is left to do for it."""

    name: str
    order: Order
    answered: int
    """Documents whose answer stands."""
    to_predict: int
    cost_stated: Mapping[str, float]
    """What the provider stated so far for this run, by unit."""
    cost_documents: int
    """Documents that this is the cost of."""

    @property
    def configured(self) -> Configured:
        """The provider and its resolved options."""
        return self.order.configured

    @property
    def costs_money(self) -> bool:
        """Whether running it can."""
        return self.to_predict > 0 and not self.configured.spec.free

    @property
    def cost_known(self) -> str:
        """What is known of its cost before it is run; nothing is estimated that nobody stated."""
        spec = self.configured.spec
        if spec.free:
            return "free"
        if self.cost_documents:
            parts = [f"{amount / self.cost_documents:.4g} {unit}" for unit, amount in self.cost_stated.items()]
            return f"{' + '.join(parts)} per document so far ({self.cost_documents} documents)"
        return f"unknown; stated afterwards in {spec.cost_unit}" if spec.cost_unit else "unknown; never stated"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a benchmark is going to do."""

    manifest: str
    out: str
    documents: int
    to_score: int
    """Documents with a ground truth."""
    metric: str
    runs: tuple[PlannedRun, ...]
    root: str | None = None

    @property
    def costs_money(self) -> bool:
        """Whether it can: a question is due."""
        return any(run.costs_money for run in self.runs)


@dataclass(frozen=True, slots=True)
class Place:
    """One line of the leaderboard."""

    run: str
    provider: str
    options: Mapping[str, object]
    predicted: Mapping[str, object]
    """See `docassay.pipelines.predict_table.Predicted.as_dict`."""
    score_run: str | None
    """The run directory of the scores; None where there was nothing to score."""
    documents: int
    scored: int
    coverage: float | None
    accuracy: Interval | None
    """Mean accuracy with failures counted as 0, which is what the places go by."""
    accuracy_scored: Interval | None
    """Mean accuracy over what was scored."""
    unified: Interval | None
    """Mean of the suites' means, failures counted as 0; None without suites."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """What a benchmark came to."""

    out: str
    metric: str
    leaderboard: tuple[Place, ...]
    """Best first."""
    stopped: Mapping[str, str]
    """Runs that left documents unanswered, and why."""
    interrupted: bool = False

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)


Watch = Callable[[str, Progress], None]


def benchmark(
    manifest: str | Path,
    out: str | Path,
    *,
    providers: Sequence[str],
    options: Mapping[str, object] | None = None,
    metric: str | None = None,
    limits: Limits | None = None,
    environment: Mapping[str, str] | None = None,
    watch: Watch | None = None,
    stop: Stop | None = None,
) -> Benchmark:
    """Plan and run a benchmark; safe to interrupt and to run again. See `plan_benchmark` and `run_benchmark`."""
    plan = plan_benchmark(
        manifest, out, providers=providers, options=options, metric=metric, limits=limits, environment=environment
    )
    return run_benchmark(plan, environment=environment, watch=watch, stop=stop)


def plan_benchmark(
    manifest: str | Path,
    out: str | Path,
    *,
    providers: Sequence[str],
    options: Mapping[str, object] | None = None,
    metric: str | None = None,
    limits: Limits | None = None,
    environment: Mapping[str, str] | None = None,
) -> Plan:
    """What a benchmark would do; nothing is sent or written.

    Args:
        options: for a provider its options, or a list of them: one configuration each.

    Raises:
        ArgumentValueError, CredentialError, MissingDependencyError, ManifestError: what makes it impossible.
    """
    limits = limits or Limits()
    source = open_source(str(manifest))
    name = find_metric(metric or DEFAULT_METRIC).name
    faults = column_faults(source.schema, PREDICTING)
    if faults:
        raise ManifestError(f"{manifest}: {'; '.join(faults)}")
    configurations = _configurations(providers, options or {})
    orders = [_order(str(manifest), str(out), configured, limits) for configured in configurations]
    for order in orders:
        check_order(order)
        check_packages(order.configured.spec)
        read_credentials(order.configured.spec, os.environ if environment is None else environment)
    rows, to_score = _survey(source, limits.limit)
    runs = tuple(_planned(order, rows) for order in orders)
    return Plan(str(manifest), str(out), len(rows), to_score, name, runs, limits.root)


def run_benchmark(
    plan: Plan,
    *,
    environment: Mapping[str, str] | None = None,
    watch: Watch | None = None,
    stop: Stop | None = None,
) -> Benchmark:
    """Predict all runs side by side on one event loop, score them one after the other, and rank them.

    What stops one provider does not stop the others. An interrupted benchmark is not scored; run again, it goes on.
    """
    stop = stop or Stop()
    tell = watch or (lambda name, progress: None)
    predicted = run_interruptible(stop, lambda stop: _predict_all(plan, stop, tell, environment))
    stopped = {run.name: done.stopped for run, done in zip(plan.runs, predicted, strict=True) if done.stopped}
    if any(done.interrupted for done in predicted):
        return Benchmark(plan.out, plan.metric, (), stopped, interrupted=True)
    places = [_place(plan, run, done) for run, done in zip(plan.runs, predicted, strict=True)]
    result = Benchmark(plan.out, plan.metric, tuple(sorted(places, key=_rank)), stopped)
    text = json.dumps(result.as_dict(), ensure_ascii=False, allow_nan=False, indent=2)
    Store(plan.out).write(LEADERBOARD, text.encode() + b"\n")
    return result


def run_name(configured: Configured) -> str:
    """The name of a run: the provider, and a digest of all its resolved settings."""
    provider = re.sub(r"[^A-Za-z0-9._-]+", "-", configured.name).strip("-.")
    return f"{provider}-{settings_digest(configured)[:DIGEST_CHARACTERS]}"


def _configurations(providers: Sequence[str], options: Mapping[str, object]) -> list[Configured]:
    """One configuration per provider, or one per entry of its list of options. All faults are told at once."""
    faults = [f"options for {name!r}, which is not among the providers" for name in options if name not in providers]
    found: dict[str, Configured] = {}
    for name in dict.fromkeys(providers):
        given = options.get(name, {})
        for entry in given if isinstance(given, list) else [given]:
            try:
                configured = configure(name, _object(name, entry))
            except ArgumentValueError as error:
                faults.append(str(error))
                continue
            if found.setdefault(run_name(configured), configured) is not configured:
                faults.append(f"{name} is configured twice as {json.dumps(configured.settings['options'])}")
    if faults:
        raise ArgumentValueError("; ".join(faults))
    if not found:
        raise ArgumentValueError("a benchmark needs at least one provider")
    return list(found.values())


def _object(name: str, entry: object) -> Mapping[str, object]:
    if not isinstance(entry, Mapping):
        raise ArgumentValueError(f"options of {name}: an object or a list of objects, not {json.dumps(entry)}")
    return entry


def _order(manifest: str, out: str, configured: Configured, limits: Limits) -> Order:
    return Order(
        manifest=manifest,
        out=f"{out.rstrip('/')}/{run_name(configured)}",
        configured=configured,
        root=limits.root,
        workers=limits.workers,
        timeout=limits.timeout,
        limit=limits.limit,
        max_cost=limits.max_cost,
        retry_errors=limits.retry_errors,
        retry=limits.retry,
    )


def _survey(source: Source, limit: int | None) -> tuple[list[Row], int]:
    """The documents, and how many of them have a ground truth."""
    rows: list[Row] = []
    to_score = 0
    for batch in source.batches():
        room = len(batch) if limit is None else limit - len(rows)
        part = batch.slice(0, max(0, room))
        ids = part.column(part.schema.get_field_index(ID)).to_pylist()
        rows += [Row(str(doc_id), safe_name(str(doc_id) or "?"), None) for doc_id in ids]
        if "gt_path" in part.schema.names:
            gold = part.column(part.schema.get_field_index("gt_path"))
            to_score += len(gold) - gold.null_count
    return rows, to_score


def _planned(order: Order, rows: list[Row]) -> PlannedRun:
    kept = Predictions(Store(order.out)).kept(rows)
    collects = order.configured.spec.jobs
    standing = [
        found for found in kept.values() if not next_step(found, retry_errors=order.retry_errors, collects=collects).ask
    ]
    tally = Tally()
    for found in standing:
        tally.add(found)
    return PlannedRun(
        name=run_name(order.configured),
        order=order,
        answered=len(standing),
        to_predict=len(rows) - len(standing),
        cost_stated=tally.progress(len(rows)).cost,
        cost_documents=sum(found.cost is not None for found in standing),
    )


async def _predict_all(plan: Plan, stop: Stop, watch: Watch, environment: Mapping[str, str] | None) -> list[Predicted]:
    """All runs at once, if all can be opened; a fault of one (a lock, a full disk) is raised after the others ended."""

    async def one(run: PlannedRun, opened: tuple[Provider, Credentials]) -> Predicted:
        return await predict_rows(run.order, stop, lambda progress: watch(run.name, progress), opened=opened)

    opened = [open_provider(run.configured, environment=environment, retry=run.order.retry) for run in plan.runs]
    tasks = [one(run, provider) for run, provider in zip(plan.runs, opened, strict=True)]
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    done: list[Predicted] = []
    for result in ended:
        if isinstance(result, BaseException):
            raise result
        done.append(result)
    return done


def _place(plan: Plan, run: PlannedRun, predicted: Predicted) -> Place:
    scored = _score(plan, run, predicted) if plan.to_score else None
    flat = scored.summary.flat if scored is not None else None
    unified = scored.summary.unified if scored is not None else None
    return Place(
        run=run.name,
        provider=run.configured.name,
        options=dict(run.configured.settings["options"]),  # type: ignore[call-overload]
        predicted=predicted.as_dict(),
        score_run=None if scored is None else scored.path,
        documents=plan.documents if flat is None else flat.documents,
        scored=0 if flat is None else flat.scored,
        coverage=None if flat is None else flat.coverage,
        accuracy=None if flat is None else flat.means_failures_zero["accuracy"],
        accuracy_scored=None if flat is None else flat.means["accuracy"],
        unified=None if unified is None else unified.means_failures_zero["accuracy"],
    )


def _score(plan: Plan, run: PlannedRun, predicted: Predicted) -> TableRun:
    """Score a run's documents that have a ground truth. Scores of earlier predictions are replaced: they follow."""
    manifest = predicted.manifest
    if plan.to_score < plan.documents:
        manifest = _with_ground_truth(Store(run.order.out), manifest)
    out = f"{run.order.out}/{SCORE}"
    try:
        return score_table(manifest, out, metric=plan.metric, root=plan.root)
    except RunMismatchError:
        return score_table(manifest, out, metric=plan.metric, root=plan.root, overwrite=True)


def _with_ground_truth(store: Store, manifest: str) -> str:
    """A manifest of those documents that can be scored; its path."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = open_source(manifest)
    with store.writing(JOBS) as file, pq.ParquetWriter(file, source.schema, compression="zstd") as writer:
        for batch in source.batches():
            gold = batch.column(batch.schema.get_field_index("gt_path"))
            writer.write_table(pa.Table.from_batches([batch.filter(gold.is_valid())]))
    return str(store.local / JOBS) if store.local is not None else f"{store.url}/{JOBS}"


def _rank(place: Place) -> tuple[bool, float, str]:
    """Best first; without a score last; equal ones by name."""
    estimate = place.accuracy.estimate if place.accuracy is not None else None
    return (estimate is None, -(estimate or 0.0), place.run)
