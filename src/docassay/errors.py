"""Everything docassay raises on purpose, as one tree.

    DocassayError
    ├── InputError                  the user's input is wrong (exit code 2)
    │   ├── ArgumentTypeError       an argument has the wrong type (also a TypeError)
    │   ├── ArgumentValueError      an argument has an impossible value (also a ValueError)
    │   │   ├── SchemaError         a JSON Schema that cannot be read
    │   │   └── OrderError          a name in `order_matters` that is no array, or is two
    │   ├── DocumentError           a file or text that is not the JSON it should be
    │   │   └── NonFiniteError      its one fault is NaN, an infinity, or a number beyond every double
    │   ├── ManifestError           a table of documents that cannot be used
    │   └── TaskDataError           discovery tasks, corpora or submissions that cannot be used
    │       └── ReviewError         a judge's answer, a blind check or a review that cannot be used; carries a code
    ├── RunError                    a run directory refuses what is asked of it
    │   ├── RunMismatchError        it holds another run: options, inputs or versions differ
    │   ├── RunLockedError          another process is writing it
    │   └── RunStoppedError         it was asked to stop; what was done is kept
    ├── MissingDependencyError      an extra is not installed; names the command that installs it
    ├── CredentialError             a key is not set; names the variable
    ├── AccountError                a vendor refuses the account (credits, subscription, quota)
    ├── ProviderError               a vendor's answer to one document is a failure
    ├── ModelError                  a model endpoint failed or answered unusably
    └── BudgetError                 a limit on calls or cost would be exceeded

A message says what was found, where (file, row, field), and what to do.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "AccountError",
    "ArgumentTypeError",
    "ArgumentValueError",
    "BudgetError",
    "CredentialError",
    "DocassayError",
    "DocumentError",
    "InputError",
    "ManifestError",
    "MissingDependencyError",
    "ModelError",
    "NonFiniteError",
    "OrderError",
    "ProviderError",
    "ReviewError",
    "RunError",
    "RunLockedError",
    "RunMismatchError",
    "RunStoppedError",
    "SchemaError",
    "TaskDataError",
]


class DocassayError(Exception):
    """Base of everything docassay raises on purpose."""


class InputError(DocassayError):
    """The user's input is wrong; the message says where and what to do."""


class ArgumentTypeError(InputError, TypeError):
    """An argument has the wrong type."""


class ArgumentValueError(InputError, ValueError):
    """An argument has an impossible value."""


class SchemaError(ArgumentValueError):
    """A JSON Schema that cannot be read."""


class OrderError(ArgumentValueError):
    """A name in `order_matters` that is no array here, or names two."""


class DocumentError(InputError):
    """A file or text that is not the JSON it should be."""


class NonFiniteError(DocumentError):
    """JSON but for NaN, an infinity, or a number beyond every double."""


class ManifestError(InputError):
    """A table of documents that cannot be used."""


class TaskDataError(InputError):
    """Discovery tasks, corpora or submissions that cannot be used."""


class ReviewError(TaskDataError):
    """A judge's answer, a blind check or a review that cannot be used; `code` names the rule it breaks."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class RunError(DocassayError):
    """A run directory refuses what is asked of it."""


class RunMismatchError(RunError):
    """The directory holds another run; the message names what differs."""


class RunLockedError(RunError):
    """Another process is writing this run."""


class RunStoppedError(RunError):
    """The run was asked to stop; what was done is kept."""


class MissingDependencyError(DocassayError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; install it with: pip install 'docassay[{extra}]'")
        self.package = package
        self.extra = extra


class CredentialError(DocassayError):
    """A key is not set in the environment."""


class AccountError(DocassayError):
    """A vendor refuses the account: credits, subscription or quota."""


class ProviderError(DocassayError):
    """A vendor's answer to one document is a failure."""


class ModelError(DocassayError):
    """A model endpoint failed or answered unusably; `transient` says whether asking again later can help."""

    def __init__(
        self, message: str, *, transient: bool = False, timed_out: bool = False, status: int | None = None
    ) -> None:
        super().__init__(message)
        self.transient = transient
        self.timed_out = timed_out
        self.status = status
        self.attempts: tuple[Any, ...] = ()
        """Every HTTP request that was made (`docassay.models.Attempt`), where any was."""


class BudgetError(DocassayError):
    """A limit on calls or cost would be exceeded."""
