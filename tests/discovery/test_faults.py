"""Every fault code: one change to a valid submission that has it, alone where the rules allow that."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from docassay.discovery.faults import MOST_FAULTS, SHOWN_DOCUMENTS, Code
from docassay.discovery.submission import submission_schema

from .conftest import Case, make_case, quoted

Change = Callable[[dict[str, Any], Case], object]

GROUP, TIME, ASSOCIATION = "group_difference", "temporal_change", "compound_association"


@dataclass(frozen=True)
class Example:
    """A change and the codes it leads to; `restate` computes statistics anew afterwards."""

    codes: tuple[str, ...]
    change: Change
    kind: str = GROUP
    restate: bool = False


def finding(value: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = value["findings"][0]
    return found


def sets(path: str, new: object) -> Change:
    """A change that puts a value at a dotted path inside the first finding."""

    def change(value: dict[str, Any], case: Case) -> None:
        *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        node: Any = finding(value)
        for step in steps:
            node = node[step]
        node[last] = new

    return change


def sets_top(name: str, new: object) -> Change:
    def change(value: dict[str, Any], case: Case) -> None:
        value[name] = new

    return change


def drops(name: str) -> Change:
    def change(value: dict[str, Any], case: Case) -> None:
        del finding(value)[name]

    return change


def text(replacement: Callable[[str], str]) -> Change:
    def change(value: dict[str, Any], case: Case) -> str:
        return replacement(json.dumps(value))

    return change


def moves(source: str, target: str, doc_id: str) -> Change:
    """A document goes from one list to another."""

    def change(value: dict[str, Any], case: Case) -> None:
        lists = finding(value)["assignments"][0]
        lists[f"{source}_doc_ids"].remove(doc_id)
        if target:
            lists[f"{target}_doc_ids"].append(doc_id)

    return change


def adds_row(doc_id: str, quote: str, role: str) -> Change:
    def change(value: dict[str, Any], case: Case) -> None:
        finding(value)["evidence"].append(quoted(case.corpus, doc_id, quote, role))

    return change


def keeps_rows(*roles: str, supporting: int = 3) -> Change:
    def change(value: dict[str, Any], case: Case) -> None:
        rows = [row for row in finding(value)["evidence"] if row["role"] in roles]
        kept = [row for row in rows if row["role"] == "supporting"][:supporting]
        finding(value)["evidence"] = kept + [row for row in rows if row["role"] != "supporting"]

    return change


def repeats(value: dict[str, Any], case: Case) -> None:
    value["findings"].append(finding(value))


def four(value: dict[str, Any], case: Case) -> None:
    value["findings"] = [{**finding(value), "finding_id": f"f{number}"} for number in range(4)]


def many_spans(value: dict[str, Any], case: Case) -> None:
    rows = [quoted(case.corpus, f"d{index:02d}", f"Number {index}.", "context") for index in range(16)]
    finding(value)["evidence"] += rows


def same_span(value: dict[str, Any], case: Case) -> None:
    rows = finding(value)["evidence"]
    rows.append({**rows[0], "role": "context"})


def nobody(value: dict[str, Any], case: Case) -> None:
    """A population without documents, and labels to match."""
    finding(value)["population"]["filters"] = [{"field": "entity_id", "op": "eq", "value": "none"}]
    for name in ("positive_doc_ids", "negative_doc_ids", "unknown_doc_ids"):
        finding(value)["assignments"][0][name] = []


def nan_bound(value: str) -> str:
    return value.replace('"op": "gte", "value": 1', '"op": "gte", "value": NaN')


def loses_statistic(value: dict[str, Any], case: Case) -> None:
    del finding(value)["statistics"]["excluded_metadata_n"]


EXAMPLES: dict[Code, Example] = {
    Code.NOT_JSON: Example(("not_json",), text(lambda value: value[:-1])),
    Code.NON_FINITE_NUMBER: Example(("non_finite_number",), text(nan_bound)),
    Code.WRONG_TYPE: Example(("wrong_type",), sets("claim", 5)),
    Code.MISSING_FIELD: Example(("missing_field",), drops("scope")),
    Code.UNEXPECTED_FIELD: Example(("unexpected_field",), sets("note", "hello")),
    Code.EMPTY_TEXT: Example(("empty_text",), sets("claim", "\u3000 ")),
    Code.WRONG_TASK: Example(("wrong_task",), sets_top("task_id", "another")),
    Code.TOO_MANY_FINDINGS: Example(("too_many_findings",), four),
    Code.EMPTY_ABSTENTION: Example(("empty_abstention",), sets_top("findings", [])),
    Code.DUPLICATE_FINDING_ID: Example(("duplicate_finding_id",), repeats),
    Code.UNKNOWN_KIND: Example(("unknown_kind",), sets("kind", "trend")),
    Code.WRONG_KIND: Example(("wrong_kind",), sets("kind", TIME)),
    Code.LIMITATIONS: Example(("limitations",), sets("limitations", [])),
    Code.TOO_MANY_FILTERS: Example(
        ("too_many_filters",), sets("population.filters", [{"field": "rating", "op": "gte", "value": 1}] * 4)
    ),
    Code.FILTER_FIELD: Example(("filter_field",), sets("population.filters.0.field", "doc_id")),
    Code.FILTER_OPERATOR: Example(("filter_operator",), sets("population.filters.0.op", "ne")),
    Code.FILTER_VALUE: Example(("filter_value",), sets("population.filters.0.value", [1])),
    Code.POPULATION_TOO_SMALL: Example(
        (
            "population_too_small",
            "group_too_small",
            *["evidence_source"] * 4,
            *["supporting_not_positive"] * 3,
            "counterexample_not_negative",
        ),
        nobody,
        restate=True,
    ),
    Code.COMPARISON_REQUIRED: Example(("comparison_required",), sets("comparison", None)),
    Code.COMPARISON_MUST_BE_NULL: Example(("comparison_must_be_null",), sets("comparison", {}), ASSOCIATION),
    Code.COMPARISON_SHAPE: Example(("comparison_shape",), sets("comparison", {"field": "store"})),
    Code.COMPARISON_FIELD: Example(("comparison_field",), sets("comparison.field", "timestamp")),
    Code.COMPARISON_GROUPS: Example(("comparison_groups",), sets("comparison.groups", [["north"], []])),
    Code.COMPARISON_OVERLAP: Example(
        ("comparison_overlap",), sets("comparison.groups", [["north"], ["south", "north"]])
    ),
    Code.BAD_CUTOFF: Example(("bad_cutoff",), sets("comparison.cutoff", "2021-02-30"), TIME),
    Code.GROUP_TOO_SMALL: Example(("group_too_small",), sets("comparison.groups", [["north"], ["west"]]), restate=True),
    Code.CONDITION_COUNT: Example(("condition_count",), sets("definitions", []), ASSOCIATION),
    Code.DUPLICATE_CONDITION: Example(
        ("duplicate_condition",), sets("definitions.1.condition_id", "cracked"), ASSOCIATION
    ),
    Code.CONDITION_MISMATCH: Example(("condition_mismatch",), sets("assignments.0.condition_id", "other")),
    Code.DUPLICATE_DOC_IDS: Example(("duplicate_doc_ids",), sets("assignments.0.unknown_doc_ids", ["d04", "d04"])),
    Code.NOT_A_PARTITION: Example(("not_a_partition",), moves("unknown", "", "d04")),
    Code.NO_EVIDENCE: Example(("no_evidence", "counterexample_missing"), sets("evidence", [])),
    Code.TOO_MANY_SPANS: Example(("too_many_spans",), many_spans),
    Code.EVIDENCE_ROLE: Example(("evidence_role",), sets("evidence.0.role", "rebuttal")),
    Code.EVIDENCE_SOURCE: Example(("evidence_source",), sets("evidence.3.doc_id", "nobody")),
    Code.OFFSET_TYPE: Example(("offset_type",), sets("evidence.0.start", 3.0)),
    Code.QUOTE_OFFSET: Example(("quote_offset",), sets("evidence.0.quote", "the lid cracked.")),
    Code.DUPLICATE_SPAN: Example(("duplicate_span",), same_span),
    Code.NO_SUPPORTING_QUOTE: Example(("no_supporting_quote",), keeps_rows("counterexample")),
    Code.TOO_FEW_SUPPORTING_DOCUMENTS: Example(
        ("too_few_supporting_documents",), keeps_rows("supporting", "counterexample", supporting=2)
    ),
    Code.SUPPORTING_NOT_POSITIVE: Example(("supporting_not_positive",), adds_row("d12", "Number 12.", "supporting")),
    Code.COUNTEREXAMPLE_MISSING: Example(("counterexample_missing",), keeps_rows("supporting")),
    Code.COUNTEREXAMPLE_NOT_NEGATIVE: Example(
        ("counterexample_not_negative",), adds_row("d00", "Number 0.", "counterexample")
    ),
    Code.COUNTEREXAMPLE_NOT_DISCORDANT: Example(
        ("counterexample_not_discordant",), adds_row("d00", "Number 0.", "counterexample"), ASSOCIATION
    ),
    Code.STATISTIC_TYPE: Example(("statistic_type",), sets("statistics.group0_total_n", "30")),
    Code.STATISTIC_MISSING: Example(("statistic_missing",), loses_statistic),
    Code.STATISTIC_EXTRA: Example(("statistic_extra",), sets("statistics.p_value", 0.01)),
    Code.STATISTIC_SHOULD_BE_NULL: Example(
        ("statistic_should_be_null",), sets("statistics.robustness_report_year_standardized_delta_pp", 0), TIME
    ),
    Code.STATISTIC_MISMATCH: Example(("statistic_mismatch",), sets("statistics.group0_total_n", 10**400)),
}


def test_every_code_has_an_example() -> None:
    assert set(EXAMPLES) == set(Code)


@pytest.mark.parametrize("code", list(Code))
def test_a_change_has_its_faults(code: Code) -> None:
    example = EXAMPLES[code]
    case = make_case(example.kind)
    value = case.value()
    changed = example.change(value, case)
    if example.restate:
        value = case.restated(value)
    assert case.codes(value if changed is None else changed) == list(example.codes)
    assert str(code) in example.codes


@pytest.mark.parametrize("number", [0, 0.0, -1.5, 10**400])
def test_no_number_crashes_where_null_is_expected(number: float) -> None:
    case = make_case(TIME)
    value = case.value()
    finding(value)["statistics"]["robustness_report_year_standardized_delta_pp"] = number
    assert case.codes(value) == ["statistic_should_be_null"]


def test_faults_in_several_findings_and_fields_are_all_told(group_case: Case) -> None:
    value = group_case.value()
    other = group_case.value()["findings"][0]
    value["findings"].append(other)
    value["findings"][0]["claim"] = ""
    value["findings"][0]["evidence"][0]["role"] = "proof"
    value["findings"][0]["statistics"]["group1_total_n"] += 1
    other["finding_id"] = "f2"
    other["population"]["filters"][0]["op"] = "about"
    other["evidence"][1]["start"] = -1
    other["limitations"] = ["", "x"]
    value["abstention_reason"] = None
    told = {(fault.finding, str(fault.code)) for fault in group_case.check(value).faults}
    assert told == {
        (None, "wrong_type"),
        (0, "empty_text"),
        (0, "evidence_role"),
        (0, "statistic_mismatch"),
        (1, "filter_operator"),
        (1, "quote_offset"),
        (1, "limitations"),
    }


def test_a_fault_says_where_what_and_which_documents(group_case: Case) -> None:
    value = group_case.value()
    lists = finding(value)["assignments"][0]
    lists["unknown_doc_ids"] = []
    (fault,) = group_case.check(value).faults
    assert (fault.finding_id, fault.finding) == ("f1", 0)
    assert fault.field == "findings[0].assignments('cracked')"
    assert fault.found == "12 documents in no list"
    assert fault.doc_ids == ("d04", "d09", "d14", "d19", "d24")
    assert len(fault.doc_ids) == SHOWN_DOCUMENTS
    assert fault.n_documents == 12
    assert set(fault.as_dict()) == {
        "code",
        "finding_id",
        "finding",
        "field",
        "found",
        "expected",
        "doc_ids",
        "n_documents",
    }
    assert "and 7 more" in str(fault)


def test_a_wrong_quote_says_where_the_quote_is(group_case: Case) -> None:
    value = group_case.value()
    row = finding(value)["evidence"][0]
    row["start"], row["end"] = row["start"] + 1, row["end"] + 1
    (fault,) = group_case.check(value).faults
    assert f"{row['start'] - 1}:{row['end'] - 1}" in fault.expected


def test_the_faults_of_a_hostile_submission_are_bounded_but_counted(group_case: Case) -> None:
    value = group_case.value()
    finding(value)["statistics"] = {f"x{number}": "text" for number in range(3 * MOST_FAULTS)}
    validation = group_case.check(value)
    assert len(validation.faults) == MOST_FAULTS
    assert validation.faults_total > 3 * MOST_FAULTS


def test_every_code_is_documented(repository: Path) -> None:
    """docs/discovery.md has one row for every code, in order, with what is wrong and an example."""
    page = (repository / "docs" / "discovery.md").read_text(encoding="utf-8")
    section = page.split("## Faults")[1].split("## Agents")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \|$", section, flags=re.MULTILINE)
    assert [code for code, _, _ in rows] == [str(code) for code in Code]
    assert all(len(meaning) > 10 and len(example) > 3 for _, meaning, example in rows)


def test_structural_faults_are_the_schemas_too() -> None:
    """What the published JSON Schema refuses has a fault, and what has a structural fault it mostly refuses."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = submission_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    not_in_schema = {
        "wrong_task",
        "too_many_findings",
        "duplicate_finding_id",
        "wrong_kind",
        "filter_field",
        "comparison_required",
        "comparison_must_be_null",
        "comparison_overlap",
        "bad_cutoff",
        "condition_count",
        "duplicate_condition",
        "condition_mismatch",
        "too_many_spans",
        "statistic_missing",
        "statistic_extra",
        "offset_type",
    }
    for code, example in EXAMPLES.items():
        case = make_case(example.kind)
        value = case.value()
        assert validator.is_valid(value)
        if isinstance(example.change(value, case), str):
            continue
        draft_faults = {str(fault.code) for fault in case.check(value).faults}
        accepted = validator.is_valid(value)
        assert accepted or draft_faults, code
        assert not accepted or draft_faults <= not_in_schema | DOCUMENT_CODES, (code, draft_faults)


DOCUMENT_CODES = {
    "population_too_small",
    "group_too_small",
    "not_a_partition",
    "evidence_source",
    "duplicate_span",
    "no_supporting_quote",
    "too_few_supporting_documents",
    "supporting_not_positive",
    "counterexample_missing",
    "counterexample_not_negative",
    "counterexample_not_discordant",
    "statistic_should_be_null",
    "statistic_mismatch",
    "quote_offset",
}
