"""Decides whether a submission has the contract's structure, and reads it into records; faults are told, never raised.

Structure is what can be seen without the task's corpus: fields, types, counts and texts. What depends on the documents
is `validate`'s. Where one part of a finding is unreadable, the others are still read, so that their faults are told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from importlib import resources
from typing import Any, Literal, TypeVar, get_args

from docassay.core.digest import digest_object
from docassay.discovery.faults import Code, Fault, Faults, clip, shown
from docassay.discovery.strict_json import check_value, parse_json
from docassay.discovery.tasks import ASSOCIATION, GROUP, KINDS, Kind, Task
from docassay.errors import DocumentError, NonFiniteError

__all__ = [
    "MAX_FILTERS",
    "MAX_SPANS",
    "MAX_VALUES",
    "OPERATORS",
    "ROLES",
    "Assignment",
    "Comparison",
    "CutoffComparison",
    "Definition",
    "Draft",
    "DraftFinding",
    "Evidence",
    "Filter",
    "Finding",
    "GroupComparison",
    "Number",
    "Operator",
    "Population",
    "Role",
    "Scalar",
    "Submission",
    "finding_value",
    "parse_submission",
    "read_draft_finding",
    "submission_schema",
]

_Part = TypeVar("_Part")

Scalar = str | int | float
Number = int | float | None
Operator = Literal["eq", "in", "gte", "lte"]
Role = Literal["supporting", "counterexample", "context"]

OPERATORS: tuple[Operator, ...] = get_args(Operator)
ROLES: tuple[Role, ...] = get_args(Role)
MAX_FILTERS = 3
MAX_VALUES = 20
MAX_SPANS = 15

MOST_READ = 1000
"""How many items of a list with too many of them are read for their own faults."""


@dataclass(frozen=True, slots=True)
class Filter:
    """One rule of a population: a field, an operator, and a value (for `in` 1 to 20 of them)."""

    field: str
    op: Operator
    value: Scalar | tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Population:
    """The documents a finding speaks of: those that meet every filter; without filters the whole corpus."""

    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class GroupComparison:
    """Arm 0 and arm 1 by the values of a metadata field."""

    field: str
    groups: tuple[tuple[Scalar, ...], tuple[Scalar, ...]]


@dataclass(frozen=True, slots=True)
class CutoffComparison:
    """Arm 0 before the day `cutoff` (YYYY-MM-DD), arm 1 on it or after."""

    cutoff: str


Comparison = GroupComparison | CutoffComparison


@dataclass(frozen=True, slots=True)
class Definition:
    """One condition: its id, and in words when a text meets it and when it does not."""

    condition_id: str
    inclusion: str
    exclusion: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """The documents of the population by their state under one condition."""

    condition_id: str
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quote: `text[start:end]` of a document, in code points."""

    doc_id: str
    start: int
    end: int
    quote: str
    role: Role


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a submission whose structure is right.

    population, comparison: None for fixed-comparison tasks; the comparison is None for associations too.
    definitions: one, or two (A, then B) for an association; `assignments` may be in another order (pair them by id).
    statistics: as submitted, in the submission's order.
    """

    finding_id: str
    claim: str
    kind: Kind
    scope: str
    population: Population | None
    comparison: Comparison | None
    definitions: tuple[Definition, ...]
    assignments: tuple[Assignment, ...]
    statistics: Mapping[str, Number]
    evidence: tuple[Evidence, ...]
    limitations: tuple[str, ...]

    def assignment(self, condition_id: str) -> Assignment:
        """The assignment of one condition. Raises KeyError for an unknown condition."""
        for assignment in self.assignments:
            if assignment.condition_id == condition_id:
                return assignment
        raise KeyError(condition_id)


@dataclass(frozen=True)
class Submission:
    """A submission whose structure is right.

    value: the JSON object as submitted, which the digest covers.
    """

    task_id: str
    findings: tuple[Finding, ...]
    abstention_reason: str
    value: Mapping[str, Any] = field(repr=False)

    @cached_property
    def digest(self) -> str:
        """Digest of the submission's JSON object."""
        return digest_object(self.value)

    @property
    def abstains(self) -> bool:
        """Whether it has no findings."""
        return not self.findings


@dataclass(frozen=True, slots=True)
class DraftFinding:
    """One finding as far as it can be read; a part that is None was missing or faulty (the faults say so).

    index: its position in the submission.
    population, comparison: also None where the contract wants none.
    definitions, assignments: only if all of them could be read and their ids pair up.
    evidence: the readable rows with their positions; `evidence_complete` tells whether that is all.
    statistics: every entry whose value is a number or null; `mistyped_statistics` names the others.
    """

    index: int
    finding_id: str | None
    claim: str | None
    kind: Kind | None
    scope: str | None
    population: Population | None
    comparison: Comparison | None
    definitions: tuple[Definition, ...] | None
    assignments: tuple[Assignment, ...] | None
    statistics: Mapping[str, Number] | None
    mistyped_statistics: frozenset[str]
    evidence: tuple[tuple[int, Evidence], ...]
    evidence_complete: bool
    limitations: tuple[str, ...] | None

    @property
    def path(self) -> str:
        """Where it stands, as faults name it."""
        return f"findings[{self.index}]"


@dataclass(frozen=True)
class Draft:
    """What could be read of a submission.

    submission: the typed record; None if there is any structural fault.
    findings: each finding as far as it could be read.
    faults: all structural faults, in the submission's order (a hostile submission's first MOST_FAULTS).
    faults_total: how many there were.
    value: the parsed JSON; None if the text is not JSON.
    """

    submission: Submission | None
    findings: tuple[DraftFinding, ...]
    faults: tuple[Fault, ...]
    faults_total: int
    value: Any = field(repr=False)


def parse_submission(source: object, task: Task) -> Draft:
    """Read a submission's structure: JSON text (bytes or str) or an already parsed object. Never raises.

    Whatever is wrong is in `faults`; documents are not looked at (`validate_submission` does both).
    """
    faults = Faults()
    try:
        value = _json_value(source)
    except DocumentError as error:
        code = Code.NON_FINITE_NUMBER if isinstance(error, NonFiniteError) else Code.NOT_JSON
        faults.add(code, "", str(error).removeprefix("submission: "), "strict JSON (UTF-8, finite numbers)")
        return Draft(None, (), faults.items, 1, None)
    findings, reason = _read_submission(value, task, faults)
    submission = None
    if not faults.total:
        submission = Submission(task.task_id, tuple(_complete(item) for item in findings), reason, value)
    return Draft(submission, findings, faults.items, faults.total, value)


def read_draft_finding(value: object, task: Task) -> tuple[DraftFinding, tuple[Fault, ...]]:
    """One finding alone, such as a draft without statistics; faults name fields as `findings[0]…`. Never raises."""
    faults = Faults()
    draft = _read_finding(value, 0, task, faults)
    return draft, faults.items


def finding_value(finding: Finding) -> dict[str, Any]:
    """A finding as the JSON object of the contract (for agents that build findings as records)."""
    value: dict[str, Any] = {
        "finding_id": finding.finding_id,
        "claim": finding.claim,
        "kind": finding.kind,
        "scope": finding.scope,
    }
    if finding.population is not None:
        value["population"] = {"filters": [_filter_value(rule) for rule in finding.population.filters]}
        value["comparison"] = _comparison_value(finding.comparison)
    value["definitions"] = [
        {"condition_id": item.condition_id, "inclusion": item.inclusion, "exclusion": item.exclusion}
        for item in finding.definitions
    ]
    value["assignments"] = [
        {
            "condition_id": item.condition_id,
            "positive_doc_ids": list(item.positive),
            "negative_doc_ids": list(item.negative),
            "unknown_doc_ids": list(item.unknown),
        }
        for item in finding.assignments
    ]
    value["statistics"] = dict(finding.statistics)
    value["evidence"] = [
        {"doc_id": row.doc_id, "start": row.start, "end": row.end, "quote": row.quote, "role": row.role}
        for row in finding.evidence
    ]
    value["limitations"] = list(finding.limitations)
    return value


def submission_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a submission: its structure, whatever the task."""
    text = resources.files("docassay.discovery").joinpath("submission.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _json_value(source: object) -> Any:
    if isinstance(source, bytes | bytearray | memoryview):
        return parse_json(bytes(source), where="submission")
    if isinstance(source, str):
        return parse_json(source, where="submission")
    value = source.value if isinstance(source, Submission) else source
    check_value(value, where="submission")
    return value


# The submission

_TOP_FIELDS = ("task_id", "findings", "abstention_reason")
_FINDING_FIELDS = (
    "finding_id",
    "claim",
    "kind",
    "scope",
    "definitions",
    "assignments",
    "statistics",
    "evidence",
    "limitations",
)
_SELECTION_FIELDS = ("population", "comparison")


def _read_submission(value: object, task: Task, faults: Faults) -> tuple[tuple[DraftFinding, ...], str]:
    fields = _object(value, "", _TOP_FIELDS, faults)
    if fields is None:
        return (), ""
    task_id = _text(fields, "task_id", "", faults, blank=True)
    if task_id is not None and task_id != task.task_id:
        faults.add(Code.WRONG_TASK, "task_id", shown(task_id), shown(task.task_id))
    findings = _list(fields, "findings", "", faults)
    if findings is not None and len(findings) > task.max_findings:
        faults.add(Code.TOO_MANY_FINDINGS, "findings", str(len(findings)), f"at most {task.max_findings}")
    reason = fields.get("abstention_reason")
    if "abstention_reason" in fields and not isinstance(reason, str):
        faults.add(Code.WRONG_TYPE, "abstention_reason", shown(reason), "text")
    elif findings == [] and isinstance(reason, str) and not reason.strip():
        faults.add(Code.EMPTY_ABSTENTION, "abstention_reason", shown(reason), "a reason, as there are no findings")
    drafts = tuple(_read_finding(item, index, task, faults) for index, item in enumerate((findings or [])[:MOST_READ]))
    _check_finding_ids(drafts, faults)
    return drafts, reason if isinstance(reason, str) else ""


def _check_finding_ids(drafts: tuple[DraftFinding, ...], faults: Faults) -> None:
    first: dict[str, int] = {}
    for draft in drafts:
        if draft.finding_id is None:
            continue
        earlier = first.setdefault(draft.finding_id, draft.index)
        if earlier != draft.index:
            own = faults.of_finding(draft.index, draft.finding_id)
            expected = f"an id that findings[{earlier}] has not"
            own.add(Code.DUPLICATE_FINDING_ID, f"{draft.path}.finding_id", shown(draft.finding_id), expected)


def _read_finding(value: object, index: int, task: Task, all_faults: Faults) -> DraftFinding:
    path = f"findings[{index}]"
    given_id = value.get("finding_id") if isinstance(value, dict) else None
    faults = all_faults.of_finding(index, given_id if isinstance(given_id, str) else None)
    wanted = (*_FINDING_FIELDS, *_SELECTION_FIELDS) if task.agent_selected else _FINDING_FIELDS
    fields = _object(value, path, wanted, faults) or {}
    selecting = task.agent_selected
    finding_id = _text(fields, "finding_id", path, faults)
    claim = _text(fields, "claim", path, faults)
    kind = _kind(fields, path, task, faults)
    scope = _text(fields, "scope", path, faults)
    population = _population(fields, path, task, faults) if selecting else None
    comparison = _comparison(fields, path, task, faults) if selecting else None
    definitions = _definitions(fields, path, task, faults)
    assignments = _assignments(fields, path, task, faults)
    paired = _check_pairing(definitions, assignments, path, faults)
    statistics, mistyped = _statistics(fields, path, faults)
    evidence, complete = _evidence(fields, path, faults)
    return DraftFinding(
        index=index,
        finding_id=finding_id,
        claim=claim,
        kind=kind,
        scope=scope,
        population=population,
        comparison=comparison,
        definitions=definitions if paired else None,
        assignments=assignments if paired else None,
        statistics=statistics,
        mistyped_statistics=mistyped,
        evidence=evidence,
        evidence_complete=complete,
        limitations=_limitations(fields, path, faults),
    )


def _complete(draft: DraftFinding) -> Finding:
    """The full record of a draft without faults."""
    return Finding(
        finding_id=_known(draft.finding_id),
        claim=_known(draft.claim),
        kind=_known(draft.kind),
        scope=_known(draft.scope),
        population=draft.population,
        comparison=draft.comparison,
        definitions=_known(draft.definitions),
        assignments=_known(draft.assignments),
        statistics=_known(draft.statistics),
        evidence=tuple(row for _, row in draft.evidence),
        limitations=_known(draft.limitations),
    )


def _known(part: _Part | None) -> _Part:
    assert part is not None, "a finding without faults has all its parts"
    return part


def _kind(fields: Mapping[str, Any], path: str, task: Task, faults: Faults) -> Kind | None:
    if "kind" not in fields:
        return None
    found = fields["kind"]
    if not isinstance(found, str) or found not in KINDS:
        faults.add(Code.UNKNOWN_KIND, f"{path}.kind", shown(found), " or ".join(KINDS))
        return None
    if found != task.kind:
        faults.add(Code.WRONG_KIND, f"{path}.kind", shown(found), shown(task.kind))
        return None
    return task.kind


def _limitations(fields: Mapping[str, Any], path: str, faults: Faults) -> tuple[str, ...] | None:
    items = _list(fields, "limitations", path, faults)
    if items is None:
        return None
    here = f"{path}.limitations"
    wrong = [item for item in items if not isinstance(item, str) or not item]
    if not items or wrong:
        found = "none" if not items else shown(wrong[0])
        faults.add(Code.LIMITATIONS, here, found, "at least one, each a text that is not empty")
        return None
    if len(set(items)) < len(items):
        faults.add(Code.LIMITATIONS, here, "the same one twice", "each only once")
        return None
    return tuple(items)


# Population


def _population(fields: Mapping[str, Any], path: str, task: Task, faults: Faults) -> Population | None:
    if "population" not in fields:
        return None
    here = f"{path}.population"
    inner = _object(fields["population"], here, ("filters",), faults)
    rules = _list(inner, "filters", here, faults) if inner is not None else None
    if rules is None:
        return None
    if len(rules) > MAX_FILTERS:
        faults.add(Code.TOO_MANY_FILTERS, f"{here}.filters", str(len(rules)), f"at most {MAX_FILTERS}")
    filters = [
        _filter(rule, f"{here}.filters[{number}]", task, faults) for number, rule in enumerate(rules[:MOST_READ])
    ]
    read = tuple(rule for rule in filters if rule is not None)
    return Population(read) if len(read) == len(rules) <= MAX_FILTERS else None


def _filter(value: object, path: str, task: Task, faults: Faults) -> Filter | None:
    before = faults.total
    fields = _object(value, path, ("field", "op", "value"), faults)
    if fields is None:
        return None
    name, op = fields.get("field"), fields.get("op")
    if "field" in fields and (not isinstance(name, str) or name not in task.allowed_metadata_fields):
        faults.add(Code.FILTER_FIELD, f"{path}.field", shown(name), _allowed(task))
    if "op" in fields and (not isinstance(op, str) or op not in OPERATORS):
        faults.add(Code.FILTER_OPERATOR, f"{path}.op", shown(op), " or ".join(OPERATORS))
    elif "op" in fields and "value" in fields:
        _check_filter_value(fields["value"], op == "in", f"{path}.value", faults)
    if faults.total > before:
        return None
    given = fields["value"]
    return Filter(fields["field"], fields["op"], tuple(given) if isinstance(given, list) else given)


def _check_filter_value(value: object, many: bool, path: str, faults: Faults) -> None:
    if many and isinstance(value, list):
        wrong = [item for item in value if not _is_scalar(item)]
        if wrong or not 1 <= len(value) <= MAX_VALUES:
            found = f"{shown(wrong[0])} among them" if wrong else shown(value)
            faults.add(Code.FILTER_VALUE, path, found, f"1 to {MAX_VALUES} texts or finite numbers")
    elif many:
        faults.add(Code.FILTER_VALUE, path, shown(value), "a list, for the operator in")
    elif not _is_scalar(value):
        faults.add(Code.FILTER_VALUE, path, shown(value), "one text or finite number")


def _is_scalar(value: object) -> bool:
    """A text, an integer or a finite float; infinite ones have been refused before."""
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _allowed(task: Task) -> str:
    return "one of " + (", ".join(task.allowed_metadata_fields) or "no fields at all")


# Comparison


def _comparison(fields: Mapping[str, Any], path: str, task: Task, faults: Faults) -> Comparison | None:
    if "comparison" not in fields:
        return None
    value, here = fields["comparison"], f"{path}.comparison"
    if task.kind == ASSOCIATION:
        if value is not None:
            faults.add(Code.COMPARISON_MUST_BE_NULL, here, shown(value), "null, for an association")
        return None
    if not isinstance(value, dict):
        code = Code.COMPARISON_REQUIRED if value is None else Code.COMPARISON_SHAPE
        faults.add(code, here, shown(value), f"an object with {_comparison_fields(task)}")
        return None
    return _groups(value, here, task, faults) if task.kind == GROUP else _cutoff(value, here, faults)


def _comparison_fields(task: Task) -> str:
    return "field and groups" if task.kind == GROUP else "field and cutoff"


def _shape(value: Mapping[str, Any], wanted: tuple[str, str], path: str, faults: Faults) -> bool:
    if set(value) == set(wanted):
        return True
    faults.add(Code.COMPARISON_SHAPE, path, shown(value), f"exactly {wanted[0]} and {wanted[1]}")
    return False


def _groups(value: Mapping[str, Any], path: str, task: Task, faults: Faults) -> GroupComparison | None:
    if not _shape(value, ("field", "groups"), path, faults):
        return None
    name, before = value["field"], faults.total
    if not isinstance(name, str) or name not in task.allowed_metadata_fields or name == "timestamp":
        faults.add(Code.COMPARISON_FIELD, f"{path}.field", shown(name), _allowed(task) + ", and not timestamp")
    groups = value["groups"]
    if not isinstance(groups, list) or len(groups) != 2:
        faults.add(Code.COMPARISON_GROUPS, f"{path}.groups", shown(groups), "two lists of values")
        return None
    sound = [_check_group(group, f"{path}.groups[{number}]", faults) for number, group in enumerate(groups)]
    if not all(sound):
        return None
    twice = _first_repeat([*groups[0], *groups[1]])
    if twice is not None:
        faults.add(
            Code.COMPARISON_OVERLAP, f"{path}.groups", f"{shown(twice)} twice", "distinct values in disjoint groups"
        )
    return None if faults.total > before else GroupComparison(name, (tuple(groups[0]), tuple(groups[1])))


def _check_group(group: object, path: str, faults: Faults) -> bool:
    expected = f"1 to {MAX_VALUES} texts or finite numbers"
    if not isinstance(group, list) or not 1 <= len(group) <= MAX_VALUES:
        faults.add(Code.COMPARISON_GROUPS, path, shown(group), expected)
        return False
    wrong = [item for item in group if not _is_scalar(item)]
    if wrong:
        faults.add(Code.COMPARISON_GROUPS, path, f"{shown(wrong[0])} among them", expected)
    return not wrong


def _first_repeat(values: list[Scalar]) -> Scalar | None:
    seen: set[Scalar] = set()
    for value in values:
        if value in seen:  # 1 and 1.0 are one value
            return value
        seen.add(value)
    return None


def _cutoff(value: Mapping[str, Any], path: str, faults: Faults) -> CutoffComparison | None:
    if not _shape(value, ("field", "cutoff"), path, faults):
        return None
    before = faults.total
    if value["field"] != "timestamp":
        faults.add(Code.COMPARISON_FIELD, f"{path}.field", shown(value["field"]), "timestamp")
    cutoff = value["cutoff"]
    if not isinstance(cutoff, str) or not _is_day(cutoff):
        faults.add(Code.BAD_CUTOFF, f"{path}.cutoff", shown(cutoff), "a day that exists, as YYYY-MM-DD")
    return None if faults.total > before else CutoffComparison(value["cutoff"])


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


# Conditions


def _definitions(fields: Mapping[str, Any], path: str, task: Task, faults: Faults) -> tuple[Definition, ...] | None:
    items = _counted(fields, "definitions", path, task, faults)
    if items is None:
        return None
    read: list[Definition] = []
    for number, item in enumerate(items):
        here = f"{path}.definitions[{number}]"
        inner = _object(item, here, ("condition_id", "inclusion", "exclusion"), faults) or {}
        names = ("condition_id", "inclusion", "exclusion")
        texts = [_text(inner, name, here, faults, blank=True) for name in names]
        if None not in texts:
            read.append(Definition(*(text for text in texts if text is not None)))
    return tuple(read) if len(read) == len(items) else None


_STATE_FIELDS = ("positive_doc_ids", "negative_doc_ids", "unknown_doc_ids")


def _assignments(fields: Mapping[str, Any], path: str, task: Task, faults: Faults) -> tuple[Assignment, ...] | None:
    items = _counted(fields, "assignments", path, task, faults)
    if items is None:
        return None
    read: list[Assignment] = []
    for number, item in enumerate(items):
        here = f"{path}.assignments[{number}]"
        inner = _object(item, here, ("condition_id", *_STATE_FIELDS), faults) or {}
        condition_id = _text(inner, "condition_id", here, faults, blank=True)
        lists = [_doc_ids(inner, name, here, faults) for name in _STATE_FIELDS]
        if condition_id is not None and None not in lists:
            read.append(Assignment(condition_id, *(ids for ids in lists if ids is not None)))
    return tuple(read) if len(read) == len(items) else None


def _counted(fields: Mapping[str, Any], name: str, path: str, task: Task, faults: Faults) -> list[Any] | None:
    """A list with one entry per condition of the task's kind."""
    items = _list(fields, name, path, faults)
    wanted = 2 if task.kind == ASSOCIATION else 1
    if items is not None and len(items) != wanted:
        faults.add(Code.CONDITION_COUNT, f"{path}.{name}", str(len(items)), f"{wanted} for a {task.kind}")
        return None
    return items


def _doc_ids(fields: Mapping[str, Any], name: str, path: str, faults: Faults) -> tuple[str, ...] | None:
    items = _list(fields, name, path, faults)
    if items is None:
        return None
    wrong = [item for item in items if not isinstance(item, str) or not item]
    if wrong:
        code = Code.EMPTY_TEXT if wrong[0] == "" else Code.WRONG_TYPE
        faults.add(code, f"{path}.{name}", shown(wrong[0]), "document ids, texts that are not empty")
        return None
    if len(set(items)) < len(items):
        faults.add(Code.DUPLICATE_DOC_IDS, f"{path}.{name}", "repeated ids", "each document once", _repeated(items))
        return None
    return tuple(items)


def _repeated(items: list[str]) -> list[str]:
    seen: set[str] = set()
    repeated: dict[str, None] = {}
    for item in items:
        if item in seen:
            repeated[item] = None
        seen.add(item)
    return list(repeated)


def _check_pairing(
    definitions: tuple[Definition, ...] | None,
    assignments: tuple[Assignment, ...] | None,
    path: str,
    faults: Faults,
) -> bool:
    """Whether conditions are distinct and each has its one assignment, in any order."""
    if definitions is None or assignments is None:
        return False
    ids = [item.condition_id for item in definitions]
    assigned = [item.condition_id for item in assignments]
    if len(set(ids)) < len(ids):
        faults.add(Code.DUPLICATE_CONDITION, f"{path}.definitions", shown(ids[0]) + " twice", "distinct condition ids")
        return False
    if sorted(ids) != sorted(assigned):
        found = ", ".join(shown(item) for item in assigned)
        expected = "one for each of " + ", ".join(shown(item) for item in ids)
        faults.add(Code.CONDITION_MISMATCH, f"{path}.assignments", found, expected)
        return False
    return True


# Evidence


def _evidence(fields: Mapping[str, Any], path: str, faults: Faults) -> tuple[tuple[tuple[int, Evidence], ...], bool]:
    rows = _list(fields, "evidence", path, faults)
    if rows is None:
        return (), False
    here = f"{path}.evidence"
    if not rows:
        faults.add(Code.NO_EVIDENCE, here, "none", "at least one quote")
    if len(rows) > MAX_SPANS:
        faults.add(Code.TOO_MANY_SPANS, here, str(len(rows)), f"at most {MAX_SPANS}")
    read = [(number, _evidence_row(row, f"{here}[{number}]", faults)) for number, row in enumerate(rows[:MOST_READ])]
    known = tuple((number, row) for number, row in read if row is not None)
    return known, len(known) == len(rows)


def _evidence_row(value: object, path: str, faults: Faults) -> Evidence | None:
    before = faults.total
    fields = _object(value, path, ("doc_id", "start", "end", "quote", "role"), faults)
    if fields is None:
        return None
    doc_id = _text(fields, "doc_id", path, faults, blank=True)
    quote = _text(fields, "quote", path, faults, blank=True)
    for name, least in (("start", 0), ("end", 1)):
        if name in fields:
            _check_offset(fields[name], least, f"{path}.{name}", faults)
    role = fields.get("role")
    if "role" in fields and (not isinstance(role, str) or role not in ROLES):
        faults.add(Code.EVIDENCE_ROLE, f"{path}.role", shown(role), " or ".join(ROLES))
    if faults.total > before or doc_id is None or quote is None:
        return None
    return Evidence(doc_id, fields["start"], fields["end"], quote, fields["role"])


def _check_offset(value: object, least: int, path: str, faults: Faults) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        faults.add(Code.OFFSET_TYPE, path, shown(value), "an integer, counted in code points")
    elif value < least:
        faults.add(Code.QUOTE_OFFSET, path, shown(value), f"{least} or more")


# Statistics


def _statistics(
    fields: Mapping[str, Any], path: str, faults: Faults
) -> tuple[Mapping[str, Number] | None, frozenset[str]]:
    if "statistics" not in fields:
        return None, frozenset()
    value, here = fields["statistics"], f"{path}.statistics"
    if not isinstance(value, dict):
        faults.add(Code.WRONG_TYPE, here, shown(value), "an object")
        return None, frozenset()
    mistyped = frozenset(name for name, entry in value.items() if not _is_number_or_null(entry))
    for name in sorted(mistyped):
        faults.add(Code.STATISTIC_TYPE, f"{here}.{clip(name)}", shown(value[name]), "a number or null")
    return {name: entry for name, entry in value.items() if name not in mistyped}, mistyped


def _is_number_or_null(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


# Parts of any object


def _object(value: object, path: str, wanted: tuple[str, ...], faults: Faults) -> dict[str, Any] | None:
    """The object, with a fault for each field it lacks or should not have; None if it is no object."""
    if not isinstance(value, dict):
        faults.add(Code.WRONG_TYPE, path, shown(value), "an object")
        return None
    for name in wanted:
        if name not in value:
            faults.add(Code.MISSING_FIELD, _at(path, name), "nothing", "this field")
    extra = [name for name in value if name not in wanted]
    if extra:
        found = ", ".join(shown(name) for name in extra[:5])
        faults.add(Code.UNEXPECTED_FIELD, path, found, "only " + ", ".join(wanted))
    return value


def _text(fields: Mapping[str, Any], name: str, path: str, faults: Faults, *, blank: bool = False) -> str | None:
    """A text that is not empty and, unless `blank` may be, not only white space; a missing one is told elsewhere."""
    if name not in fields:
        return None
    value = fields[name]
    if not isinstance(value, str):
        faults.add(Code.WRONG_TYPE, _at(path, name), shown(value), "text")
        return None
    if not value or not (blank or value.strip()):
        faults.add(Code.EMPTY_TEXT, _at(path, name), shown(value), "a text that says something")
        return None
    return value


def _list(fields: Mapping[str, Any], name: str, path: str, faults: Faults) -> list[Any] | None:
    if name not in fields:
        return None
    value = fields[name]
    if not isinstance(value, list):
        faults.add(Code.WRONG_TYPE, _at(path, name), shown(value), "a list")
        return None
    return value


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _filter_value(rule: Filter) -> dict[str, Any]:
    value = list(rule.value) if isinstance(rule.value, tuple) else rule.value
    return {"field": rule.field, "op": rule.op, "value": value}


def _comparison_value(comparison: Comparison | None) -> dict[str, Any] | None:
    if isinstance(comparison, GroupComparison):
        return {"field": comparison.field, "groups": [list(group) for group in comparison.groups]}
    if isinstance(comparison, CutoffComparison):
        return {"field": "timestamp", "cutoff": comparison.cutoff}
    return None
