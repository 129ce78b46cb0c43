"""Rules of validity at their edges: what is still valid, and what is just not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from docassay.discovery.corpus import corpus_from_rows
from docassay.discovery.statistics import complete_statistics
from docassay.discovery.submission import Submission, finding_value, parse_submission
from docassay.discovery.tasks import read_task
from docassay.discovery.validate import TOLERANCE, validate_submission

from .conftest import Case, make_case, quoted, task_value


def finding(value: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = value["findings"][0]
    return found


def test_the_cases_are_valid_in_every_form(case: Case) -> None:
    value = case.value()
    text = json.dumps(value, ensure_ascii=False)
    draft = parse_submission(value, case.task)
    assert isinstance(draft.submission, Submission)
    for source in (value, text, text.encode(), bytearray(text.encode()), json.dumps(value), draft.submission):
        validation = case.check(source)
        assert validation.valid
        assert validation.submission == draft.submission
        assert validation.as_dict()["findings"] == 1


def test_a_record_is_the_same_as_its_json(case: Case) -> None:
    submission = parse_submission(case.value(), case.task).submission
    assert submission is not None
    assert [finding_value(item) for item in submission.findings] == case.value()["findings"]


def test_assignments_pair_by_id_in_any_order() -> None:
    case = make_case("compound_association")
    value = case.value()
    finding(value)["assignments"].reverse()
    assert case.codes(value) == []


@pytest.mark.parametrize(
    ("difference", "valid"),
    [(0.0, True), (TOLERANCE * 0.99, True), (-TOLERANCE * 0.99, True), (TOLERANCE * 1.01, False)],
)
def test_statistics_agree_within_the_tolerance(group_case: Case, difference: float, valid: bool) -> None:
    value = group_case.value()
    finding(value)["statistics"]["group0_rate_known"] += difference
    assert (group_case.codes(value) == []) is valid


def test_a_count_may_be_a_float(group_case: Case) -> None:
    value = group_case.value()
    finding(value)["statistics"]["group0_total_n"] = float(finding(value)["statistics"]["group0_total_n"])
    assert group_case.codes(value) == []


QUOTES = {
    "astral": ("d36", "😀 astral 𝒯."),
    "combining": ("d22", "Cafe\u0301"),
    "half of a combined letter": ("d22", "\u0301."),
    "right to left": ("d03", "שלום"),
    "line ends": ("d04", "a\r\nb."),
}


@pytest.mark.parametrize("name", QUOTES)
def test_quotes_are_counted_in_code_points(group_case: Case, name: str) -> None:
    doc_id, quote = QUOTES[name]
    value = group_case.value()
    finding(value)["evidence"].append(quoted(group_case.corpus, doc_id, quote, "context"))
    assert group_case.codes(value) == []


def in_bytes(text: str) -> int:
    return len(text.encode())


def in_utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize("unit", [in_bytes, in_utf16])
def test_offsets_in_other_units_are_refused(group_case: Case, unit: Callable[[str], int]) -> None:
    text = group_case.corpus.text("d36")
    start = unit(text[: text.index("cracked")])
    value = group_case.value()
    row = {"doc_id": "d36", "start": start, "end": start + len("cracked"), "quote": "cracked", "role": "context"}
    finding(value)["evidence"].append(row)
    assert group_case.codes(value) == ["quote_offset"]


@pytest.mark.parametrize("form", ["NFC", "line ends"])
def test_a_normalised_quote_is_another_text(group_case: Case, form: str) -> None:
    doc_id, quote, other = {"NFC": ("d22", "Cafe\u0301.", "Caf\u00e9."), "line ends": ("d04", "a\r\nb", "a\nb")}[form]
    row = quoted(group_case.corpus, doc_id, quote, "context")
    value = group_case.value()
    finding(value)["evidence"].append({**row, "end": row["start"] + len(other), "quote": other})
    assert group_case.codes(value) == ["quote_offset"]


def test_an_end_past_the_text_is_refused_although_the_slice_would_match(group_case: Case) -> None:
    value = group_case.value()
    text = group_case.corpus.text("d00")
    row = {"doc_id": "d00", "start": len(text) - 2, "end": len(text) + 5, "quote": text[-2:], "role": "context"}
    finding(value)["evidence"].append(row)
    assert group_case.codes(value) == ["quote_offset"]


@pytest.mark.parametrize("number", [10**30, 10**400])
def test_huge_offsets_are_refused(group_case: Case, number: int) -> None:
    value = group_case.value()
    finding(value)["evidence"][0]["end"] = number
    finding(value)["evidence"][1]["start"] = number
    assert group_case.codes(value) == ["quote_offset", "quote_offset"]


def test_overlapping_spans_are_two_and_fifteen_are_allowed(group_case: Case) -> None:
    value = group_case.value()
    rows = finding(value)["evidence"]
    for start in range(15 - len(rows)):
        text = group_case.corpus.text("d00")
        rows.append({"doc_id": "d00", "start": start, "end": 12, "quote": text[start:12], "role": "context"})
    assert len(rows) == 15
    assert group_case.codes(value) == []


def test_no_negative_needs_no_counterexample(group_case: Case) -> None:
    value = group_case.value()
    lists = finding(value)["assignments"][0]
    lists["positive_doc_ids"] += lists["negative_doc_ids"]
    lists["negative_doc_ids"] = []
    finding(value)["evidence"].pop()
    assert group_case.codes(group_case.restated(value)) == []


def test_three_findings_and_an_abstention_are_valid(group_case: Case) -> None:
    value = group_case.value()
    value["findings"] = [{**copy.deepcopy(finding(value)), "finding_id": f"f{number}"} for number in range(3)]
    assert group_case.codes(value) == []
    assert group_case.codes({"task_id": group_case.task.task_id, "findings": [], "abstention_reason": "none"}) == []


def test_the_limits_on_documents_are_inclusive(group_case: Case) -> None:
    arms = [30, 30]
    for changes, codes in (
        ({"min_population_n": 60, "min_group_n": min(arms)}, []),
        ({"min_population_n": 61}, ["population_too_small"]),
        ({"min_group_n": 31}, ["group_too_small"]),
    ):
        task = read_task(task_value("group_difference", **changes))
        found = validate_submission(group_case.value(), task, group_case.corpus)
        assert [str(fault.code) for fault in found.faults] == codes


def test_an_association_has_no_arms_to_be_too_small() -> None:
    case = make_case("compound_association")
    task = read_task(task_value("compound_association", min_group_n=1000))
    assert validate_submission(case.value(), task, case.corpus).valid


@pytest.mark.parametrize("difficulty", ["standard", "hard"])
def test_a_fixed_comparison_has_neither_population_nor_comparison(group_case: Case, difficulty: str) -> None:
    fixed = {"field": "store", "groups": ["north", "south"]}
    task = read_task(task_value("group_difference", difficulty=difficulty, discovery_mode="", comparison=fixed))
    value = group_case.value()
    codes = [str(fault.code) for fault in validate_submission(value, task, group_case.corpus).faults]
    assert codes[0] == "unexpected_field"
    del finding(value)["population"], finding(value)["comparison"]
    value["findings"] = [complete_statistics(finding(value), task, group_case.corpus)]
    assert validate_submission(value, task, group_case.corpus).valid
    assert len(finding(value)["statistics"]) == {"standard": 14, "hard": 61}[difficulty]


def test_only_audited_tasks_ask_for_three_documents_and_counterexamples(group_case: Case) -> None:
    changes = {"discovery_mode": "", "comparison": {"field": "store", "groups": ["north", "south"]}}
    value = group_case.value()
    del finding(value)["population"], finding(value)["comparison"]
    finding(value)["evidence"] = finding(value)["evidence"][:1]
    codes = {}
    for difficulty in ("standard", "hard"):
        task = read_task(task_value("group_difference", difficulty=difficulty, **changes))
        value["findings"] = [complete_statistics(finding(value), task, group_case.corpus)]
        codes[difficulty] = [str(item.code) for item in validate_submission(value, task, group_case.corpus).faults]
    assert codes == {"standard": [], "hard": ["too_few_supporting_documents", "counterexample_missing"]}


def test_what_depends_on_a_faulty_part_is_not_told_twice(group_case: Case) -> None:
    """A population that cannot be read makes no partition or statistic wrong; quotes are still looked at."""
    value = group_case.value()
    finding(value)["population"]["filters"][0]["op"] = "near"
    finding(value)["evidence"][0]["quote"] = "nowhere"
    assert group_case.codes(value) == ["filter_operator", "quote_offset"]


def test_documents_in_odd_places_are_told_apart(group_case: Case) -> None:
    value = group_case.value()
    lists = finding(value)["assignments"][0]
    lists["positive_doc_ids"].remove("d05")
    lists["negative_doc_ids"] += ["stranger", "d00"]
    finding(value)["population"]["filters"] = [{"field": "rating", "op": "lte", "value": 4}]
    told = [fault.found for fault in group_case.check(value).faults if fault.code == "not_a_partition"]
    assert told == [
        "1 document that the corpus has not",
        "1 document in more than one list",
        "12 documents outside the population",
        "1 document in no list",
    ]


def test_an_empty_corpus_cannot_crash_it() -> None:
    case = make_case("group_difference")
    found = validate_submission(case.value(), case.task, corpus_from_rows([]))
    assert not found.valid
