"""Decides which kind of report a set of runs gets, and writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from docassay.errors import ArgumentValueError, InputError
from docassay.pipelines.report_folder import REPORT_FILE
from docassay.pipelines.run_data import is_extraction_run
from docassay.report.options import ReportOptions

__all__ = ["ReportOptions", "Written", "kind_of", "make_report"]


@dataclass(frozen=True, slots=True)
class Written:
    """A report on disk."""

    path: Path
    size: int
    """In bytes."""
    kind: str
    """`extraction` or `discovery`."""


def make_report(runs: Sequence[str | Path], out: str | Path, options: ReportOptions | None = None) -> Written:
    """Write one self-contained HTML file about finished runs.

    Args:
        runs: directories of extraction runs scored alike, or of discovery evaluations.
        out: the file to write; an existing one is replaced.

    Raises:
        InputError: a path that is no finished run, or runs of both tracks at once.
        RunMismatchError: extraction runs whose signatures differ in what matters.
    """
    from docassay.report.render import write_report

    paths = [Path(run) for run in runs]
    if not paths:
        raise ArgumentValueError("a report needs at least one run")
    kinds = {path: kind_of(path) for path in paths}
    if len(set(kinds.values())) > 1:
        told = ", ".join(f"{path} is {kind}" for path, kind in kinds.items())
        raise InputError(f"one report holds one track: {told}; write two reports")
    kind = kinds[paths[0]]
    html = (_extraction if kind == "extraction" else _discovery)(paths, options or ReportOptions())
    target = Path(out)
    return Written(target, write_report(html, target), kind)


def kind_of(path: Path) -> str:
    """Which track a directory's run belongs to.

    Raises:
        InputError: the directory holds no finished run.
    """
    if is_extraction_run(path):
        return "extraction"
    if (path / REPORT_FILE).is_file():
        return "discovery"
    raise InputError(f"{path} holds neither scores.parquet nor a discovery report.json; it is no finished run")


def _extraction(paths: Sequence[Path], options: ReportOptions) -> str:
    from docassay.report.extraction import build
    from docassay.report.render import extraction_html

    return extraction_html(build(paths, options))


def _discovery(paths: Sequence[Path], options: ReportOptions) -> str:
    from docassay.report.discovery import build
    from docassay.report.render import discovery_html

    return discovery_html(build(paths, options))
