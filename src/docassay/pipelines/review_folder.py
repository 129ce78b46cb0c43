"""Decides where a judge's work lies, what one folder may hold together, and that nothing in it is written twice.

    judge.json                          the judge's configuration: one folder, one configuration
    seeds/TASK.SUBMISSION.json          the seed of each audit sample, made once, after the submission existed
    samples/TASK.SUBMISSION.json        what a person would label instead of a model (`--judge none`)
    reviews/TASK.SUBMISSION.json        finished reviews
    controls/TASK.SUBMISSION.json       what the judge said of planted controls
    answers.sqlite                      every answer that arrived, by the digest of what was asked
    failures.jsonl, runs.jsonl          what went wrong, and what each run did and cost; only ever added to

SUBMISSION is the beginning of the submission's digest, so that a new submission gets a new seed and a new review, and
the old ones stay.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from docassay.core.digest import digest_object
from docassay.core.filenames import safe_name
from docassay.discovery.sampling import new_seed
from docassay.discovery.strict_json import read_json
from docassay.discovery.submission import Submission
from docassay.errors import DocumentError, RunError, RunMismatchError

__all__ = ["ANSWERS", "JudgeRecord", "ReviewFolder", "write_new"]

ANSWERS = "answers.sqlite"
CONFIGURATION = "judge.json"
FORMAT = 1
DIGITS = 16
"""Of a submission's digest in file names; the whole digest stands inside."""


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """What `judge.json` says: the configuration, its digest, and who judged in a line."""

    configuration: Mapping[str, Any]
    digest: str
    method: str


class ReviewFolder:
    """One folder of reviews by one judge."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)

    @property
    def answers(self) -> Path:
        """The file of kept answers."""
        return self.root / ANSWERS

    def record(self) -> JudgeRecord:
        """The judge of this folder. Raises RunError if it is no folder of reviews, or cannot be read."""
        path = self.root / CONFIGURATION
        if not path.is_file():
            raise RunError(f"{self.root} holds no reviews: it has no {CONFIGURATION}; make it with `discover judge`")
        try:
            value = read_json(path)
            configuration, method = value["configuration"], value["method"]
        except (DocumentError, KeyError, TypeError) as error:
            raise RunError(f"{path}: not a judge's configuration: {error}") from error
        return JudgeRecord(configuration, digest_object(configuration), str(method))

    def claim(self, configuration: Mapping[str, Any], method: str) -> JudgeRecord:
        """Make this the folder of that judge, or see that it is.

        Raises:
            RunMismatchError: the folder is another judge's; the message names every setting that differs.
        """
        path = self.root / CONFIGURATION
        if not path.exists():
            write_new(path, {"format": FORMAT, "method": method, "configuration": dict(configuration)})
        record = self.record()
        if record.digest != digest_object(dict(configuration)):
            differs = _differences(record.configuration, configuration)
            raise RunMismatchError(
                f"{self.root} holds reviews of another judge configuration ({'; '.join(differs)}); "
                "use the same settings or another --out"
            )
        return record

    def seed(self, submission: Submission, given: str | None = None) -> str:
        """The seed of a submission's audit: as kept, else `given`, else 32 new random bytes; kept before it is used."""
        path = self._path("seeds", submission.task_id, submission.digest)
        if not path.exists():
            value = {"task_id": submission.task_id, "submission_sha256": submission.digest}
            write_new(path, {**value, "seed": given or new_seed(), "made_at": _now()})
        kept = self.kept_seed(submission)
        assert kept is not None, "the seed was just written"
        return kept

    def kept_seed(self, submission: Submission) -> str | None:
        """The seed that is kept for a submission; None if there is none. Raises RunError if it is another's."""
        path = self._path("seeds", submission.task_id, submission.digest)
        if not path.exists():
            return None
        try:
            value = read_json(path)
            seed, owner = value["seed"], value["submission_sha256"]
        except (DocumentError, KeyError, TypeError) as error:
            raise RunError(f"{path}: not a seed: {error}") from error
        if owner != submission.digest or not isinstance(seed, str) or not seed:
            raise RunError(f"{path}: the seed of another submission")
        return seed

    def review_path(self, task_id: str, submission_sha256: str) -> Path:
        """Where the review of one submission lies."""
        return self._path("reviews", task_id, submission_sha256)

    def reviews_of(self, task_id: str) -> tuple[Path, ...]:
        """Every review of a task, of whichever submission."""
        example = self.review_path(task_id, "0" * DIGITS)
        stem = example.name.removesuffix(f".{'0' * DIGITS}.json")
        pattern = re.compile(rf"{re.escape(stem)}\.[0-9a-f]{{{DIGITS}}}\.json")
        return tuple(sorted(path for path in example.parent.glob("*.json") if pattern.fullmatch(path.name)))

    def sample_path(self, task_id: str, submission_sha256: str) -> Path:
        """Where the documents for a person to label lie."""
        return self._path("samples", task_id, submission_sha256)

    def controls_path(self, task_id: str, submission_sha256: str) -> Path:
        """Where what the judge said of planted controls lies."""
        return self._path("controls", task_id, submission_sha256)

    def add_failure(self, task_id: str, submission_sha256: str, message: str) -> None:
        """Note why a review could not be made."""
        _append(self.root / "failures.jsonl", {"at": _now(), "task_id": task_id,
                "submission_sha256": submission_sha256, "error": message})  # fmt: skip

    def add_run(self, what: Mapping[str, Any]) -> None:
        """Note what a run did and cost."""
        _append(self.root / "runs.jsonl", {"at": _now(), **what})

    def last_failure(self, task_id: str, submission_sha256: str) -> str | None:
        """The latest noted reason for a submission without a review."""
        found = None
        for row in _lines(self.root / "failures.jsonl"):
            if row.get("task_id") == task_id and row.get("submission_sha256") == submission_sha256:
                found = str(row.get("error"))
        return found

    def runs(self) -> tuple[Mapping[str, Any], ...]:
        """What every run did, in order."""
        return tuple(_lines(self.root / "runs.jsonl"))

    def _path(self, kind: str, task_id: str, submission_sha256: str) -> Path:
        return self.root / kind / f"{safe_name(task_id)}.{submission_sha256[:DIGITS]}.json"


def write_new(path: Path, value: object) -> None:
    """Write a JSON file whole or not at all, and never over another. Raises RunError if it is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{uuid4().hex}.tmp"
    try:
        with temporary.open("w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False, allow_nan=False, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(temporary, path)
    except FileExistsError as error:
        raise RunError(f"{path} is there already, and nothing is overwritten") from error
    finally:
        temporary.unlink(missing_ok=True)


def _append(path: Path, row: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(row, ensure_ascii=False, allow_nan=False).encode()
    with path.open("ab+") as file:
        # A killed process may have left half a line; the next one must not become part of it.
        torn = file.tell() > 0 and not _ends_a_line(file)
        file.write(b"\n" * torn + line + b"\n")


def _ends_a_line(file: IO[bytes]) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def _lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a log; a line that a killed process left unfinished is passed over."""
    if not path.is_file():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows


def _differences(kept: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    names = sorted({*kept, *asked})
    return [
        f"{name}: {json.dumps(kept.get(name))} there, {json.dumps(asked.get(name))} here"
        for name in names
        if kept.get(name) != asked.get(name)
    ]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
