"""One run's inputs under both metrics: accuracies are the engine's, and each difference is put down to a rule."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import docassay
from docassay.cli.compare import compare as command
from docassay.errors import InputError
from docassay.pipelines.metric_comparison import PAIRING, compare_metrics, deciding_rule
from docassay.pipelines.score_table import score_table

SCHEMA = {
    "type": "object",
    "properties": {"amount": {}, "account": {}, "name": {}, "rows": {"type": "array", "items": {"type": "object"}}},
}
TRUTH = {"amount": "-5 USD", "account": "512784740712345678", "name": "Nike", "rows": [{"a": 1, "b": 2}]}
SYSTEMS = {
    "careful": {"amount": "-5 USD", "account": "512784740712345678", "name": "Nike", "rows": [{"a": 1, "b": 2}]},
    "careless": {"amount": "5 USD", "account": "512784740712345678", "name": "nike", "rows": [{"a": 1, "b": 3}]},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run of each system with paths relative to a root, and one document that fails."""
    root = tmp_path_factory.mktemp("metrics")
    (root / "gt.json").write_text(json.dumps(TRUTH))
    made = {}
    for system, prediction in SYSTEMS.items():
        (root / f"{system}.json").write_text(json.dumps(prediction))
        rows = [
            {"doc_id": "one", "gt_path": "gt.json", "pred_path": f"{system}.json", "schema": json.dumps(SCHEMA)},
            {"doc_id": "gone", "gt_path": "gt.json", "pred_path": "none.json", "schema": json.dumps(SCHEMA)},
        ]
        manifest = root / f"{system}.jsonl"
        manifest.write_text("\n".join(json.dumps(row) for row in rows))
        score_table(manifest, root / "runs" / system, root=root, workers=1)
        made[system] = root / "runs" / system
    return made


def test_accuracies_are_the_engines_and_differences_are_explained(runs: dict[str, Path]) -> None:
    result = compare_metrics(list(runs.values()), workers=1)
    for system in result.systems:
        for metric, flat in system.flat.items():
            scored = docassay.score(SYSTEMS[system.name], TRUTH, SCHEMA, metric=metric)  # type: ignore[arg-type]
            assert scored.accuracy is not None
            assert flat == pytest.approx(scored.accuracy / 2), "the failed document counts as 0"
        assert (system.documents, system.failed) == (2, 1)
    [difference] = result.differences
    assert (difference.system, difference.address) == ("careless", "amount")
    assert (difference.published, difference.sound) == ("matched", "misread")
    assert difference.group == "equal in omni/1 only: punctuation"
    assert [group.count for group in result.groups] == [1]
    assert not result.ranking_changes


def test_runs_of_both_metrics_are_not_scored_again(runs: dict[str, Path], tmp_path: Path) -> None:
    manifest = runs["careless"].parents[1] / "careless.jsonl"
    score_table(manifest, tmp_path / "both", root=manifest.parent, workers=1, metrics=["omni/1", "sound/1"])
    for prediction in manifest.parent.glob("care*.json"):
        assert prediction.exists()
    result = compare_metrics([tmp_path / "both"])
    assert len(result.differences) == 1
    assert result.signatures[0].startswith("omni/1 ")


@pytest.mark.parametrize(
    ("one", "other", "metric", "rule"),
    [
        ('"-5 USD"', '"5 usd"', "omni/1", "punctuation"),
        ('"Ünal"', '"unal"', "omni/1", "letters"),
        ("5", "5.0", "sound/1", "number read alike"),
    ],
)
def test_the_rule_that_makes_two_values_equal_is_named(one: str, other: str, metric: str, rule: str) -> None:
    values = [json.loads(raw) for raw in (one, other)]
    assert docassay.explain(*values, metric=metric).equal
    found = deciding_rule(one, other, metric)
    steps = {step.name for value in values for step in docassay.explain(value, metric=metric).steps}
    assert found in steps or found.endswith("read alike")
    if rule == "punctuation":
        assert found == rule


def test_the_command_writes_every_form(runs: dict[str, Path]) -> None:
    names = [str(path) for path in runs.values()]
    runner = CliRunner()
    table = runner.invoke(command, [*names, "--metrics", "-q"])
    assert table.exit_code == 0, table.output
    assert "1 of 10 addresses have another verdict" in table.output
    record = json.loads(runner.invoke(command, [*names, "--metrics", "--format", "json", "-q"]).stdout)
    assert record["differences"][0]["gold"] == '"-5 USD"'
    assert record["ranking_changes"] is False
    text = runner.invoke(command, [*names, "--metrics", "--format", "markdown", "-q"]).stdout
    assert "| equal in omni/1 only: punctuation | 1 |" in text
    assert runner.invoke(command, [*names, "--metrics", "--format", "junit"]).exit_code == 2


def test_what_is_no_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no manifest\.parquet"):
        compare_metrics([tmp_path])


def test_another_pairing_is_told_apart_from_another_equality(tmp_path: Path) -> None:
    """Under omni/1 the lost sign pairs the row with the wrong one; no rule on the other values is to blame."""
    truth = {"rows": [{"amt": "5 USD", "x": 1, "y": 2}, {"amt": "-5 USD"}]}
    prediction = {"rows": [{"amt": "-5 USD", "x": 9, "y": 9}]}
    for name, value in (("gt", truth), ("pred", prediction)):
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    row = {"doc_id": "one", "gt_path": "gt.json", "pred_path": "pred.json", "schema": json.dumps(SCHEMA)}
    (tmp_path / "jobs.jsonl").write_text(json.dumps(row))
    score_table(tmp_path / "jobs.jsonl", tmp_path / "run", root=tmp_path, workers=1)
    found = {one.address: one.group for one in compare_metrics([tmp_path / "run"], workers=1).differences}
    assert found["rows[0].x"] == PAIRING
    assert found["rows[1].amt"] == PAIRING
