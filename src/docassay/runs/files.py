"""Decides how documents are found and read, wherever they lie, and what is said when one cannot be read."""

from __future__ import annotations

import gzip
import io
import os
import stat
import time
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docassay.errors import DocassayError, DocumentError, MissingDependencyError
from docassay.runs.store import file_system, is_uri

__all__ = [
    "MISSING",
    "UNKNOWN",
    "Content",
    "Found",
    "Surveyor",
    "default_root",
    "read_ahead",
    "read_document",
    "resolve",
    "unpack",
]

MISSING = -1
"""The fingerprint of a file that is not there."""
UNKNOWN = -2
"""The fingerprint of a file about which the storage tells nothing that would change with its content."""

MAX_UNPACKED = 4 << 30
"""Bytes to which a gzip document may unpack; a few kilobytes can claim to be terabytes."""

_ATTEMPTS = 4
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_MIXER, _POSITIVE = 0x9E3779B97F4A7C15, 2**63 - 1
_THREADS = 16
_AHEAD_DOCUMENTS = 64
_AHEAD_BYTES = 64 << 20
LISTING_PAYS = 2000  # files of one folder from which one listing is cheaper than asking for each


def default_root() -> str:
    """Where relative paths start when nobody says: DOCASSAY_ROOT, then OEB_ROOT, then the working directory."""
    return os.environ.get("DOCASSAY_ROOT") or os.environ.get("OEB_ROOT") or str(Path.cwd())


def resolve(path: str, root: str) -> str:
    """A manifest's path as it is opened: absolute paths and URIs as written, others below the root."""
    if path.startswith("/") or is_uri(path) or Path(path).is_absolute():
        return path
    return f"{root.rstrip('/')}/{path}"


@dataclass(frozen=True, slots=True)
class Content:
    """What came of reading one file: its bytes, or one line on why there are none."""

    data: bytes | None
    error: str | None = None
    missing: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What the storage tells of files without reading them."""

    sizes: NDArray[np.int64]
    """Bytes; 0 for a file that is missing or whose size is not told."""
    fingerprints: NDArray[np.int64]
    """A number that changes when the content does (from size and times, or from the ETag); MISSING or UNKNOWN."""


def read_document(path: str) -> Content:
    """Read a file's bytes as they are; a remote storage that fails is asked again, a few seconds long."""
    attempts = _ATTEMPTS if is_uri(path) else 1
    for attempt in range(attempts):
        try:
            return Content(_read(path))
        except FileNotFoundError:
            return Content(None, f"no such file: {path}", missing=True)
        except PermissionError:
            return Content(None, f"permission denied: {path}")
        except (IsADirectoryError, NotADirectoryError):
            return Content(None, f"not a file: {path}")
        except MemoryError:
            return Content(None, f"there is not enough memory to read it: {path}")
        except DocassayError as error:
            return Content(None, str(error))
        except Exception as error:  # noqa: BLE001 - every storage has errors of its own; this row gets a reason
            reason = f"could not be read: {path}: {_one_line(error)}"
        if attempt + 1 < attempts:
            time.sleep(0.25 * 3**attempt)
    return Content(None, reason)


def unpack(data: bytes, where: str) -> bytes:
    """The bytes of a document that may be compressed with gzip.

    Raises:
        DocumentError: it is broken, or unpacks to more than MAX_UNPACKED.
    """
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            unpacked = file.read(MAX_UNPACKED + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise DocumentError(f"{where}: broken gzip: {_one_line(error)}") from error
    if len(unpacked) > MAX_UNPACKED:
        raise DocumentError(f"{where}: unpacks to more than {MAX_UNPACKED >> 30} GB")
    return unpacked


def read_ahead(paths: Sequence[tuple[str | None, ...]], sizes: Sequence[int]) -> Iterator[tuple[Content | None, ...]]:
    """Read documents in order; remote ones some way ahead in threads, since each is mostly waiting.

    Args:
        paths: the files of each document; None where there is none to read.
        sizes: bytes of each document as far as known, so that reading ahead stays within a bound.
    """
    if not any(path is not None and is_uri(path) for group in paths for path in group):
        for group in paths:
            yield tuple(None if path is None else read_document(path) for path in group)
        return
    with ThreadPoolExecutor(_THREADS) as threads:
        yield from _ahead(threads, paths, sizes)


def _ahead(
    threads: ThreadPoolExecutor, paths: Sequence[tuple[str | None, ...]], sizes: Sequence[int]
) -> Iterator[tuple[Content | None, ...]]:
    waiting: deque[tuple[int, list[Future[Content] | None]]] = deque()
    pending, following = 0, 0
    try:
        for _ in paths:
            while following < len(paths) and (not waiting or _room(len(waiting), pending + sizes[following])):
                group = paths[following]
                waiting.append(
                    (sizes[following], [p if p is None else threads.submit(read_document, p) for p in group])
                )
                pending += sizes[following]
                following += 1
            size, futures = waiting.popleft()
            pending -= size
            yield tuple(None if future is None else future.result() for future in futures)
    finally:
        for _, futures in waiting:
            for future in futures:
                if future is not None:
                    future.cancel()


def _room(documents: int, size: int) -> bool:
    return documents < _AHEAD_DOCUMENTS and size <= _AHEAD_BYTES


class Surveyor:
    """Tells sizes and fingerprints of many files, asking an object store as little as it can.

    Args:
        passes: gives all the paths, in chunks; called once to count the files of each folder.
    """

    def __init__(self, passes: Callable[[], Iterable[Sequence[str | None]]]) -> None:
        folders = Counter(_parent(path) for chunk in passes() for path in chunk if path is not None and is_uri(path))
        self._listed = {folder: _listing(folder) for folder, files in folders.items() if files >= LISTING_PAYS}

    def survey(self, paths: Sequence[str | None]) -> Found:
        """Sizes and fingerprints of these files; a None is a file that is missing."""
        asked = [path for path in paths if path is not None and is_uri(path) and _parent(path) not in self._listed]
        answers = dict(zip(asked, _ask(asked), strict=True))
        told = [self._one(path, answers) for path in paths]
        sizes = np.array([size for size, _ in told], dtype=np.int64)
        return Found(sizes, np.array([fingerprint for _, fingerprint in told], dtype=np.int64))

    def _one(self, path: str | None, answers: dict[str, tuple[int, int]]) -> tuple[int, int]:
        if path is None:
            return 0, MISSING
        if not is_uri(path):
            return _local(path)
        listed = self._listed.get(_parent(path))
        return answers[path] if listed is None else listed.get(_name(path), (0, MISSING))


def _read(path: str) -> bytes:
    if is_uri(path):
        system, inner = file_system(path)
        # One request a file: s3fs would ask for its size first, to read large ones in pieces at once.
        options = {"max_concurrency": 1} if "s3" in system.protocol else {}
        data: bytes = system.cat_file(inner, **options)
        return data
    # Not through a file object, which costs more than the reading does. A pipe or a device would block or never end.
    handle = os.open(path, _READ)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise IsADirectoryError(path)
        pieces = [os.read(handle, found.st_size + 1)]
        while pieces[-1]:
            pieces.append(os.read(handle, 1 << 20))
    finally:
        os.close(handle)
    return pieces[0] if len(pieces) == 2 else b"".join(pieces)


def _local(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)  # noqa: PTH116 - called for every document
    except FileNotFoundError:
        return 0, MISSING
    except (OSError, ValueError):
        return 0, UNKNOWN
    mixed = (found.st_size * _MIXER + found.st_mtime_ns) * _MIXER + found.st_ctime_ns
    return found.st_size, mixed & _POSITIVE


def _ask(paths: Sequence[str]) -> list[tuple[int, int]]:
    if not paths:
        return []
    with ThreadPoolExecutor(_THREADS) as threads:
        return list(threads.map(_ask_one, paths))


def _ask_one(path: str) -> tuple[int, int]:
    try:
        system, inner = file_system(path)
        return _told(system.info(inner))
    except FileNotFoundError:
        return 0, MISSING
    except MissingDependencyError:
        raise
    except Exception:  # noqa: BLE001 - reading it will tell what is wrong
        return 0, UNKNOWN


def _listing(folder: str) -> dict[str, tuple[int, int]]:
    system, inner = file_system(folder)
    system.invalidate_cache(inner)
    try:
        found = system.ls(inner, detail=True)
    except FileNotFoundError:
        return {}
    finally:
        system.invalidate_cache(inner)
    return {_name(entry["name"]): _told(entry) for entry in found if entry.get("type") == "file"}


def _told(entry: dict[str, Any]) -> tuple[int, int]:
    size = int(entry.get("size") or 0)
    version = entry.get("ETag") or entry.get("etag") or entry.get("mtime") or entry.get("created")
    return size, UNKNOWN if version is None else _fingerprint(f"{size} {version}")


def _fingerprint(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else text[:297] + "..."
