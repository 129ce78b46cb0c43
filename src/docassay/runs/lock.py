"""Decides who may write a run: one process at a time, on a disk by a file lock, on an object store by a heartbeat.

A file lock ends with its process. An object store has no such thing: there the lock is an object that its owner
rewrites every few seconds, and another process takes it over only after it has watched it stand still for longer than
that, or when the owner ran on this machine and is gone. Where the storage refuses to create an object that exists (S3
does), two processes that start at once cannot both get it.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import uuid4

from docassay.errors import MissingDependencyError, RunLockedError
from docassay.runs.layout import LOCK, OWNER
from docassay.runs.store import Store

__all__ = ["HEARTBEAT_SECONDS", "Owner", "locked"]

HEARTBEAT_SECONDS = 5.0
"""How often the owner of a lock on an object store says that it lives."""
SILENCE = 4
"""After how many missed heartbeats an owner counts as dead."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Who holds a lock; `beat` changes with every heartbeat."""

    id: str
    host: str
    pid: int
    since: float
    """Seconds since the epoch."""
    beat: int = 0

    def __str__(self) -> str:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.since))
        return f"process {self.pid} on {self.host}, since {since}"


@contextmanager
def locked(store: Store, *, heartbeat: float = HEARTBEAT_SECONDS) -> Iterator[Callable[[], None]]:
    """Hold the run's lock for the block; gives a function that raises if the lock was lost meanwhile.

    Raises:
        RunLockedError: another process is writing the run.
    """
    me = Owner(uuid4().hex, socket.gethostname(), os.getpid(), time.time())
    with ExitStack() as stack:
        if store.local is not None:
            yield stack.enter_context(_file_lock(store, store.local, me))
        else:
            yield stack.enter_context(_object_lock(store, me, heartbeat))


@contextmanager
def _file_lock(store: Store, root: Path, me: Owner) -> Iterator[Callable[[], None]]:
    try:
        from filelock import FileLock, Timeout
    except ImportError as error:
        raise MissingDependencyError("filelock", "run") from error
    root.mkdir(parents=True, exist_ok=True)
    lock = FileLock(root / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise _refusal(store, _read(store, OWNER)) from error
    try:
        store.write(OWNER, _dump(me))
        yield lambda: None
    finally:
        store.remove([OWNER])
        lock.release()


@contextmanager
def _object_lock(store: Store, me: Owner, heartbeat: float) -> Iterator[Callable[[], None]]:
    _acquire(store, me, heartbeat)
    stop, lost = threading.Event(), threading.Event()

    def beat() -> None:
        count = 0
        while not stop.wait(heartbeat):
            count += 1
            if not _renew(store, me, count):
                lost.set()
                return

    def check() -> None:
        if lost.is_set():
            raise _refusal(store, _read(store, LOCK))

    thread = threading.Thread(target=beat, daemon=True, name="docassay-heartbeat")
    thread.start()
    try:
        yield check
    finally:
        stop.set()
        thread.join()
        owner = _read(store, LOCK)
        if owner is not None and owner.id == me.id:
            store.remove([LOCK])


def _acquire(store: Store, me: Owner, heartbeat: float) -> None:
    """Create the lock object, or take it over from an owner that is dead."""
    if not store.create(LOCK, _dump(me)):
        owner = _read(store, LOCK)
        if owner is not None and not _gone(owner) and _lives(store, owner, heartbeat * SILENCE):
            raise _refusal(store, owner)
        store.remove([LOCK])
        store.create(LOCK, _dump(me))
    # Storage without conditional writes lets two pass at once: the last to write wins, the other finds out here.
    owner = _read(store, LOCK)
    if owner is None or owner.id != me.id:
        raise _refusal(store, owner)


def _lives(store: Store, owner: Owner, patience: float) -> bool:
    """Whether the owner's heartbeat is seen; told from change alone, since clocks of two machines may differ."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        time.sleep(min(1.0, patience / 20))
        now = _read(store, LOCK)
        if now is None:
            return False
        if now != owner:
            return True
    return False


def _gone(owner: Owner) -> bool:
    """Whether the owner ran on this machine and has ended."""
    if owner.host != socket.gethostname():
        return False
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _renew(store: Store, me: Owner, beat: int) -> bool:
    """Write the next heartbeat; False when the lock is another's. A failing storage is no reason to give up."""
    try:
        owner = _read(store, LOCK)
        if owner is None or owner.id != me.id:
            return False
        store.system.pipe_file(store.path(LOCK), _dump(Owner(me.id, me.host, me.pid, me.since, beat)))
    except OSError:
        return True
    return True


def _refusal(store: Store, owner: Owner | None) -> RunLockedError:
    who = f" ({owner})" if owner is not None else ""
    return RunLockedError(
        f"{store}: another process is writing this run{who}; wait until it ends or name another --out"
    )


def _read(store: Store, name: str) -> Owner | None:
    data = store.read(name)
    if data is None:
        return None
    try:
        return Owner(**json.loads(data))
    except (ValueError, TypeError):
        return None


def _dump(owner: Owner) -> bytes:
    return json.dumps(asdict(owner)).encode()
