"""Decides which documents of a table are sent to a provider, when, and how each of them is accounted for.

Documents that were answered are not asked again; a job that was bought is collected, not bought twice; what cannot be
sent gets its reason before anything is; and when the account is refused, the money limit is reached or somebody
interrupts, what was not answered stays unanswered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime

from docassay.core.digest import digest_bytes
from docassay.pipelines.interrupts import Stop
from docassay.pipelines.predictions import (
    Note,
    Predictions,
    Row,
    check_binding,
    kept_of,
    next_step,
    settings_digest,
)
from docassay.pipelines.questions import Schemas, document_fault, file_name, head_fault
from docassay.pipelines.spending import Progress, Spending, Tally
from docassay.providers.asking import extract
from docassay.providers.contract import (
    DEFAULT_TIMEOUT,
    Budget,
    Credentials,
    Document,
    ExtractionResult,
    ExtractionTask,
    Outcome,
    Provider,
    RetryPolicy,
)
from docassay.providers.evidence import Binding, Kept, Record
from docassay.providers.registry import Configured
from docassay.runs.files import default_root, read_document, resolve
from docassay.runs.manifest import ManifestCopy
from docassay.version import __version__

__all__ = ["Order", "Predicted", "PredictionRun", "Watch"]

THREADS = 16

Watch = Callable[[Progress], None]
"""Told of every change."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be predicted, how, and within which limits."""

    manifest: str
    """Parquet, CSV or JSON lines with doc_id, doc_path and schema."""
    out: str
    """The predictions directory, or its URI."""
    configured: Configured
    root: str | None = None
    """Where relative `doc_path`s start; default: DOCASSAY_ROOT, OEB_ROOT, the working directory."""
    workers: int | None = None
    """Documents in flight at once; default and upper bound: what the provider's spec says."""
    timeout: float = DEFAULT_TIMEOUT
    """Seconds per document, for everything together."""
    limit: int | None = None
    """Only the first so many rows of the manifest."""
    max_cost: float | None = None
    """US dollars that the directory's predictions may cost together, as stated by the provider."""
    retry_errors: bool = False
    """Also ask again where the failure was final, and collect jobs that had timed out."""
    retry: RetryPolicy = field(default_factory=RetryPolicy)


@dataclass(frozen=True, slots=True)
class Predicted:
    """What a prediction run left behind."""

    out: str
    manifest: str
    """The path of the score manifest."""
    provider: str
    settings_digest: str
    progress: Progress
    kept: int
    """Documents that earlier runs had answered."""
    unanswered: int
    """Documents that have no outcome at all."""
    left: int
    """Documents that were to be asked and were not, those with an earlier failure among them."""
    costs_unstated: int
    """Answered documents whose cost the provider did not state."""
    stopped: str | None = None
    """Why documents were left; None where none were."""
    interrupted: bool = False

    def as_dict(self) -> dict[str, object]:
        """As a JSON object."""
        progress = self.progress
        return {
            "out": self.out,
            "manifest": self.manifest,
            "provider": self.provider,
            "settings_digest": self.settings_digest,
            "documents": progress.total,
            "ok": progress.ok,
            "failed": progress.failed,
            "timeouts": progress.timeouts,
            "unanswered": self.unanswered,
            "left": self.left,
            "kept": self.kept,
            "cost": dict(progress.cost),
            "costs_unstated": self.costs_unstated,
            "seconds_per_document": progress.seconds,
            "stopped": self.stopped,
        }


@dataclass(frozen=True, slots=True)
class _Pending:
    """A document that is to be asked."""

    index: int
    row: Row
    binding: Binding
    job_id: str | None = None
    """A job to collect instead of buying one."""
    noted: bool = False
    """Whether the job comes from a note: where the vendor does not know it any more, the document is asked afresh."""


class PredictionRun:
    """One run over one manifest, from the first check to the written manifest."""

    def __init__(
        self, order: Order, store: Predictions, stop: Stop, watch: Watch, check_lock: Callable[[], None]
    ) -> None:
        self.order = order
        self.store = store
        self.stop = stop
        self.watch = watch
        self.check_lock = check_lock
        self.digest = settings_digest(order.configured)
        self.manifest: ManifestCopy | None = None
        self.rows: list[Row] = []
        self.kept: dict[str, Kept] = {}
        self.pending: list[_Pending] = []
        self.earlier = 0
        self.tally = Tally()
        self.spending = Spending(None if order.configured.spec.free else order.max_cost)
        self.refusal: str | None = None
        self.left = 0
        """Documents that are to be asked and have no new answer yet."""
        self._saving: set[asyncio.Task[None]] = set()

    def prepare(self) -> None:
        """Read the manifest and what is stored, decide what is left to ask, and account for what cannot be asked."""
        self.store.check(self.order.configured)
        self.manifest = self.store.copy(self.order.manifest, self.order.limit)
        self.store.bind(self.order.configured)
        self.rows = self.store.rows(self.manifest)
        self.schemas = Schemas(self.manifest)
        self.kept = self.store.kept(self.rows)
        candidates = self._candidates(self.store.notes(self.rows))
        self.earlier = len(self.rows) - len(candidates)
        for kept in self.kept.values():
            self.tally.add(kept)
            self.spending.add(kept)
        self._check_documents(candidates)
        self.left = len(self.pending)
        self._report()

    async def ask(self, provider: Provider, credentials: Credentials) -> None:
        """Ask all that is pending, some at once, until done or stopped."""
        self.credentials = credentials
        waiting = iter(self.pending)
        active: set[asyncio.Task[None]] = set()
        try:
            while self.refusal is None:
                active |= set(self._begin(waiting, provider, len(active)))
                if not active:
                    return
                ended, active = await asyncio.wait(active, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    task.result()
        finally:
            for task in active:
                task.cancel()
            await asyncio.gather(*active, return_exceptions=True)
            await asyncio.gather(*self._saving)

    def write_manifest(self) -> None:
        """Write every row with what became of it."""
        assert self.manifest is not None
        self.manifest_path = self.store.write_manifest(self.manifest, self.rows, self.kept)

    def predicted(self) -> Predicted:
        """What this run left behind."""
        reason = self.refusal or self.spending.reason or ("interrupted" if self.stop.requested else None)
        return Predicted(
            out=str(self.store.store),
            manifest=self.manifest_path,
            provider=self.order.configured.name,
            settings_digest=self.digest,
            progress=self._progress(),
            kept=self.earlier,
            unanswered=len(self.rows) - len(self.kept),
            left=self.left,
            costs_unstated=0 if self.order.configured.spec.free else self.tally.unstated,
            stopped=reason if self.left else None,
            interrupted=self.stop.requested and self.left > 0,
        )

    def _candidates(self, notes: Mapping[str, Note]) -> list[_Pending]:
        """The rows that are to be asked, with the job to collect where there is one."""
        collects = self.order.configured.spec.jobs
        found = []
        for index, row in enumerate(self.rows):
            binding = Binding(row.doc_id, row.doc_path, self.schemas.question(index).digest)
            kept = self.kept.get(row.name)
            if kept is not None:
                check_binding(kept, binding, str(self.store.store))
                step = next_step(kept, retry_errors=self.order.retry_errors, collects=collects)
                found += [_Pending(index, row, binding, step.job_id)] if step.ask else []
                continue
            note = notes.get(row.name)
            noted = note if collects and note is not None and note.schema_digest == binding.schema_digest else None
            found.append(_Pending(index, row, binding, noted.job_id if noted else None, noted is not None))
        return found

    def _check_documents(self, candidates: list[_Pending]) -> None:
        """Store the reason of every document that cannot be sent, before any is."""
        readable = []
        for item in candidates:
            fault = self._row_fault(item)
            if fault is None:
                readable.append(item)
            else:
                self._refuse(item, fault)
        with ThreadPoolExecutor(THREADS) as threads:
            faults = threads.map(lambda item: head_fault(self._path(item.row)), readable)
            for item, fault in zip(readable, faults, strict=True):
                if fault is None:
                    self.pending.append(item)
                else:
                    self._refuse(item, fault)

    def _row_fault(self, item: _Pending) -> str | None:
        if item.row.doc_path is None or not item.row.doc_path.strip():
            return "the row has no doc_path"
        return self.schemas.question(item.index).fault

    def _refuse(self, item: _Pending, fault: str) -> None:
        record = self._record(item, _unsendable(fault), None, input_fault=True)
        self.store.save(item.row, record)
        earlier = self.kept.get(item.row.name)
        kept = self.kept[item.row.name] = kept_of(record)
        self.tally.begin(earlier)
        self.tally.end(kept)
        self._report()

    def _begin(self, waiting: Iterator[_Pending], provider: Provider, active: int) -> Iterator[asyncio.Task[None]]:
        """Start as many documents as there is room and money for."""
        limit = self.order.configured.spec.concurrency
        room = min(limit, self.order.workers or limit)
        while active < room and not self.stop.requested and self.spending.allows(active):
            item = next(waiting, None)
            if item is None:
                return
            active += 1
            yield asyncio.create_task(self._one(item, provider))

    async def _one(self, item: _Pending, provider: Provider) -> None:
        """Read, ask and store one document; what an earlier run stored of it stands until then."""
        self.check_lock()
        earlier = self.kept.get(item.row.name)
        self.tally.begin(earlier)
        self._report()
        try:
            content = await asyncio.to_thread(read_document, self._path(item.row))
            data = content.data or b""
            fault = content.error or document_fault(data, item.row.doc_path or "")
            result = _unsendable(fault) if fault is not None else await self._answer(item, data, provider)
        except asyncio.CancelledError:
            self.tally.end(earlier)
            raise
        if result.outcome is Outcome.ACCOUNT:
            self.tally.end(earlier)
            self.refusal = f"{self.order.configured.name} refuses the account: {result.error}"
            return
        digest = digest_bytes(data) if fault is None else None
        record = self._record(item, result, digest, input_fault=fault is not None)
        saving = asyncio.create_task(self._save(item, record))
        self._saving.add(saving)
        saving.add_done_callback(self._saving.discard)
        await asyncio.shield(saving)  # an answer that came is stored even when everything stops at once

    async def _answer(self, item: _Pending, data: bytes, provider: Provider) -> ExtractionResult:
        question = self.schemas.question(item.index)
        document = Document(item.row.doc_id, file_name(item.row.doc_path or ""), data, question.schema)
        notes: list[asyncio.Task[None]] = []

        def on_job(job_id: str) -> None:
            note = Note(job_id, question.digest)
            notes.append(asyncio.create_task(asyncio.to_thread(self.store.write_note, item.row, note)))

        budget = Budget(self.order.timeout)
        result = await extract(provider, ExtractionTask(document, budget, item.job_id, on_job), self.credentials)
        if item.noted and _job_unknown(result):
            result = await extract(provider, ExtractionTask(document, budget, None, on_job), self.credentials)
        await asyncio.gather(*notes)
        return result

    async def _save(self, item: _Pending, record: Record) -> None:
        await asyncio.to_thread(self.store.save, item.row, record)
        kept = self.kept[item.row.name] = kept_of(record)
        self.left -= 1
        self.tally.seconds.append(record.result.seconds)
        self.tally.end(kept)
        self.spending.add(kept)
        self._report()

    def _record(self, item: _Pending, result: ExtractionResult, digest: str | None, *, input_fault: bool) -> Record:
        return Record(
            binding=item.binding,
            provider=self.order.configured.name,
            settings_digest=self.digest,
            docassay=__version__,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            document_sha256=digest,
            result=result,
            input_fault=input_fault,
        )

    def _path(self, row: Row) -> str:
        return resolve(row.doc_path or "", self.order.root or default_root())

    def _report(self) -> None:
        self.watch(self._progress())

    def _progress(self) -> Progress:
        return self.tally.progress(len(self.rows))


def _unsendable(fault: str) -> ExtractionResult:
    """The outcome of a document that nothing was sent for; looking again costs nothing."""
    return ExtractionResult(Outcome.FAILED, error=fault, transient=True)


def _job_unknown(result: ExtractionResult) -> bool:
    """Whether the vendor says that there is no such job."""
    return result.outcome is Outcome.FAILED and bool(result.exchanges) and result.exchanges[-1].status == 404
