"""Two documents whose rows are paired: which row goes with which, positions and all."""

from __future__ import annotations

from dataclasses import dataclass, field

from docassay.extraction.alignment import Aligner, Pairing
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
    _paired: dict[tuple[Rows, Rows], tuple[Pairing | None, Paired]] = field(default_factory=dict)

    def paired_rows(self, predicted: Rows, gold: Rows) -> Paired:
        """The rows of two arrays, paired; of rows with equal content the earlier ones are taken first."""
        pairing = None
        if predicted.content is not gold.content or not predicted.priced is predicted.content is gold.priced:
            pairing = self.aligner.pairing(predicted.priced, gold.priced)
        found = self._paired.get((predicted, gold))
        if found is None or found[0] is not pairing:
            made = self._identical(predicted, gold) if pairing is None else self._by(pairing, predicted, gold)
            found = self._paired[predicted, gold] = pairing, made
        return found[1]

    def _by(self, pairing: Pairing, predicted: Rows, gold: Rows) -> Paired:
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
            # priced alike, yet different: content decides, not position
            if len(same) > 1 and len({row.content for row in same}) > 1:
                same.sort(key=lambda row: self.aligner.order(row.content), reverse=True)
        return found


@dataclass(frozen=True, slots=True)
class Paired:
    """The rows of two arrays: pairs, and what is left on either side."""

    pairs: list[tuple[Row, Row]]
    predicted_only: list[Row]
    gold_only: list[Row]
