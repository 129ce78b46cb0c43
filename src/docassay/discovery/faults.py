"""Decides how a fault of a submission is told: a stable code, the finding, the field, what was found and expected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

__all__ = ["MOST_FAULTS", "SHOWN_DOCUMENTS", "Code", "Fault", "Faults", "clip", "counted", "shown"]

SHOWN_DOCUMENTS = 5
"""How many offending document ids a fault names; it counts them all."""
MOST_FAULTS = 10_000
"""How many faults of one submission are kept; a hostile one could have millions. The rest is counted."""
_SHOWN_CHARACTERS = 120


class Code(StrEnum):
    """Every fault there is; the codes are public and stay."""

    # the text
    NOT_JSON = "not_json"
    NON_FINITE_NUMBER = "non_finite_number"
    # structure
    WRONG_TYPE = "wrong_type"
    MISSING_FIELD = "missing_field"
    UNEXPECTED_FIELD = "unexpected_field"
    EMPTY_TEXT = "empty_text"
    # the submission
    WRONG_TASK = "wrong_task"
    TOO_MANY_FINDINGS = "too_many_findings"
    EMPTY_ABSTENTION = "empty_abstention"
    DUPLICATE_FINDING_ID = "duplicate_finding_id"
    # a finding
    UNKNOWN_KIND = "unknown_kind"
    WRONG_KIND = "wrong_kind"
    LIMITATIONS = "limitations"
    # population
    TOO_MANY_FILTERS = "too_many_filters"
    FILTER_FIELD = "filter_field"
    FILTER_OPERATOR = "filter_operator"
    FILTER_VALUE = "filter_value"
    POPULATION_TOO_SMALL = "population_too_small"
    # comparison
    COMPARISON_REQUIRED = "comparison_required"
    COMPARISON_MUST_BE_NULL = "comparison_must_be_null"
    COMPARISON_SHAPE = "comparison_shape"
    COMPARISON_FIELD = "comparison_field"
    COMPARISON_GROUPS = "comparison_groups"
    COMPARISON_OVERLAP = "comparison_overlap"
    BAD_CUTOFF = "bad_cutoff"
    GROUP_TOO_SMALL = "group_too_small"
    # conditions
    CONDITION_COUNT = "condition_count"
    DUPLICATE_CONDITION = "duplicate_condition"
    CONDITION_MISMATCH = "condition_mismatch"
    DUPLICATE_DOC_IDS = "duplicate_doc_ids"
    NOT_A_PARTITION = "not_a_partition"
    # evidence
    NO_EVIDENCE = "no_evidence"
    TOO_MANY_SPANS = "too_many_spans"
    EVIDENCE_ROLE = "evidence_role"
    EVIDENCE_SOURCE = "evidence_source"
    OFFSET_TYPE = "offset_type"
    QUOTE_OFFSET = "quote_offset"
    DUPLICATE_SPAN = "duplicate_span"
    NO_SUPPORTING_QUOTE = "no_supporting_quote"
    TOO_FEW_SUPPORTING_DOCUMENTS = "too_few_supporting_documents"
    SUPPORTING_NOT_POSITIVE = "supporting_not_positive"
    COUNTEREXAMPLE_MISSING = "counterexample_missing"
    COUNTEREXAMPLE_NOT_NEGATIVE = "counterexample_not_negative"
    COUNTEREXAMPLE_NOT_DISCORDANT = "counterexample_not_discordant"
    # statistics
    STATISTIC_TYPE = "statistic_type"
    STATISTIC_MISSING = "statistic_missing"
    STATISTIC_EXTRA = "statistic_extra"
    STATISTIC_SHOULD_BE_NULL = "statistic_should_be_null"
    STATISTIC_MISMATCH = "statistic_mismatch"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a submission.

    code: which rule is broken.
    finding_id: the finding's own id; None for the submission, or a finding without a readable id.
    finding: the finding's position from 0; None for the submission.
    field: where, such as `findings[0].evidence[2].quote`; empty for the whole text.
    found, expected: in words or short JSON.
    doc_ids: the first few offending documents.
    n_documents: how many documents offend in all.
    """

    code: Code
    finding_id: str | None
    finding: int | None
    field: str
    found: str
    expected: str
    doc_ids: tuple[str, ...] = ()
    n_documents: int = 0

    def __str__(self) -> str:
        place = self.field or "submission"
        documents = f" (documents: {self._documents()})" if self.doc_ids else ""
        return f"{self.code}: {place}: found {self.found}, expected {self.expected}{documents}"

    def as_dict(self) -> dict[str, Any]:
        """As a JSON object, fields in the order of the record."""
        return {
            "code": str(self.code),
            "finding_id": self.finding_id,
            "finding": self.finding,
            "field": self.field,
            "found": self.found,
            "expected": self.expected,
            "doc_ids": list(self.doc_ids),
            "n_documents": self.n_documents,
        }

    def _documents(self) -> str:
        more = self.n_documents - len(self.doc_ids)
        return ", ".join(self.doc_ids) + (f" and {more} more" if more else "")


@dataclass(slots=True)
class _Notes:
    """The list that the collectors of one submission share."""

    items: list[Fault] = field(default_factory=list)
    total: int = 0


class Faults:
    """Collects the faults of one submission, or of one finding within it."""

    def __init__(self, finding: int | None = None, finding_id: str | None = None, notes: _Notes | None = None) -> None:
        self._finding = finding
        self._finding_id = finding_id
        self._notes = notes or _Notes()

    @classmethod
    def continuing(cls, items: Iterable[Fault], total: int) -> Faults:
        """A collector that begins with the faults of an earlier stage."""
        return cls(notes=_Notes(list(items), total))

    @property
    def items(self) -> tuple[Fault, ...]:
        """The faults kept, in the order found."""
        return tuple(self._notes.items)

    @property
    def total(self) -> int:
        """How many faults there were; more than are kept for a hostile submission."""
        return self._notes.total

    def add(self, code: Code, field: str, found: str, expected: str, doc_ids: Iterable[str] = ()) -> None:
        """Note one fault; `found` and `expected` are already short texts, `doc_ids` all documents that offend."""
        self._notes.total += 1
        if len(self._notes.items) >= MOST_FAULTS:
            return
        documents = list(doc_ids)
        first = tuple(clip(doc_id) for doc_id in documents[:SHOWN_DOCUMENTS])
        finding_id = None if self._finding_id is None else clip(self._finding_id)
        fault = Fault(code, finding_id, self._finding, field, found, expected, first, len(documents))
        self._notes.items.append(fault)

    def of_finding(self, finding: int, finding_id: str | None) -> Faults:
        """A collector for one finding that adds to this one's list."""
        return Faults(finding, finding_id, self._notes)


def shown(value: object) -> str:
    """A JSON value in at most a line: objects and lists by size, long texts and numbers cut."""
    if isinstance(value, dict):
        return f"an object with {clip(', '.join(repr(key) for key in list(value)[:6])) or 'no fields'}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    return clip(repr(value))


def counted(number: int, what: str) -> str:
    """A number with its noun."""
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def clip(text: str) -> str:
    """At most a line of a text."""
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
