"""Decides what a process imports that does nothing but score batches. No other process may import this module.

pyarrow looks for pandas when it makes a column of values, and importing that takes longer than all else together; here
it finds none.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

_HIDDEN = "pandas"


class _Hiding(MetaPathFinder):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname == _HIDDEN:
            raise ModuleNotFoundError(f"{fullname} is not used here", name=fullname)


sys.meta_path.insert(0, _Hiding())

import fsspec.implementations.local  # noqa: E402, F401
import numpy.ma  # noqa: E402, F401  # numpy and pyarrow would import these two in the middle of the work
import pyarrow.compute  # noqa: E402
import pyarrow.parquet  # noqa: E402, F401

from docassay.pipelines.score_batch import score_batch  # noqa: E402

__all__ = ["score_batch"]
