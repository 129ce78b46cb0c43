"""Decides which engine a name stands for."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from docassay.errors import ArgumentValueError
from docassay.executors.contract import Engine, Work

__all__ = ["ENGINES", "EngineName", "make_engine"]

EngineName: TypeAlias = Literal["local", "ray", "modal"]
ENGINES: Final[tuple[str, ...]] = get_args(EngineName)


def make_engine(name: str, work: Work, *, workers: int | None, ray_address: str | None) -> Engine:
    """The engine of that name, not yet begun.

    Args:
        workers: batches at once; chosen by the engine if None.

    Raises:
        ArgumentValueError: there is no such engine.
        MissingDependencyError: its package is not installed.
    """
    if name == "local":
        from docassay.executors.local import LocalEngine

        return LocalEngine(work, workers)
    if name == "ray":
        from docassay.executors.ray import RayEngine

        return RayEngine(work, workers, address=ray_address)
    if name == "modal":
        from docassay.executors.modal import ModalEngine

        return ModalEngine(work, workers)
    raise ArgumentValueError(f"there is no engine {name!r}; choose one of: {', '.join(ENGINES)}")
