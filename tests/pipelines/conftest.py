"""What tests of predictions share: a folder of small PDFs with a manifest and ground truth."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from docassay.pipelines.predict_table import Predicted, predict_table
from docassay.providers.contract import RetryPolicy
from docassay.providers.fake import KEYS, FakeServer

KEY = "key-4711-never-written"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "total": {"type": "number", "default": 0}},
}
QUICK = RetryPolicy(waits=(0.02, 0.04, 0.06))


@dataclass(frozen=True)
class Folder:
    """A root with documents, their ground truth, and a manifest of relative paths."""

    root: Path
    manifest: Path
    ids: list[str]

    def predict(self, fake: FakeServer, out: str = "preds", *, provider: str = "datalab", **more: Any) -> Predicted:
        """Predict into `out` below the root."""
        arguments: dict[str, Any] = {
            "provider": provider,
            "options": fake.options(provider),
            "root": self.root,
            "retry": QUICK,
            "environment": {KEYS.get(provider, "OPENAI_API_KEY"): KEY},
            **more,
        }
        return predict_table(self.manifest, self.root / out, **arguments)

    def prediction(self, name: str, out: str = "preds") -> Any:
        """The prediction stored under a safe name."""
        return json.loads((self.root / out / "predictions" / f"{name}.json").read_bytes())

    def record(self, name: str, out: str = "preds") -> Any:
        """The record stored under a safe name."""
        return json.loads((self.root / out / "records" / f"{name}.json").read_bytes())


Make = Callable[..., Folder]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Make a folder of documents with these ids, or so many; `columns` are the same in all rows."""

    def made(ids: list[str] | int, *, extra: list[dict[str, Any]] | None = None, **columns: Any) -> Folder:
        names = [f"doc-{index}" for index in range(ids)] if isinstance(ids, int) else ids
        rows = []
        for index, name in enumerate(names):
            (tmp_path / f"{index}.pdf").write_bytes(f"%PDF-1.4 {index}".encode())
            (tmp_path / f"{index}.json").write_text(json.dumps(answer(index)))
            row = {"doc_id": name, "doc_path": f"{index}.pdf", "gt_path": f"{index}.json", "schema": json.dumps(SCHEMA)}
            rows.append({**row, **columns})
        rows += extra or []
        manifest = tmp_path / "docs.jsonl"
        manifest.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return Folder(tmp_path, manifest, names)

    return made


def answer(index: int) -> dict[str, Any]:
    """What document `index` says."""
    return {"id": f"A-{index}", "total": index + 0.5}


@pytest.fixture
def reads() -> Callable[[Any], dict[str, Any]]:
    """The fake's answers: what each document says, told from its bytes."""
    return lambda document: answer(int(document.data.split()[-1]))
