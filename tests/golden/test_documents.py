"""omni/1 agrees with what the published metric says, figure by figure: golden documents, errors, and real documents."""

from __future__ import annotations

import copy
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from docassay import Score, score

FIGURES = (
    "accuracy",
    "precision",
    "recall",
    "f1",
    "addresses_found",
    "addresses_read_right",
    "total",
    "matched",
    "misread",
    "unfound",
    "fabricated",
    "invented_item",
    "invented_field",
    "asserted",
    "gt_rows",
    "pred_rows",
    "matched_rows",
    "matching_exact",
    "approximated",
    "skipped_open_maps",
)
# What depends on which of several optimal pairings is taken, and only by the choice of the published metric's solver.
SPLIT = {"fabricated", "invented_item", "invented_field", "matched_rows"}


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def figures(result: Score) -> dict[str, Any]:
    values = {**result.as_dict(), "approximated": list(result.approximated)}
    return {name: values[name] for name in FIGURES}


def extra(counts: dict[str, Any]) -> int:
    return int(counts["fabricated"] + counts["invented_item"] + counts["invented_field"])


def differences(result: Score, expected: dict[str, Any], ignored: set[str]) -> dict[str, tuple[Any, Any]]:
    """The figures that differ, as (found, expected)."""
    found = figures(result)
    assert extra(found) == extra(expected)
    return {
        name: (found[name], expected[name])
        for name in FIGURES
        if name not in ignored and found[name] != pytest.approx(expected[name], abs=1e-12)
    }


def verdicts(result: Score) -> Counter[tuple[str, str, str | None, str | None]]:
    assert result.verdicts is not None
    return Counter((v.address, v.verdict, v.gold_canon, v.pred_canon) for v in result.verdicts)


def expected_verdicts(listed: list[dict[str, Any]]) -> Counter[tuple[str, str, str | None, str | None]]:
    """The six verdicts; the published list also names skipped open maps, which are a figure here."""
    six = [v for v in listed if v["verdict"] != "skipped_open_map"]
    return Counter((v["address"], v["verdict"], v["gold"], v["pred"]) for v in six)


@pytest.mark.parametrize("name", ["documents", "documents_large"])
def test_documents(shared_dir: Path, name: str) -> None:
    wrong: dict[str, Any] = {}
    for case in read(shared_dir / "vectors" / "extraction" / f"{name}.json"):
        given, expected = case["input"], case["expected"]
        before = copy.deepcopy(given)
        result = score(
            given["pred"],
            given["gold"],
            given["schema"],
            metric="omni/1",
            order_matters=given["order_matters"],
            verdicts=True,
        )
        assert given == before, f"{case['id']}: an input was changed"
        found: dict[str, Any] = differences(result, expected["result"], SPLIT if expected["tie"] == "split" else set())
        if expected["tie"] == "none" and "verdicts" in expected:
            mine, theirs = verdicts(result), expected_verdicts(expected["verdicts"])
            found |= {"verdicts": (mine - theirs, theirs - mine)} if mine != theirs else {}
        if found:
            wrong[f"{case['id']} {case['topic']}: {case['name']}"] = found
    assert wrong == {}


def test_errors(shared_dir: Path) -> None:
    kinds = {"TypeError": TypeError, "ValueError": ValueError}
    for case in read(shared_dir / "vectors" / "extraction" / "errors.json"):
        given = case["input"]
        with pytest.raises(kinds[case["expected"]["error"]]) as raised:
            score(given["pred"], given["gold"], given["schema"], metric="omni/1", order_matters=given["order_matters"])
        assert type(raised.value).__module__ == "docassay.errors", f"{case['id']} {case['name']}: {raised.value!r}"
        assert "\n" not in str(raised.value)


def test_docubench(shared_dir: Path) -> None:
    folder = shared_dir / "data" / "extraction" / "docubench"
    expected = read(folder / "expected-omni-extract-bench-0.1.7.json")
    wrong: dict[str, Any] = {}
    pairs = 0
    for system, documents in expected.items():
        for document, figures_of_it in documents.items():
            prediction = read(folder / "results" / system / f"{document}.json")["data"]
            gold, schema = read(folder / "labels" / f"{document}.json"), read(folder / "schemas" / f"{document}.json")
            pairs += 1
            if found := differences(score(prediction, gold, schema, metric="omni/1"), figures_of_it, set()):
                wrong[f"{system}/{document}"] = found
    assert pairs == 200
    assert wrong == {}


def test_extract_bench(shared_dir: Path) -> None:
    data = shared_dir / "data" / "extraction"
    research = data / "extract-bench" / "dataset" / "academic" / "research"
    schema = read(research / "research-schema.json")
    wrong: dict[str, Any] = {}
    pairs = 0
    for run, documents in read(data / "extract-bench-preds" / "expected-omni-extract-bench-0.1.7.json").items():
        for document, figures_of_it in documents.items():
            prediction = read(data / "extract-bench-preds" / "outputs" / "academic" / run / document)
            gold = read(research / "pdf+gold" / document)
            pairs += 1
            if found := differences(score(prediction, gold, schema, metric="omni/1"), figures_of_it, set()):
                wrong[f"{run}/{document}"] = found
    assert pairs == 34
    assert wrong == {}
