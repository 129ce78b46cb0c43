"""Decides how task data come from the Hugging Face hub: one revision, pinned by its commit and recorded."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from docassay.discovery.strict_json import read_json
from docassay.errors import ArgumentValueError, DocumentError, MissingDependencyError, RunMismatchError, TaskDataError

__all__ = ["RECORD", "Download", "download_data"]

RECORD = "download.json"
"""Beside the data: which dataset, which revision was asked for, and which commit that was."""

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Download:
    """A finished download: the dataset, the revision asked for, and the commit that it named."""

    dataset: str
    revision: str
    commit: str


def download_data(dataset: str, out: Path | str, *, quiet: bool = False) -> Download:
    """Download a dataset, `OWNER/NAME` or `OWNER/NAME@REVISION` (a branch, tag or commit), into the folder `out`.

    What is there already is not downloaded again. `HF_ENDPOINT` names another hub.

    Raises ArgumentValueError for a name that is none, MissingDependencyError without huggingface_hub, RunMismatchError
    if `out` holds another download, TaskDataError if the hub cannot be reached or has no such dataset or revision.
    """
    repository, _, revision = dataset.partition("@")
    if not _REPOSITORY.fullmatch(repository):
        raise ArgumentValueError(f"{dataset!r} names no dataset; write OWNER/NAME or OWNER/NAME@REVISION")
    revision = revision or "main"
    folder = Path(out)
    hub = _hub(quiet)
    download = Download(repository, revision, _commit(hub, repository, revision))
    _claim(folder, download)
    _fetch(hub, download, folder)
    return download


def _hub(quiet: bool) -> Any:
    try:
        import huggingface_hub as hub
        from huggingface_hub.utils.tqdm import disable_progress_bars
    except ImportError as error:
        raise MissingDependencyError("huggingface_hub", "hub") from error
    if quiet:
        disable_progress_bars()
    return hub


def _endpoint() -> str | None:
    return os.environ.get("HF_ENDPOINT") or None


def _commit(hub: Any, repository: str, revision: str) -> str:
    """The commit that a revision names now."""
    api = hub.HfApi(endpoint=_endpoint())
    try:
        commit = api.dataset_info(repository, revision=revision, timeout=CONNECT_SECONDS).sha
    except _failures(hub) as error:
        raise _told(hub, error, repository, revision) from error
    if not commit:
        raise TaskDataError(f"the hub names no commit for {repository}@{revision}")
    return str(commit)


def _fetch(hub: Any, download: Download, folder: Path) -> None:
    try:
        hub.snapshot_download(
            download.dataset,
            repo_type="dataset",
            revision=download.commit,
            local_dir=folder,
            endpoint=_endpoint(),
        )
    except _failures(hub) as error:
        raise _told(hub, error, download.dataset, download.revision) from error


def _failures(hub: Any) -> tuple[type[BaseException], ...]:
    """What the hub's client raises for a network or an answer that fails; the HTTP library differs by its version."""
    return (getattr(hub.errors, "HTTPError", OSError), hub.errors.HfHubHTTPError, OSError, ValueError)


def _told(hub: Any, error: BaseException, repository: str, revision: str) -> TaskDataError:
    where = _endpoint() or "https://huggingface.co"
    if isinstance(error, hub.errors.RevisionNotFoundError):
        return TaskDataError(f"{repository} has no revision {revision!r} at {where}; see the dataset's commits")
    if isinstance(error, hub.errors.GatedRepoError):
        return TaskDataError(f"{repository} is gated at {where}; accept its terms there and set HF_TOKEN")
    if isinstance(error, hub.errors.RepositoryNotFoundError):
        return TaskDataError(f"no dataset {repository!r} at {where} (a private one needs HF_TOKEN)")
    reason = str(error).strip().splitlines()
    return TaskDataError(
        f"{repository}@{revision} could not be downloaded from {where}:"
        f" {reason[0] if reason else type(error).__name__}; run the command again to continue"
    )


def _claim(folder: Path, download: Download) -> None:
    """Make an empty folder this download's, or see that it holds (part of) this very one."""
    record = folder / RECORD
    if not record.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise RunMismatchError(f"{folder} holds something else; choose an empty folder")
        record.write_text(json.dumps(asdict(download), indent=2) + "\n", encoding="utf-8")
        return
    try:
        value = read_json(record)
        before = (value["dataset"], value["commit"])
    except (DocumentError, KeyError, TypeError) as error:
        raise RunMismatchError(f"{record} is no record of a download: {error}; choose another folder") from error
    if before != (download.dataset, download.commit):
        raise RunMismatchError(
            f"{folder} holds {before[0]} at {before[1]}, not {download.dataset} at {download.commit};"
            " choose another folder"
        )
