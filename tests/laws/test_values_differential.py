"""omni/1 gives the very keys of the published package, on anything; where that raises, docassay still answers."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docassay.extraction.values import rules
from value_strategies import scalars, texts

peer = pytest.importorskip("omni_extract_bench", reason="omni-extract-bench is not installed: nothing to compare with")
OMNI = rules("omni/1")


def _published(raw: object) -> str | None:
    """The published key, or None where the package raises (integers of more digits than `str` takes)."""
    try:
        key: str = peer.canon_key(raw)
    except ValueError:
        return None
    return key


@given(raw=scalars)
@settings(max_examples=1500)
def test_keys(raw: object) -> None:
    wanted = _published(raw)
    assert wanted is None or OMNI.canon(raw) == wanted


@given(a=texts, b=texts)
def test_equality(a: str, b: str) -> None:
    assert (OMNI.canon(a) == OMNI.canon(b)) == (peer.cmp_leaf(a, b) == 1.0)


@given(raw=st.text(st.characters(codec=None), max_size=40))
@settings(max_examples=500)
def test_keys_of_any_text(raw: str) -> None:
    assert OMNI.canon(raw) == _published(raw)


def test_every_character_alone_and_between() -> None:
    """Each code point of the first plane, by itself and between a letter and a digit."""
    wrong = [
        text
        for code in range(0x10000)
        for text in (chr(code), f"A{chr(code)}1")
        if (wanted := _published(text)) is not None and OMNI.canon(text) != wanted
    ]
    assert wrong == []


# Seeded generators that dwell on one subject each

_TYPOGRAPHY = (
    *(
        "[1]",
        "[ 2 ]",
        "[a]",
        "[ab]",
        "[123]",
        "(",
        ")",
        "/",
        '"',
        "'",
        "\u201c",
        "\u2019",
        "\u2033",
        "\u2022",
        "\u25a0",
    ),
    *("\u2044", "\x00", "$", "%", ",", ".", "-", "\u2013", "\u2012", " ", "\t", "\u00a0", "\u200b", "\u3000", "a", "Z"),
    *("5", "12", "\u00b5", "\u03bc", "é", "e\u0301", "\u212b", "\u2103", "\u0130", "ß", "ﬁ", "ガ", "\u0e48", "\ud800"),
    *("\u0660", "½", "²"),
)

_DRAW: dict[str, Callable[[random.Random], object]] = {
    "numbers": lambda r: (
        r.choice(["", "-", "(", "$", "-$", "($", "- ", "+", "--", "\u2212", "\u2013\t", "$(", "+-"])
        + "".join(r.choices("0123456789", k=r.choice([1, 2, 3, 5, 8, 16, 17, 25, 40, 101, 310])))
        + r.choice(["", "."])
        + "".join(r.choices("00056789", k=r.choice([0, 1, 2, 6, 7, 8, 9, 20, 100])))
        + r.choice(["", "", "e5", "E-3", "e-99", "e101", "_1", ",1", " 1", "$", "%"])
        + r.choice(["", "-", ")", "%", "%)", " -", "-)", "\n", " kg", "[1]"])
    ),
    "json numbers": lambda r: r.choice(
        [
            r.uniform(-1e6, 1e6),
            round(r.uniform(-1e4, 1e4), r.randrange(9)),
            10 ** r.uniform(-320, 308),
            float(r.randrange(10**18)),
            r.randrange(-(10**17), 10**17),
            r.randrange(10 ** r.choice([25, 60, 305, 312])),
        ]
    ),
    "dates": lambda r: (
        r.choice(["-", "/", ".", " ", ""]).join(
            r.sample(
                [
                    r.choice(["1", "05", "31", "32", "0", "29", " 5"]),
                    r.choice(["1", "02", "12", "13", "Oct", "MAY", "february", "Sept"]),
                    r.choice(["2024", "1999", "24", "69", "0001", "0000", "10000"]),
                ],
                3,
            )
        )
        + r.choice(["", "", " ", "."])
    ),
    "month names": lambda r: (
        r.choice(["January", "feb", "MAR", "May", "Sept", "october", "Aprıl"])
        + r.choice([" ", "  ", ".", "-", "\u00a0"])
        + r.choice(["1", "05", "31", "32", "1st"])
        + r.choice([", ", ",", " ", ",  "])
        + r.choice(["2024", "24", "0001"])
    ),
    "timestamps": lambda r: (
        r.choice(["2024-10-31", "2024-1-5", "2023-02-29", "10/31/2024", "0001-01-01", "2024-10- 5"])
        + r.choice(["T", " ", "t", "  ", ""])
        + r.choice(["9", "09", "00", "24", "23"])
        + r.choice([":00", ":5", ":60"])
        + r.choice(["", ":00", ":0", ":59", ":60", ":61", ":62"])
        + r.choice(["", ".0", ".000", ".123456", ".1234567", "."])
        + r.choice(
            ["", "Z", "z", " Z", "+00:00", "-0500", "+05", "+25:00", "+01:00:30", "+010030", "+0100:30", "+00:60"]
        )
    ),
    "typography": lambda r: "".join(r.choice(_TYPOGRAPHY) for _ in range(r.randrange(1, 8))),
    "code points": lambda r: "".join(
        chr(r.choice([r.randrange(0x20, 0x7F), r.randrange(0x250), r.randrange(0x2000, 0x2200), r.randrange(0x110000)]))
        for _ in range(r.randrange(1, 7))
    ),
}


@pytest.mark.parametrize("subject", _DRAW)
def test_seeded(subject: str) -> None:
    source = random.Random(f"values {subject}")
    values = [_DRAW[subject](source) for _ in range(3000)]
    wrong = [raw for raw in values if (wanted := _published(raw)) is not None and OMNI.canon(raw) != wanted]
    assert wrong == []


HARD = {
    "large integer": (10**5000, "1" + "0" * 63),
    "large negative integer": (-(10**5000), "-1" + "0" * 62),
    "many digits": ("9" * 400, None),
    "many digits and a decimal": ("-" + "9" * 400 + ".5", None),
    "long white space": ("[1]" + " " * 2000 + "[2]", None),
}


@pytest.mark.parametrize("name", HARD)
def test_where_the_published_package_struggles(name: str) -> None:
    """An answer by the same rules: what is too large for a double is compared by 64 characters of its text."""
    raw, known = HARD[name]
    assert OMNI.canon(raw) == (_published(raw) if known is None else known)
