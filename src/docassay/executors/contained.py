"""Decides how a machine of a cluster works off one batch: in a process of its own, as the local engine does.

So a document that kills its process, or runs out of time, costs its row there as it does here, and the cluster only
sees batches that end well. The process is kept for the next batch of the same job.
"""

from __future__ import annotations

from dataclasses import dataclass

from docassay.executors.contract import Batch, Lost, Payload, Receipt, Work
from docassay.executors.local import LocalEngine
from docassay.executors.supervise import supervise

__all__ = ["Parcel", "contained"]


@dataclass(frozen=True, slots=True)
class Parcel:
    """What travels to a machine besides the batch: the work, as data."""

    target: str
    job: object
    timeout: float | None

    @classmethod
    def of(cls, work: Work) -> Parcel:
        return cls(work.target, work.job, work.timeout)


def contained(parcel: Parcel, batch: Batch, payload: Payload) -> tuple[Receipt | Lost, ...]:
    """Work off a batch; each row is in a receipt, or lost.

    Raises:
        RunError: the work itself failed.
    """
    kept = _engine_for(parcel)
    kept.batch, kept.payload = batch, payload
    try:
        return tuple(supervise(kept.engine, [batch]))
    except BaseException:
        _forget()
        raise


class _Kept:
    """The local engine of this process, which takes its payload from the batch at hand."""

    def __init__(self, parcel: Parcel) -> None:
        self.parcel = parcel
        self.batch = Batch(0, 0)
        self.payload: Payload = ""
        work = Work(parcel.target, parcel.job, self._part, parcel.timeout)
        self.engine = LocalEngine(work, 1)

    def _part(self, batch: Batch) -> Payload:
        part: Payload = self.payload[batch.start - self.batch.start : batch.stop - self.batch.start]
        return part


_kept: list[_Kept] = []


def _engine_for(parcel: Parcel) -> _Kept:
    if not _kept or _kept[0].parcel != parcel:
        _forget()
        _kept.append(_Kept(parcel))
    return _kept[0]


def _forget() -> None:
    while _kept:
        _kept.pop().engine.__exit__()
