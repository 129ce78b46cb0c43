"""Decides how a report becomes one HTML file that needs nothing else: templates, style and script put together."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from docassay.errors import InputError, MissingDependencyError
from docassay.report import numbers
from docassay.report.reasons import VERDICT_WORDS
from docassay.report.text import shortened, visible
from docassay.version import __version__

if TYPE_CHECKING:
    import jinja2

    from docassay.report.discovery import DiscoveryReport
    from docassay.report.extraction import ExtractionReport

_FILTERS = (
    numbers.percent,
    numbers.percent_interval,
    numbers.points,
    numbers.points_interval,
    numbers.count,
    numbers.of,
    numbers.plural,
    numbers.p_value,
    numbers.number,
    numbers.quality,
    numbers.quality_interval,
    numbers.seconds,
    numbers.cost,
)


@dataclass(frozen=True, slots=True)
class Asset:
    """A file that ships beside the templates."""

    name: str

    def text(self) -> str:
        """Its content."""
        return (files("docassay.report") / "templates" / self.name).read_text(encoding="utf-8")


def extraction_html(report: ExtractionReport) -> str:
    """The whole report of extraction runs as one HTML document."""
    from docassay.report.comparison import flip_sentences, method

    return page(
        "extraction.html",
        {
            "report": report,
            "plots": _drawings(report.plots),
            "weightings": report.weightings,
            "verdict_words": VERDICT_WORDS,
            "level": f"{100 * (1 - report.options.alpha):g}%",
            "flips": flip_sentences(report.ranking) if report.ranking else [],
            "method": method(report.ranking) if report.ranking else "",
        },
    )


def discovery_html(report: DiscoveryReport) -> str:
    """The whole report of discovery evaluations as one HTML document."""
    drawn = [_drawings(judge.plots) for judge in report.judges]
    return page("discovery.html", {"report": report, "judge_plots": drawn})


def page(template: str, values: Mapping[str, Any]) -> str:
    """Fill a template; style and script go inline, and the script's digest into the page's own security policy."""
    from markupsafe import Markup

    script = Asset("report.js").text()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        _environment()
        .get_template(template)
        .render(
            version=__version__,
            style=Markup(Asset("theme.css").text() + Asset("report.css").text()),
            script=Markup(script),
            script_hash=f"sha256-{digest}",
            **values,
        )
    )


def _drawings(plots: Mapping[str, str]) -> dict[str, str]:
    """Drawings are the only markup that is not escaped: they were made here, their labels escaped by matplotlib."""
    from markupsafe import Markup

    return {name: Markup(svg) for name, svg in plots.items()}


@cache
def _environment() -> jinja2.Environment:
    try:
        import jinja2
    except ImportError as error:
        raise MissingDependencyError("jinja2", "report") from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("docassay.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update({function.__name__: function for function in _FILTERS})
    environment.filters["shown"] = _shown
    environment.filters["cut"] = _cut
    return environment


def _shown(value: object) -> str:
    """Foreign text made visible and inert; the template escapes it."""
    return visible(str(value))


def _cut(value: object, limit: int) -> str:
    """Foreign text, visible and at most `limit` characters."""
    return visible(shortened(str(value), limit))


def write_report(html: str, out: Path) -> int:
    """Write the file whole or not at all; its size in bytes.

    Raises:
        InputError: the folder is not there or cannot be written.
    """
    data = html.encode("utf-8", errors="replace")
    temporary = out.with_name(f".{out.name}.{uuid4().hex}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(out)
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
    return len(data)
