"""Statistics over columns agree with a plain reading of the rules, document by document, on random odd corpora."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docassay.discovery.robustness import AXES
from docassay.discovery.statistics import complete_statistics, expected_statistics, statistic_names
from docassay.discovery.tasks import read_task
from docassay.errors import TaskDataError

from .conftest import Case, make_case, task_value

ODD_VALUES = st.sampled_from(
    [None, "", "  ", "A", "B", "a", "5", 5, 5.0, " 5", True, 0, -0.0, "10", "2", "Ž", "￮", "😀", [1]]
)
TIMESTAMPS = st.sampled_from(
    [
        None,
        "",
        "unknown",
        "2020-01-31",
        "2020-02-30",
        "2021-06-01T09:00Z",
        "20210601",
        "2021-W10-1",
        "0999-12-31",
        20200101,
    ]
)
FIELDS_OF_ROWS = {"entity_id": ODD_VALUES, "rating": ODD_VALUES, "store": ODD_VALUES, "timestamp": TIMESTAMPS}
ROWS = st.lists(st.fixed_dictionaries({}, optional=FIELDS_OF_ROWS), min_size=1, max_size=40)
VALUES = st.sampled_from(
    [None, "", "  ", "A", "B", "a", "5", 5, 5.0, " 5", True, 0, -0.0, "10", "2", "Ž", "￮", "😀", [1]]
)
TIMESTAMPS = st.sampled_from(
    [
        None,
        "",
        "unknown",
        "2020-01-31",
        "2020-02-30",
        "2021-06-01T09:00Z",
        "20210601",
        "2021-W10-1",
        "0999-12-31",
        20200101,
    ]
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {}, optional={"entity_id": ODD_VALUES, "rating": ODD_VALUES, "store": ODD_VALUES, "timestamp": TIMESTAMPS}
    ),
    min_size=1,
    max_size=40,
)
VALUES = st.sampled_from(["", "A", "B", "5", 5, 5.0, 0, 1, "10", "2021-01-01", "unknown", "Ž", "￮"])
FIELDS = st.sampled_from(["entity_id", "rating", "store", "timestamp", "report_year", "nowhere"])


@st.composite
def filters(draw: st.DrawFn) -> list[dict[str, Any]]:
    def one() -> dict[str, Any]:
        op = draw(st.sampled_from(["eq", "in", "gte", "lte"]))
        value = draw(st.lists(VALUES, min_size=1, max_size=4)) if op == "in" else draw(VALUES)
        return {"field": draw(FIELDS), "op": op, "value": value}

    return [one() for _ in range(draw(st.integers(0, 2)))]


@st.composite
def findings(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
    """A task, its documents, and a finding that partitions its population."""
    kind = draw(st.sampled_from(["group_difference", "temporal_change", "compound_association"]))
    rows = [{"doc_id": f"d{index}", "text": "x", **fields} for index, fields in enumerate(draw(ROWS))]
    task = task_value(
        kind, allowed_metadata_fields=["entity_id", "rating", "store", "timestamp", "report_year", "nowhere"]
    )
    rules = draw(filters())
    inside = [row for row in rows if all(matches(row, rule) for rule in rules)]
    names = ("a", "b") if kind == "compound_association" else ("a",)
    finding = {
        "kind": kind,
        "population": {"filters": rules},
        "comparison": draw(comparisons(kind)),
        "definitions": [{"condition_id": name, "inclusion": "i", "exclusion": "e"} for name in names],
        "assignments": [assigned(name, inside, draw) for name in names],
    }
    return task, rows, finding


def comparisons(kind: str) -> st.SearchStrategy[Any]:
    if kind == "compound_association":
        return st.none()
    if kind == "temporal_change":
        return st.sampled_from(["2020-02-01", "2021-06-01", "0999-12-31"]).map(
            lambda day: {"field": "timestamp", "cutoff": day}
        )
    groups = st.permutations(["A", "B", "", "5", 5, 0, "10"]).map(lambda values: [values[:2], values[2:4]])
    return st.fixed_dictionaries({"field": st.sampled_from(["entity_id", "rating", "store"]), "groups": groups})


def assigned(name: str, inside: list[dict[str, Any]], draw: st.DrawFn) -> dict[str, Any]:
    lists: dict[str, list[str]] = {"positive": [], "negative": [], "unknown": []}
    for row in inside:
        lists[draw(st.sampled_from(["positive", "positive", "negative", "negative", "unknown"]))].append(row["doc_id"])
    return {"condition_id": name, **{f"{state}_doc_ids": ids for state, ids in lists.items()}}


# The rules once more, one document at a time


def matches(row: Mapping[str, Any], rule: Mapping[str, Any]) -> bool:
    value = field(row, rule["field"])
    if value is None:
        return False
    if rule["op"] == "in":
        return any(equal(value, wanted) for wanted in rule["value"])
    if rule["op"] == "eq":
        return equal(value, rule["value"])
    same = isinstance(value, str) == isinstance(rule["value"], str) and isinstance(value, str | int | float)
    if not same:
        return False
    return bool(value >= rule["value"] if rule["op"] == "gte" else value <= rule["value"])


def equal(value: object, wanted: object) -> bool:
    return isinstance(value, str) == isinstance(wanted, str) and value == wanted


def field(row: Mapping[str, Any], name: str) -> Any:
    day = day_of(row)
    return (None if day is None else day.year) if name == "report_year" else row.get(name)


def day_of(row: Mapping[str, Any]) -> date | None:
    text = row.get("timestamp")
    if not isinstance(text, str) or len(text) < 10 or text[4] != "-" or text[7] != "-":
        return None
    try:
        return date(int(text[:4]), int(text[5:7]), int(text[8:10]))
    except ValueError:
        return None


def arm_of(row: Mapping[str, Any], comparison: Mapping[str, Any]) -> int | None:
    if comparison["field"] == "timestamp":
        day = day_of(row)
        return None if day is None else int(day >= date.fromisoformat(comparison["cutoff"]))
    for arm in (0, 1):
        if any(equal(row.get(comparison["field"]), value) for value in comparison["groups"][arm]):
            return arm
    return None


def ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else 100 * (one - other)


def plain_statistics(finding: Mapping[str, Any], rows: list[dict[str, Any]]) -> dict[str, float | None]:
    inside = [row for row in rows if all(matches(row, rule) for rule in finding["population"]["filters"])]
    states = [
        {doc_id: state for state in ("positive", "negative", "unknown") for doc_id in item[f"{state}_doc_ids"]}
        for item in finding["assignments"]
    ]
    pairs = finding["kind"] == "compound_association"
    result = association(inside, states) if pairs else groups(inside, states[0], finding["comparison"])
    result |= {
        "corpus_total_n": len(rows),
        "population_total_n": len(inside),
        "population_coverage": ratio(len(inside), len(rows)),
    }
    known: list[tuple[dict[str, Any], int, bool]] = []
    for row in inside:
        labels = [state[row["doc_id"]] for state in states]
        arm = int(labels[0] == "positive") if pairs else arm_of(row, finding["comparison"])
        if "unknown" not in labels and arm is not None:
            known.append((row, arm, labels[-1] == "positive"))
    for arm in (0, 1):
        result[f"robustness_known_arm{arm}_n"] = sum(other == arm for _, other, _ in known)
    for axis in AXES:
        result |= {f"robustness_{axis}_{name}": number for name, number in robustness(inside, known, axis).items()}
    return result


def groups(
    inside: list[dict[str, Any]], state: Mapping[str, str], comparison: Mapping[str, Any]
) -> dict[str, float | None]:
    result: dict[str, float | None] = {}
    counts = []
    for arm in (0, 1):
        labels = Counter(state[row["doc_id"]] for row in inside if arm_of(row, comparison) == arm)
        total, known = sum(labels.values()), labels["positive"] + labels["negative"]
        result |= {
            f"group{arm}_total_n": total,
            f"group{arm}_known_n": known,
            f"group{arm}_positive_n": labels["positive"],
            f"group{arm}_unknown_n": labels["unknown"],
            f"group{arm}_rate_known": ratio(labels["positive"], known),
        }
        counts.append((total, labels["positive"], labels["positive"] + labels["unknown"]))
    (n0, low0, high0), (n1, low1, high1) = counts
    result["excluded_metadata_n"] = len(inside) - n0 - n1
    result["delta_known_pp"] = minus(result["group1_rate_known"], result["group0_rate_known"])
    result["delta_identification_lower_pp"] = minus(ratio(low1, n1), ratio(high0, n0))
    result["delta_identification_upper_pp"] = minus(ratio(high1, n1), ratio(low0, n0))
    return result


def association(inside: list[dict[str, Any]], states: list[dict[str, str]]) -> dict[str, float | None]:
    cells = Counter((states[0][row["doc_id"]], states[1][row["doc_id"]]) for row in inside)
    n11, n10 = cells["positive", "positive"], cells["positive", "negative"]
    n01, n00 = cells["negative", "positive"], cells["negative", "negative"]
    total = n11 + n10 + n01 + n00
    with_a, without_a = ratio(n11, n11 + n10), ratio(n01, n01 + n00)
    return {
        "known_joint_n": total,
        "unknown_joint_n": len(inside) - total,
        "n11": n11,
        "n10": n10,
        "n01": n01,
        "n00": n00,
        "p_b_given_a": with_a,
        "p_b_given_not_a": without_a,
        "conditional_difference_pp": minus(with_a, without_a),
        "lift": ratio(n11 * total, (n11 + n10) * (n11 + n01)),
    }


def stratum(row: Mapping[str, Any], axis: str) -> str | None:
    value = field(row, axis)
    return None if value is None or not str(value).strip() else str(value)


def effect(known: list[tuple[dict[str, Any], int, bool]]) -> float:
    rates = [[hit for _, other, hit in known if other == arm] for arm in (0, 1)]
    return 100 * (sum(rates[1]) / len(rates[1]) - sum(rates[0]) / len(rates[0]))


def sizes(known: list[tuple[dict[str, Any], int, bool]]) -> list[int]:
    return [sum(other == arm for _, other, _ in known) for arm in (0, 1)]


def robustness(
    inside: list[dict[str, Any]], known: list[tuple[dict[str, Any], int, bool]], axis: str
) -> dict[str, float | None]:
    names = Counter(name for row in inside if (name := stratum(row, axis)) is not None)
    split = {name: [item for item in known if stratum(item[0], axis) == name] for name in sorted(names)}
    comparable = {name: items for name, items in split.items() if min(sizes(items)) >= 5}
    covered = [item for items in comparable.values() for item in items]
    effects = [effect(items) for items in comparable.values()]
    largest = min(names, key=lambda name: (-names[name], name), default=None)
    rest = [item for item in known if stratum(item[0], axis) not in (None, largest)]
    positives = Counter(name for row, _, hit in known if hit and (name := stratum(row, axis)) is not None)
    weighted = sum(len(items) * effect(items) for items in comparable.values())
    return {
        "strata_n": len(names),
        "missing_metadata_n": sum(stratum(row, axis) is None for row in inside),
        "eligible_strata_n": len(comparable),
        "covered_known_n": len(covered),
        "excluded_known_n": len(known) - len(covered),
        "standardized_delta_pp": ratio(weighted, len(covered)),
        "covered_crude_delta_pp": effect(covered) if covered else None,
        "min_stratum_delta_pp": min(effects, default=None),
        "max_stratum_delta_pp": max(effects, default=None),
        "drop_largest_n": names[largest] if largest is not None else 0,
        "drop_largest_arm0_n": sizes(rest)[0],
        "drop_largest_arm1_n": sizes(rest)[1],
        "drop_largest_delta_pp": effect(rest) if largest is not None and min(sizes(rest)) >= 5 else None,
        "support_missing_metadata_n": sum(hit and stratum(row, axis) is None for row, _, hit in known),
        "max_support_share": ratio(max(positives.values(), default=0), sum(positives.values())),
    }


@given(findings())
def test_columns_agree_with_the_rules(drawn: tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]) -> None:
    task, rows, finding = drawn
    found, expected = expected_statistics(finding, task, rows), plain_statistics(finding, rows)
    assert found.keys() == expected.keys()
    for name, number in expected.items():
        other = found[name]
        assert (number is None) == (other is None), name
        assert number is None or other is None or math.isclose(other, number, abs_tol=1e-9), (name, other, number)


def test_the_number_of_statistics(case_of: Callable[[str], Case]) -> None:
    expected = {"group_difference": 64, "temporal_change": 64, "compound_association": 60}
    for kind, number in expected.items():
        case = case_of(kind)
        assert len(statistic_names(case.task)) == number
        assert len(set(statistic_names(case.task))) == number


def test_the_bounds_hold_whatever_the_unknowns_are(group_case: Case) -> None:
    """Every resolution of the unknowns gives a difference within the bounds, and the extremes reach them."""
    draft = group_case.value()["findings"][0]
    numbers = draft["statistics"]
    low, high = numbers["delta_identification_lower_pp"], numbers["delta_identification_upper_pp"]
    reached = []
    for chosen in ({"north"}, {"south"}, {"north", "south"}, set()):
        lists = draft["assignments"][0]
        unknown = lists["unknown_doc_ids"]
        store = group_case.corpus.column("store")
        hit = [item for item in unknown if store.value(group_case.corpus.positions[item]) in chosen]
        changed = {
            **lists,
            "positive_doc_ids": lists["positive_doc_ids"] + hit,
            "negative_doc_ids": lists["negative_doc_ids"] + [item for item in unknown if item not in hit],
            "unknown_doc_ids": [],
        }
        resolved = expected_statistics({**draft, "assignments": [changed]}, group_case.task, group_case.corpus)
        delta = resolved["delta_known_pp"]
        assert delta is not None
        assert low - 1e-9 <= delta <= high + 1e-9
        reached.append(delta)
    assert math.isclose(min(reached), low)
    assert math.isclose(max(reached), high)


def test_a_composition_reversal_shows() -> None:
    """By hand: 8/10 and 1/10 in arm 0 against 9/10 and 2/10, but arm 1 is mostly of the second entity."""
    rows, positive, negative = [], [], []
    for entity, store, positives, total in (
        ("x", "n", 16, 20),
        ("y", "n", 1, 10),
        ("x", "s", 9, 10),
        ("y", "s", 4, 20),
    ):
        for index in range(total):
            doc_id = f"{entity}{store}{index}"
            rows.append({"doc_id": doc_id, "text": "t", "entity_id": entity, "store": store})
            (positive if index < positives else negative).append(doc_id)
    finding = {
        "kind": "group_difference",
        "population": {"filters": []},
        "comparison": {"field": "store", "groups": [["n"], ["s"]]},
        "definitions": [{"condition_id": "c", "inclusion": "i", "exclusion": "e"}],
        "assignments": [
            {"condition_id": "c", "positive_doc_ids": positive, "negative_doc_ids": negative, "unknown_doc_ids": []}
        ],
    }
    numbers = expected_statistics(finding, task_value("group_difference"), rows)
    assert numbers["delta_known_pp"] == pytest.approx(100 * (13 / 30 - 17 / 30))
    assert numbers["robustness_entity_id_standardized_delta_pp"] == pytest.approx(10.0)


def test_a_draft_is_completed_whatever_else_it_lacks(case: Case) -> None:
    full = case.value()["findings"][0]
    draft = {name: full[name] for name in ("population", "comparison", "definitions", "assignments")}
    assert complete_statistics(draft, case.task, case.corpus)["statistics"] == full["statistics"]


@pytest.mark.parametrize("part", ["population", "comparison", "definitions", "assignments"])
def test_a_draft_without_a_part_it_needs_is_refused_and_named(group_case: Case, part: str) -> None:
    draft = group_case.value()["findings"][0]
    del draft[part]
    with pytest.raises(TaskDataError, match=part):
        expected_statistics(draft, group_case.task, group_case.corpus)


@pytest.mark.parametrize("value", [None, 5, [], "finding"])
def test_what_is_no_finding_is_refused(group_case: Case, value: Any) -> None:
    with pytest.raises(TaskDataError, match="no statistics"):
        expected_statistics(value, group_case.task, group_case.corpus)


def test_what_is_no_partition_is_refused(group_case: Case) -> None:
    draft = group_case.value()["findings"][0]
    draft["assignments"][0]["unknown_doc_ids"].pop()
    with pytest.raises(TaskDataError, match="exactly one list"):
        expected_statistics(draft, group_case.task, group_case.corpus)


def test_records_and_json_give_the_same(case: Case) -> None:
    validation = case.check(case.value())
    assert validation.submission is not None
    (finding,) = validation.submission.findings
    assert expected_statistics(finding, case.task, case.corpus) == case.value()["findings"][0]["statistics"]


def test_fixed_comparisons_take_the_tasks_groups() -> None:
    case = make_case("group_difference")
    fixed = {"field": "store", "groups": ["south", None]}
    task = read_task(task_value("group_difference", difficulty="standard", discovery_mode="", comparison=fixed))
    draft = case.value()["findings"][0]
    del draft["population"], draft["comparison"]
    numbers = expected_statistics(draft, task, case.corpus)
    assert len(numbers) == 14
    assert (numbers["group0_total_n"], numbers["group1_total_n"]) == (30, 0)
