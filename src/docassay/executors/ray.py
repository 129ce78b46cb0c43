"""Decides how a Ray cluster works off batches: one task each; a task whose node dies is begun again elsewhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from docassay.errors import DocassayError, MissingDependencyError, RunError
from docassay.executors.contained import Parcel, contained
from docassay.executors.contract import Batch, Died, Event, Settled, Work

__all__ = ["RayEngine"]

RETRIES = 3
"""How often Ray begins a task again whose node or process died."""

_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}


class RayEngine:
    """The cluster at `address` or RAY_ADDRESS, or a new one on this machine that ends with the engine.

    Every node needs docassay, and the same view of the files and of the run's storage.
    """

    def __init__(self, work: Work, workers: int | None = None, *, address: str | None = None) -> None:
        self._work = work
        self._workers = workers
        self._address = address
        self._ours = False
        self._tasks: dict[Any, Batch] = {}

    def __enter__(self) -> RayEngine:
        ray = _ray()
        if not ray.is_initialized():
            self._ours = True
            existing = self._address or os.environ.get("RAY_ADDRESS")
            if existing:
                ray.init(address=existing, log_to_driver=False)
            else:
                ray.init(address="local", num_cpus=self._workers, include_dashboard=False, log_to_driver=False)
        self._parcel = ray.put(Parcel.of(self._work))
        self._run = ray.remote(num_cpus=1, max_retries=RETRIES)(contained)
        return self

    def __exit__(self, *exception: object) -> None:
        ray = _ray()
        for task in self._tasks:
            ray.cancel(task, force=True)
        self._tasks = {}
        if self._ours:
            ray.shutdown()

    @property
    def capacity(self) -> int:
        return self._workers or max(1, int(_ray().cluster_resources().get("CPU", 1)))

    @property
    def spare(self) -> bool:
        return False

    def submit(self, batch: Batch) -> None:
        self._tasks[self._run.remote(self._parcel, batch, self._work.payload(batch))] = batch

    def wait(self, seconds: float) -> Sequence[Event]:
        ready, _ = _ray().wait(list(self._tasks), num_returns=1, timeout=seconds)
        return [self._event(task) for task in ready]

    def rows_in_progress(self) -> int:
        return 0

    def _event(self, task: Any) -> Event:
        ray = _ray()
        batch = self._tasks.pop(task)
        try:
            return Settled(batch, ray.get(task))
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, DocassayError):
                raise RunError(str(error.cause)) from error
            raise RunError(f"a worker failed; what was finished is kept\n{error}") from error
        except ray.exceptions.RayError as error:
            return Died(batch, None, f"its Ray worker died {RETRIES + 1} times: {_first_line(error)}")


def _ray() -> Any:
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise MissingDependencyError("ray", "ray") from error
    return ray


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
