"""Two documents whose rows are paired: which row goes with which, positions and all."""

from __future__ import annotations

from dataclasses import dataclass

from docassay.extraction.alignment import Aligner
from docassay.extraction.rows import Content, Row, Rows
from docassay.extraction.space import Space
from docassay.extraction.verdicts import Classing


@dataclass(frozen=True, slots=True)
class PairedDocuments:
    """Two documents whose rows can be paired, ready to be counted or listed."""

    space: Space
    aligner: Aligner
    predicted: Row
    gold: Row
    classing: Classing

    def paired_rows(self, predicted: Rows, gold: Rows) -> Paired:
        """The rows of two arrays, paired; of rows with equal content the earlier ones are taken first."""
        if predicted.content is gold.content and predicted.priced is predicted.content is gold.priced:
            return self._identical(predicted, gold)
        pairing = self.aligner.pairing(predicted.priced, gold.priced)
        ours, theirs = self._by_content(predicted.rows), self._by_content(gold.rows)
        pairs = [
            (ours[pair.predicted].pop(), theirs[pair.gold].pop()) for pair in pairing.pairs for _ in range(pair.count)
        ]
        return Paired(
            pairs,
            [row for rows in ours.values() for row in rows],
            [row for rows in theirs.values() for row in rows],
        )

    def _identical(self, predicted: Rows, gold: Rows) -> Paired:
        ours, theirs = self._by_content(predicted.rows), self._by_content(gold.rows)
        return Paired(
            [pair for content, rows in ours.items() for pair in zip(rows, theirs[content], strict=True)], [], []
        )

    def _by_content(self, rows: list[Row]) -> dict[Content, list[Row]]:
        """Rows of each content, last one first, so that `pop` takes the first."""
        found: dict[Content, list[Row]] = {}
        for row in reversed(rows):
            found.setdefault(row.priced, []).append(row)
        for same in found.values():
            if len({row.content for row in same}) > 1:  # priced alike, yet different: content decides, not position
                same.sort(key=lambda row: self.aligner.order(row.content), reverse=True)
        return found


@dataclass(frozen=True, slots=True)
class Paired:
    """The rows of two arrays: pairs, and what is left on either side."""

    pairs: list[tuple[Row, Row]]
    predicted_only: list[Row]
    gold_only: list[Row]
