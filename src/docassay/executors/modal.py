"""Decides how Modal works off batches: one container each, and a driver that may run there too.

    modal run --detach -m docassay.executors.modal --manifest s3://bucket/jobs.parquet --out s3://bucket/run --rows 16

The containers get the bucket's credentials from the Modal secret that DOCASSAY_MODAL_SECRET names. With `--detach` the
laptop may be closed: the driver is in the cloud. A container that dies costs its batch, which is begun again; a driver
that dies costs nothing, since the same command does the rest.
"""

from __future__ import annotations

import json
import os
import queue
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from importlib import metadata
from typing import Any

from docassay.errors import ArgumentValueError, CredentialError, DocassayError, MissingDependencyError
from docassay.executors.contained import Parcel, contained
from docassay.executors.contract import Batch, Died, Event, Lost, Payload, Receipt, Settled, Work

try:
    import modal
except ImportError as error:
    raise MissingDependencyError("modal", "modal") from error

__all__ = ["ModalEngine", "app", "drive", "main", "score_rows"]

SECRET = "DOCASSAY_MODAL_SECRET"
CONTAINERS = 100
"""Batches at once, unless told otherwise."""
_DAY = 24 * 60 * 60
_EXTRAS = ("run", "s3")


def _packages() -> list[str]:
    """What the containers install: what docassay asks for, with the extras that reading and writing a bucket takes."""
    if not modal.is_local():
        return []  # the image is made, and it holds docassay's source without its metadata
    asked = [requirement.partition(";") for requirement in metadata.requires("docassay") or []]
    wanted = [package.strip() for package, _, condition in asked if _wanted(condition)]
    return list(dict.fromkeys(package for package in wanted if not package.startswith("docassay")))


def _wanted(condition: str) -> bool:
    return not condition or any(f"extra == '{extra}'" in condition.replace('"', "'") for extra in _EXTRAS)


app = modal.App("docassay")
_image = modal.Image.debian_slim(python_version="3.12").uv_pip_install(*_packages()).add_local_python_source("docassay")
_secrets = [modal.Secret.from_name(os.environ[SECRET])] if os.environ.get(SECRET) else []


@app.function(image=_image, secrets=_secrets, cpu=1.0, memory=4096, timeout=_DAY, retries=2)
def score_rows(parcel: Parcel, batch: Batch, payload: Payload) -> tuple[Receipt | Lost, ...]:
    """One container's work: a batch."""
    return contained(parcel, batch, payload)


@app.function(image=_image, secrets=_secrets, cpu=1.0, memory=4096, timeout=_DAY)
def drive(manifest: str, out: str, options: dict[str, Any]) -> dict[str, Any]:
    """The driver's work: `docassay.score_table` with `options`; gives the summary."""
    import docassay

    made = docassay.score_table(manifest, out, **options)
    summary: dict[str, Any] = made.summary.as_dict()
    return summary


@app.local_entrypoint()
def main(
    manifest: str,
    out: str,
    rows: int = 16,
    containers: int = CONTAINERS,
    metric: str = "",
    root: str = "",
    timeout: float = 0.0,
    limit: int = 0,
    verdicts: bool = True,
    overwrite: bool = False,
) -> None:
    """Score a manifest on a bucket with a driver in the cloud; prints the summary as JSON."""
    refuse_local(manifest, out)
    options: dict[str, Any] = {"engine": "modal", "batch_rows": rows, "workers": containers, "verdicts": verdicts}
    given = {"metric": metric, "root": root, "timeout": timeout, "limit": limit, "overwrite": overwrite}
    options |= {name: value for name, value in given.items() if value}
    print(json.dumps(drive.remote(manifest, out, options), ensure_ascii=False, indent=2))


def refuse_local(*paths: str) -> None:
    """Containers see no disk of ours.

    Raises:
        ArgumentValueError: a path that is no URI.
    """
    local = [path for path in paths if "://" not in path or path.startswith("file://")]
    if local:
        raise ArgumentValueError(f"{', '.join(local)}: Modal's containers cannot see this; give a URI such as s3://...")


class ModalEngine:
    """Containers of Modal, from a driver that runs here or in one itself.

    Args:
        workers: containers at once.
        call: how a batch is given; by default to a container.
    """

    def __init__(
        self,
        work: Work,
        workers: int | None = None,
        *,
        call: Callable[[Parcel, Batch, Payload], tuple[Receipt | Lost, ...]] | None = None,
    ) -> None:
        self._work = work
        self._workers = workers or CONTAINERS
        self._call = call
        self._parcel = Parcel.of(work)
        self._ended: queue.SimpleQueue[tuple[Batch, Future[tuple[Receipt | Lost, ...]]]] = queue.SimpleQueue()
        self._stack = ExitStack()

    def __enter__(self) -> ModalEngine:
        if self._call is None:
            if modal.is_local():
                _require_token()
                self._stack.enter_context(app.run())
            self._call = score_rows.remote
        self._threads = ThreadPoolExecutor(self._workers)
        self._stack.callback(self._threads.shutdown, wait=False, cancel_futures=True)
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    @property
    def capacity(self) -> int:
        return self._workers

    @property
    def spare(self) -> bool:
        return False

    def submit(self, batch: Batch) -> None:
        assert self._call is not None, "enter the engine first"
        future = self._threads.submit(self._call, self._parcel, batch, self._work.payload(batch))
        future.add_done_callback(lambda ended: self._ended.put((batch, ended)))

    def wait(self, seconds: float) -> Sequence[Event]:
        try:
            batch, future = self._ended.get(timeout=seconds)
        except queue.Empty:
            return []
        try:
            return [Settled(batch, future.result())]
        except DocassayError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever ends a container
            return [Died(batch, None, f"its Modal container failed: {type(error).__name__}: {error}")]

    def rows_in_progress(self) -> int:
        return 0


def _require_token() -> None:
    from modal.config import config

    if not config.get("token_id") or not config.get("token_secret"):
        raise CredentialError(
            "there is no Modal token; run `modal token new`, or set MODAL_TOKEN_ID and MODAL_TOKEN_SECRET"
        )
