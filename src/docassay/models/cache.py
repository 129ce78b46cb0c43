"""Keeps every answer that arrived in one SQLite file, by the digest of what was asked.

Each answer is committed the moment it arrives, before anybody sees it. The journal is SQLite's rollback journal, not a
write-ahead log: between commits the one file is whole, and can be copied. Several processes may share a file; the first
answer stored under a digest stands. Holds prompts and answers, never a key.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from docassay.core.digest import canonical_json
from docassay.errors import ModelError

__all__ = ["AnswerCache", "StoredAnswer"]

CACHE_FORMAT = 1
SECONDS_TO_WAIT_FOR_A_WRITER = 60.0


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """One answer as it arrived."""

    body: bytes
    """The HTTP body."""
    receipt: dict[str, Any]
    """`Receipt.as_dict()`."""


class AnswerCache:
    """One SQLite file of answers; made, with its folders, if it is not there.

    Raises:
        ModelError: the path holds something else, or another format of this cache.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self.path, timeout=SECONDS_TO_WAIT_FOR_A_WRITER, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise ModelError(f"{self.path}: cannot open the answer cache: {error}") from error
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def get(self, digest: str) -> StoredAnswer | None:
        """The answer stored under `digest`."""
        row = self._run("SELECT body, receipt FROM answers WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else StoredAnswer(bytes(row[0]), json.loads(row[1]))

    def put(self, digest: str, question: object, answer: StoredAnswer) -> None:
        """Store and commit; an answer already stored under `digest` stays as it is."""
        self._run(
            "INSERT OR IGNORE INTO answers (digest, question, body, receipt) VALUES (?, ?, ?, ?)",
            (digest, canonical_json(question), answer.body, json.dumps(answer.receipt)),
        )

    def __contains__(self, digest: object) -> bool:
        return self._run("SELECT 1 FROM answers WHERE digest = ?", (digest,)).fetchone() is not None

    def __len__(self) -> int:
        return int(self._run("SELECT count(*) FROM answers", ()).fetchone()[0])

    def close(self) -> None:
        """Close the file; nothing is pending."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _prepare(self) -> None:
        self._run("PRAGMA synchronous = FULL", ())
        found = int(self._run("PRAGMA user_version", ()).fetchone()[0])
        if found == 0 and not self._run("SELECT 1 FROM sqlite_master", ()).fetchone():
            self._create()
        elif found != CACHE_FORMAT:
            raise ModelError(
                f"{self.path}: an SQLite file of another kind or format (user_version {found}, expected "
                f"{CACHE_FORMAT}); name another file for the answer cache"
            )

    def _create(self) -> None:
        self._run("BEGIN IMMEDIATE", ())
        self._run(
            "CREATE TABLE IF NOT EXISTS answers (digest TEXT PRIMARY KEY, question TEXT NOT NULL, "
            "body BLOB NOT NULL, receipt TEXT NOT NULL) WITHOUT ROWID",
            (),
        )
        self._run(f"PRAGMA user_version = {CACHE_FORMAT}", ())
        self._run("COMMIT", ())

    def _run(self, statement: str, values: tuple[object, ...]) -> sqlite3.Cursor:
        with self._lock:
            try:
                return self._connection.execute(statement, values)
            except sqlite3.Error as error:
                raise ModelError(f"{self.path}: the answer cache cannot be used: {error}") from error
