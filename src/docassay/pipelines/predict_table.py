"""Predictions for a table, or for one document, from one provider: what the command line and Python call.

`docassay.pipelines.prediction_run` decides what happens to each document.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from docassay.errors import ArgumentValueError, DocumentError, MissingDependencyError
from docassay.pipelines.interrupts import Stop, interruptible
from docassay.pipelines.prediction_run import Order, Predicted, PredictionRun, Watch
from docassay.pipelines.predictions import Predictions
from docassay.pipelines.questions import document_fault, file_name, read_question
from docassay.pipelines.spending import Progress
from docassay.providers.asking import extract
from docassay.providers.contract import (
    DEFAULT_TIMEOUT,
    Budget,
    Credentials,
    Document,
    ExtractionResult,
    ExtractionTask,
    Provider,
    RetryPolicy,
)
from docassay.providers.registry import configure, open_provider
from docassay.runs.files import read_document
from docassay.runs.lock import locked
from docassay.runs.sources import open_source
from docassay.runs.store import Store

__all__ = [
    "Order",
    "Predicted",
    "Progress",
    "Watch",
    "check_order",
    "predict_document",
    "predict_rows",
    "predict_table",
    "run_interruptible",
]

NEEDED = ("pyarrow", "fsspec", "filelock")


T = TypeVar("T")


def predict_table(
    manifest: str | Path,
    out: str | Path,
    *,
    provider: str,
    options: Mapping[str, object] | None = None,
    root: str | Path | None = None,
    workers: int | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    limit: int | None = None,
    max_cost: float | None = None,
    retry_errors: bool = False,
    retry: RetryPolicy | None = None,
    environment: Mapping[str, str] | None = None,
    watch: Watch | None = None,
    stop: Stop | None = None,
) -> Predicted:
    """Predict a table of documents into a directory whose `manifest.parquet` is a score manifest.

    See `Order` for the arguments; credentials come from `environment` (default: the process's). `watch` is told of
    every change; `stop` can be requested from any thread. In the main thread Ctrl-C requests it, and a second Ctrl-C
    raises KeyboardInterrupt at once.

    Raises ArgumentValueError, CredentialError, MissingDependencyError, ManifestError, RunMismatchError and
    RunLockedError before any document is sent. What happens to a document is in its row, never an exception.
    """
    order = Order(
        manifest=str(manifest),
        out=str(out),
        configured=configure(provider, options),
        root=None if root is None else str(root),
        workers=workers,
        timeout=timeout,
        limit=limit,
        max_cost=max_cost,
        retry_errors=retry_errors,
        retry=retry or RetryPolicy(),
    )
    return run_interruptible(stop or Stop(), lambda stop: predict_rows(order, stop, watch, environment))


async def predict_rows(
    order: Order,
    stop: Stop,
    watch: Watch | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    opened: tuple[Provider, Credentials] | None = None,
) -> Predicted:
    """`predict_table` inside a running event loop, so that several providers can share one.

    `opened` is the provider where it was opened before; it is closed in any case.
    """
    check_order(order)
    provider, credentials = opened or open_provider(order.configured, environment=environment, retry=order.retry)
    store = Store(order.out)
    try:
        with locked(store) as check_lock:
            store.clean()
            run = PredictionRun(order, Predictions(store), stop, watch or (lambda progress: None), check_lock)
            await asyncio.to_thread(run.prepare)
            try:
                await run.ask(provider, credentials)
            finally:
                await asyncio.to_thread(run.write_manifest)
            return run.predicted()
    finally:
        await provider.aclose()


def predict_document(
    path: str | Path,
    schema: Mapping[str, Any] | str | bytes,
    *,
    provider: str,
    options: Mapping[str, object] | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    retry: RetryPolicy | None = None,
    environment: Mapping[str, str] | None = None,
) -> ExtractionResult:
    """Predict one document; nothing is stored.

    Raises DocumentError for a document that is missing or is no PDF and for a schema that cannot be read, and
    CredentialError or MissingDependencyError, all before anything is sent.
    """
    configured = configure(provider, options)
    asked = read_question(schema)
    content = read_document(str(path))
    fault = asked.fault or content.error or document_fault(content.data or b"", str(path))
    if fault is not None:
        raise DocumentError(fault)
    document = Document(Path(path).stem, file_name(str(path)), content.data or b"", asked.schema)

    async def ask() -> ExtractionResult:
        opened, credentials = open_provider(configured, environment=environment, retry=retry)
        try:
            return await extract(opened, ExtractionTask(document, Budget(timeout)), credentials)
        finally:
            await opened.aclose()

    return asyncio.run(ask())


def check_order(order: Order) -> None:
    """Raise for what makes an order impossible before anything is read or sent."""
    for package in NEEDED:
        if find_spec(package) is None:
            raise MissingDependencyError(package, "run")
    spec = order.configured.spec
    if order.workers is not None and order.workers < 1:
        raise ArgumentValueError(f"workers is a number from 1, not {order.workers}")
    if order.limit is not None and order.limit < 1:
        raise ArgumentValueError(f"limit is a number from 1, not {order.limit}")
    Budget(order.timeout)
    open_source(order.manifest)
    if order.max_cost is not None and not order.max_cost > 0:
        raise ArgumentValueError(f"max-cost is an amount above 0, not {order.max_cost}")
    if order.max_cost is not None and not spec.free and spec.cost_unit != "USD":
        stated = f"states costs in {spec.cost_unit}" if spec.cost_unit else "states no costs"
        raise ArgumentValueError(f"max-cost is in US dollars, and {order.configured.name} {stated}: it cannot be kept")


def run_interruptible(stop: Stop, work: Callable[[Stop], Coroutine[Any, Any, T]]) -> T:
    """Run `work` on an event loop of its own, under `interruptible`. Raises KeyboardInterrupt on the second Ctrl-C."""

    async def main() -> T:
        with interruptible(stop):
            return await work(stop)

    try:
        return asyncio.run(main())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
