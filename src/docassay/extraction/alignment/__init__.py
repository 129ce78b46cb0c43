"""Which predicted row goes with which ground-truth row: the pairing worth most, found without trying them all."""

from docassay.extraction.alignment.aligner import Aligner
from docassay.extraction.alignment.worth import Objective, Pair, Pairing, shared_bound, shared_places

__all__ = ["Aligner", "Objective", "Pair", "Pairing", "shared_bound", "shared_places"]
