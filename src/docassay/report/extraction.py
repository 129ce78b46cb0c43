"""Decides what a report of extraction runs says: tables in, what a person reads out; nothing is scored again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from docassay.core.statistics.intervals import Interval, mean_intervals
from docassay.pipelines.compare import CompareOptions
from docassay.pipelines.pairing import NO_SUITE, WEIGHTINGS, align, weighted
from docassay.pipelines.ranking import Ranking, rank_documents
from docassay.pipelines.run_data import VERDICTS, Documents, Run, attach, connect, open_runs, quoted, read_documents
from docassay.report import plots
from docassay.report.difference import Marked, mark, plain
from docassay.report.options import ReportOptions
from docassay.report.reasons import metric_of, reason

if TYPE_CHECKING:
    import duckdb

MEANS = ("accuracy", "precision", "recall", "f1", "addresses_found", "addresses_read_right")
COST_COLUMNS = ("predict_cost", "cost")
UNIT_COLUMN = "predict_cost_unit"
TIME_COLUMNS = ("predict_seconds", "wall_seconds")
SUITES_DRAWN = 10
DOCUMENT_ROWS = 3000
"""Documents in the table of all documents at most; further ones are counted, not listed."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Documents that failed for one reason."""

    reason: str
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spending:
    """What the predictions of one run cost, where the manifest tells."""

    cost: float | None
    """Mean over the documents that state one, in the vendor's unit."""
    cost_known: int
    unit: str
    """As the vendor states it; empty where it is not told, or not one."""
    seconds: float | None
    """Mean wall seconds of a prediction."""
    seconds_known: int


@dataclass(frozen=True, slots=True)
class RunCard:
    """One run as the report shows it."""

    name: str
    series: int
    path: str
    signature: str
    documents: int
    scored: int
    failed: int
    nothing_to_score: int
    failures: tuple[Failure, ...]
    with_failures: Interval
    """Mean accuracy over documents, failures as 0."""
    unified: float | None
    means: Mapping[str, Interval]
    """Mean of each metric over the documents that were scored."""
    counts: Mapping[str, int]
    """Addresses by verdict, over all scored documents."""
    total: int
    inexact: int
    """Documents whose pairing is approximate."""
    spending: Spending
    finished: bool
    """Whether the run wrote its summary, which it does last."""
    record: str
    """`run.json`, as indented JSON."""

    @property
    def coverage(self) -> float | None:
        """Share of documents that did not fail."""
        return None if not self.documents else 1 - self.failed / self.documents


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """One suite: the mean accuracy of each run, failures as 0."""

    name: str
    documents: int
    runs: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class FieldCell:
    """One field in one run."""

    total: int
    matched: int
    counts: Mapping[str, int]

    @property
    def accuracy(self) -> float | None:
        """Matched of all addresses of the field."""
        return self.matched / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field over all runs."""

    name: str
    documents: int
    wrong: int
    runs: tuple[FieldCell, ...]

    @property
    def mistakes(self) -> list[tuple[str, int]]:
        """The wrong verdicts over all runs, the most frequent first."""
        sums = Counter[str]()
        for cell in self.runs:
            sums.update({verdict: n for verdict, n in cell.counts.items() if verdict != "matched" and n})
        return sums.most_common()


@dataclass(frozen=True, slots=True)
class DocumentCell:
    """One document in one run; without a figure the status and the error tell why."""

    status: str
    error: str | None
    accuracy: float | None
    wrong: int | None
    total: int | None


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """One document over all runs; None where a run lacks it."""

    doc_id: str
    suite: str
    runs: tuple[DocumentCell | None, ...]


@dataclass(frozen=True, slots=True)
class WrongAddress:
    """One address that is not matched."""

    address: str
    verdict: str
    gold: Marked | None
    predicted: Marked | None
    reason: str


@dataclass(frozen=True, slots=True)
class WorstDocument:
    """One listed document of one run."""

    run: str
    series: int
    doc_id: str
    suite: str
    cell: DocumentCell
    addresses: tuple[WrongAddress, ...]
    more: int


@dataclass(frozen=True, slots=True)
class ExtractionReport:
    """Everything the template needs, figures unrounded."""

    title: str
    metric: str
    runs: tuple[RunCard, ...]
    ranking: Ranking | None
    """None for a single run."""
    suites: tuple[SuiteRow, ...]
    fields: tuple[FieldRow, ...]
    more_fields: int
    documents: tuple[DocumentRow, ...]
    more_documents: int
    worst: tuple[WorstDocument, ...]
    plots: Mapping[str, str]
    weightings: Mapping[str, str]
    options: ReportOptions
    notes: tuple[str, ...]


def build(paths: Sequence[Path], options: ReportOptions) -> ExtractionReport:
    """Read finished extraction runs and say what a report of them says.

    Raises:
        RunMismatchError: the runs' signatures differ in what matters.
        InputError: a path that is no finished run.
    """
    runs = open_runs(paths)
    with connect() as connection:
        attach(connection, runs)
        documents = read_documents(connection, runs)
        ranking = rank_documents(documents, _asked(options)) if len(documents) > 1 else None
        cards = _ordered([_card(connection, i, one, options) for i, one in enumerate(documents)], ranking)
        order = [next(i for i, one in enumerate(documents) if one.run.name == card.name) for card in cards]
        ordered = [documents[i] for i in order]
        suites = tuple(_suites(ordered, options))
        fields = _fields(connection, order)
        rows = _document_rows(ordered)
        return ExtractionReport(
            title=options.title or ("Extraction report: " + ", ".join(card.name for card in cards)),
            metric=metric_of(documents[0].signature),
            runs=tuple(cards),
            ranking=ranking,
            suites=suites,
            fields=tuple(fields[: options.fields]),
            more_fields=max(0, len(fields) - options.fields),
            documents=tuple(rows[:DOCUMENT_ROWS]),
            more_documents=max(0, len(rows) - DOCUMENT_ROWS),
            worst=tuple(_worst(connection, order, ordered, options)),
            plots=_plots(cards, ranking, suites, ordered),
            weightings=WEIGHTINGS,
            options=options,
            notes=(*(ranking.notes if ranking else ()), *_verdict_notes(runs)),
        )


def _verdict_notes(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        if not run.keeps_verdicts:
            yield f"{run.name} was scored without verdicts, so its fields and wrong values are not known"


def _asked(options: ReportOptions) -> CompareOptions:
    return CompareOptions(alpha=options.alpha, seed=options.seed)


def _ordered(cards: list[RunCard], ranking: Ranking | None) -> list[RunCard]:
    """The runs as they rank."""
    if ranking is None:
        return cards
    places = {system.side.name: place for place, system in enumerate(ranking.systems)}
    ranked = sorted(cards, key=lambda card: places[card.name])
    return [replace(card, series=place) for place, card in enumerate(ranked)]


def _card(connection: duckdb.DuckDBPyConnection, index: int, one: Documents, options: ReportOptions) -> RunCard:
    scored, failed = int(one.scored.sum()), int(one.failed.sum())
    columns = np.column_stack([one.with_failures_as_zero("accuracy"), *(one.numbers[name] for name in MEANS)])
    generator = np.random.default_rng(options.seed)
    first, *means = mean_intervals(columns, generator=generator, level=1 - options.alpha)
    return RunCard(
        name=one.run.name,
        series=index,
        path=str(one.run.path),
        signature=one.signature,
        documents=len(one),
        scored=scored,
        failed=failed,
        nothing_to_score=len(one) - scored - failed,
        failures=tuple(_failures(one)),
        with_failures=first,
        unified=weighted(align([one]), 0, "unified"),
        means=dict(zip(MEANS, means, strict=True)),
        counts={verdict: int(np.nansum(one.numbers[verdict])) for verdict in VERDICTS},
        total=int(np.nansum(one.numbers["total"])),
        inexact=sum(exact is False for exact in one.matching_exact),
        spending=_spending(connection, index),
        finished=bool(one.run.summary),
        record=_record_text(one.run),
    )


def _record_text(run: Run) -> str:
    return json.dumps(dict(run.record), ensure_ascii=False, indent=2) if run.record else "(no run.json)"


def _failures(one: Documents) -> Iterator[Failure]:
    """Failed documents by the first line of their reason, the most frequent first."""
    by_reason: dict[str, list[str]] = {}
    for doc_id, status, error in zip(one.doc_id, one.status, one.error, strict=True):
        if status == "error":
            by_reason.setdefault(_last_line(error), []).append(doc_id)
    for text, documents in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        yield Failure(text, tuple(documents))


def _last_line(error: str | None) -> str:
    """A fault of the input is one line; of a traceback the last line says what happened."""
    lines = (error or "").strip().splitlines()
    return lines[-1] if lines else "no reason was recorded"


def _spending(connection: duckdb.DuckDBPyConnection, index: int) -> Spending:
    columns = {row[0]: row[1] for row in connection.execute(f"DESCRIBE scores_{index}").fetchall()}
    cost, cost_known = _known_mean(connection, index, columns, COST_COLUMNS)
    seconds, seconds_known = _known_mean(connection, index, columns, TIME_COLUMNS)
    return Spending(cost, cost_known, _unit(connection, index, columns), seconds, seconds_known)


def _unit(connection: duckdb.DuckDBPyConnection, index: int, columns: Mapping[str, str]) -> str:
    if UNIT_COLUMN not in columns:
        return ""
    found = connection.execute(f"SELECT DISTINCT {UNIT_COLUMN} FROM scores_{index} WHERE {UNIT_COLUMN} IS NOT NULL")
    units = [str(row[0]) for row in found.fetchall()]
    return units[0] if len(units) == 1 else ""


def _known_mean(
    connection: duckdb.DuckDBPyConnection, index: int, columns: Mapping[str, str], names: Sequence[str]
) -> tuple[float | None, int]:
    for name in names:
        if columns.get(name) in ("DOUBLE", "FLOAT", "BIGINT", "INTEGER"):
            row = connection.execute(
                f"SELECT avg({quoted(name)}), count({quoted(name)}) FROM scores_{index}"
            ).fetchone()
            assert row is not None
            return row[0], row[1]
    return None, 0


def _suites(documents: Sequence[Documents], options: ReportOptions) -> Iterator[SuiteRow]:
    names = list(dict.fromkeys(suite or NO_SUITE for one in documents for suite in one.suite))
    if names == [NO_SUITE]:
        return
    per_run = [_suite_intervals(one, names, options) for one in documents]
    for place, name in enumerate(names):
        size = max(sum((suite or NO_SUITE) == name for suite in one.suite) for one in documents)
        yield SuiteRow(name, size, tuple(run[place] for run in per_run))


def _suite_intervals(one: Documents, names: Sequence[str], options: ReportOptions) -> list[Interval]:
    inside = np.array([suite or NO_SUITE for suite in one.suite])[:, None] == np.array(names)[None, :]
    values = np.where(inside, one.with_failures_as_zero("accuracy")[:, None], np.nan)
    return mean_intervals(values, generator=np.random.default_rng(options.seed), level=1 - options.alpha)


def _fields(connection: duckdb.DuckDBPyConnection, order: Sequence[int]) -> list[FieldRow]:
    """All fields with a wrong address, the most wrong addresses first."""
    cells: dict[str, list[dict[str, int]]] = {}
    documents: Counter[str] = Counter()
    for place, index in enumerate(order):
        for field, verdict, n in connection.execute(
            f"SELECT field, verdict, count(*) FROM verdicts_{index} GROUP BY field, verdict"
        ).fetchall():
            cells.setdefault(field, [{} for _ in order])[place][verdict] = n
        for field, n in connection.execute(
            f"SELECT field, count(DISTINCT doc_id) FROM verdicts_{index} GROUP BY field"
        ).fetchall():
            documents[field] = max(documents[field], n)
    rows = [_field_row(field, documents[field], runs) for field, runs in cells.items()]
    return sorted((row for row in rows if row.wrong), key=lambda row: (-row.wrong, row.name))


def _field_row(name: str, documents: int, runs: Sequence[Mapping[str, int]]) -> FieldRow:
    cells = tuple(FieldCell(sum(counts.values()), counts.get("matched", 0), counts) for counts in runs)
    return FieldRow(name, documents, sum(cell.total - cell.matched for cell in cells), cells)


def _document_rows(documents: Sequence[Documents]) -> list[DocumentRow]:
    """Every document of any run, the lowest mean accuracy first."""
    index = [{doc: row for row, doc in enumerate(one.doc_id)} for one in documents]
    suites = {doc: suite for one in reversed(documents) for doc, suite in zip(one.doc_id, one.suite, strict=True)}
    rows = []
    for doc in dict.fromkeys(doc for one in documents for doc in one.doc_id):
        cells = tuple(
            _cell(one, rows[doc]) if doc in rows else None for one, rows in zip(documents, index, strict=True)
        )
        rows.append(DocumentRow(doc, suites[doc] or NO_SUITE, cells))
    return sorted(rows, key=_mean_accuracy)


def _mean_accuracy(row: DocumentRow) -> float:
    known = [cell.accuracy or 0.0 for cell in row.runs if cell is not None and cell.status != "nothing_to_score"]
    return sum(known) / len(known) if known else 2.0


def _cell(one: Documents, row: int) -> DocumentCell:
    accuracy, total, matched = (one.numbers[name][row] for name in ("accuracy", "total", "matched"))
    return DocumentCell(
        status=one.status[row],
        error=one.error[row],
        accuracy=None if np.isnan(accuracy) else float(accuracy),
        wrong=None if np.isnan(total) else int(total - matched),
        total=None if np.isnan(total) else int(total),
    )


def _worst(
    connection: duckdb.DuckDBPyConnection, order: Sequence[int], documents: Sequence[Documents], options: ReportOptions
) -> Iterator[WorstDocument]:
    for place, (index, one) in enumerate(zip(order, documents, strict=True)):
        accuracy = one.numbers["accuracy"]
        wrong = one.numbers["total"] - one.numbers["matched"]
        listed = [row for row in np.lexsort((-wrong, accuracy)) if accuracy[row] < 1][: options.documents]
        doc_ids = [one.doc_id[row] for row in listed]
        addresses = _wrong_addresses(connection, index, doc_ids, options.addresses, metric_of(one.signature))
        for row, doc_id in zip(listed, doc_ids, strict=True):
            cell = _cell(one, row)
            found = addresses.get(doc_id, [])
            yield WorstDocument(
                run=one.run.name,
                series=place,
                doc_id=doc_id,
                suite=one.suite[row] or NO_SUITE,
                cell=cell,
                addresses=tuple(found),
                more=(cell.wrong or 0) - len(found),
            )


def _wrong_addresses(
    connection: duckdb.DuckDBPyConnection, index: int, doc_ids: Sequence[str], limit: int, metric: str
) -> dict[str, list[WrongAddress]]:
    rows = connection.execute(
        "SELECT doc_id, address, verdict, gold_raw, pred_raw FROM ("
        "  SELECT *, row_number() OVER (PARTITION BY doc_id ORDER BY filename, file_row_number) AS place"
        f"  FROM verdicts_{index} WHERE verdict <> 'matched' AND list_contains($1::VARCHAR[], doc_id)"
        ") WHERE place <= $2 ORDER BY filename, file_row_number",
        [list(doc_ids), limit],
    ).fetchall()
    found: dict[str, list[WrongAddress]] = {}
    for doc_id, address, verdict, gold, predicted in rows:
        found.setdefault(doc_id, []).append(_wrong_address(address, verdict, gold, predicted, metric))
    return found


def _wrong_address(address: str, verdict: str, gold: str | None, predicted: str | None, metric: str) -> WrongAddress:
    if gold is not None and predicted is not None:
        left, right = mark(gold, predicted)
        return WrongAddress(address, verdict, left, right, reason(verdict, gold, predicted, metric))
    return WrongAddress(
        address,
        verdict,
        None if gold is None else plain(gold),
        None if predicted is None else plain(predicted),
        reason(verdict, gold, predicted, metric),
    )


def _plots(
    cards: Sequence[RunCard], ranking: Ranking | None, suites: Sequence[SuiteRow], documents: Sequence[Documents]
) -> dict[str, str]:
    drawn = {}
    estimates = list(_estimates(cards, ranking))
    if estimates:
        drawn["leaderboard"] = plots.intervals(
            estimates, title="Accuracy of each run with its interval", axis="accuracy"
        )
    if ranking and any(pair.line.paired.difference is not None for pair in ranking.pairs):
        drawn["pairs"] = plots.intervals(
            list(_pair_estimates(ranking)),
            title="Difference of each pair of runs with its interval",
            axis="difference in accuracy",
            zero=True,
            scale="points",
        )
    bars = [
        plots.Bar(card.name, {verdict: n / card.total for verdict, n in card.counts.items()})
        for card in cards
        if card.total
    ]
    if bars:
        drawn["verdicts"] = plots.verdict_bars(bars, title="Share of each verdict in the addresses of each run")
    accuracies = {
        one.run.name: values[~np.isnan(values)].tolist()
        for one in documents
        if not np.isnan(values := one.with_failures_as_zero("accuracy")).all()
    }
    if accuracies:
        drawn["curves"] = plots.curves(accuracies, title="Share of documents that reach an accuracy, failures as 0")
    if suites:
        drawn["suites"] = plots.grouped(
            _suite_groups(suites, cards), title="Accuracy by suite, the largest suites", axis="accuracy"
        )
    for name, axis in (
        ("cost", "mean cost of a document, as the vendor states it"),
        ("seconds", "mean seconds a document"),
    ):
        places = list(_places(cards, name))
        if len(places) > 1:
            drawn[name] = plots.trade_off(places, title=f"Accuracy against {axis}", axis=axis)
    return drawn


def _estimates(cards: Sequence[RunCard], ranking: Ranking | None) -> Iterator[plots.Estimate]:
    if ranking is None:
        for card in cards:
            mean = card.with_failures
            if mean.estimate is not None:
                yield plots.Estimate(card.name, mean.estimate, mean.low, mean.high, 0)
        return
    for place, system in enumerate(ranking.systems):
        figure = system.figures[ranking.options.weighting]
        if figure is not None:
            yield plots.Estimate(system.side.name, figure, system.low, system.high, place)


def _pair_estimates(ranking: Ranking) -> Iterator[plots.Estimate]:
    for pair in ranking.pairs:
        paired = pair.line.paired
        if paired.difference is not None:
            label = f"{_brief(pair.better)} − {_brief(pair.worse)}"
            yield plots.Estimate(label, paired.difference, paired.low, paired.high, 0)


def _brief(name: str) -> str:
    """A run's name short enough that two fit on an axis."""
    return name if len(name) <= 14 else f"{name[:13]}…"


def _suite_groups(suites: Sequence[SuiteRow], cards: Sequence[RunCard]) -> dict[str, list[plots.Estimate]]:
    groups = {}
    for suite in sorted(suites, key=lambda suite: -suite.documents)[:SUITES_DRAWN]:
        groups[suite.name] = [
            plots.Estimate(card.name, one.estimate, one.low, one.high, place)
            for place, (card, one) in enumerate(zip(cards, suite.runs, strict=True))
            if one.estimate is not None
        ]
    return {name: members for name, members in groups.items() if members}


def _places(cards: Sequence[RunCard], name: str) -> Iterator[plots.Place]:
    for place, card in enumerate(cards):
        spent = getattr(card.spending, name)
        mean = card.with_failures
        if spent is not None and mean.estimate is not None:
            unit = f" ({card.spending.unit})" if name == "cost" and card.spending.unit else ""
            yield plots.Place(f"{card.name}{unit}", spent, mean.estimate, mean.low, mean.high, place)
