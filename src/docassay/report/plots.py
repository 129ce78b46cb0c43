"""Decides how figures are drawn: small vector plots with axes and intervals, in the page's own colours and font.

matplotlib draws them as SVG with text kept as text. Colours are drawn as placeholders and replaced by the page's CSS
variables, so that one drawing serves light, dark and print.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from docassay.errors import MissingDependencyError
from docassay.pipelines.run_data import VERDICTS
from docassay.report import numbers
from docassay.report.text import shortened, visible, xml

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SERIES = 8
"""How many systems have a colour of their own; further ones start again."""

_INK, _MUTED, _GRID, _PAPER = "#010101", "#010102", "#010103", "#010104"
_SERIES = [f"#01020{index}" for index in range(SERIES)]
_VERDICTS = {verdict: f"#01030{index}" for index, verdict in enumerate(VERDICTS)}
_VARIABLES = {
    _INK: "--ink",
    _MUTED: "--muted",
    _GRID: "--grid",
    _PAPER: "--paper",
    **{colour: f"--series-{index}" for index, colour in enumerate(_SERIES)},
    **{colour: f"--verdict-{verdict.replace('_', '-')}" for verdict, colour in _VERDICTS.items()},
}
_STYLE: Any = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.edgecolor": _MUTED,
    "axes.labelcolor": _INK,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.axisbelow": True,
    "figure.facecolor": "none",
    "text.color": _INK,
    "xtick.color": _MUTED,
    "ytick.color": _MUTED,
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "grid.color": _GRID,
    "grid.linewidth": 0.8,
    "lines.linewidth": 1.8,
    "ytick.left": False,
}
_LABEL = 26


@dataclass(frozen=True, slots=True)
class Estimate:
    """One labelled figure with its interval; `series` picks the colour."""

    label: str
    value: float | None
    """None where only bounds are known: then the line has ends and no point."""
    low: float | None
    high: float | None
    series: int = 0


@dataclass(frozen=True, slots=True)
class Bar:
    """One labelled bar made of stretches that add up to 1."""

    label: str
    shares: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Place:
    """One labelled point of a trade-off: what was spent, and the accuracy with its interval."""

    label: str
    spent: float
    value: float
    low: float | None
    high: float | None
    series: int = 0


@dataclass(frozen=True, slots=True)
class Shift:
    """One labelled figure as claimed, and as corrected with its interval."""

    label: str
    claimed: float
    corrected: float | None
    low: float | None
    high: float | None


def intervals(
    estimates: Sequence[Estimate], *, title: str, axis: str, zero: bool = False, scale: str = "percent"
) -> str:
    """Points with intervals, one line each, the first on top; with `zero`, a line where nothing differs.

    scale: `percent` for shares, `points` for differences of shares, `plain` for qualities in 0-100.
    """

    def draw(figure: Figure, axes: Axes) -> None:
        for row, one in enumerate(estimates):
            _interval(axes, one, row)
        _rows(axes, [one.label for one in estimates])
        if zero:
            axes.axvline(0, color=_MUTED, linewidth=1)
        _share_axis(axes, "x", axis, scale)
        if scale == "plain" and not zero:
            axes.set_xlim(-2, 102)
        elif not zero:
            _keep_within(axes, 0, 1)

    return _svg(draw, title, width=5.6, height=0.9 + 0.34 * len(estimates))


def verdict_bars(bars: Sequence[Bar], *, title: str) -> str:
    """Stacked bars of the verdicts' shares, with a legend of those that occur."""

    def draw(figure: Figure, axes: Axes) -> None:
        for verdict in VERDICTS:
            lefts = [sum(bar.shares.get(v, 0.0) for v in VERDICTS[: VERDICTS.index(verdict)]) for bar in bars]
            widths = [bar.shares.get(verdict, 0.0) for bar in bars]
            if any(widths):
                label = verdict.replace("_", " ")
                axes.barh(range(len(bars)), widths, left=lefts, height=0.62, color=_VERDICTS[verdict], label=label)
        _rows(axes, [bar.label for bar in bars])
        axes.set_xlim(0, 1)
        _share_axis(axes, "x", "share of addresses", "percent")
        _legend(axes)

    return _svg(draw, title, width=5.6, height=1.35 + 0.4 * len(bars))


def grouped(groups: Mapping[str, Sequence[Estimate]], *, title: str, axis: str) -> str:
    """Points with intervals in groups (suites), one colour for each series."""
    rows = [(group, one) for group, members in groups.items() for one in members]
    spread = _spread([len(members) for members in groups.values()])

    def draw(figure: Figure, axes: Axes) -> None:
        for (_, one), place in zip(rows, spread, strict=True):
            _interval(axes, one, place)
        centres = _centres([len(members) for members in groups.values()], spread)
        _rows(axes, list(groups), centres)
        axes.set_ylim(spread[-1] + 0.9, -0.9)
        for label, series in dict.fromkeys((one.label, one.series) for _, one in rows):
            axes.plot([], [], "o", color=_series(series), label=_short(label))
        if len({one.label for _, one in rows}) > 1:
            _legend(axes)
        _share_axis(axes, "x", axis, "percent")
        _keep_within(axes, 0, 1)

    return _svg(draw, title, width=5.6, height=1.1 + 0.15 * len(rows) + 0.14 * len(groups))


def curves(values: Mapping[str, Sequence[float]], *, title: str) -> str:
    """For each system the share of its documents that reach at least an accuracy."""

    def draw(figure: Figure, axes: Axes) -> None:
        for index, (label, accuracies) in enumerate(values.items()):
            ordered = sorted(accuracies)
            reached = [1 - place / len(ordered) for place in range(len(ordered))]
            ends = [*ordered, ordered[-1]]
            axes.step([0, *ends], [1, *reached, 0], where="pre", color=_series(index), label=_short(label))
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.03)
        _share_axis(axes, "x", "accuracy of a document, at least", "percent")
        _share_axis(axes, "y", "share of documents", "percent")
        if len(values) > 1:
            _legend(axes)

    return _svg(draw, title, width=5.6, height=3.4)


def shifts(rows: Sequence[Shift], *, title: str, axis: str) -> str:
    """Claimed figures as crosses beside corrected ones with intervals, and a line where nothing differs."""

    def draw(figure: Figure, axes: Axes) -> None:
        for row, one in enumerate(rows):
            if one.corrected is not None:
                _interval(axes, Estimate(one.label, one.corrected, one.low, one.high, 0), row)
            axes.plot([one.claimed], [row], "x", color=_series(1), markersize=7, markeredgewidth=2)
        axes.plot([], [], "x", color=_series(1), markeredgewidth=2, label="claimed")
        axes.plot([], [], "o", color=_series(0), label="on the checker's labels")
        axes.axvline(0, color=_MUTED, linewidth=1)
        _rows(axes, [one.label for one in rows])
        _share_axis(axes, "x", axis, "plain")
        _legend(axes)

    return _svg(draw, title, width=5.6, height=1.3 + 0.34 * len(rows))


def trade_off(places: Sequence[Place], *, title: str, axis: str) -> str:
    """Accuracy against what was spent for a document."""

    def draw(figure: Figure, axes: Axes) -> None:
        for one in places:
            error = None if one.low is None or one.high is None else [[one.value - one.low], [one.high - one.value]]
            axes.errorbar(
                [one.spent], [one.value], yerr=error, fmt="o", markersize=7, capsize=3, color=_series(one.series)
            )
            axes.annotate(
                _short(one.label), (one.spent, one.value), xytext=(9, 5), textcoords="offset points", fontsize=9
            )
        spent = [one.spent for one in places]
        if min(spent) > 0 and max(spent) / min(spent) > 20:
            axes.set_xscale("log")
        else:
            axes.set_xlim(0, max(spent) * 1.25 or 1)
        axes.set_xlabel(axis)
        _share_axis(axes, "y", "accuracy", "percent")
        axes.grid(visible=True)

    return _svg(draw, title, width=5.6, height=3.4)


def _interval(axes: Axes, one: Estimate, row: float) -> None:
    colour = _series(one.series)
    if one.low is not None and one.high is not None:
        axes.plot([one.low, one.high], [row, row], color=colour, linewidth=2.4, solid_capstyle="butt", alpha=0.55)
        if one.value is None:
            axes.plot([one.low, one.high], [row, row], "|", color=colour, markersize=9, markeredgewidth=2)
    if one.value is None:
        return
    filled = colour if one.low is not None else _PAPER
    axes.plot([one.value], [row], "o", color=colour, markerfacecolor=filled, markersize=6.5)


def _rows(axes: Axes, labels: Sequence[str], places: Sequence[float] | None = None) -> None:
    where = list(range(len(labels))) if places is None else list(places)
    axes.set_yticks(where, [_short(label) for label in labels])
    axes.margins(y=0.6 / max(1, len(labels)))
    axes.invert_yaxis()
    axes.grid(visible=True, axis="x")


def _share_axis(axes: Axes, which: str, label: str, scale: str) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_label_text(label)
    axis.set_major_locator(MaxNLocator(6))
    axis.set_major_formatter(FuncFormatter(_tick(scale)))
    axis.grid(visible=True)


def _tick(scale: str) -> Callable[[float, Any], str]:
    def percent(value: float, _: Any) -> str:
        return f"{100 * value:g}%" if abs(value) > 1e-9 else "0%"

    def points(value: float, _: Any) -> str:
        return f"{100 * value:+g} pp".replace("-", numbers.MINUS) if abs(value) > 1e-9 else "0"

    def plain(value: float, _: Any) -> str:
        return f"{value:g}"

    return {"percent": percent, "points": points, "plain": plain}[scale]


def _keep_within(axes: Axes, low: float, high: float) -> None:
    """Use the span of the data, widened to be readable, and never beyond what can be."""
    left, right = axes.get_xlim()
    margin = (high - low) * 0.02
    axes.set_xlim(max(low - margin, left), min(high + margin, right))


def _legend(axes: Axes) -> None:
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=3,
        columnspacing=1.2,
        frameon=False,
        fontsize=9,
        borderaxespad=0.2,
        handlelength=1.1,
    )


def _spread(sizes: Sequence[int]) -> list[float]:
    """Rows of groups with a gap between groups."""
    places, at = [], 0.0
    for size in sizes:
        for _ in range(size):
            places.append(at)
            at += 1.0
        at += 0.9
    return places


def _centres(sizes: Sequence[int], spread: Sequence[float]) -> list[float]:
    centres, start = [], 0
    for size in sizes:
        centres.append(sum(spread[start : start + size]) / size)
        start += size
    return centres


def _series(index: int) -> str:
    return _SERIES[index % SERIES]


def _short(label: str) -> str:
    if len(label) > _LABEL:
        label = f"{label[: _LABEL // 2]}…{label[-(_LABEL // 2 - 1) :]}"  # what tells ids apart is often at their end
    return xml(visible(label))


def _svg(draw: Callable[[Figure, Axes], None], title: str, *, width: float, height: float) -> str:
    """Draw on one pair of axes and give back an SVG element that takes its colours from the page."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure as NewFigure
    except ImportError as error:
        raise MissingDependencyError("matplotlib", "report") from error
    out = io.StringIO()
    with mpl.rc_context({**_STYLE, "svg.hashsalt": title}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure = NewFigure(figsize=(width, height), layout="constrained")
        draw(figure, figure.add_subplot())
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _as_element(out.getvalue(), title)


def _as_element(svg: str, title: str) -> str:
    body = svg[svg.index("<svg") :]
    for noise in (r"<metadata>.*?</metadata>\s*", r"<!--.*?-->\s*", r"<style.*?</style>\s*", r"font-family: [^;\"]*; "):
        body = re.sub(noise, "", body, flags=re.DOTALL)
    referenced = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", body))
    body = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in referenced else "", body)
    body = re.sub(r"#01[0-9a-f]{4}", lambda found: _variable(found[0]), body)
    body = re.sub(r' (?:d|x|y|transform)="[^"]*"', _rounded, body)
    opening = body[: body.index(">") + 1]
    box = re.search(r'viewBox="[^"]*"', opening)
    assert box is not None
    label = escape(shortened(xml(title), 200), quote=True)
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'<svg {box[0]} role="img" aria-label="{label}" class="plot" {spaces}>{body[len(opening) :].strip()}'


def _rounded(attribute: re.Match[str]) -> str:
    """Coordinates to a hundredth of a point, on one line."""
    short = re.sub(r"(\.\d\d)\d+", r"\1", attribute[0])
    return " " + re.sub(r"\s+", " ", short).strip()


def _variable(placeholder: str) -> str:
    name = _VARIABLES.get(placeholder)
    return placeholder if name is None else f"var({name})"
