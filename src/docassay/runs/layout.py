"""Decides every path and file name of a run directory."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = [
    "INPUTS_DIR",
    "LOCK",
    "MANIFEST",
    "OWNER",
    "RUN",
    "SCORES_DIR",
    "SUMMARY",
    "TABLES",
    "TEMPORARY",
    "VERDICTS_DIR",
    "Rows",
    "folder_of_metric",
    "part_name",
    "start_of_part",
]

RUN = "run.json"
"""What was asked: signature, digests, options, versions."""
SUMMARY = "summary.json"
"""What came out; written last, so that a run with a summary is whole."""
MANIFEST = "manifest.parquet"
"""The manifest as it was read, in row groups that workers read their rows from."""
SCORES_DIR = "scores.parquet"
VERDICTS_DIR = "verdicts.parquet"
INPUTS_DIR = "inputs.parquet"
"""Digests of the documents that were read, one row per manifest row."""
TABLES = (VERDICTS_DIR, INPUTS_DIR, SCORES_DIR)
"""In the order in which the parts of one range of rows are written: its scores part says that the range is done."""
TEMPORARY = ".tmp"
LOCK = ".lock"
OWNER = ".owner.json"

_PART = re.compile(r"part-(\d{10})\.parquet")


@dataclass(frozen=True, slots=True, order=True)
class Rows:
    """The manifest rows from `start` up to, not including, `stop`."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


def part_name(start: int) -> str:
    """The file name of the part whose first row is `start`: sorted by name, parts are in manifest order."""
    return f"part-{start:010d}.parquet"


def start_of_part(name: str) -> int | None:
    """The first row of a part, told by its file name; None for a file that is no part."""
    found = _PART.fullmatch(name)
    return int(found[1]) if found else None


def folder_of_metric(metric: str) -> str:
    """The run directory's name where several metrics are scored at once: `omni/1` lies in `omni-1`."""
    return metric.replace("/", "-")
