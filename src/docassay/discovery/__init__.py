"""Findings mined from a corpus, judged on evidence.

What agents and other programs call most; every module says in its first line what else it decides.
"""

from __future__ import annotations

from docassay.discovery.corpus import Corpus, corpus_from_rows, load_corpus
from docassay.discovery.faults import Code, Fault
from docassay.discovery.statistics import complete_statistics, expected_statistics
from docassay.discovery.submission import Finding, Submission, submission_schema
from docassay.discovery.tasks import Task, TaskData, load_data, load_task, load_tasks
from docassay.discovery.validate import Validation, validate_submission

__all__ = [
    "Code",
    "Corpus",
    "Fault",
    "Finding",
    "Submission",
    "Task",
    "TaskData",
    "Validation",
    "complete_statistics",
    "corpus_from_rows",
    "expected_statistics",
    "load_corpus",
    "load_data",
    "load_task",
    "load_tasks",
    "submission_schema",
    "validate_submission",
]
