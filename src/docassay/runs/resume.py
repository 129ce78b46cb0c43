"""Decides whether a run directory holds the run that is asked for, what of it is done, and what must be refused."""

from __future__ import annotations

import json
import platform
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from docassay.core.digest import digest_bytes
from docassay.errors import RunError, RunMismatchError
from docassay.runs.files import MISSING, UNKNOWN, read_document, resolve
from docassay.runs.layout import INPUTS_DIR, RUN, SCORES_DIR, SUMMARY, VERDICTS_DIR, Rows, part_name
from docassay.runs.manifest import ID, ManifestCopy
from docassay.runs.store import Store
from docassay.runs.tables import ERROR, part_rows, read_parts
from docassay.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Asked",
    "Options",
    "clear",
    "done_rows",
    "enter",
    "failures",
    "forget",
    "load_asked",
    "refuse_changed_inputs",
]

FORMAT = "docassay-run/1"
_NAMED = 5
_THREADS = 16


@dataclass(frozen=True, slots=True)
class Options:
    """Every option that can change what a run holds."""

    order_matters: tuple[str, ...] = ()
    verdicts: bool = True
    suite_column: str | None = None
    limit: int | None = None
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run was asked to do: `run.json`."""

    signature: str
    """The metric, its version and its options."""
    metric: str
    options: Options
    manifest: str
    """Where the manifest was read."""
    manifest_digest: str
    rows: int
    root: str | None
    """Where relative paths start; None where all paths are absolute."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """What was passed besides, which changes no result: engine, workers."""
    versions: dict[str, str] = field(default_factory=dict)
    started: str = ""
    """UTC, ISO 8601."""
    format: str = FORMAT

    def bound(self) -> dict[str, Any]:
        """What must be the same for a run to be continued, by the names that a person knows."""
        options = {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self.options).items()}
        return {
            "format": self.format,
            "signature": self.signature,
            **options,
            "manifest digest": self.manifest_digest,
            "root": self.root,
        }


def enter(store: Store, asked: Asked) -> None:
    """Begin the run, or find that it is the one that the directory holds.

    Raises:
        RunMismatchError: the directory holds another run; names every difference.
    """
    found = load_asked(store)
    if found is None:
        store.write(RUN, json.dumps(asdict(_stamped(asked)), ensure_ascii=False, indent=2).encode())
        return
    there, now = found.bound(), asked.bound()
    differences = [
        f"{name} was {_text(there[name])}, is {_text(now[name])}" for name in now if there[name] != now[name]
    ]
    if differences:
        raise RunMismatchError(_refusal(store, "holds another run", differences))


def load_asked(store: Store) -> Asked | None:
    """What a run was asked to do; None where the directory holds no run.

    Raises:
        RunError: there is a `run.json` that this version cannot read.
    """
    data = store.read(RUN)
    if data is None:
        return None
    try:
        told = json.loads(data)
        options = told.pop("options")
        options["order_matters"] = tuple(options["order_matters"])
        return Asked(options=Options(**options), **told)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise RunError(
            f"{store}/{RUN}: not a run of this version of docassay ({error}); start anew with --overwrite"
        ) from error


def clear(store: Store) -> None:
    """Remove a run's files, but for its manifest, and nothing else that may be in the directory."""
    store.remove([SUMMARY, RUN])
    for folder in (SCORES_DIR, VERDICTS_DIR, INPUTS_DIR):
        store.remove(f"{folder}/{name}" for name in store.list(folder))


def done_rows(stores: Sequence[Store], folders: Sequence[str]) -> list[Rows]:
    """The rows whose parts are there in every table of every run; parts of others are removed.

    What is removed was left by a process that ended between two writes, or by one that was given up and wrote later.
    """
    found = {(store.url, folder): _parts(store, folder) for store in stores for folder in folders}
    common = set.intersection(*({rows for rows in parts.values() if rows} for parts in found.values()))
    kept: list[Rows] = []
    for rows in sorted(common):
        if not kept or rows.start >= kept[-1].stop:
            kept.append(rows)
    whole = set(kept)
    for store in stores:
        for folder in folders:
            names = [name for name, rows in found[store.url, folder].items() if rows not in whole]
            store.remove(f"{folder}/{name}" for name in names)
    return kept


def failures(store: Store, done: Sequence[Rows]) -> dict[Rows, list[int]]:
    """The parts of the scores in which a row has an error instead of a score, and those rows."""
    import pyarrow.parquet as pq

    found: dict[Rows, list[int]] = {}
    for rows in done:
        with store.open(f"{SCORES_DIR}/{part_name(rows.start)}") as file:
            statuses = pq.ParquetFile(file).read(columns=["status"]).column("status").to_pylist()
        failed = [rows.start + offset for offset, status in enumerate(statuses) if status == ERROR]
        if failed:
            found[rows] = failed
    return found


def forget(stores: Sequence[Store], folders: Sequence[str], parts: Iterable[Rows]) -> None:
    """Remove parts, so that their rows are scored again."""
    for rows in parts:
        for store in stores:
            store.remove(f"{folder}/{part_name(rows.start)}" for folder in folders)


def refuse_changed_inputs(
    store: Store,
    copy: ManifestCopy,
    root: str,
    fingerprints: Mapping[str, NDArray[np.int64]],
    *,
    but_rows: Collection[int] = (),
) -> None:
    """Refuse to continue a run whose documents are not those that it scored.

    A file whose fingerprint is the one that was kept is unchanged; any other is read again, and its digest decides.

    Args:
        fingerprints: as they are now, for every row, by the name of the path's column.
        but_rows: rows whose files may have changed, since they will be scored again.

    Raises:
        RunMismatchError: names the documents.
    """
    told: list[str] = []
    for table in read_parts(store, INPUTS_DIR):
        for column, now in fingerprints.items():
            told += _changes(table, copy, root, column, now, but_rows)
    if told:
        more = [f"and {len(told) - _NAMED} more files"] if len(told) > _NAMED else []
        raise RunMismatchError(_refusal(store, "has scored other documents than there are now", told[:_NAMED] + more))


def _changes(
    table: pa.Table,
    copy: ManifestCopy,
    root: str,
    column: str,
    everywhere: NDArray[np.int64],
    but_rows: Collection[int],
) -> list[str]:
    if not len(table):
        return []
    side = column.removesuffix("_path")
    start = table.column("row")[0].as_py()
    rows = Rows(start, start + len(table))
    then, now = table.column(f"{side}_fingerprint").to_numpy(), everywhere[rows.start : rows.stop]
    compared = ~np.isin(np.arange(rows.start, rows.stop), list(but_rows))
    suspects = np.flatnonzero(((then != now) | (now == UNKNOWN)) & compared)
    if not len(suspects):
        return []
    named = copy.read(rows, [ID, column]).take(suspects).to_pylist()
    digests = table.column(f"{side}_digest").take(suspects).to_pylist()
    with ThreadPoolExecutor(_THREADS) as threads:
        paths = [None if one[column] is None else resolve(one[column], root) for one in named]
        changes = list(threads.map(_change, paths, digests, then[suspects].tolist(), now[suspects].tolist()))
    pairs = zip(named, changes, strict=True)
    return [f"{one[ID]!r}: {column} {one[column]} {change}" for one, change in pairs if change is not None]


def _change(path: str | None, digest: str | None, then: int, now: int) -> str | None:
    """What became of one file since it was read; None if nothing."""
    if now == MISSING:
        return None if digest is None else "is gone"
    if digest is None:
        return None if then == now else "was missing and is there now" if then == MISSING else "has changed"
    content = read_document(path or "")
    if content.data is None:
        return f"cannot be read now ({content.error})"
    return None if digest_bytes(content.data) == digest else "has changed"


def _stamped(asked: Asked) -> Asked:
    """With the versions at hand and the time."""
    own = {"docassay": __version__, "python": platform.python_version()}
    versions = own | {name: metadata.version(name) for name in ("numpy", "scipy", "orjson", "pyarrow")}
    known = asdict(asked) | {"options": asked.options, "versions": versions}
    return Asked(**known | {"started": datetime.now(UTC).isoformat(timespec="seconds")})


def _parts(store: Store, folder: str) -> dict[str, Rows | None]:
    names = store.list(folder)
    with ThreadPoolExecutor(_THREADS) as threads:
        return dict(zip(names, threads.map(lambda name: part_rows(store, folder, name), names), strict=True))


def _text(value: object) -> str:
    return "none" if value is None else json.dumps(value, ensure_ascii=False)


def _refusal(store: Store, what: str, differences: Sequence[str]) -> str:
    told = "\n".join(f"  - {difference}" for difference in differences)
    return f"{store} {what}:\n{told}\nname another --out, or score anew with --overwrite"
