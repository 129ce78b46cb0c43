"""Decides what changed between two runs of the same documents, and whether it is worse than allowed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from docassay.core.statistics.paired import (
    CORRECTIONS,
    MIN_DOCUMENTS,
    PERMUTATIONS,
    RESAMPLES,
    PairedDifference,
    paired_means,
    paired_ratios,
)
from docassay.errors import ArgumentValueError, RunMismatchError
from docassay.pipelines.pairing import (
    NO_SUITE,
    WEIGHTINGS,
    Aligned,
    Side,
    align,
    side_of,
    version_notes,
    weighted_difference,
)
from docassay.pipelines.run_data import (
    GOLD_VERDICTS,
    VERDICTS,
    Floats,
    attach,
    connect,
    literal_list,
    open_runs,
    read_documents,
)

if TYPE_CHECKING:
    import duckdb

_FIELD_BLOCK = 5_000_000  # cells (documents x fields) held at once


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What a comparison is asked."""

    alpha: float = 0.05
    """Level of the tests; intervals have level 1 - alpha."""
    correction: str = "holm"
    """How the p-values of one table are corrected: a name of `core.statistics.paired.CORRECTIONS`."""
    weighting: str = "unified"
    """What the headline figure is: a name of `pairing.WEIGHTINGS`."""
    seed: int = 0
    fail_if_worse: float | None = None
    """How much accuracy (0-1) the new run may lose before the comparison is flagged; None flags nothing."""
    allow_missing: bool = False
    """Do not flag documents that only the base run has."""
    allow_changed_truth: bool = False
    """Compare although the ground truth of some documents differs between the runs."""
    changes: int = 1000
    """How many changed addresses are listed, of each direction; all are counted."""


@dataclass(frozen=True, slots=True)
class Line:
    """One compared figure."""

    name: str
    paired: PairedDifference
    adjusted: float | None
    """The p-value corrected within its table."""
    higher_is_better: bool = True

    def significant(self, alpha: float) -> bool:
        """Whether the corrected test rejects at this level; a figure that was not tested is never significant."""
        return self.adjusted is not None and self.adjusted < alpha


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """One paired document."""

    doc_id: str
    suite: str
    base: float | None
    new: float | None
    """Accuracy; None where the run has none, and the status tells why."""
    base_status: str
    new_status: str
    base_error: str | None
    new_error: str | None
    turned_right: int
    turned_wrong: int

    @property
    def difference(self) -> float | None:
        """new - base with failures as 0; None where either had nothing to score."""
        left = 0.0 if self.base_status == "error" else self.base
        right = 0.0 if self.new_status == "error" else self.new
        return None if left is None or right is None else right - left


@dataclass(frozen=True, slots=True)
class AddressChange:
    """One address of the ground truth that one run has right and the other has not."""

    doc_id: str
    address: str
    field: str
    base_verdict: str
    new_verdict: str
    gold: str | None
    base_value: str | None
    new_value: str | None
    """JSON text; None where that side has no such address."""


@dataclass(frozen=True, slots=True)
class Flag:
    """One reason why the new run is worse than allowed."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs, compared on the documents both have."""

    base: Side
    new: Side
    documents: int
    headline: Line
    metrics: tuple[Line, ...]
    verdicts: tuple[Line, ...]
    suites: tuple[Line, ...]
    fields: tuple[Line, ...]
    changes: tuple[DocumentChange, ...]
    """Every paired document, the largest losses first."""
    turned_right: int
    turned_wrong: int
    right: tuple[AddressChange, ...]
    wrong: tuple[AddressChange, ...]
    """The first of them, in the tables' order."""
    options: CompareOptions
    notes: tuple[str, ...]
    flags: tuple[Flag, ...]
    """Empty where nothing is worse than allowed, or nothing was asked."""
    min_documents: int = MIN_DOCUMENTS
    resamples: int = RESAMPLES
    permutations: int = PERMUTATIONS


def compare(base: str | Path, new: str | Path, options: CompareOptions | None = None) -> Comparison:
    """Compare two extraction runs, paired by document.

    Raises:
        RunMismatchError: the runs' signatures or ground truths differ.
        InputError: a path that is no finished run, or no document in common.
        ArgumentValueError: an option out of its range.
    """
    chosen = _checked(options or CompareOptions())
    runs = open_runs([Path(base), Path(new)])
    with connect() as connection:
        attach(connection, runs)
        aligned = align(read_documents(connection, runs))
        changed_truth = _changed_truth(connection, aligned)
        if changed_truth and not chosen.allow_changed_truth:
            raise RunMismatchError(_truth_message(changed_truth, aligned))
        return _compare(connection, aligned, changed_truth, chosen)


def _checked(options: CompareOptions) -> CompareOptions:
    if not 0 < options.alpha < 1:
        raise ArgumentValueError(f"alpha is {options.alpha}; it must lie between 0 and 1")
    if options.fail_if_worse is not None and not 0 <= options.fail_if_worse <= 1:
        raise ArgumentValueError(f"fail_if_worse is {options.fail_if_worse}; accuracy is in 0-1, so a loss is too")
    for name, value, known in (
        ("correction", options.correction, CORRECTIONS),
        ("weighting", options.weighting, WEIGHTINGS),
    ):
        if value not in known:
            raise ArgumentValueError(f"{name} is {value!r}; it must be one of {', '.join(known)}")
    return options


def _compare(
    connection: duckdb.DuckDBPyConnection, aligned: Aligned, changed_truth: Sequence[str], options: CompareOptions
) -> Comparison:
    # Each table has a stream of its own, so that one never shifts another's draws.
    streams = iter(np.random.default_rng(options.seed).spawn(5))
    level = 1 - options.alpha
    headline = weighted_difference(aligned, 0, 1, options.weighting, next(streams), level)
    counts = dict(_turned_counts(connection))
    result = Comparison(
        base=side_of(aligned, 0),
        new=side_of(aligned, 1),
        documents=len(aligned.doc_id),
        headline=Line(f"{options.weighting} accuracy", headline, headline.p_value),
        metrics=_metric_lines(aligned, next(streams), level, options.correction),
        verdicts=_verdict_lines(aligned, next(streams), level, options.correction),
        suites=_suite_lines(aligned, next(streams), level, options.correction),
        fields=_field_lines(connection, aligned, next(streams), level, options.correction),
        changes=_document_changes(aligned, counts),
        turned_right=sum(right for right, _ in counts.values()),
        turned_wrong=sum(wrong for _, wrong in counts.values()),
        right=_turned(connection, "n.verdict", options.changes),
        wrong=_turned(connection, "b.verdict", options.changes),
        options=options,
        notes=_notes(aligned, changed_truth),
        flags=(),
    )
    return replace(result, flags=tuple(_flags(result)))


def _metric_lines(aligned: Aligned, generator: np.random.Generator, level: float, correction: str) -> tuple[Line, ...]:
    """Means over documents: first what nothing escapes, then what was scored by both."""
    names = ["coverage", "accuracy, failures as 0"]
    sides = [[1.0 - aligned.failed(run), aligned.filled(run, "accuracy")] for run in (0, 1)]
    for metric in ("accuracy", "precision", "recall", "f1"):
        names.append(f"{metric}, scored by both")
        for run in (0, 1):
            sides[run].append(aligned.metric(run, metric))
    base, new = (np.column_stack(columns) for columns in sides)
    return _lines(names, paired_means(base, new, generator=generator, level=level), correction)


def _verdict_lines(aligned: Aligned, generator: np.random.Generator, level: float, correction: str) -> tuple[Line, ...]:
    """Each verdict's share of all addresses, over the documents that both scored."""
    both = aligned.scored(0) & aligned.scored(1)
    sides = []
    for run in (0, 1):
        counts = np.column_stack([np.where(both, aligned.metric(run, verdict), 0.0) for verdict in VERDICTS])
        total = np.where(both, aligned.metric(run, "total"), 0.0)
        sides.append((np.nan_to_num(counts), np.repeat(np.nan_to_num(total)[:, None], len(VERDICTS), axis=1)))
    paired = paired_ratios(sides[0], sides[1], generator=generator, level=level)
    lines = _lines(VERDICTS, paired, correction)
    return tuple(replace(line, higher_is_better=line.name == "matched") for line in lines)


def _suite_lines(aligned: Aligned, generator: np.random.Generator, level: float, correction: str) -> tuple[Line, ...]:
    """Mean accuracy with failures as 0, per suite; none where no document names a suite."""
    names = list(dict.fromkeys(aligned.suite))
    if names == [NO_SUITE]:
        return ()
    inside = np.array(aligned.suite)[:, None] == np.array(names)[None, :]
    base, new = (np.where(inside, aligned.filled(run, "accuracy")[:, None], np.nan) for run in (0, 1))
    return _lines(names, paired_means(base, new, generator=generator, level=level), correction)


def _field_lines(
    connection: duckdb.DuckDBPyConnection,
    aligned: Aligned,
    generator: np.random.Generator,
    level: float,
    correction: str,
) -> tuple[Line, ...]:
    """Matched over all addresses of a field, pooled over the documents that both scored."""
    if not all(one.run.keeps_verdicts for one in aligned.runs):
        return ()
    both = aligned.scored(0) & aligned.scored(1)
    paired: list[PairedDifference] = []
    names: list[str] = []
    for block, base, new in _field_blocks(connection, [d for d, b in zip(aligned.doc_id, both, strict=True) if b]):
        names.extend(block)
        paired.extend(paired_ratios(base, new, generator=generator, level=level))
    lines = _lines(names, paired, correction)
    return tuple(sorted(lines, key=lambda line: (_difference(line), line.name)))


def _field_blocks(
    connection: duckdb.DuckDBPyConnection, documents: Sequence[str]
) -> Iterator[tuple[list[str], tuple[Floats, Floats], tuple[Floats, Floats]]]:
    """Fields in blocks, with (matched, total) per document and field for either run."""
    if not documents:
        return
    connection.execute("CREATE OR REPLACE TEMP TABLE paired_documents (doc_id VARCHAR, place BIGINT)")
    connection.execute(
        "INSERT INTO paired_documents SELECT unnest($1::VARCHAR[]), unnest(range($2::BIGINT))",
        [list(documents), len(documents)],
    )
    for run in (0, 1):
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE field_counts_{run} AS "
            f"SELECT place, field, count(*) FILTER (verdict = 'matched') AS matched, count(*) AS total "
            f"FROM verdicts_{run} JOIN paired_documents USING (doc_id) GROUP BY place, field"
        )
    rows = connection.execute(
        "SELECT DISTINCT field FROM (FROM field_counts_0 UNION ALL FROM field_counts_1) ORDER BY field"
    ).fetchall()
    fields = [row[0] for row in rows]
    size = max(1, _FIELD_BLOCK // len(documents))
    for start in range(0, len(fields), size):
        block = fields[start : start + size]
        sides = [_dense(connection, f"field_counts_{run}", block, len(documents)) for run in (0, 1)]
        yield block, sides[0], sides[1]


def _dense(
    connection: duckdb.DuckDBPyConnection, table: str, fields: Sequence[str], documents: int
) -> tuple[Floats, Floats]:
    found = connection.execute(
        f"SELECT place, list_position($1::VARCHAR[], field) - 1 AS col, matched, total FROM {table} "
        "WHERE list_contains($1::VARCHAR[], field)",
        [list(fields)],
    ).fetchnumpy()
    matched, total = np.zeros((documents, len(fields))), np.zeros((documents, len(fields)))
    place, column = np.asarray(found["place"], dtype=int), np.asarray(found["col"], dtype=int)
    matched[place, column] = found["matched"]
    total[place, column] = found["total"]
    return matched, total


def _lines(names: Sequence[str], paired: Sequence[PairedDifference], correction: str) -> tuple[Line, ...]:
    """Lines of one table, their p-values corrected together.

    A line in which no document differs can never be significant, so it is no member of the family (Tarone 1990).
    """
    adjusted = CORRECTIONS[correction]([None if one.nothing_differs else one.p_value for one in paired])
    return tuple(Line(name, one, p) for name, one, p in zip(names, paired, adjusted, strict=True))


_BOTH = (
    "FROM verdicts_0 b JOIN verdicts_1 n ON b.doc_id = n.doc_id AND b.address = n.address "
    f"WHERE b.verdict IN {literal_list(GOLD_VERDICTS)} AND n.verdict IN {literal_list(GOLD_VERDICTS)} "
)


def _turned_counts(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, tuple[int, int]]]:
    """Per document: how many addresses of the ground truth turned right, and how many wrong."""
    rows = connection.execute(
        "SELECT b.doc_id, count(*) FILTER (n.verdict = 'matched'), count(*) FILTER (b.verdict = 'matched') "
        f"{_BOTH} AND (b.verdict = 'matched') <> (n.verdict = 'matched') GROUP BY b.doc_id"
    ).fetchall()
    for doc_id, right, wrong in rows:
        yield doc_id, (right, wrong)


def _turned(connection: duckdb.DuckDBPyConnection, matched_side: str, limit: int) -> tuple[AddressChange, ...]:
    other_side = "b.verdict" if matched_side == "n.verdict" else "n.verdict"
    rows = connection.execute(
        "SELECT b.doc_id, b.address, b.field, b.verdict, n.verdict, b.gold_raw, b.pred_raw, n.pred_raw "
        f"{_BOTH} AND {matched_side} = 'matched' AND {other_side} <> 'matched' "
        "ORDER BY b.filename, b.file_row_number LIMIT $1",
        [limit],
    ).fetchall()
    return tuple(AddressChange(*row) for row in rows)


def _changed_truth(connection: duckdb.DuckDBPyConnection, aligned: Aligned) -> list[str]:
    """Documents scored in both runs whose ground-truth addresses or values are not the same.

    Without the verdicts of both, all that can be seen is how many addresses the ground truth has.
    """
    if not all(one.run.keeps_verdicts for one in aligned.runs):
        differs = aligned.scored(0) & aligned.scored(1) & (aligned.metric(0, "gold") != aligned.metric(1, "gold"))
        return [doc for doc, changed in zip(aligned.doc_id, differs, strict=True) if changed]
    side = (
        "SELECT doc_id, address, gold_canon FROM verdicts_{run} "
        f"WHERE verdict IN {literal_list(GOLD_VERDICTS)} "
        "AND doc_id IN (SELECT doc_id FROM scores_{other} WHERE status = 'scored')"
    )
    base, new = side.format(run=0, other=1), side.format(run=1, other=0)
    rows = connection.execute(
        f"WITH b AS ({base}), n AS ({new}) "
        "SELECT DISTINCT coalesce(b.doc_id, n.doc_id) AS doc_id "
        "FROM b FULL JOIN n ON b.doc_id = n.doc_id AND b.address = n.address "
        "WHERE b.gold_canon IS DISTINCT FROM n.gold_canon ORDER BY doc_id"
    ).fetchall()
    return [row[0] for row in rows]


def _truth_message(documents: Sequence[str], aligned: Aligned) -> str:
    base, new = (run.run.name for run in aligned.runs)
    return (
        f"the ground truth or the schema of {len(documents)} of {len(aligned.doc_id)} documents is not the same in "
        f"{base} and {new} ({_some(documents)}); score both against the same ground truth, "
        "or compare anyway with --allow-changed-truth"
    )


def _notes(aligned: Aligned, changed_truth: Sequence[str]) -> tuple[str, ...]:
    notes = version_notes(aligned.runs)
    for one in aligned.runs:
        if not one.run.keeps_verdicts:
            notes.append(f"{one.run.name} was scored without verdicts, so fields and addresses are not compared")
    if changed_truth:
        notes.append(f"the ground truth differs in {len(changed_truth)} documents: {_some(changed_truth)}")
    for run, absent in zip(aligned.runs, aligned.absent, strict=True):
        if absent:
            notes.append(f"{run.run.name} lacks {len(absent)} documents of the other run: {_some(absent)}")
    return tuple(notes)


def _some(names: Sequence[str], limit: int = 5) -> str:
    return ", ".join(names[:limit]) + (", …" if len(names) > limit else "")


def _document_changes(aligned: Aligned, turned: dict[str, tuple[int, int]]) -> tuple[DocumentChange, ...]:
    base, new = aligned.runs
    accuracies = [aligned.metric(run, "accuracy") for run in (0, 1)]
    changes = []
    for place, doc_id in enumerate(aligned.doc_id):
        left, right = int(aligned.rows[0][place]), int(aligned.rows[1][place])
        changes.append(
            DocumentChange(
                doc_id=doc_id,
                suite=aligned.suite[place],
                base=_known(accuracies[0][place]),
                new=_known(accuracies[1][place]),
                base_status=base.status[left],
                new_status=new.status[right],
                base_error=base.error[left],
                new_error=new.error[right],
                turned_right=turned.get(doc_id, (0, 0))[0],
                turned_wrong=turned.get(doc_id, (0, 0))[1],
            )
        )
    return tuple(sorted(changes, key=lambda change: 0.0 if change.difference is None else change.difference))


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _difference(line: Line) -> float:
    return 0.0 if line.paired.difference is None else line.paired.difference


def _flags(result: Comparison) -> Iterator[Flag]:
    """The headline by its figure; a suite or a field only where the corrected test says that it is no chance."""
    allowed = result.options.fail_if_worse
    if allowed is None:
        return
    most = f"allowed are {100 * allowed:g} pp"
    if _difference(result.headline) < -allowed:
        yield Flag("overall", f"{result.headline.name} fell by {-100 * _difference(result.headline):.2f} pp, {most}")
    for kind, lines in (("suite", result.suites), ("field", result.fields)):
        for line in lines:
            if _difference(line) < -allowed and line.significant(result.options.alpha):
                fall = f"accuracy fell by {-100 * _difference(line):.2f} pp"
                yield Flag(f"{kind} {line.name}", f"{fall} (corrected p = {line.adjusted:.2g}), {most}")
    if result.new.absent and not result.options.allow_missing:
        yield Flag("documents", f"{len(result.new.absent)} documents of the base run are missing from the new one")
