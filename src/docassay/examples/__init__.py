"""The bundled example documents: five shapes of document, each with its schema, ground truth and two predictions.

Prediction `a` is good: few errors, and differences that are only a matter of writing. Prediction `b` is worse: misread
values, missing rows, rows and values that the document does not have, and a field that the schema does not have.
Everything in them is fictitious.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docassay.errors import ArgumentValueError

__all__ = ["PREDICTIONS", "Example", "load", "names"]

PREDICTIONS = ("a", "b")
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Example:
    """One bundled document."""

    name: str
    """Its folder's name, such as `invoice`."""

    document_path: Path
    schema_path: Path
    ground_truth_path: Path
    prediction_paths: dict[str, Path]
    """The files, for whoever wants to pass them to a command: the document as PDF, predictions by their letter."""

    schema: dict[str, Any]
    ground_truth: dict[str, Any]
    predictions: dict[str, dict[str, Any]]
    """The files' contents, parsed anew by every `load`."""


def names() -> tuple[str, ...]:
    """The examples there are, in alphabetical order."""
    return tuple(sorted(path.parent.name for path in _HERE.glob("*/schema.json")))


def load(name: str) -> Example:
    """The example of that name; an `ArgumentValueError` lists the names when there is none."""
    if name not in names():
        raise ArgumentValueError(f"there is no example {name!r}; there are: {', '.join(names())}")
    folder = _HERE / name
    schema_path, ground_truth_path = folder / "schema.json", folder / "ground_truth.json"
    prediction_paths = {letter: folder / f"prediction-{letter}.json" for letter in PREDICTIONS}
    return Example(
        name=name,
        document_path=folder / "document.pdf",
        schema_path=schema_path,
        ground_truth_path=ground_truth_path,
        prediction_paths=prediction_paths,
        schema=_read(schema_path),
        ground_truth=_read(ground_truth_path),
        predictions={letter: _read(path) for letter, path in prediction_paths.items()},
    )


def _read(path: Path) -> dict[str, Any]:
    content = json.loads(path.read_bytes())
    assert isinstance(content, dict)
    return content
