"""Digests: canonical text, and what has none."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docassay.core.digest import canonical_json, digest_bytes, digest_file, digest_object
from docassay.errors import DocumentError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_canonical_text_reads_back_and_is_stable(value: object) -> None:
    text = canonical_json(value)
    assert canonical_json(json.loads(text)) == text
    assert digest_object(value) == hashlib.sha256(text.encode("utf-8")).hexdigest()


@given(st.dictionaries(st.text(), st.integers(), min_size=2))
def test_the_order_of_keys_does_not_matter(value: dict[str, int]) -> None:
    assert digest_object(value) == digest_object(dict(reversed(value.items())))


def test_equal_numbers_of_different_kinds_differ() -> None:
    assert canonical_json([12, 12.0]) == "[12,12.0]"
    assert digest_object(12) != digest_object(12.0)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {"a\udfff": 1}, {1, 2}, b"x", {(1, 2): 3}])
def test_what_is_not_json_has_no_digest(value: object) -> None:
    with pytest.raises(DocumentError):
        digest_object(value)


def test_endless_nesting_has_no_digest() -> None:
    loop: list[object] = []
    loop.append(loop)
    deep: object = 0
    for _ in range(100_000):
        deep = [deep]
    for value in (loop, deep):
        with pytest.raises(DocumentError):
            digest_object(value)


def test_bytes_and_files(tmp_path: Path) -> None:
    data = b"\x00\xff" * 5_000_000
    (tmp_path / "file").write_bytes(data)
    assert digest_file(tmp_path / "file") == digest_bytes(data) == hashlib.sha256(data).hexdigest()
    with pytest.raises(OSError, match="missing"):
        digest_file(tmp_path / "missing")
