"""What scoring asks of the interpreter: a stack deep enough, and no search for cycles where there are none."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from docassay.errors import ArgumentValueError

Result = TypeVar("Result")

_DEEP_FRAMES: Final = 200_000
_DEEP_STACK: Final = 512 * 1024 * 1024


@contextmanager
def collector_paused() -> Iterator[None]:
    """Scoring makes many objects and no cycles: looking for cycles meanwhile can cost more than the scoring."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def deeply(function: Callable[..., Result], *arguments: object) -> Result:
    """Call; where data is nested deeper than the interpreter's stack, call again on a stack that is deep enough.

    Raises ArgumentValueError where even that is too small.
    """
    try:
        return function(*arguments)
    except RecursionError:
        return _on_deep_stack(function, arguments)


def _on_deep_stack(function: Callable[..., Result], arguments: tuple[object, ...]) -> Result:
    outcome: list[Result] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(function(*arguments))
        except RecursionError:
            failure.append(ArgumentValueError("the documents are nested deeper than any stack takes"))
        except BaseException as error:  # noqa: BLE001  # handed to the caller below
            failure.append(error)

    limit, stack = sys.getrecursionlimit(), threading.stack_size()
    threading.stack_size(_DEEP_STACK)
    sys.setrecursionlimit(max(limit, _DEEP_FRAMES))
    try:
        thread = threading.Thread(target=run, name="docassay-deep")
        thread.start()
        thread.join()
    finally:
        threading.stack_size(stack)
        sys.setrecursionlimit(limit)
    if failure:
        raise failure[0]
    return outcome[0]
