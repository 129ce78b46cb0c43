"""Builds folders of small documents with a manifest, and compares finished runs."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "vendor": {"type": "string"},
        "total": {"type": "number"},
        "lines": {
            "type": "array",
            "items": {"type": "object", "properties": {"item": {"type": "string"}, "price": {"type": "number"}}},
        },
    },
}


@dataclass
class Folder:
    """Documents on disk, and the manifest rows that name them."""

    root: Path
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, gold: Any, prediction: Any, **columns: Any) -> None:
        """A document; what is bytes is written as it is, and None is not written."""
        for folder, value in (("gt", gold), ("pred", prediction)):
            path = self.root / folder / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            if value is not None:
                path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        row = {
            "doc_id": name,
            "gt_path": f"gt/{name}.json",
            "pred_path": f"pred/{name}.json",
            "schema": json.dumps(SCHEMA),
        }
        self.rows.append(row | columns)

    def add_many(self, count: int, seed: int = 0) -> None:
        """Documents of one kind, most of them with some error."""
        choose = random.Random(seed)
        for number in range(len(self.rows), len(self.rows) + count):
            gold = {
                "vendor": f"Vendor {choose.randrange(50)}",
                "total": choose.randrange(100_000) / 100,
                "lines": [{"item": f"item {choose.randrange(30)}", "price": choose.randrange(999)} for _ in range(3)],
            }
            prediction = json.loads(json.dumps(gold))
            if choose.random() < 0.5:
                prediction["total"] += 1
            if choose.random() < 0.4:
                prediction["lines"].pop()
            if choose.random() < 0.3:
                prediction["lines"].append({"item": "ghost", "price": 1})
            choose.shuffle(prediction["lines"])
            self.add(f"d{number:05d}", gold, prediction, suite=f"s{number % 3}")

    def manifest(self, name: str = "jobs.parquet") -> Path:
        """Write the manifest."""
        path = self.root / name
        pq.write_table(pa.Table.from_pylist(self.rows), path)
        return path


def scores(run: Path | str) -> pa.Table:
    """A run's scores as any reader of a Parquet dataset gives them."""
    return pq.read_table(f"{run}/scores.parquet").replace_schema_metadata(None)


def verdicts(run: Path | str) -> pa.Table:
    """A run's verdicts as any reader of a Parquet dataset gives them."""
    return pq.read_table(f"{run}/verdicts.parquet").replace_schema_metadata(None)


def same_run(one: Path | str, other: Path | str) -> bool:
    """Whether two runs hold the same rows in the same order; only the time they took may differ."""
    summaries = [json.loads((Path(run) / "summary.json").read_text()) for run in (one, other)]
    return bool(
        scores(one).drop_columns("seconds").equals(scores(other).drop_columns("seconds"))
        and verdicts(one).equals(verdicts(other))
        and summaries[0] == summaries[1]
    )
