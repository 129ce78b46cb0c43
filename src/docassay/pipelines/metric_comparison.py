"""Decides where two metrics judge the same predictions differently, and which rule makes the difference."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from docassay.errors import InputError
from docassay.extraction.metric import METRICS
from docassay.extraction.values import Reading, explain
from docassay.pipelines.pairing import align, weighted
from docassay.pipelines.run_data import Documents, Run, attach, connect, open_runs, read_documents, unique_names
from docassay.runs.layout import MANIFEST, folder_of_metric

if TYPE_CHECKING:
    import duckdb

PUBLISHED, SOUND = "omni/1", "sound/1"
COMPARED = (PUBLISHED, SOUND)
PAIRING = "another row is paired"
UNPAIRED = "a row is paired by one metric only"
SCHEMA = "the schema or the document is read differently"
_INDEX = re.compile(r"\[p?\d+\]")


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """One address that the two metrics judge differently; what is None, that metric has no such address."""

    system: str
    doc_id: str
    address: str
    published: str | None
    sound: str | None
    """The verdict under omni/1 and under sound/1."""
    gold: str | None
    published_value: str | None
    sound_value: str | None
    """The predicted value that each metric sets against it, as JSON text."""
    group: str


@dataclass(frozen=True, slots=True)
class MetricGroup:
    """Differences that one rule decides."""

    name: str
    count: int
    systems: Mapping[str, int]
    example: MetricDifference


@dataclass(frozen=True, slots=True)
class MetricSystem:
    """One system's accuracy under both metrics, failures as 0."""

    name: str
    documents: int
    failed: int
    addresses: int
    """Addresses under either metric."""
    flat: Mapping[str, float | None]
    unified: Mapping[str, float | None]
    places: Mapping[str, int | None]
    """Rank by unified accuracy under each metric."""


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """The same predictions under both metrics."""

    systems: tuple[MetricSystem, ...]
    groups: tuple[MetricGroup, ...]
    """The most frequent first."""
    differences: tuple[MetricDifference, ...] = field(repr=False)
    signatures: tuple[str, ...] = ()

    @property
    def ranking_changes(self) -> bool:
        """Whether the systems rank differently under the two metrics."""
        return any(system.places[PUBLISHED] != system.places[SOUND] for system in self.systems)


def compare_metrics(
    runs: Sequence[str | Path],
    *,
    root: str | Path | None = None,
    workers: int | None = None,
    progress: Callable[[str], None] = lambda name: None,
) -> MetricComparison:
    """Score the inputs of finished runs under both metrics, each file read once, and say where the metrics differ.

    Args:
        runs: run directories; one that holds a run of each metric already (`omni-1`, `sound-1`) is not scored again.
        root: where relative paths of the inputs start; by default the root that the run recorded.
        workers: processes at once.
        progress: called with the name of each run that is about to be scored.

    Raises:
        InputError: a directory that is no run, or whose inputs are not recorded.
    """
    paths = [Path(run).resolve() for run in runs]
    names = unique_names(paths)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="docassay-metrics-")))
        scored = []
        for index, (path, name) in enumerate(zip(paths, names, strict=True)):
            progress(name)
            scored.append(_both(path, scratch / str(index), root, workers))
        found = [_system(name, pair) for name, pair in zip(names, scored, strict=True)]
    differences = tuple(one for _, part in found for one in part)
    systems = _placed([system for system, _ in found])
    signatures = tuple(dict.fromkeys(str(run.record.get("signature", "")) for pair in scored for run in pair))
    return MetricComparison(tuple(systems), tuple(_grouped(differences)), differences, signatures)


def _both(path: Path, out: Path, root: str | Path | None, workers: int | None) -> tuple[Run, Run]:
    """A run under each metric: those that are there, or new ones below `out`."""
    folders = [path / folder_of_metric(metric) for metric in COMPARED]
    if not all((folder / "scores.parquet").is_dir() for folder in folders):
        _score(path, out, root, workers)
        folders = [out / folder_of_metric(metric) for metric in COMPARED]
    published, sound = open_runs(folders)
    return published, sound


def _score(path: Path, out: Path, root: str | Path | None, workers: int | None) -> None:
    from docassay.pipelines.score_table import score_table

    if not (path / MANIFEST).is_file():
        raise InputError(f"{path} has no {MANIFEST}, so what it scored is not known; it is no run of docassay")
    record = json.loads((path / "run.json").read_bytes())
    options = record.get("options") or {}
    score_table(
        path / MANIFEST,
        out,
        metrics=COMPARED,
        order_matters=options.get("order_matters") or (),
        suite_column=options.get("suite_column"),
        root=root if root is not None else record.get("root"),
        workers=workers,
    )


def _system(name: str, runs: tuple[Run, Run]) -> tuple[MetricSystem, list[MetricDifference]]:
    with connect() as connection:
        attach(connection, runs)
        documents = read_documents(connection, runs)
        differences = list(_differences(connection, name))
        row = connection.execute(
            "SELECT count(*) FROM (SELECT doc_id, address FROM verdicts_0 UNION SELECT doc_id, address FROM verdicts_1)"
        ).fetchone()
    assert row is not None
    flat, unified = (
        {m: _accuracy(d, w) for m, d in zip(COMPARED, documents, strict=True)} for w in ("flat", "unified")
    )
    failed = int(documents[1].failed.sum())
    return MetricSystem(name, len(documents[1]), failed, row[0], flat, unified, {}), differences


def _accuracy(documents: Documents, weighting: str) -> float | None:
    return weighted(align([documents]), 0, weighting) if len(documents) else None


def _placed(systems: Sequence[MetricSystem]) -> list[MetricSystem]:
    def place(system: MetricSystem, metric: str) -> int | None:
        own = system.unified[metric]
        others = [one.unified[metric] for one in systems]
        return None if own is None else 1 + sum(other is not None and other > own for other in others)

    return [
        MetricSystem(
            name=one.name,
            documents=one.documents,
            failed=one.failed,
            addresses=one.addresses,
            flat=one.flat,
            unified=one.unified,
            places={metric: place(one, metric) for metric in COMPARED},
        )
        for one in systems
    ]


def _differences(connection: duckdb.DuckDBPyConnection, system: str) -> Iterator[MetricDifference]:
    rows = connection.execute(
        "SELECT coalesce(p.doc_id, s.doc_id) AS doc_id, coalesce(p.address, s.address) AS address, "
        "p.verdict, s.verdict, "
        "coalesce(p.gold_raw, s.gold_raw), p.pred_raw, s.pred_raw "
        "FROM verdicts_0 p FULL JOIN verdicts_1 s ON p.doc_id = s.doc_id AND p.address = s.address "
        "WHERE p.verdict IS DISTINCT FROM s.verdict ORDER BY doc_id, address"
    ).fetchall()
    only = [{_whereabouts(row) for row in rows if row[lacking] is None} for lacking in (2, 3)]
    moved = only[0] & only[1]
    for row in rows:
        doc_id, address, published, sound, gold, published_value, sound_value = row
        group = PAIRING if _whereabouts(row) in moved else _group(*row[1:])
        yield MetricDifference(system, doc_id, address, published, sound, gold, published_value, sound_value, group)


def _whereabouts(row: Sequence[str | None]) -> tuple[str | None, ...]:
    """A predicted value in its field, whichever row it is in."""
    doc_id, address, _, _, _, published_value, sound_value = row
    return doc_id, _INDEX.sub("[*]", address or ""), sound_value if published_value is None else published_value


def _group(
    address: str,
    published: str | None,
    sound: str | None,
    gold: str | None,
    published_value: str | None,
    sound_value: str | None,
) -> str:
    """What decides: a rule on values where both metrics compare the same two, else pairing or reading."""
    compared = {"matched", "misread"}
    if published in compared and sound in compared and published_value == sound_value:
        assert gold is not None
        assert sound_value is not None
        merging = PUBLISHED if published == "matched" else SOUND
        return f"equal in {merging} only: {deciding_rule(gold, sound_value, merging)}"
    if published is not None and sound is not None and published_value != sound_value:
        return PAIRING
    if "[p" in address or "invented_item" in (published, sound):
        return UNPAIRED
    return SCHEMA


def deciding_rule(one: str, other: str, metric: str) -> str:
    """The rule of `metric` after which two values (JSON text) are the same, by the steps that explain tells."""
    first, second = (_reading(raw, metric) for raw in (one, other))
    texts = [str(first.raw), str(second.raw)]
    decided = "the route of reading"
    equal = False
    for name in _order(first, second):
        for place, reading in enumerate((first, second)):
            texts[place] = next((step.after for step in reading.steps if step.name == name), texts[place])
        now = texts[0] == texts[1]
        if now and not equal:
            decided = name
        equal = now
    if not equal and first.route == second.route:
        return f"{first.route} read alike"
    return decided


def _order(first: Reading, second: Reading) -> list[str]:
    """The rules that touched either value, in the order in which the metric applies them."""
    names = [step.name for step in first.steps]
    at = 0
    for step in second.steps:
        if step.name in names:
            at = names.index(step.name) + 1
        else:
            names.insert(at, step.name)
            at += 1
    return names


def _reading(raw: str, metric: str) -> Reading:
    exact = METRICS[metric].exact_decimals
    reading = explain(json.loads(raw, parse_float=Decimal if exact else float), metric=metric)
    assert isinstance(reading, Reading)
    return reading


def _grouped(differences: Sequence[MetricDifference]) -> Iterator[MetricGroup]:
    members: dict[str, list[MetricDifference]] = {}
    for one in differences:
        members.setdefault(one.group, []).append(one)
    for name, ones in sorted(members.items(), key=lambda item: (-len(item[1]), item[0])):
        yield MetricGroup(name, len(ones), dict(Counter(one.system for one in ones)), ones[0])
