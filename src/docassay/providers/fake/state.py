"""What the server remembers: files, jobs, analyzers, and the faults that are still to come."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from docassay.providers.fake.form import Form, Seen
from docassay.providers.fake.script import ANSWER_KINDS, Answers, FakeDocument, Fault, sample

__all__ = ["Analyzer", "Job", "State"]


@dataclass(slots=True)
class Job:
    """A job and how often it was polled."""

    document: FakeDocument
    pending: int
    """How many polls it is not ready for."""
    fault: Fault | None
    polls: int = 0

    @property
    def running(self) -> bool:
        """Whether the last poll came too early."""
        return self.polls <= self.pending or self.is_("never_ends")

    def is_(self, kind: str) -> bool:
        """Whether its answer is spoiled in this way."""
        return self.fault is not None and self.fault.kind == kind


@dataclass(slots=True)
class Analyzer:
    """An analyzer and how many polls it is not ready for."""

    fields: Mapping[str, Any]
    pending: int


@dataclass(slots=True)
class _Scripted:
    """A fault and how often it is still to come; None: always."""

    fault: Fault
    left: int | None


class State:
    """Everything but the HTTP. Not locked: the server holds its lock around each use."""

    def __init__(self, answers: Answers | None, faults: Sequence[Fault], polls: int, cost: object, seed: int) -> None:
        self.base = ""
        """The server's address."""
        self.cost = cost
        self.answered = 0
        self._answers = answers or {}
        self._polls = polls
        self._faults = [_Scripted(fault, fault.times) for fault in faults]
        self._random = random.Random(seed)
        self._files: dict[str, FakeDocument] = {}
        self._jobs: dict[str, Job] = {}
        self._analyzers: dict[str, Analyzer] = {}

    def request_fault(self, form: Form) -> Fault | None:
        """The fault that spoils this request, used up by asking."""
        return self._fault(form.request, self._document_name(form), of_answers=False)

    def answer_fault(self, form: Form, document: FakeDocument) -> Fault | None:
        """The fault that spoils this document's answer, used up by asking."""
        return self._fault(form.request, document.name, of_answers=True)

    def store(self, document: FakeDocument) -> str:
        """Keep an uploaded file; its id."""
        self._files[file_id := f"file-{len(self._files)}"] = document
        return file_id

    def file(self, file_id: object, schema: object) -> FakeDocument:
        """An uploaded file, now with its question."""
        return replace(self._files[str(file_id)], schema=schema)

    def start(self, form: Form, document: FakeDocument) -> str:
        """Start a job; its id."""
        job = Job(document, self._polls, self.answer_fault(form, document))
        self._jobs[job_id := f"job-{len(self._jobs)}"] = job
        return job_id

    def job(self, job_id: str) -> Job | None:
        """A job, one poll older."""
        job = self._jobs.get(job_id)
        if job is not None:
            job.polls += 1
        return job

    def analyzer(self, name: str) -> Analyzer | None:
        """An analyzer that was made."""
        return self._analyzers.get(name)

    def make(self, name: str, fields: Mapping[str, Any]) -> None:
        """Start to make an analyzer."""
        self._analyzers[name] = Analyzer(fields, min(self._polls, 1))

    def answer(self, document: FakeDocument, fault: Fault | None) -> object:
        """The extraction for a document; None for one that comes back empty."""
        if fault is not None and fault.kind == "empty":
            return None
        self.answered += 1
        if callable(self._answers):
            return self._answers(document)
        for key in (document.name, hashlib.sha256(document.data).hexdigest()):
            if key in self._answers:
                return self._answers[key]
        return sample(document.schema)

    def _fault(self, request: Seen, document: str, *, of_answers: bool) -> Fault | None:
        for entry in self._faults:
            fault = entry.fault
            if (fault.kind in ANSWER_KINDS) is not of_answers or entry.left == 0:
                continue
            if not _applies(fault, request, document) or self._random.random() >= fault.rate:
                continue
            entry.left = None if entry.left is None else entry.left - 1
            return fault
        return None

    def _document_name(self, form: Form) -> str:
        """The file name of the document that a request is about, as far as it tells."""
        file = self._files.get(str(form.file_id()))
        job = self._jobs.get(form.argument)
        return file.name if file is not None else job.document.name if job is not None else form.file_name()


def _applies(fault: Fault, request: Seen, document: str) -> bool:
    return (
        fault.vendor in (None, request.vendor)
        and fault.step in (None, request.step)
        and fault.document in (None, document)
    )
