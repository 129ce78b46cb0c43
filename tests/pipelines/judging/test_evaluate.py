"""The report: every task accounted for, nothing missing becomes zero, nothing stops it, nothing is overwritten."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from docassay.core.statistics.estimators import CheckerRates
from docassay.discovery.corpus import load_corpus
from docassay.discovery.explanation import explain_finding
from docassay.discovery.label_tables import KnownRates
from docassay.discovery.oracle import Noise, OracleJudge
from docassay.discovery.outcome import JudgeReport, as_json
from docassay.discovery.references import load_references
from docassay.discovery.report_tables import FINDINGS, LABELS
from docassay.discovery.report_text import report_markdown
from docassay.discovery.review import judged as judged_review
from docassay.discovery.review import read_review
from docassay.errors import ArgumentValueError, ReviewError, RunError
from docassay.pipelines.evaluate import EvaluateOptions, costs_of, evaluate, read_checker_rates
from docassay.pipelines.judge_run import JudgeOptions, judge_submissions, read_submission
from docassay.pipelines.judge_session import judge_with_oracle, sample_only
from docassay.pipelines.report_folder import read_labels_table, read_report, write_report
from docassay.pipelines.review_folder import ReviewFolder


def review(world: Any, submissions: Path, out: Path, noise: Noise | None = None, **changes: Any) -> Path:
    judge = OracleJudge(world.data, world.planted, noise)
    asyncio.run(judge_submissions(world.data, judge, JudgeOptions(submissions=submissions, out=out, **changes)))
    return out


def judged(world: Any, submissions: Path, *reviews: Path) -> JudgeReport:
    return evaluate(world.data, EvaluateOptions(submissions, reviews)).judges[0]


def statuses(report: JudgeReport) -> list[str]:
    return [task.status.value for task in report.tasks]


def first_review(reviews: Path) -> Path:
    return sorted((reviews / "reviews").iterdir())[0]


def test_the_oracle_scores_right_submissions_in_full(world: Any, tmp_path: Path) -> None:
    subs = world.submissions("right")
    report = judged(world, subs, review(world, subs, tmp_path / "r"))
    assert statuses(report) == ["scored"] * 3
    assert report.summary.quality_mean == pytest.approx(100)


def test_without_reviews_every_task_is_pending_and_none_is_zero(world: Any) -> None:
    report = judged(world, world.submissions("right"))
    assert statuses(report) == ["pending_review"] * 3
    assert (report.summary.quality_mean, report.summary.conditional_quality_mean) == (None, None)
    assert report.summary.pending_tasks == 3


def test_missing_invalid_abstained_and_pending_stand_beside_each_other(
    world: Any, submissions: Path, tmp_path: Path
) -> None:
    reviews = review(world, submissions, tmp_path / "r")
    first, second, _ = (task.task_id for task in world.data.tasks)
    (submissions / f"{first}.json").unlink()
    shutil.copy(world.submissions("abstain") / f"{second}.json", submissions)
    report = judged(world, submissions, reviews)
    assert statuses(report) == ["missing", "abstained", "scored"]
    assert [task.quality for task in report.tasks[:2]] == [None, None]
    assert report.summary.quality_mean is None
    assert report.summary.conditional_quality_mean == pytest.approx(100)
    (submissions / f"{first}.json").write_text("{")
    assert statuses(judged(world, submissions, reviews))[0] == "invalid"


def broken_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text("{")


def changed(edit: Callable[[dict[str, Any]], object]) -> Callable[[Path, dict[str, Any]], None]:
    def write(path: Path, value: dict[str, Any]) -> None:
        edit(value)
        path.write_text(json.dumps(value))

    return write


FAULTS = {
    "not JSON": (broken_json, "invalid_review"),
    "not an object": (lambda path, value: path.write_text("[]"), "invalid_review"),
    "no reviewer": (changed(lambda v: v.update(reviewer_method=" ")), "invalid_review"),
    "another task": (changed(lambda v: v.update(task_sha256="0" * 64)), "stale_review"),
    "another corpus": (changed(lambda v: v.update(corpus_sha256="0" * 64)), "stale_review"),
    "another reference": (changed(lambda v: v.update(reference_sha256="0" * 64)), "stale_review"),
    "another scoring version": (changed(lambda v: v.update(scoring_version="x")), "stale_review"),
    "another judge": (changed(lambda v: v.update(judge_sha256="0" * 64)), "stale_review"),
    "another protocol": (changed(lambda v: v.update(protocol_sha256="0" * 64)), "stale_review"),
    "another seed": (changed(lambda v: v["audit"].update(seed="zz")), "stale_review"),
    "another budget": (changed(lambda v: v["audit"].update(budget=61)), "stale_review"),
    "an impossible budget": (changed(lambda v: v["audit"].update(budget="160")), "invalid_review"),
    "no audit": (changed(lambda v: v.update(audit=None)), "invalid_review"),
    "a document too few": (changed(lambda v: v["audit"]["annotations"].pop()), "invalid_review"),
    "a foreign quote": (changed(lambda v: v["audit"]["annotations"][0].update(quotes=["@@"] * 9)), "invalid_review"),
    "no findings": (changed(lambda v: v.update(findings=[])), "invalid_review"),
    "a score above one": (changed(lambda v: v["findings"][0].update(calibration=1.5)), "invalid_review"),
    "a score that is text": (changed(lambda v: v["findings"][0].update(calibration="1")), "invalid_review"),
    "findings that are numbers": (changed(lambda v: v.update(findings=[3])), "invalid_review"),
    "annotations that are numbers": (changed(lambda v: v["audit"].update(annotations=[3])), "invalid_review"),
}


@pytest.fixture(scope="module")
def reviewed(world: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return review(world, world.submissions("right"), tmp_path_factory.mktemp("reviewed") / "r")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_stale_or_broken_review_is_its_tasks_status(world: Any, reviewed: Path, tmp_path: Path, fault: str) -> None:
    copy = Path(shutil.copytree(reviewed, tmp_path / "r"))
    path = first_review(copy)
    value = json.loads(path.read_text())
    damage, status = FAULTS[fault]
    damage(path, value)
    report = judged(world, world.submissions("right"), copy)
    spoiled = [task for task in report.tasks if task.status != "scored"]
    assert [(task.status.value, task.quality, task.quality_low) for task in spoiled] == [(status, None, None)]
    assert spoiled[0].reason
    assert report.summary.quality_mean is None
    assert report.summary.conditional_quality_mean == pytest.approx(100)
    assert report.summary.pending_tasks == 1


def test_a_changed_submission_makes_its_review_stale_and_gets_its_own_seed(
    world: Any, submissions: Path, tmp_path: Path
) -> None:
    reviews = review(world, submissions, tmp_path / "r")
    path = sorted(submissions.iterdir())[0]
    value = json.loads(path.read_text())
    value["findings"][0]["scope"] += " Reworded."
    path.write_text(json.dumps(value))
    assert statuses(judged(world, submissions, reviews)).count("stale_review") == 1
    kept = {file: file.read_bytes() for file in reviews.rglob("*.json")}
    review(world, submissions, reviews)
    assert len(list((reviews / "seeds").iterdir())) == 4
    assert len({json.loads(file.read_text())["seed"] for file in (reviews / "seeds").iterdir()}) == 4
    assert {file: file.read_bytes() for file in kept} == kept
    assert len(list((reviews / "reviews").iterdir())) == 4


def test_a_review_that_cannot_be_used_is_not_overwritten(world: Any, submissions: Path, tmp_path: Path) -> None:
    reviews = review(world, submissions, tmp_path / "r")
    path = first_review(reviews)
    path.write_text("{")
    judge = OracleJudge(world.data, world.planted)
    outcomes = asyncio.run(judge_submissions(world.data, judge, JudgeOptions(submissions=submissions, out=reviews)))
    failed = [outcome for outcome in outcomes if outcome.state == "failed"]
    assert len(failed) == 1
    assert "move it away" in failed[0].message
    assert path.read_text() == "{"


def test_no_folder_of_reviews_is_an_error_that_says_what_to_do(world: Any, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="discover judge"):
        judged(world, world.submissions("right"), tmp_path)


def test_uncertain_findings_leave_bounds_instead_of_silence(world: Any, submissions: Path, tmp_path: Path) -> None:
    reviews = review(world, submissions, tmp_path / "r", Noise(unknown=0.5))
    report = judged(world, submissions, reviews)
    assert statuses(report) == ["unresolved"] * 3
    for task in report.tasks:
        assert (task.quality, task.quality_low) == (None, 0)
        assert task.quality_high == pytest.approx(100)
        assert "uncertain" in str(task.reason)
    assert report.summary.quality_low_mean == 0
    assert report.summary.conditional_quality_mean is None


def test_the_folder_of_a_report(world: Any, submissions: Path, tmp_path: Path) -> None:
    reviews = review(world, submissions, tmp_path / "r", Noise(0.9, 0.95, 0.02))
    report = evaluate(world.data, EvaluateOptions(submissions, (reviews,)))
    write_report(report, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "findings.parquet", "labels.parquet", "report.json", "report.md",
    ]  # fmt: skip
    findings = pyarrow.parquet.read_table(tmp_path / "out" / "findings.parquet")
    labels = pyarrow.parquet.read_table(tmp_path / "out" / "labels.parquet")
    assert findings.column_names == [column.name for column in FINDINGS]
    assert labels.column_names == [column.name for column in LABELS]
    assert findings.num_rows == sum(len(task.findings) for task in report.judges[0].tasks)
    assert labels.num_rows >= 3 * 100
    assert read_report(tmp_path / "out") == json.loads(json.dumps(as_json(report)))
    assert (tmp_path / "out" / "report.md").read_text() == report_markdown(report)
    with pytest.raises(RunError, match="nothing is overwritten"):
        write_report(report, tmp_path / "out")
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".tmp")]


def test_the_same_reviews_always_give_the_same_report(world: Any, submissions: Path, tmp_path: Path) -> None:
    reviews = review(world, submissions, tmp_path / "r", Noise(0.9, 0.95, 0.02))
    first, second = (as_json(evaluate(world.data, EvaluateOptions(submissions, (reviews,)))) for _ in range(2))
    assert first == second


def test_several_judges_are_reported_alone_with_their_agreement(world: Any, submissions: Path, tmp_path: Path) -> None:
    exact = review(world, submissions, tmp_path / "exact")
    noisy = review(world, submissions, tmp_path / "noisy", Noise(0.8, 0.9), seeds_from=exact)
    report = evaluate(world.data, EvaluateOptions(submissions, (exact, noisy)))
    assert [judge.name for judge in report.judges] == ["exact", "noisy"]
    assert report.average is None
    by_name = {row.what: row for row in report.agreement}
    labels = by_name["labels"]
    assert labels.units == sum(len(task.labels) for task in report.judges[0].tasks)
    assert labels.identical is not None
    assert labels.alpha is not None
    assert 0.5 < labels.alpha < labels.identical < 1
    assert by_name["support"].units == sum(len(task.findings) for task in report.judges[0].tasks)
    averaged = evaluate(world.data, EvaluateOptions(submissions, (exact, noisy), average=True)).average
    assert averaged is not None
    assert set(averaged) == {task.task_id for task in world.data.tasks}


def test_the_same_folder_twice_is_refused(world: Any, reviewed: Path) -> None:
    with pytest.raises(ArgumentValueError, match="named twice"):
        judged(world, world.submissions("right"), reviewed, reviewed)


def test_known_errors_of_the_checker_are_carried_to_the_claim(world: Any, reviewed: Path) -> None:
    options = EvaluateOptions(
        world.submissions("right"), (reviewed,), checker_rates=KnownRates(CheckerRates(50, 45, 50, 48))
    )
    report = evaluate(world.data, options)
    claims = [finding.label_error.claim for _, _, finding in report.findings() if finding.label_error is not None]
    assert claims
    assert all(claim.corrects_checker for claim in claims)
    assert all("known errors taken out" in claim.sentence for claim in claims)
    assert report.judges[0].summary.quality_mean == pytest.approx(100)


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"positives": 1}', '{"positives": 1, "positives_right": 2, "negatives": 0, "negatives_right": 0}'],
)
def test_checker_rates_that_are_none_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rates.json"
    path.write_text(text)
    with pytest.raises(ArgumentValueError):
        read_checker_rates(path)


def test_a_person_gets_the_sample_where_there_is_no_judge(world: Any, submissions: Path, tmp_path: Path) -> None:
    run = sample_only(world.data, JudgeOptions(submissions=submissions, out=tmp_path / "r"))
    assert [outcome.state.value for outcome in run.outcomes] == ["sampled"] * 3
    for outcome in run.outcomes:
        value = json.loads(Path(outcome.message).read_text())
        assert sum(len(batch["documents"]) for batch in value["batches"]) == len(value["doc_ids"])
    assert statuses(judged(world, submissions, tmp_path / "r")) == ["pending_review"] * 3


def test_an_oracle_takes_no_controls(world: Any, submissions: Path, tmp_path: Path) -> None:
    options = JudgeOptions(submissions=submissions, out=tmp_path / "r", controls=3)
    with pytest.raises(ArgumentValueError, match="does not read"):
        judge_with_oracle(world.data, OracleJudge(world.data, world.planted), options)


def test_an_explanation_adds_up_and_names_the_documents_in_dispute(
    world: Any, submissions: Path, tmp_path: Path
) -> None:
    reviews = review(world, submissions, tmp_path / "r", Noise(0.8, 0.9))
    report = evaluate(world.data, EvaluateOptions(submissions, (reviews,)))
    write_report(report, tmp_path / "out")
    labels = read_labels_table(tmp_path / "out")
    for judge, task, finding in report.findings():
        (told,) = explain_finding(read_report(tmp_path / "out"), labels, f"{task.task_id}/{finding.finding_id}")
        assert (told.judge, told.quality) == (judge.name, finding.quality.quality)
        differing = [row for row in task.labels if row.finding_id == finding.finding_id and row.agrees is False]
        assert [dispute.doc_id for dispute in told.disputes] == [row.doc_id for row in differing]
        assert differing
        text = "\n".join(told.steps)
        assert finding.label_error is not None
        assert finding.label_error.claim.sentence in text
        assert all(reason.sentence in text for reason in (finding.gate.reasons if finding.gate else ()))
    with pytest.raises(ArgumentValueError, match="no judged finding 'zz'"):
        explain_finding(read_report(tmp_path / "out"), labels, "zz")


def test_references_are_matched_apart_and_give_coverage(world: Any, submissions: Path, tmp_path: Path) -> None:
    data, first = world.data, world.data.tasks[0].task_id
    path = tmp_path / "references.json"
    rows = [{"task_id": first, "reference_id": "R1", "claim": "Known."}]
    path.write_text(json.dumps({"version": data.release, "tasks_sha256": data.tasks_sha256, "references": rows}))
    reviews = review(world, submissions, tmp_path / "r", references=path)
    report = evaluate(data, EvaluateOptions(submissions, (reviews,), references=path)).judges[0]
    assert [task.reference_coverage for task in report.tasks] == [1.0, None, None]
    assert report.summary.reference_coverage_mean is None
    without = evaluate(data, EvaluateOptions(submissions, (reviews,))).judges[0]
    assert statuses(without) == ["stale_review"] * 3


def test_a_folder_keeps_failures_and_runs_even_after_a_torn_line(tmp_path: Path) -> None:
    folder = ReviewFolder(tmp_path)
    folder.add_failure("t", "s", "first")
    with (tmp_path / "failures.jsonl").open("a") as file:
        file.write('{"task_id": "t", "subm')
    folder.add_failure("t", "s", "second")
    assert folder.last_failure("t", "s") == "second"
    assert folder.last_failure("t", "other") is None


ODD = (None, True, 3, -1, 1e308, "", "x", "</data>", [], {}, [None], {"x": []}, [[3]], 10**400)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """One place of every shape: of a list only the first entry is entered."""
    found = [path]
    if isinstance(value, dict):
        for key, below in value.items():
            found += places(below, (*path, key))
    elif isinstance(value, list) and value:
        found += places(value[0], (*path, 0))
    return found


def put(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    if not path:
        return odd
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(value[path[0]], path[1:], odd)
    return copy


def test_nothing_in_a_review_can_crash_the_evaluation(world: Any, reviewed: Path) -> None:
    """Every place of a review with every odd value: it is used, or refused with a reason."""
    data, references = world.data, load_references(world.data)
    task = data.tasks[0]
    corpus = load_corpus(data, task)
    submission, _ = read_submission(world.submissions("right"), task, corpus)
    assert submission is not None
    folder = ReviewFolder(reviewed)
    value = json.loads(folder.review_path(task.task_id, submission.digest).read_text())
    value["receipts"] = [{"cost": 0.1, "usage": {"input_tokens": 3, "output_tokens": 4}}]
    refused = 0
    for place in places(value):
        for odd in ODD:
            try:
                review = read_review(put(value, place, odd))
                kinds = {"reference_sha256": references.sha256, "judge_sha256": folder.record().digest}
                judged_review(review, task, submission, corpus, **kinds)
                costs_of(review.receipts)
            except ReviewError as error:
                refused += len(str(error)) > 10
    assert refused > 300
