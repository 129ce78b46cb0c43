"""Decides how a run directory is read and written, on a disk or an object store: every file whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from docassay.errors import MissingDependencyError, RunError
from docassay.runs.layout import TEMPORARY

__all__ = ["Store", "file_system", "is_uri", "storage_settings", "use_storage_settings"]

_CONFLICT, _PRECONDITION_FAILED = 409, 412
_EXTRAS = {"s3": ("s3fs", "s3"), "s3a": ("s3fs", "s3"), "hf": ("huggingface_hub", "hub")}


def is_uri(path: str) -> bool:
    """Whether a path names its file system, such as `s3://bucket/key` or `zip://a::s3://b`."""
    scheme, separator, _ = path.partition("://")
    return bool(separator) and scheme.replace("+", "").replace("-", "").replace(".", "").isalnum()


def file_system(url: str) -> tuple[Any, str]:
    """The fsspec file system of a path or URI, and the path within it.

    Raises:
        MissingDependencyError: the package for this kind of storage is not installed.
        RunError: nothing knows this kind of storage.
    """
    import fsspec

    try:
        system, path = fsspec.core.url_to_fs(url)
    except ImportError as error:
        scheme = url.partition("://")[0]
        raise MissingDependencyError(
            *_EXTRAS.get(scheme, (f"the fsspec implementation of {scheme}://", "all"))
        ) from error
    except ValueError as error:
        raise RunError(f"{url}: {error}") from error
    return system, str(path)


def storage_settings() -> dict[str, Any]:
    """fsspec's configuration in this process, such as endpoints; from its files, its variables, or set by a program."""
    import fsspec

    return deepcopy(dict(fsspec.config.conf))


def use_storage_settings(settings: Mapping[str, Any]) -> None:
    """Make another process's configuration this one's."""
    import fsspec

    fsspec.config.conf.update(settings)


class Store:
    """One directory of files, named by a path or a URI; names inside it use `/`."""

    def __init__(self, url: str | os.PathLike[str]) -> None:
        self.url = os.fspath(url).rstrip("/") or "/"
        self.system, self._root = file_system(self.url)
        self.local = Path(self._root) if _is_local(self.system) else None

    def __str__(self) -> str:
        return self.url

    def child(self, name: str) -> Store:
        """The directory `name` inside this one."""
        return Store(f"{self.url}/{name}")

    def path(self, name: str) -> str:
        """The full path of a file within its file system."""
        return f"{self._root.rstrip('/')}/{name}"

    def exists(self, name: str) -> bool:
        """Whether the file is there."""
        self.system.invalidate_cache()
        return bool(self.system.exists(self.path(name)))

    def read(self, name: str) -> bytes | None:
        """The file's bytes, None where there is no such file."""
        try:
            return bytes(self.system.cat_file(self.path(name)))
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        """Write a small file, whole or not at all."""
        with self.writing(name) as file:
            file.write(data)

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """A file that appears under its name when the block ends well, and not at all when it does not."""
        opened = self._writing_local(self.local, name) if self.local is not None else self._writing_remote(name)
        with opened as file:
            yield file

    def create(self, name: str, data: bytes) -> bool:
        """Write a file only if it is not there; False where it was. Atomic where the storage can do it."""
        try:
            self.system.pipe_file(self.path(name), data, mode="create")
        except FileExistsError:
            return False
        except OSError as error:
            if _status(error) in (_CONFLICT, _PRECONDITION_FAILED):
                return False
            raise
        return True

    def list(self, folder: str) -> list[str]:
        """The names of the files in a folder, sorted; empty where there is no such folder."""
        self.system.invalidate_cache()
        try:
            found = self.system.ls(self.path(folder), detail=False)
        except FileNotFoundError:
            return []
        return sorted(path.rstrip("/").rpartition("/")[2] for path in found)

    def remove(self, names: Iterable[str]) -> None:
        """Delete files; one that is not there is no error."""
        for name in names:
            try:
                self.system.rm_file(self.path(name))
            except FileNotFoundError:
                continue

    def clean(self) -> None:
        """Delete what interrupted writes left behind. Only for the one that holds the run's lock."""
        self.remove(f"{TEMPORARY}/{name}" for name in self.list(TEMPORARY))

    def open(self, name: str) -> Any:
        """A file opened for reading at any position."""
        if self.local is not None:
            return (self.local / name).open("rb")
        return self.system.open(self.path(name), "rb")

    @contextmanager
    def _writing_local(self, root: Path, name: str) -> Iterator[IO[bytes]]:
        target, temporary = root / name, root / TEMPORARY / f"{uuid4().hex}.tmp"
        temporary.parent.mkdir(parents=True, exist_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)

    @contextmanager
    def _writing_remote(self, name: str) -> Iterator[IO[bytes]]:
        # Closing an object is what publishes it, so a failed one must be discarded and never closed.
        file = self.system.open(self.path(name), "wb", autocommit=False)
        self.system.transaction.files.clear()  # fsspec keeps every such file for a transaction; this is none
        try:
            yield file
            file.close()
        except BaseException:
            _quietly(file.discard)
            with suppress(AttributeError):
                file.closed = True  # or the garbage collector would close it
            raise
        file.commit()


def _is_local(system: Any) -> bool:
    from fsspec.implementations.local import LocalFileSystem

    return isinstance(system, LocalFileSystem)


def _status(error: OSError) -> int | None:
    """The HTTP status behind an error of s3fs."""
    response = getattr(error.__cause__, "response", None) or {}
    status: int | None = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return status


def _quietly(action: Callable[[], object]) -> None:
    try:
        action()
    except Exception:  # noqa: BLE001 - the failure that led here is the one to tell
        return
