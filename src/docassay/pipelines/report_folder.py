"""Decides how a discovery report lies on disk: JSON, Markdown and two tables in one folder, never overwritten."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from docassay.core.columns import Column, arrow_schema
from docassay.discovery.outcome import Report, as_json
from docassay.discovery.report_tables import FINDINGS, LABELS, finding_rows, label_rows
from docassay.discovery.report_text import report_markdown
from docassay.discovery.strict_json import read_json
from docassay.errors import DocumentError, MissingDependencyError, RunError

__all__ = [
    "FINDINGS_FILE",
    "LABELS_FILE",
    "REPORT_FILE",
    "check_free",
    "read_labels_table",
    "read_report",
    "write_report",
]

REPORT_FILE = "report.json"
TEXT_FILE = "report.md"
FINDINGS_FILE = "findings.parquet"
LABELS_FILE = "labels.parquet"


def check_free(out: Path) -> None:
    """That a report can be written there, before anything is computed.

    Raises:
        RunError: the folder holds anything.
        MissingDependencyError: pyarrow is not installed.
    """
    _parquet()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RunError(f"{out} is there already, and nothing is overwritten; name another --out")


def write_report(report: Report, out: Path) -> None:
    """Write a report's folder whole or not at all.

    Raises:
        RunError: the folder exists and is not empty.
        MissingDependencyError: pyarrow is not installed.
    """
    check_free(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    building = out.parent / f".{out.name}-{uuid4().hex}.tmp"
    building.mkdir()
    try:
        text = json.dumps(as_json(report), ensure_ascii=False, allow_nan=False, indent=2)
        (building / REPORT_FILE).write_text(text + "\n", encoding="utf-8")
        (building / TEXT_FILE).write_text(report_markdown(report), encoding="utf-8")
        _write_table(building / FINDINGS_FILE, finding_rows(report), FINDINGS)
        _write_table(building / LABELS_FILE, label_rows(report), LABELS)
        try:
            building.rename(out)
        except OSError as error:
            raise RunError(f"{out} was made meanwhile, and nothing is overwritten; name another --out") from error
    finally:
        shutil.rmtree(building, ignore_errors=True)


def read_report(folder: Path) -> dict[str, Any]:
    """The JSON of a report's folder. Raises RunError where there is none."""
    path = folder / REPORT_FILE
    if not path.is_file():
        raise RunError(f"{folder} holds no report: it has no {REPORT_FILE}; make it with `discover evaluate`")
    try:
        value = read_json(path)
    except DocumentError as error:
        raise RunError(str(error)) from error
    if not isinstance(value, dict) or not isinstance(value.get("judges"), list):
        raise RunError(f"{path} is not a discovery report")
    return value


def read_labels_table(folder: Path) -> list[dict[str, Any]]:
    """The rows of a report's table of labels. Raises RunError where there is none."""
    parquet = _parquet()
    path = folder / LABELS_FILE
    if not path.is_file():
        raise RunError(f"{folder} has no {LABELS_FILE}")
    rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return rows


def _write_table(path: Path, rows: Iterable[Mapping[str, Any]], columns: Sequence[Column]) -> None:
    parquet = _parquet()
    import pyarrow as pa

    table = pa.Table.from_pylist([dict(row) for row in rows], schema=arrow_schema(columns))
    parquet.write_table(table, path)


def _parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError("pyarrow", "run") from error
    return pyarrow.parquet
