"""Decides which files of two folders belong together: those with the same path below them make one document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from docassay.errors import ManifestError
from docassay.runs.store import Store, file_system, is_uri

__all__ = ["FolderManifest", "Pair", "manifest_from_folders", "write_manifest"]

_SUFFIXES = (".json", ".json.gz")
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """One document: its row of the manifest."""

    doc_id: str
    gt_path: str
    pred_path: str
    """Where the prediction is, or would be: scoring tells that it is missing."""
    schema: str
    suite: str | None


@dataclass(frozen=True, slots=True)
class FolderManifest:
    """The documents found in folders, and the files that have no counterpart."""

    pairs: tuple[Pair, ...]
    without_prediction: tuple[str, ...]
    """Documents that have ground truth only; they are rows nevertheless."""
    without_ground_truth: tuple[str, ...]
    """Predictions that nothing can be said of; they are no rows."""
    with_suites: bool


def manifest_from_folders(gt: str, pred: str, schema: str, *, suites: bool = False) -> FolderManifest:
    """Pair the files of two folders.

    Args:
        gt, pred: folders (paths or URIs) of JSON files, also in subfolders, also gzipped. A document's id is its path
            below `gt` without the suffix.
        schema: a JSON Schema file for all documents; or a folder, in which document `a/b` has the schema `a/b.json`,
            or that of its folder, `a.json`.
        suites: whether the first folder below `gt` is the document's suite.

    Raises:
        ManifestError: a folder without JSON files, or documents without a schema.
    """
    golds, predictions = _files(gt), _files(pred)
    if not golds:
        raise ManifestError(f"{gt}: no .json files; name the folder of the ground truth")
    schemas = _schemas(schema, list(golds))
    pairs = tuple(
        Pair(
            doc_id=name,
            gt_path=golds[name],
            pred_path=predictions.get(name, f"{_absolute(pred).rstrip('/')}/{name}.json"),
            schema=schemas[name],
            suite=name.partition("/")[0] if suites and "/" in name else None,
        )
        for name in sorted(golds)
    )
    missing = tuple(sorted(golds.keys() - predictions.keys()))
    return FolderManifest(pairs, missing, tuple(sorted(predictions.keys() - golds.keys())), suites)


def write_manifest(manifest: FolderManifest, out: str) -> None:
    """Write the manifest as Parquet, CSV or JSON lines, by the suffix of `out`.

    Raises:
        ManifestError: another suffix.
    """
    import pyarrow as pa

    columns = ["doc_id", "gt_path", "pred_path", "schema", *(["suite"] if manifest.with_suites else [])]
    table = pa.table({name: pa.array([getattr(p, name) for p in manifest.pairs], pa.string()) for name in columns})
    folder, _, name = _absolute(out).rpartition("/")
    with Store(folder).writing(name) as file:
        if out.endswith(".parquet"):
            import pyarrow.parquet as pq

            pq.write_table(table, file, compression="zstd")
        elif out.endswith(".csv"):
            from pyarrow import csv

            csv.write_csv(table, file)
        elif out.endswith((".jsonl", ".ndjson")):
            import orjson

            file.writelines(orjson.dumps(row) + b"\n" for row in table.to_pylist())
        else:
            raise ManifestError(f"{out}: not a manifest by its name; end it in .parquet, .csv or .jsonl")


def _files(folder: str) -> Mapping[str, str]:
    """JSON files below a folder: id to absolute path."""
    system, inner = file_system(_absolute(folder))
    found = {}
    for path in system.find(inner):
        name = path[len(inner) :].lstrip("/")
        suffix = next((s for s in _SUFFIXES if name.endswith(s)), None)
        if suffix is not None and not any(step.startswith(".") for step in name.split("/")):
            found[name.removesuffix(suffix)] = system.unstrip_protocol(path) if is_uri(folder) else path
    return found


def _schemas(schema: str, documents: list[str]) -> Mapping[str, str]:
    system, inner = file_system(_absolute(schema))
    if system.isfile(inner):
        text = system.cat_file(inner).decode("utf-8-sig")
        return dict.fromkeys(documents, text)
    if not system.isdir(inner):
        raise ManifestError(f"{schema}: no such schema file or folder")
    there = {path[len(inner) :].strip("/"): path for path in system.find(inner) if path.endswith(".json")}
    chosen = {document: _nearest(document, there) for document in documents}
    without = [document for document, path in chosen.items() if path is None]
    if without:
        shown = ", ".join(without[:_NAMED]) + (f" and {len(without) - _NAMED} more" if len(without) > _NAMED else "")
        raise ManifestError(f"{schema}: no schema for {shown}; looked for {without[0]}.json and its folders' names")
    texts = {path: system.cat_file(path).decode("utf-8-sig") for path in set(chosen.values()) if path is not None}
    return {document: texts[path] for document, path in chosen.items() if path is not None}


def _nearest(document: str, there: Mapping[str, str]) -> str | None:
    """The schema named like the document, or else like the innermost of its folders that has one."""
    name = document
    while name:
        if f"{name}.json" in there:
            return there[f"{name}.json"]
        name = name.rpartition("/")[0]
    return None


def _absolute(path: str) -> str:
    return path if is_uri(path) else str(Path(path).absolute())
