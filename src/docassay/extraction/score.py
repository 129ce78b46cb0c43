"""What one prediction is worth: the six counts, and the metrics made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from docassay.core.interpreter import deeply
from docassay.errors import ArgumentValueError
from docassay.extraction.listing import count_by_field
from docassay.extraction.paired import PairedDocuments
from docassay.extraction.verdicts import Counts, Verdict, VerdictList

MetricName: TypeAlias = Literal["omni/1", "sound/1"]
Status: TypeAlias = Literal["scored", "nothing_to_score"]


@dataclass(frozen=True, slots=True)
class Score:
    """What one prediction is worth against one ground truth.

    Metrics are fractions in 0–1. `status` is "nothing_to_score" where neither document states anything that can be
    scored; the metrics are then None (omni/1 scores such a document 0.0, as published). `gt_rows`, `pred_rows` and
    `matched_rows` count rows that are objects. `matching_exact` is False, and `approximated` lists the sizes of the
    arrays concerned, where a memory budget forced a pairing that may not be the best one. `skipped_open_maps` names
    what the schema leaves open.
    """

    status: Status
    metric: MetricName
    signature: str
    counts: Counts
    gt_rows: int
    pred_rows: int
    matched_rows: int
    matching_exact: bool
    approximated: tuple[int, ...]
    skipped_open_maps: tuple[str, ...]
    verdicts: VerdictList | None
    rounds: int = field(compare=False, default=1)
    _zero: float | None = field(repr=False, default=None)
    _documents: PairedDocuments | None = field(repr=False, compare=False, default=None)

    @property
    def accuracy(self) -> float | None:
        """matched / total."""
        return self._ratio(self.counts.matched, self.counts.total)

    @property
    def precision(self) -> float | None:
        """matched / asserted."""
        return self._ratio(self.counts.matched, self.counts.asserted)

    @property
    def recall(self) -> float | None:
        """matched / gold."""
        return self._ratio(self.counts.matched, self.counts.gold)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall."""
        if self.precision is None or self.recall is None:
            return None
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def addresses_found(self) -> float | None:
        """(matched + misread) / total."""
        return self._ratio(self.counts.matched + self.counts.misread, self.counts.total)

    @property
    def addresses_read_right(self) -> float | None:
        """matched / (matched + misread)."""
        return self._ratio(self.counts.matched, self.counts.matched + self.counts.misread)

    def by_field(self) -> dict[str, Counts]:
        """The six counts of every field, in reading order; they sum to `counts`."""
        if self._documents is None:
            raise ArgumentValueError("this score was copied without its documents; ask for by_field() where it is made")
        return deeply(count_by_field, self._documents)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values, verdicts included when they were asked for."""
        counts = self.counts
        found: dict[str, Any] = {
            "metric": self.metric,
            "signature": self.signature,
            "status": self.status,
            **{name: getattr(self, name) for name in METRIC_NAMES},
            **{name: getattr(counts, name) for name in COUNT_NAMES},
            "gt_rows": self.gt_rows,
            "pred_rows": self.pred_rows,
            "matched_rows": self.matched_rows,
            "matching_exact": self.matching_exact,
            "approximated": list(self.approximated),
            "skipped_open_maps": list(self.skipped_open_maps),
        }
        if self.verdicts is not None:
            names = Verdict.__dataclass_fields__
            found["verdicts"] = [{name: getattr(verdict, name) for name in names} for verdict in self.verdicts]
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles leave the documents behind."""
        return _rebuilt, tuple(
            None if name == "_documents" else getattr(self, name) for name in self.__dataclass_fields__
        )

    def _ratio(self, part: int, whole: int) -> float | None:
        return part / whole if whole else self._zero


METRIC_NAMES: Final = ("accuracy", "precision", "recall", "f1", "addresses_found", "addresses_read_right")
COUNT_NAMES: Final = (
    "total",
    "matched",
    "misread",
    "unfound",
    "fabricated",
    "invented_item",
    "invented_field",
    "asserted",
    "gold",
)


def _rebuilt(*values: Any) -> Score:
    return Score(*values)
