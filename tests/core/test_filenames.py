"""File names for identifiers: safe, never shared, and readable back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docassay.core.filenames import id_of, safe_name
from docassay.errors import ArgumentValueError

HOSTILE = [
    ".",
    "..",
    "../../etc/passwd",
    "/absolute",
    "a/b",
    "a\\b",
    "a%2Fb",
    "a b",
    " ",
    "a.",
    ".hidden",
    "CON",
    "con.txt",
    "nul",
    "LPT1",
    "a\x00b",
    "a\nb",
    "a:b*c?d",
    "e\u0301",
    "\u00e9",
    "文書",
    "\ud800",
    "%",
    "%%",
    "~",
    "x" * 199,
    "x" * 200,
    "x" * 201,
    "x" * 250,
    "/" * 90,
    "é" * 300,
    "x" * 197 + "/" + "y" * 300,
]


def test_plain_names_stay_as_they_are() -> None:
    for name in ("invoice-001", "INV_2024.05", "a.b.c", "0", "console", "report.con"):
        assert safe_name(name) == name


def test_hostile_names_are_safe_apart_and_readable_back(tmp_path: Path) -> None:
    names = {identifier: safe_name(identifier) for identifier in HOSTILE}
    assert len(set(names.values())) == len(HOSTILE)
    for identifier, name in names.items():
        assert id_of(name) == identifier
        path = tmp_path / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ascii(identifier))
    found = list(tmp_path.rglob("*.json"))
    assert len(found) == len(HOSTILE)
    assert sorted(path.read_text() for path in found) == sorted(ascii(identifier) for identifier in HOSTILE)


@given(st.text(st.characters(), min_size=1, max_size=400) | st.text("./%\\ aA", min_size=1, max_size=260))
def test_every_name_is_safe_and_readable_back(identifier: str) -> None:
    name = safe_name(identifier)
    assert id_of(name) == identifier
    steps = name.split("/")
    assert all(step.isascii() and 0 < len(f"{step}.json") <= 255 for step in steps)
    assert all(step.endswith("%") for step in steps[:-1])
    assert all(step not in ("", ".", "..") for step in [*steps[:-1], f"{steps[-1]}.json"])
    assert not name.startswith(("/", "."))


def test_an_empty_name_is_none() -> None:
    with pytest.raises(ArgumentValueError):
        safe_name("")
