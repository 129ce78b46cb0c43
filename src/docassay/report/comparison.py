"""Decides how a comparison or a ranking is written: JSON for programs, Markdown for a job summary, JUnit for CI."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from xml.etree import ElementTree

from docassay.core.statistics.paired import MIN_DOCUMENTS
from docassay.pipelines.compare import AddressChange, Comparison, DocumentChange, Line
from docassay.pipelines.pairing import WEIGHTINGS, Side
from docassay.pipelines.ranking import Ranking, System
from docassay.report import numbers, text

CORRECTION_NAMES = {"holm": "Holm", "bh": "Benjamini–Hochberg"}
BREAKDOWNS = ("field", "suite", "document")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of ready text under a title; `left` names the columns that hold words."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: frozenset[int] = frozenset({0})
    more: int = 0
    """How many further rows there are."""


def comparison_record(result: Comparison) -> dict[str, Any]:
    """The whole comparison as one JSON object; what is not known is null, with its reason beside it."""
    record = asdict(result)
    alpha = result.options.alpha
    record["headline"]["significant"] = result.headline.significant(alpha)
    for name in ("metrics", "verdicts", "suites", "fields"):
        for entry, line in zip(record[name], getattr(result, name), strict=True):
            entry["significant"] = line.significant(alpha)
    for entry, change in zip(record["changes"], result.changes, strict=True):
        entry["difference"] = change.difference
    return {"kind": "comparison", "worse_than_allowed": bool(result.flags), **record}


def ranking_record(result: Ranking) -> dict[str, Any]:
    """The whole ranking as one JSON object."""
    record = asdict(result)
    for entry, pair in zip(record["pairs"], result.pairs, strict=True):
        entry["line"]["significant"] = pair.line.significant(result.options.alpha)
    return {"kind": "ranking", "weightings": WEIGHTINGS, **record}


def verdict_on(result: Comparison) -> str:
    """The outcome in one sentence."""
    line = result.headline
    names = f"{result.new.name} against {result.base.name}"
    if line.paired.difference is None:
        return f"{names}: no accuracy to compare, {line.paired.reason}."
    change = f"{numbers.points(line.paired.difference)} accuracy"
    if line.paired.reason is not None:
        return f"{names}: {change}; whether by chance cannot be told, {line.paired.reason}."
    if line.significant(result.options.alpha):
        return f"{names}: {change}, more than chance explains (p = {numbers.p_value(line.adjusted)})."
    return f"{names}: {change}, within what chance explains (p = {numbers.p_value(line.adjusted)})."


def comparison_tables(result: Comparison, by: Sequence[str], limit: int) -> Iterator[Table]:
    """The tables of a comparison: overall, verdicts, the breakdowns asked for, and what turned."""
    alpha = result.options.alpha
    yield _line_table("Overall", (result.headline, *result.metrics), alpha)
    yield _line_table("Verdicts, each one's share of all addresses", result.verdicts, alpha)
    if "suite" in by and result.suites:
        yield _line_table("Suites: accuracy, failures as 0", result.suites, alpha, limit)
    if "field" in by and result.fields:
        yield _line_table("Fields: matched of all addresses", _by_size(result.fields), alpha, limit)
    if "document" in by:
        yield _document_table(result.changes, limit)
        yield from _address_tables(result, limit)


def ranking_tables(result: Ranking) -> Iterator[Table]:
    """The tables of a ranking: systems, pairs, and ranks under every weighting."""
    yield Table(
        "Systems",
        ("#", "run", "accuracy", f"{_level(result.options.alpha)} interval", "scored", "failed", "not told apart from"),
        tuple(_system_row(result, system) for system in result.systems),
        frozenset({1, 6}),
    )
    yield Table(
        f"All pairs, p corrected for {numbers.plural(len(result.pairs), 'pair')} "
        f"({CORRECTION_NAMES[result.options.correction]})",
        ("better", "worse", "difference", f"{_level(result.options.alpha)} interval", "p", ""),
        tuple((pair.better, pair.worse, *_line_cells(pair.line, result.options.alpha)[2:]) for pair in result.pairs),
        frozenset({0, 1, 5}),
    )
    yield Table(
        "The same runs under other weightings",
        ("weighting", *(system.side.name for system in result.systems)),
        tuple((_row_title(name, title), *_ranked(result.systems, name)) for name, title in WEIGHTINGS.items()),
    )


def flip_sentences(result: Ranking) -> list[str]:
    """Which systems change places under another weighting, or that none do."""
    if not result.flips:
        return ["The ranking is the same under every weighting."]
    return [
        f"{flip.worse} overtakes {flip.better} under {WEIGHTINGS[flip.weighting]} "
        f"({numbers.points(-flip.other_difference)}, where the ranking here has "
        f"{numbers.points(-flip.headline_difference)})."
        for flip in result.flips
    ]


def method(result: Comparison | Ranking) -> str:
    """How the intervals and p-values came about, in one paragraph."""
    options = result.options
    return (
        f"Paired over {numbers.plural(result.documents, 'document')}; {options.weighting} accuracy is the "
        f"{WEIGHTINGS[options.weighting]}. "
        f"Intervals: {_level(options.alpha)} paired bootstrap by document "
        f"({numbers.count(result.resamples)} resamples, expanded percentile). "
        f"p: two-sided permutation test, labels swapped within documents ({numbers.count(result.permutations)} "
        "permutations, all there are where these are fewer), corrected within each table by "
        f"{CORRECTION_NAMES[options.correction]}, the first line apart. "
        f"On fewer than {result.min_documents} documents neither is given (too few). Seed {options.seed}."
    )


def signature(result: Comparison | Ranking) -> str:
    """By which metric and options the runs were scored, on one line."""
    side = result.new if isinstance(result, Comparison) else result.systems[0].side
    return text.one_line(side.signature)


def _suite_name(result: Comparison | Ranking) -> str:
    """With the metric's name, for it is the only part of JUnit's form that every reader shows."""
    return text.xml(f"docassay compare, {signature(result).partition(' ')[0]}")


def comparison_markdown(result: Comparison, by: Sequence[str], limit: int) -> str:
    """A job summary: the outcome first, then the tables."""
    lines = ["## docassay compare", "", f"**{text.markdown(verdict_on(result))}**", ""]
    if result.options.fail_if_worse is not None:
        lines.append("❌ Worse than allowed:" if result.flags else "✅ Not worse than allowed.")
        lines.extend(f"- {text.markdown(flag.where)}: {text.markdown(flag.reason)}" for flag in result.flags)
        lines.append("")
    lines.extend(f"> {text.markdown(note)}" for note in result.notes)
    lines.extend(["", *_side_lines((result.base, result.new)), ""])
    for table in comparison_tables(result, by, limit):
        lines.extend(markdown_table(table))
    lines.extend([turned_sentence(result), "", text.markdown(method(result)), "", f"`{signature(result)}`", ""])
    return "\n".join(lines)


def ranking_markdown(result: Ranking) -> str:
    """A ranking as a job summary."""
    lines = ["## docassay compare", "", *(f"> {text.markdown(note)}" for note in result.notes), ""]
    for table in ranking_tables(result):
        lines.extend(markdown_table(table))
    lines.extend(f"- {text.markdown(sentence)}" for sentence in flip_sentences(result))
    return "\n".join([*lines, "", text.markdown(method(result)), "", f"`{signature(result)}`", ""])


def turned_sentence(result: Comparison) -> str:
    """How many addresses of the ground truth changed sides."""
    return (
        f"{numbers.plural(result.turned_right, 'address turned', 'addresses turned')} right, "
        f"{numbers.plural(result.turned_wrong, 'address turned', 'addresses turned')} wrong."
    )


def markdown_table(table: Table) -> Iterator[str]:
    """A table as lines of Markdown, its cells inert."""
    yield f"### {text.markdown(table.title)}"
    yield ""
    yield "| " + " | ".join(text.markdown(cell) for cell in table.header) + " |"
    yield "|" + "|".join(":--" if i in table.left else "--:" for i in range(len(table.header))) + "|"
    for row in table.rows:
        yield "| " + " | ".join(text.markdown(cell) for cell in row) + " |"
    yield ""
    if table.more:
        yield f"… and {numbers.count(table.more)} more."
        yield ""


def comparison_junit(result: Comparison) -> str:
    """One test case per thing that may be worse than allowed, for CI systems that read JUnit."""
    failures = {flag.where: flag.reason for flag in result.flags}
    cases = [("overall", result.headline)]
    cases += [(f"suite {line.name}", line) for line in result.suites]
    cases += [(f"field {line.name}", line) for line in result.fields]
    suite = ElementTree.Element("testsuite", name=_suite_name(result))
    for where, line in cases:
        _junit_case(suite, where, _sentence(line), failures.get(where), line.paired.reason)
    missing = failures.get("documents")
    _junit_case(suite, "documents", f"{result.documents} documents compared", missing, None)
    suite.set("tests", str(len(cases) + 1))
    suite.set("failures", str(len(failures)))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def ranking_junit(result: Ranking) -> str:
    """One test case per pair; a ranking flags nothing, so none fails."""
    suite = ElementTree.Element("testsuite", name=_suite_name(result), tests=str(len(result.pairs)), failures="0")
    for pair in result.pairs:
        _junit_case(suite, pair.line.name, _sentence(pair.line), None, pair.line.paired.reason)
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _junit_case(
    suite: ElementTree.Element, where: str, message: str, failure: str | None, untested: str | None
) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname="docassay.compare", name=text.xml(where))
    if failure is not None:
        ElementTree.SubElement(case, "failure", message=text.xml(failure)).text = text.xml(message)
    elif untested is not None:
        ElementTree.SubElement(case, "skipped", message=text.xml(untested))
    ElementTree.SubElement(case, "system-out").text = text.xml(message)


def _sentence(line: Line) -> str:
    cells = _line_cells(line, 0.05)
    return f"{cells[0]} -> {cells[1]}, difference {cells[2]}, interval {cells[3]}, corrected p {cells[4]}"


def _line_table(title: str, lines: Sequence[Line], alpha: float, limit: int | None = None) -> Table:
    shown = lines if limit is None else lines[:limit]
    header = ("", "base", "new", "difference", f"{_level(alpha)} interval", "p", "")
    rows = tuple((line.name, *_line_cells(line, alpha)) for line in shown)
    return Table(title, header, rows, frozenset({0, 6}), len(lines) - len(shown))


def _line_cells(line: Line, alpha: float) -> tuple[str, ...]:
    paired = line.paired
    return (
        numbers.percent(paired.base),
        numbers.percent(paired.new),
        numbers.points(paired.difference),
        numbers.points_interval(paired.low, paired.high),
        numbers.p_value(line.adjusted),
        _remark(line, alpha),
    )


def _remark(line: Line, alpha: float) -> str:
    if line.paired.reason is not None:
        few = line.paired.documents < MIN_DOCUMENTS
        return f"too few ({line.paired.documents})" if few else line.paired.reason
    if line.paired.nothing_differs:
        return "none differs"
    if not line.significant(alpha):
        return ""
    better = ((line.paired.difference or 0.0) > 0) == line.higher_is_better
    return "better" if better else "worse"


def _by_size(lines: Iterable[Line]) -> list[Line]:
    """Tested fields first, the largest differences of either sign first."""
    return sorted(lines, key=lambda line: (line.adjusted is None, -abs(line.paired.difference or 0.0), line.name))


def _document_table(changes: Sequence[DocumentChange], limit: int) -> Table:
    moved = [change for change in changes if change.difference or change.turned_right or change.turned_wrong]
    moved.sort(key=lambda change: -abs(change.difference or 0.0))
    rows = tuple(
        (
            change.doc_id,
            change.suite,
            _accuracy(change.base, change.base_status),
            _accuracy(change.new, change.new_status),
            numbers.points(change.difference),
            numbers.count(change.turned_right),
            numbers.count(change.turned_wrong),
            change.new_error or change.base_error or "",
        )
        for change in moved[:limit]
    )
    header = ("document", "suite", "base", "new", "difference", "turned right", "turned wrong", "")
    return Table("Documents that changed", header, rows, frozenset({0, 1, 7}), max(0, len(moved) - limit))


def _accuracy(value: float | None, status: str) -> str:
    return status.replace("_", " ") if value is None else numbers.percent(value)


def _address_tables(result: Comparison, limit: int) -> Iterator[Table]:
    for title, changes, total in (
        ("Addresses that turned wrong", result.wrong, result.turned_wrong),
        ("Addresses that turned right", result.right, result.turned_right),
    ):
        header = ("document", "address", "ground truth", "base", "new", "verdict")
        rows = tuple(_address_row(change) for change in changes[:limit])
        yield Table(title, header, rows, frozenset(range(6)), total - len(rows))


def _address_row(change: AddressChange) -> tuple[str, ...]:
    values = (change.gold, change.base_value, change.new_value)
    shown = tuple("(absent)" if value is None else text.shortened(value, 60) for value in values)
    return (change.doc_id, change.address, *shown, f"{change.base_verdict} → {change.new_verdict}")


def _system_row(result: Ranking, system: System) -> tuple[str, ...]:
    side = system.side
    place = system.places[result.options.weighting]
    return (
        numbers.count(place),
        side.name,
        numbers.percent(system.figures[result.options.weighting]),
        system.reason or numbers.percent_interval(system.low, system.high),
        numbers.of(side.scored, side.documents),
        numbers.count(side.failed),
        ", ".join(result.indistinguishable(side.name)) or "(told apart from all)",
    )


def _ranked(systems: Sequence[System], weighting: str) -> Iterator[str]:
    for system in systems:
        place: Mapping[str, int | None] = system.places
        yield f"{numbers.percent(system.figures[weighting])} (#{numbers.count(place[weighting])})"


def _row_title(name: str, title: str) -> str:
    return title if title.lower().startswith(name) else f"{name}: {title}"


def _side_lines(sides: Sequence[Side]) -> Iterator[str]:
    for label, side in zip(("base", "new"), sides, strict=True):
        nothing = f", {side.nothing_to_score} with nothing to score" if side.nothing_to_score else ""
        yield (
            f"- {label}: {text.markdown(side.name)}: {numbers.of(side.scored, side.documents)} documents scored, "
            f"{numbers.count(side.failed)} failed{nothing}"
        )


def _level(alpha: float) -> str:
    return f"{100 * (1 - alpha):g}%"
