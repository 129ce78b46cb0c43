"""Decides how a finished extraction run is read back: its record, and its two tables as views of one DuckDB connection.

Nothing here scores or aggregates; every reader of runs (comparison, report, page) starts from the same columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from docassay.core.columns import names
from docassay.errors import InputError, MissingDependencyError
from docassay.runs.tables import VERDICTS as COLUMNS

if TYPE_CHECKING:
    import duckdb

Floats = NDArray[np.float64]

VERDICTS = ("matched", "misread", "unfound", "fabricated", "invented_item", "invented_field")
GOLD_VERDICTS = ("matched", "misread", "unfound")
METRICS = ("accuracy", "precision", "recall", "f1", "addresses_found", "addresses_read_right")
NUMBERS = (*METRICS, "total", *VERDICTS, "asserted", "gold", "gt_rows", "pred_rows", "matched_rows", "seconds")


@dataclass(frozen=True, slots=True)
class Run:
    """One extraction run on disk."""

    path: Path
    name: str
    """What a reader calls it: the folder's name, with as many parents as make it unique."""
    record: Mapping[str, Any] = field(repr=False)
    """`run.json` as written."""
    summary: Mapping[str, Any] = field(repr=False)
    """`summary.json` as written; empty where there is none."""

    @property
    def scores(self) -> str:
        """A pattern of the parts of the scores table."""
        return _parts(self.path / "scores.parquet")

    @property
    def verdicts(self) -> str:
        """A pattern of the parts of the verdicts table."""
        return _parts(self.path / "verdicts.parquet")

    @property
    def keeps_verdicts(self) -> bool:
        """Whether the run was asked to keep a row for each address."""
        return (self.path / "verdicts.parquet").is_dir()


@dataclass(frozen=True, slots=True)
class Documents:
    """The scores table of one run, as columns in manifest order; a figure that is null in the table is NaN."""

    run: Run
    signature: str
    doc_id: list[str]
    status: list[str]
    error: list[str | None]
    suite: list[str | None]
    numbers: Mapping[str, Floats]
    """The columns of NUMBERS."""
    matching_exact: list[bool | None]

    def __len__(self) -> int:
        return len(self.doc_id)

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Documents that could not be scored."""
        return np.array([status == "error" for status in self.status], dtype=bool)

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Documents with a score."""
        return np.array([status == "scored" for status in self.status], dtype=bool)

    def with_failures_as_zero(self, metric: str) -> Floats:
        """The metric per document, 0 where the document failed, NaN where there was nothing to score."""
        return np.where(self.failed, 0.0, self.numbers[metric])


def open_runs(paths: Sequence[Path]) -> list[Run]:
    """Read the records of runs and name them apart.

    Raises:
        InputError: a path that is no finished extraction run, or the same run twice.
    """
    resolved = [path.resolve() for path in paths]
    for index, path in enumerate(resolved):
        if path in resolved[:index]:
            raise InputError(f"{paths[index]} is given twice; each run is named once")
    return [_open(path, name) for path, name in zip(resolved, unique_names(resolved), strict=True)]


def is_extraction_run(path: Path) -> bool:
    """Whether a folder holds the tables of an extraction run."""
    return (path / "scores.parquet").exists()


def unique_names(paths: Sequence[Path]) -> list[str]:
    """The shortest trailing parts of the paths that tell them apart; what all end in says nothing and is left out."""
    parts = [path.parts for path in paths]
    while len(parts) > 1 and all(len(one) > 1 and one[-1] == parts[0][-1] for one in parts):
        parts = [one[:-1] for one in parts]
    names = [one[-1] for one in parts]
    depth = 1
    while len(set(names)) < len(names) and depth < max(map(len, parts)):
        depth += 1
        repeated = {name for name in names if names.count(name) > 1}
        names = ["/".join(one[-depth:]) if name in repeated else name for one, name in zip(parts, names, strict=True)]
    return names


def connect(**config: str) -> duckdb.DuckDBPyConnection:
    """A fresh in-memory DuckDB that reads local files only and loads no extension."""
    try:
        import duckdb
    except ImportError as error:
        raise MissingDependencyError("duckdb", "report") from error
    return duckdb.connect(
        ":memory:", config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false", **config}
    )


def attach(connection: duckdb.DuckDBPyConnection, runs: Sequence[Run]) -> None:
    """Make each run's tables the views `scores_0`, `verdicts_0`, `scores_1`, …; without verdicts theirs is empty."""
    for index, run in enumerate(runs):
        for table, pattern in (("scores", run.scores), ("verdicts", run.verdicts)):
            if table == "verdicts" and not run.keeps_verdicts:
                connection.execute(f"CREATE VIEW verdicts_{index} AS {_NO_VERDICTS}")
                continue
            parts = connection.read_parquet(pattern, hive_partitioning=False, filename=True, file_row_number=True)
            parts.create_view(f"{table}_{index}")


def read_documents(connection: duckdb.DuckDBPyConnection, runs: Sequence[Run]) -> list[Documents]:
    """The scores tables of attached runs, in the same order."""
    return [_documents(connection, f"scores_{index}", run) for index, run in enumerate(runs)]


def suite_column(record: Mapping[str, Any]) -> str:
    """The manifest column that names a document's suite."""
    options = record.get("options")
    chosen = options.get("suite_column") if isinstance(options, Mapping) else None
    return chosen if isinstance(chosen, str) else "suite"


def quoted(identifier: str) -> str:
    """A column's name as SQL takes it, whatever it holds."""
    return '"' + identifier.replace('"', '""') + '"'


def literal_list(values: Iterable[str]) -> str:
    """Fixed names of this program as a SQL list; never used for anything a user gave."""
    return "(" + ", ".join(f"'{value}'" for value in values) + ")"


_NO_VERDICTS = (
    "SELECT "
    + ", ".join(f"NULL::VARCHAR AS {name}" for name in (*names(COLUMNS), "filename"))
    + ", 0 AS file_row_number WHERE false"
)


def _open(path: Path, name: str) -> Run:
    if (path / "report.json").is_file() and (path / "findings.parquet").is_file():
        raise InputError(f"{path} is a discovery evaluation; this reads extraction runs (docassay report reads both)")
    if not is_extraction_run(path):
        raise InputError(
            f"{path} holds no scores.parquet; it is no extraction run "
            "(write one with: docassay extract score --manifest … --out …)"
        )
    for table in ("scores", "verdicts"):
        if (path / f"{table}.parquet").is_dir() and not any((path / f"{table}.parquet").glob("part-*.parquet")):
            raise InputError(f"{path / f'{table}.parquet'} has no parts; the run never finished, so run it again")
    return Run(path, name, _json(path / "run.json"), _json(path / "summary.json"))


def _json(path: Path) -> Mapping[str, Any]:
    if not path.exists():
        return MappingProxyType({})
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, OSError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"{path} holds no JSON object")
    return MappingProxyType(value)


def _parts(folder: Path) -> str:
    """A glob over the parts; the folder's own name is taken literally."""
    escaped = "".join(f"[{c}]" if c in "*?[" else c for c in str(folder))
    return f"{escaped}/part-*.parquet"


def _documents(connection: duckdb.DuckDBPyConnection, table: str, run: Run) -> Documents:
    columns = {row[0] for row in connection.execute(f"DESCRIBE {table}").fetchall()}
    suite = suite_column(run.record)
    suite_sql = f"{quoted(suite)}::VARCHAR" if suite in columns else "NULL"
    numbers = ", ".join(f"{name}::DOUBLE AS {name}" for name in NUMBERS)
    frame = connection.execute(f"SELECT {numbers} FROM {table}").fetchnumpy()
    texts = connection.execute(
        f"SELECT doc_id::VARCHAR, status, error, {suite_sql}, matching_exact, signature FROM {table}"
    ).fetchall()
    signatures = sorted({row[5] for row in texts if row[5] is not None})
    return Documents(
        run=run,
        signature=signatures[0] if signatures else str(run.record.get("signature", "")),
        doc_id=[row[0] for row in texts],
        status=[row[1] for row in texts],
        error=[row[2] for row in texts],
        suite=[row[3] for row in texts],
        numbers={name: _filled(frame[name]) for name in NUMBERS},
        matching_exact=[row[4] for row in texts],
    )


def _filled(column: Any) -> Floats:
    return np.asarray(np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan), dtype=np.float64)
