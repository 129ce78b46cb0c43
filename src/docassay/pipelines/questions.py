"""Decides what is asked about a document: its schema without what belongs to the benchmark, and its PDF, checked.

A fault found here is a fault of the input: the document gets its reason before anything is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from docassay.core.digest import digest_object
from docassay.errors import DocumentError
from docassay.extraction.document import load_json
from docassay.providers.dialects import question
from docassay.runs.files import read_document
from docassay.runs.layout import Rows
from docassay.runs.manifest import ManifestCopy
from docassay.runs.store import file_system, is_uri

__all__ = ["Question", "Schemas", "document_fault", "file_name", "head_fault", "read_question"]

HEAD = 1024
"""Bytes within which a PDF says that it is one."""
MARK = b"%PDF-"
CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Question:
    """What every provider is asked about a document, or why nothing can be asked."""

    schema: Mapping[str, Any] = field(default_factory=dict)
    digest: str | None = None
    """SHA-256 of its canonical JSON."""
    fault: str | None = None


class Schemas:
    """The question of each row, read from the manifest when it is needed, some rows at a time."""

    def __init__(self, manifest: ManifestCopy) -> None:
        self._manifest = manifest
        self._start = -1
        self._values: list[object] = []

    def question(self, index: int) -> Question:
        """The question about the document in row `index`, counted from 0."""
        start = index - index % CHUNK
        if start != self._start:
            rows = Rows(start, min(start + CHUNK, len(self._manifest)))
            self._values = self._manifest.read(rows, ["schema"]).column("schema").to_pylist()
            self._start = start
        return read_question(self._values[index - start])


def read_question(value: object) -> Question:
    """The question in a manifest's `schema` value: JSON text, bytes, or an object."""
    if isinstance(value, Mapping):
        return _question(value)
    if isinstance(value, str):
        return _parsed(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes):
        return _parsed(value)
    return Question(fault="the row has no schema" if value is None else f"a schema is JSON text, not {value!r:.80}")


def head_fault(path: str) -> str | None:
    """Why the document at `path` cannot be sent, told from its first bytes, or None."""
    try:
        head = _head(path)
    except Exception:  # noqa: BLE001 - every storage has errors of its own; reading it whole tells the reason
        content = read_document(path)
        return content.error if content.data is None else document_fault(content.data, path)
    return document_fault(head, path)


def document_fault(data: bytes, path: str) -> str | None:
    """Why bytes are no PDF, or None."""
    if not data:
        return f"empty file: {path}"
    return None if MARK in data[:HEAD] else f"not a PDF: {path} does not start with {MARK.decode()}"


def file_name(path: str) -> str:
    """The file name to state to a vendor."""
    return PurePosixPath(path.partition("://")[2] or path).name or "document.pdf"


def _head(path: str) -> bytes:
    if not is_uri(path):
        if not Path(path).is_file():  # a pipe or a device would block
            raise FileNotFoundError(path)
        with open(path, "rb") as file:  # noqa: PTH123 - called for every document
            return file.read(HEAD)
    system, inner = file_system(path)
    return bytes(system.cat_file(inner, start=0, end=HEAD))


@lru_cache(maxsize=64)
def _parsed(data: bytes) -> Question:
    """Most tables have few schemas; each is read once."""
    try:
        schema = load_json(data, where="the row's schema")
    except DocumentError as error:
        return Question(fault=str(error))
    if not isinstance(schema, Mapping):
        return Question(fault=f"the row's schema is no object but {type(schema).__name__}")
    return _question(schema)


def _question(schema: Mapping[str, Any]) -> Question:
    try:
        asked = question(schema)
        return Question(asked, digest_object(asked))
    except DocumentError as error:
        return Question(fault=f"the row's schema: {error}")
    except RecursionError:
        return Question(fault="the row's schema is nested too deep")
