"""Deep data are worked on a stack that is deep enough; the collector is left as it was found."""

from __future__ import annotations

import gc
import sys

import pytest

from docassay.core.interpreter import collector_paused, deeply


def depth(nested: list[object]) -> int:
    return 1 + depth(nested[0]) if nested else 0  # type: ignore[arg-type]


def nested(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels):
        value = [value]
    return value


def test_depth_beyond_the_stack() -> None:
    limit = sys.getrecursionlimit()
    assert deeply(depth, nested(20_000)) == 20_000
    assert sys.getrecursionlimit() == limit


def test_an_error_on_the_deep_stack_is_the_callers() -> None:
    def fail(value: list[object]) -> int:
        depth(value)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        deeply(fail, nested(20_000))


@pytest.mark.parametrize("was_on", [True, False])
def test_the_collector_is_left_as_it_was(was_on: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        with pytest.raises(ValueError), collector_paused():  # noqa: PT012
            assert not gc.isenabled()
            raise ValueError
        assert gc.isenabled() is was_on
    finally:
        (gc.enable if before else gc.disable)()


def test_scoring_leaves_nothing_for_the_collector() -> None:
    from docassay import score

    schema = {"properties": {"rows": {"type": "array", "items": {"properties": {"a": {"type": "string"}}}}}}
    document = {"rows": [{"a": str(number)} for number in range(50)]}
    score(document, document, schema, verdicts=True)
    gc.collect()
    score(document, document, schema, verdicts=True)
    assert gc.collect() < 20
