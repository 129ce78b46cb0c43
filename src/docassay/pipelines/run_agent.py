"""Decides how an agent is run over tasks: one process each, every outcome recorded, resumed where it stopped.

The runner is no sandbox: an agent can read and write what its user can, and use the network. It gets no secrets from
the environment unless told so, and no process of it outlives its task (see `agent_supervisor` for how far that goes).
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from docassay.core.digest import digest_file
from docassay.discovery.corpus import Corpus, corpus_file, load_corpus
from docassay.discovery.strict_json import parse_json
from docassay.discovery.submission_folder import RUN_RECORD, answer_file, log_file, outcome_file, output_file
from docassay.discovery.tasks import Task, TaskData, Track, load_data
from docassay.discovery.validate import validate_submission
from docassay.errors import ArgumentValueError, DocassayError, DocumentError, RunError, RunMismatchError, TaskDataError
from docassay.pipelines.agent_process import Limits, Output, agent_environment, run_process
from docassay.runs.lock import locked
from docassay.runs.store import Store
from docassay.version import __version__

__all__ = ["AgentRun", "Outcome", "RunOptions", "Status", "run_agent"]

Status = Literal["valid", "invalid", "failed"]

KEPT_OUTPUT = 64 * 1024
"""Bytes of a failed agent's stdout that are kept beside its log."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run is asked; all but `jobs` and `retry_invalid` bind it.

    command: the agent's command and arguments. track: whether agents get the unlabeled pool.
    task_ids: tasks to run, all if empty; limit: at most so many of them.
    timeout: seconds per task. memory: bytes per task, None for no limit. output, log: bytes of stdout and kept stderr.
    pass_env: names of variables that agents get although they look like secrets.
    jobs: agents at once. retry_invalid: whether tasks whose stored answer is invalid are run again.
    """

    command: tuple[str, ...]
    track: Track = "task_only"
    task_ids: tuple[str, ...] = ()
    limit: int | None = None
    timeout: float = 1800.0
    memory: int | None = None
    output: int = 64 << 20
    log: int = 10 << 20
    pass_env: tuple[str, ...] = ()
    jobs: int = 1
    retry_invalid: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one task ended.

    status: valid, invalid (an answer with faults) or failed (no answer).
    reason: what went wrong, in a line; empty if valid. findings: how many, None unless valid; 0 is an abstention.
    exit_code: of the agent; negative for a signal; None if it was ended. seconds: how long the agent took.
    survivors: its processes that could not be killed. reused: whether the answer was there before this run.
    """

    task_id: str
    status: Status
    reason: str
    findings: int | None
    exit_code: int | None
    seconds: float | None
    survivors: int = 0
    reused: bool = False

    def as_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class AgentRun:
    """A finished run: its folder, and one outcome per selected task in the file's order."""

    folder: Path
    outcomes: tuple[Outcome, ...]

    def count(self, status: Status) -> int:
        """How many tasks ended so."""
        return sum(outcome.status == status for outcome in self.outcomes)


Progress = Callable[[str, Outcome | None], None]


def run_agent(
    data: TaskData | Path | str,
    out: Path | str,
    options: RunOptions,
    *,
    environment: Mapping[str, str] | None = None,
    on_task: Progress = lambda task_id, outcome: None,
) -> AgentRun:
    """Run an agent over the selected tasks of a data folder and keep each answer in `out`.

    `on_task` is called with a task's id when its agent starts (no outcome yet) and when it ends, from any thread.
    `environment` stands for this process's own variables.

    Valid answers in `out` are reused, tasks without an answer are run. Raises TaskDataError for unusable task data,
    RunMismatchError if `out` holds a run with another configuration (naming what changed), RunLockedError if another
    process is writing it.
    """
    _check(options)
    known = data if isinstance(data, TaskData) else load_data(data)
    tasks = known.select(options.task_ids, options.limit)
    _check_data(known, tasks, options)
    store = Store(out)
    folder = Path(out)
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    with locked(store):
        _claim(store, _configuration(known, options))
        given = agent_environment(os.environ if environment is None else environment, options.pass_env)
        run = _Run(known, folder, store, options, given, on_task)
        return AgentRun(folder, run.all(tasks))


class _Run:
    """One run in its folder: what every task of it shares."""

    def __init__(
        self,
        data: TaskData,
        folder: Path,
        store: Store,
        options: RunOptions,
        environment: Mapping[str, str],
        on_task: Progress,
    ) -> None:
        self.data = data
        self.folder = folder
        self.store = store
        self.options = options
        self.environment = environment
        self.on_task = on_task
        self.stop = threading.Event()

    def all(self, tasks: Sequence[Task]) -> tuple[Outcome, ...]:
        """Every task's outcome; on an interrupt the agents are ended first."""
        with ThreadPoolExecutor(max_workers=self.options.jobs) as pool:
            futures = [pool.submit(self.one, task) for task in tasks]
            try:
                _wait(futures)
            except BaseException:
                self.stop.set()
                for future in futures:
                    future.cancel()
                raise
        return tuple(future.result() for future in futures)

    def one(self, task: Task) -> Outcome:
        outcome = self.reused(task)
        if outcome is None:
            self.on_task(task.task_id, None)
            outcome = self.asked(task)
            self.store.write(outcome_file(task.task_id), _json_bytes(outcome.as_dict()))
        self.on_task(task.task_id, outcome)
        return outcome

    def reused(self, task: Task) -> Outcome | None:
        """The outcome of an answer that is there already, None if the task is to be run."""
        answer = self.store.read(answer_file(task.task_id))
        if answer is None:
            return None
        outcome = self.judged(task, answer, None)
        if outcome.status == "invalid" and self.options.retry_invalid:
            return None
        return replace(outcome, reused=True)

    def asked(self, task: Task) -> Outcome:
        """Run the agent on one task and keep its answer."""
        log = self.folder / log_file(task.task_id)
        log.parent.mkdir(parents=True, exist_ok=True)
        limits = Limits(self.options.timeout, self.options.output, self.options.log, self.options.memory)
        try:
            stdin = _request(self.data, task, self.options.track)
            output = run_process(self.options.command, stdin, log, limits, self.environment, self.stop)
        except (DocassayError, OSError) as error:
            return Outcome(task.task_id, "failed", str(error), None, None, None)
        problem = _problem(output, self.options)
        if problem:
            self.store.write(output_file(task.task_id), output.stdout[:KEPT_OUTPUT])
            return _outcome(task, "failed", problem, None, output)
        outcome = self.judged(task, output.stdout, output)
        if outcome.status != "failed":
            self.store.write(answer_file(task.task_id), _tidy(output.stdout))
        return outcome

    def judged(self, task: Task, answer: bytes, output: Output | None) -> Outcome:
        """Whether an answer is valid; a corpus that cannot be read any more is this task's failure."""
        try:
            corpus = load_corpus(self.data, task)
        except DocassayError as error:
            return _outcome(task, "failed", f"the answer could not be checked: {error}", None, output)
        return _checked(task, answer, corpus, output)


def _wait(futures: Sequence[Future[Outcome]]) -> None:
    """Wait in short steps, so that an interrupt is seen at once; a task that raised ends the run."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()


def _checked(task: Task, answer: bytes, corpus: Corpus, output: Output | None) -> Outcome:
    validation = validate_submission(answer, task, corpus)
    if validation.valid:
        assert validation.submission is not None
        return _outcome(task, "valid", "", len(validation.submission.findings), output)
    more = validation.faults_total - 1
    reason = str(validation.faults[0]) + (f" (and {more} more faults)" if more else "")
    return _outcome(task, "invalid", reason + _hint(answer), None, output)


def _outcome(task: Task, status: Status, reason: str, findings: int | None, output: Output | None) -> Outcome:
    if output is None:
        return Outcome(task.task_id, status, reason, findings, None, None)
    seconds = round(output.seconds, 3)
    return Outcome(task.task_id, status, reason, findings, output.code, seconds, output.survivors)


def _problem(output: Output, options: RunOptions) -> str:
    """Why there is no answer; empty if there is one."""
    problems = {
        "timeout": f"ended after {options.timeout:g} s (timeout)",
        "memory": f"ended: its processes held more than {_megabytes(options.memory)}",
        "output": f"ended: it wrote more than {_megabytes(options.output)} to stdout",
        "stopped": "ended: the run was interrupted",
        "not_started": f"could not be started: {output.detail}",
        "lost": "its supervisor was killed",
    }
    if output.cause != "exit":
        return problems[output.cause]
    if output.code:
        how = f"signal {-output.code}" if output.code < 0 else f"exit code {output.code}"
        return f"ended with {how}"
    return "" if output.stdout.strip() else "wrote nothing to stdout"


def _hint(answer: bytes) -> str:
    """What most likely happened, where text stands before the JSON."""
    start = answer.lstrip()[:1]
    return "; stdout must hold the JSON alone, logs belong to stderr" if start and start != b"{" else ""


def _tidy(answer: bytes) -> bytes:
    """The answer in readable lines if it is JSON (its digest stays), else the bytes as they came."""
    try:
        value = parse_json(answer, where="answer")
    except DocumentError:
        return answer
    return _json_bytes(value)


def _request(data: TaskData, task: Task, track: Track) -> bytes:
    """What the agent reads from stdin."""
    learning = data.learning_folder if track == "unlabeled_pool" else None
    request: dict[str, Any] = {
        "task": task.value,
        "corpus": {
            "path": str(corpus_file(data.root, task)),
            "format": "jsonl.gz",
            "n_documents": task.n_documents,
            "sha256": task.corpus_sha256,
        },
        "learning_directory": None if learning is None else str(learning.resolve()),
    }
    if not task.agent_selected:
        del request["corpus"]
        request["documents"] = _documents(load_corpus(data, task))
    return json.dumps(request, ensure_ascii=False).encode("utf-8")


def _documents(corpus: Corpus) -> list[dict[str, Any]]:
    return [
        {"doc_id": doc_id, "text": text, **corpus.metadata(position)}
        for position, (doc_id, text) in enumerate(zip(corpus.doc_ids, corpus.texts, strict=True))
    ]


def _check(options: RunOptions) -> None:
    if os.name != "posix":
        raise RunError("agents can only be run where processes can be limited and ended as on Linux or macOS")
    if not options.command:
        raise ArgumentValueError("the agent's command is empty; give one such as 'python agent.py'")
    for name in ("timeout", "output", "log", "jobs"):
        if not getattr(options, name) > 0:
            raise ArgumentValueError(f"{name} is {getattr(options, name)}; it must be more than 0")
    if options.memory is not None and options.memory <= 0:
        raise ArgumentValueError(f"memory is {options.memory}; it must be more than 0")


def _check_data(data: TaskData, tasks: Sequence[Task], options: RunOptions) -> None:
    """See before anything is run that the corpora are those of the tasks, and that there is a pool if one is wanted."""
    if options.track == "unlabeled_pool" and data.learning_folder is None:
        raise TaskDataError(f"{data.root} has no learning folder; use the track task_only")
    digests: dict[Path, str] = {}
    for task in tasks:
        answer_file(task.task_id)
        path = corpus_file(data.root, task)
        if path not in digests:
            digests[path] = digest_file(path)
        if digests[path] != task.corpus_sha256:
            raise TaskDataError(f"{path}: SHA-256 is {digests[path]}, task {task.task_id!r} says {task.corpus_sha256}")


def _configuration(data: TaskData, options: RunOptions) -> dict[str, Any]:
    return {
        "tasks": {task.task_id: task.digest for task in data.tasks},
        "command": list(options.command),
        "track": options.track,
        "timeout": options.timeout,
        "memory": options.memory,
        "output": options.output,
        "log": options.log,
        "pass_env": sorted(options.pass_env),
        "task_ids": list(options.task_ids),
        "limit": options.limit,
    }


def _claim(store: Store, configuration: Mapping[str, Any]) -> None:
    """Make this folder the run's, or see that it is."""
    stored = store.read(RUN_RECORD)
    if stored is None:
        record = {"docassay": __version__, "configuration": configuration}
        store.write(RUN_RECORD, _json_bytes(record))
        return
    try:
        before = parse_json(stored, where=f"{store}/{RUN_RECORD}")["configuration"]
        changed = _changes(before, configuration)
    except (DocumentError, KeyError, TypeError, AttributeError) as error:
        raise RunMismatchError(f"{store}/{RUN_RECORD} is no record of a run: {error}; use another folder") from error
    if changed:
        raise RunMismatchError(
            f"{store} holds another run: {'; '.join(changed)}. Use another folder, or the same options"
        )


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    changed = [
        f"{name} was {json.dumps(before.get(name))}, is {json.dumps(value)}"
        for name, value in now.items()
        if name != "tasks" and before.get(name) != value
    ]
    old, new = before["tasks"], now["tasks"]
    other = [task_id for task_id in {**old, **new} if old.get(task_id) != new.get(task_id)]
    if other:
        more = f" and {len(other) - 3} more" if len(other) > 3 else ""
        changed.append(f"tasks differ: {', '.join(other[:3])}{more}")
    return changed


def _megabytes(number: int | None) -> str:
    return f"{(number or 0) / (1 << 20):,.0f} MiB"


def _json_bytes(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode("utf-8")
