"""Decides what a made-up world looks like: corpora with planted effects, and submissions whose worth is known.

Two folders are written. The first is a data folder as released, which agents may see:

    data/            tasks.json, release.json, manifest.json, corpora/{task_id}.jsonl.gz, learning/pool.parquet

The second is kept apart from it, since it holds the answers:

    data-planted/    planted.json                          what was planted in each task, and what each quality is
                     labels/{task_id}.jsonl.gz             per document its true state under every condition
                     submissions/{quality}/{task_id}.json  one submission per quality and task

`planted.json` holds `format`, `seed`, `tasks` (by task id: `design`, `effect`, `conditions` with their texts, `finding`
with the ids of those that the effect is about, `true_statistics`) and `qualities` (by name: `family`, `flaw`,
`validity`, `fault`, `assessment`, `duplicates`). `layout` reads it all into records.
"""

from __future__ import annotations

from docassay.discovery.simulate.layout import (
    Assessment,
    Planted,
    PlantedCondition,
    PlantedTask,
    Quality,
    load_labels,
    load_planted,
    submission_file,
)

__all__ = [
    "Assessment",
    "Planted",
    "PlantedCondition",
    "PlantedTask",
    "Quality",
    "load_labels",
    "load_planted",
    "submission_file",
]
