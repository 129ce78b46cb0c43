"""The documents that scoring is timed on: tables, nested tables, many small documents, and real pairs where they are.

Every workload is made from a seed, so that repeats see other values of the same shape and no cache of an earlier one.
"""

from __future__ import annotations

import datetime
import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("DOCASSAY_SHARED", REPOSITORY.parent / "shared"))

Pair = tuple[Any, Any, dict[str, Any]]
"""Prediction, ground truth, schema."""

WORDS = (
    "invoice",
    "ledger",
    "parcel",
    "meter",
    "valve",
    "anchor",
    "column",
    "basket",
    "lantern",
    "gravel",
    "saddle",
    "timber",
)
STATES = ("open", "paid", "late", "void")
CURRENCIES = ("EUR", "USD", "GBP")


@dataclass(frozen=True, slots=True)
class Workload:
    """A named list of pairs, made anew for every seed; `peers` is false where no peer can finish."""

    name: str
    make: Callable[[int], list[Pair]]
    peers: bool = True


def all_workloads() -> list[Workload]:
    """The workloads, small ones first; the real pairs only where they are."""
    tables = [Workload(f"table {n} x 10", partial(one_table, n)) for n in (10, 100, 500, 2000)]
    nested = [
        Workload(f"nested {a} x {b} x {c}", partial(one_nested, a, b, c)) for a, b, c in ((10, 10, 5), (30, 10, 10))
    ]
    small = [Workload("200 small documents", small_documents)]
    real = [Workload("200 real pairs", real_pairs)] if (SHARED / "data" / "extraction" / "docubench").is_dir() else []
    return [*tables, *nested, *small, *real, Workload("table 20000 x 10", partial(one_table, 20_000), peers=False)]


def one_table(rows: int, seed: int) -> list[Pair]:
    """One table: 5 % of cells wrong, 5 % of rows dropped, the rest shuffled, dates written differently."""
    chance = random.Random(f"table {rows} {seed}")
    gold = [row(chance, number) for number in range(rows)]
    return [({"rows": read_badly(gold, chance)}, {"rows": gold}, schema_of(gold[0]))]


def small_documents(seed: int) -> list[Pair]:
    """200 tables of 8 rows."""
    return [pair for number in range(200) for pair in one_table(8, seed * 1000 + number)]


def row(chance: random.Random, number: int) -> dict[str, Any]:
    """Ten columns: two identifiers, two dates, three decimals, a text, two of low cardinality."""
    day = datetime.date(2020, 1, 1) + datetime.timedelta(days=chance.randrange(2000))
    return {
        "id": f"R-{number:06d}",
        "account": str(chance.randrange(10**9, 10**10)),
        "issued": day.isoformat(),
        "due": (day + datetime.timedelta(days=30)).isoformat(),
        "net": chance.randrange(100, 10**6) / 100,
        "tax": chance.randrange(100, 10**5) / 100,
        "rate": chance.randrange(1, 2500) / 100,
        "text": " ".join(chance.choices(WORDS, k=4)),
        "status": chance.choice(STATES),
        "currency": chance.choice(CURRENCIES),
    }


def schema_of(sample: dict[str, Any]) -> dict[str, Any]:
    """The schema of a table with rows like this one."""
    kinds = {str: {"type": "string"}, float: {"type": "number"}}
    fields = {name: kinds[type(value)] for name, value in sample.items()}
    return objects(rows=arrays(objects(**fields)))


def objects(**properties: Any) -> dict[str, Any]:
    """The schema of an object."""
    return {"type": "object", "properties": properties}


def arrays(items: Any) -> dict[str, Any]:
    """The schema of an array."""
    return {"type": "array", "items": items}


def read_badly(gold: list[dict[str, Any]], chance: random.Random) -> list[dict[str, Any]]:
    """What a mostly right reader returns for these rows."""
    kept = [source for source in gold if chance.random() >= 0.05]
    chance.shuffle(kept)
    return [{name: misread(name, value, chance) for name, value in source.items()} for source in kept]


def misread(name: str, value: Any, chance: random.Random) -> Any:
    """A value as it is returned: wrong one time in twenty; a right date in another notation."""
    if chance.random() < 0.05:
        return chance.randrange(10**6) / 100 if isinstance(value, float) else f"wrong {chance.randrange(10**6)}"
    if name in {"issued", "due"}:
        return datetime.date.fromisoformat(value).strftime("%m/%d/%Y")
    return value


def one_nested(books: int, chapters: int, sections: int, seed: int) -> list[Pair]:
    """Books of chapters of sections, each level shuffled, with wrong titles, page numbers and dropped sections."""
    chance = random.Random(f"nested {books} {chapters} {sections} {seed}")
    gold = [book(chance, number, chapters, sections) for number in range(books)]
    section = objects(heading={"type": "string"}, page={"type": "integer"}, kind={"type": "string"})
    chapter = objects(title={"type": "string"}, sections=arrays(section))
    fields = objects(title={"type": "string"}, year={"type": "integer"}, chapters=arrays(chapter))
    return [
        (
            {"books": [nested_badly(one, chance) for one in shuffled(gold, chance)]},
            {"books": gold},
            objects(books=arrays(fields)),
        )
    ]


def book(chance: random.Random, number: int, chapters: int, sections: int) -> dict[str, Any]:
    """One book; its headings are drawn from few words, so that many sections share values."""
    return {
        "title": f"{chance.choice(WORDS)} {number}",
        "year": chance.randrange(1950, 2026),
        "chapters": [
            {
                "title": " ".join(chance.choices(WORDS, k=2)),
                "sections": [
                    {
                        "heading": " ".join(chance.choices(WORDS, k=2)),
                        "page": chance.randrange(400),
                        "kind": chance.choice(STATES),
                    }
                    for _ in range(sections)
                ],
            }
            for _ in range(chapters)
        ],
    }


def nested_badly(node: Any, chance: random.Random) -> Any:
    """A copy with 5 % of values wrong, 5 % of elements dropped and every array shuffled."""
    if isinstance(node, dict):
        return {name: nested_badly(value, chance) for name, value in node.items()}
    if isinstance(node, list):
        return [nested_badly(value, chance) for value in shuffled(node, chance) if chance.random() >= 0.05]
    return f"wrong {chance.randrange(10**6)}" if chance.random() < 0.05 else node


def shuffled(values: list[Any], chance: random.Random) -> list[Any]:
    """The values in another order."""
    return chance.sample(values, len(values))


def real_pairs(_seed: int) -> list[Pair]:
    """The 50 public documents with the answers of four systems; the same for every seed."""
    folder = SHARED / "data" / "extraction" / "docubench"
    return [
        (
            json.loads(answer.read_text(encoding="utf-8"))["data"],
            json.loads((folder / "labels" / answer.name).read_text(encoding="utf-8")),
            json.loads((folder / "schemas" / answer.name).read_text(encoding="utf-8")),
        )
        for answer in sorted(folder.glob("results/*/*.json"))
    ]
