"""Decides which documents of a corpus are audited for a submission, and how likely each of them was to be.

Quoted documents are audited for certain; every (finding, condition, state) cell gives its lowest-ranked documents, and
the rest of the budget is filled from the whole corpus. A rank is SHA-256 of seed, NUL, key, NUL, document id: nobody
can know it before the seed exists. Source: the audit sample of the discovery protocol.
"""

from __future__ import annotations

import hashlib
import heapq
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from docassay.discovery.corpus import Corpus
from docassay.discovery.submission import Finding, Submission
from docassay.errors import ReviewError

__all__ = [
    "BUDGETS",
    "DEFAULT_BUDGET",
    "OUTSIDE",
    "AuditSample",
    "Condition",
    "SampledDocument",
    "audit_sample",
    "check_budget",
    "claimed_states",
    "conditions_of",
    "new_seed",
]

BUDGETS = range(60, 2001)
DEFAULT_BUDGET = 160
OUTSIDE = "outside"
"""The state of a document that a finding's population does not hold."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of one finding: labels are held per this pair, never under a joined text."""

    finding_id: str
    condition_id: str


@dataclass(frozen=True, slots=True)
class SampledDocument:
    """One audited document.

    position: in the corpus.
    quoted: whether the submission quotes it.
    inclusion: probability with which the design takes it, in (0, 1]; 1 for quoted documents.
    """

    doc_id: str
    position: int
    quoted: bool
    inclusion: float


@dataclass(frozen=True, slots=True)
class AuditSample:
    """The audited documents in corpus order, and what they were drawn with."""

    seed: str
    budget: int
    documents: tuple[SampledDocument, ...]

    @property
    def doc_ids(self) -> tuple[str, ...]:
        """Their ids, in corpus order."""
        return tuple(document.doc_id for document in self.documents)


def new_seed() -> str:
    """32 random bytes as hex, to be made only once the submission exists."""
    return secrets.token_hex(32)


def check_budget(budget: object) -> int:
    """The budget, if it is a true integer from 60 to 2000. Raises ReviewError (budget_out_of_range)."""
    if type(budget) is not int or budget not in BUDGETS:
        raise ReviewError(
            "budget_out_of_range", f"an audit takes {BUDGETS.start} to {BUDGETS.stop - 1} documents, not {budget!r}"
        )
    return budget


def audit_sample(submission: Submission, corpus: Corpus, *, seed: str, budget: int = DEFAULT_BUDGET) -> AuditSample:
    """Draw the audit sample of a valid submission.

    Args:
        submission: Valid against the corpus.
        corpus: All documents of the task.
        seed: Not empty; see `new_seed`.
        budget: Documents to audit, 60 to 2000.

    Raises:
        ReviewError: budget_out_of_range; seed; too_many_evidence_documents, when more than half is quoted.
    """
    check_budget(budget)
    if not isinstance(seed, str) or not seed:
        raise ReviewError("seed", "an audit sample needs a seed that is not empty")
    quoted = _quoted(submission.findings)
    if len(quoted) > budget // 2:
        raise ReviewError(
            "too_many_evidence_documents",
            f"the findings quote {len(quoted)} documents; an audit of {budget} takes at most {budget // 2}, "
            "so that the other half is independent: raise --audit-documents",
        )
    cells = list(_cells(submission.findings))
    quota = max(1, (budget - len(quoted)) // (2 * max(1, len(cells))))
    chosen = set(quoted)
    for key, members in cells:
        chosen.update(_lowest(quota, members, seed, key))
    others = [doc_id for doc_id in corpus.doc_ids if doc_id not in chosen]
    fill = _lowest(budget - len(chosen), others, seed, submission.task_id)
    share = len(fill) / len(others) if others else 0.0
    inclusion = _Inclusion(cells, quota, quoted, share)
    taken = chosen.union(fill)
    documents = tuple(
        SampledDocument(doc_id, position, doc_id in quoted, inclusion.of(doc_id))
        for position, doc_id in enumerate(corpus.doc_ids)
        if doc_id in taken
    )
    return AuditSample(seed, budget, documents)


def conditions_of(submission: Submission) -> tuple[Condition, ...]:
    """All conditions, findings in order and definitions in order: the order of a checker's states."""
    return tuple(
        Condition(finding.finding_id, definition.condition_id)
        for finding in submission.findings
        for definition in finding.definitions
    )


def claimed_states(submission: Submission) -> Mapping[Condition, Mapping[str, str]]:
    """The submission's own label of every document of each finding's population, per condition."""
    return {
        Condition(finding.finding_id, definition.condition_id): {
            doc_id: state for state, members in _states(finding, definition.condition_id) for doc_id in members
        }
        for finding in submission.findings
        for definition in finding.definitions
    }


class _Inclusion:
    """Inclusion probabilities: cells are ranked independently, and the fill takes its share of what is left.

    π = p + (1 - p)·r with p = 1 - Π(1 - min(1, quota / cell size)) over the document's cells, and r the share of the
    documents outside the cells' choices that the fill took.
    """

    def __init__(self, cells: list[tuple[str, tuple[str, ...]]], quota: int, quoted: set[str], share: float) -> None:
        self._missed: dict[str, float] = {}
        for _, members in cells:
            fraction = min(1.0, quota / len(members))
            for doc_id in members:
                self._missed[doc_id] = self._missed.get(doc_id, 1.0) * (1 - fraction)
        self._quoted = quoted
        self._share = share

    def of(self, doc_id: str) -> float:
        if doc_id in self._quoted:
            return 1.0
        return 1 - self._missed.get(doc_id, 1.0) * (1 - self._share)


def _quoted(findings: Iterable[Finding]) -> set[str]:
    return {row.doc_id for finding in findings for row in finding.evidence}


def _cells(findings: Iterable[Finding]) -> Iterable[tuple[str, tuple[str, ...]]]:
    """The ranking key and the documents of every cell that is not empty."""
    for finding in findings:
        for definition in finding.definitions:
            for state, members in _states(finding, definition.condition_id):
                if members:
                    yield f"{finding.finding_id}/{definition.condition_id}/{state}", members


def _states(finding: Finding, condition_id: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    assignment = finding.assignment(condition_id)
    return (("positive", assignment.positive), ("negative", assignment.negative), ("unknown", assignment.unknown))


def _lowest(count: int, doc_ids: Iterable[str], seed: str, key: str) -> list[str]:
    prefix = hashlib.sha256(f"{seed}\0{key}\0".encode())

    def rank(doc_id: str) -> bytes:
        hasher = prefix.copy()
        hasher.update(doc_id.encode())
        return hasher.digest()

    return heapq.nsmallest(count, doc_ids, key=rank)
