"""Laws of values: short cuts change nothing, what is told is what scores, nothing crashes, time grows linearly."""

from __future__ import annotations

import itertools
import time
import unicodedata
from decimal import Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from docassay import explain
from docassay.extraction.values import Trace, ValueRules, rules
from value_strategies import numbers, scalars, texts

OMNI, SOUND = rules("omni/1"), rules("sound/1")
BOTH = pytest.mark.parametrize("found", [OMNI, SOUND], ids=lambda found: found.metric)


@BOTH
@given(raw=scalars)
@example(raw="N/A , , ,")
@example(raw="(,z ,")
@example(raw="Section-1e-20241031")
@example(raw="Acme/,/May/it's")
@example(raw="-\t5.5")
@example(raw="\udfff5")
@example(raw=-0.0)
@settings(max_examples=400)
def test_short_cuts_change_nothing(found: ValueRules, raw: object) -> None:
    reading = found.read(raw)
    assert found.canon(raw) == found.trace_canon(raw, None) == (reading.canonical or "")
    assert (reading.canonical is None) == found.states_nothing(raw) == (found.canon(raw) == "")


def test_short_cuts_change_nothing_for_any_character() -> None:
    """Code points of every block but the large ones, between a letter and a digit, and before a mark."""
    blocks = ((0, 0x3400), (0xA640, 0xAC00), (0xF900, 0x10000), (0x1D400, 0x1D800), (0x1F000, 0x1FB00))
    codes = itertools.chain.from_iterable(itertools.starmap(range, blocks))
    texts = [form.format(chr(code)) for code in codes for form in ("A{}1", "{}\u0301")]
    assert [text for text in texts if SOUND.canon(text) != SOUND.trace_canon(text, Trace())] == []


def test_format_characters_are_those_of_unicode() -> None:
    """Every character of category Cf goes (a later Unicode may know more of them than this one)."""
    formats = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf"]
    assert [c for c in formats if SOUND.canon(f"a{c}b") != "text ab" or not SOUND.states_nothing(c)] == []


_PLAIN = st.from_regex(
    r"\A(-?\$?[0-9]{1,3}(,?[0-9]{3}){0,3}(\.[0-9]{0,8})?%?|[12][0-9]{3}-[01][0-9]-[0-3][0-9]"
    r"|[A-Za-z(]([A-Za-z0-9]| |, |-|\. |/|\)|'|&){0,20}[.,]?)\Z"
)


@BOTH
@given(raw=_PLAIN)
@settings(max_examples=800)
def test_short_cuts_change_nothing_on_plain_values(found: ValueRules, raw: str) -> None:
    assert found.canon(raw) == found.trace_canon(raw, None)


@BOTH
@given(a=scalars, b=scalars)
def test_comparison_says_what_keys_say(found: ValueRules, a: object, b: object) -> None:
    comparison = explain(a, b, metric=found.metric)
    assert comparison.equal == (found.canon(a) == found.canon(b))
    assert comparison.reason
    assert explain(b, a, metric=found.metric).equal == comparison.equal


@given(raw=numbers)
def test_sound_numbers_equal_their_own_text(raw: float) -> None:
    if raw != raw or raw in (float("inf"), float("-inf")):
        assert SOUND.canon(raw) == SOUND.canon(str(raw).replace("inf", "Infinity"))
    else:
        assert SOUND.canon(raw) == SOUND.canon(Decimal(str(raw))) == SOUND.canon(format(Decimal(str(raw)), "f"))


@given(whole=st.integers(0, 10**30), fraction=st.text("0123456789", max_size=7), negative=st.booleans())
def test_sound_reads_every_notation_of_a_number_alike(whole: int, fraction: str, negative: bool) -> None:
    tail = f".{fraction}" if fraction else ""
    plain, grouped = f"{whole}{tail}", f"{whole:,}{tail}"
    swapped = grouped.translate(str.maketrans(",.", ".,"))
    unsigned = [plain, grouped, f"${grouped}", f"{plain}%", grouped.replace(",", "'"), grouped.replace(",", "\u00a0")]
    if len(fraction) not in (0, 3) or whole >= 10**6 or (whole >= 1000 and fraction):
        unsigned.append(swapped)
    if not negative:
        assert len({SOUND.canon(text) for text in unsigned}) == 1, unsigned
        return
    signed = [form.format(text) for text in unsigned for form in ("-{}", "({})", "{}-", "- {}", "\u2212{}", "(-{})")]
    assert len({SOUND.canon(text) for text in signed}) == 1, signed
    assert (SOUND.canon(signed[0]) == SOUND.canon(plain)) == (Decimal(plain) == 0)


@given(
    value=st.decimals(allow_nan=False, allow_infinity=False), other=st.decimals(allow_nan=False, allow_infinity=False)
)
def test_sound_tells_numbers_of_seven_decimals_apart(value: Decimal, other: Decimal) -> None:
    """Whole numbers are never rounded, and no two that differ in the first seven decimals are equal."""
    whole, another = int(value), int(other)
    assert (SOUND.canon(whole) == SOUND.canon(another)) == (whole == another)
    assert (SOUND.canon(str(whole)) == SOUND.canon(another)) == (whole == another)


@given(text=texts)
def test_a_number_never_equals_a_text_like_its_key(text: str) -> None:
    key = SOUND.canon(text)
    assert not key or SOUND.canon(key) != key


@given(text=texts, case=st.sampled_from(["upper", "title", "swapcase"]))
def test_sound_ignores_ascii_case(text: str, case: str) -> None:
    if text.isascii():
        assert SOUND.canon(getattr(text, case)()) == SOUND.canon(text)


@given(text=texts, form=st.sampled_from(["NFC", "NFD"]))
@example(text="http://x.org/1.2Łódź", form="NFD")
def test_sound_ignores_how_characters_are_composed(text: str, form: str) -> None:
    assert SOUND.canon(unicodedata.normalize(form, text)) == SOUND.canon(unicodedata.normalize("NFC", text))


LONG = 10_000
HUGE = 10**LONG - 7


@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_of_ten_thousand_digits(sign: int) -> None:
    digits = ("-" if sign < 0 else "") + "9" * (LONG - 1) + "3"
    assert SOUND.canon(sign * HUGE) == SOUND.canon(digits) == f"number {digits}"
    assert OMNI.canon(sign * HUGE) == OMNI.canon(digits) == digits[:64]
    assert explain(sign * HUGE, digits).equal
    assert explain(sign * HUGE, digits, metric="omni/1").equal


RUNS = {
    "white space": lambda n: "a" + " " * n + "b",
    "white space around": lambda n: " " * n + "[1]" + " " * n,
    "white space and a bracket": lambda n: " " * n + "[x",
    "digits": lambda n: "1" * n,
    "digits with a letter": lambda n: "1" * n + "x",
    "decimal": lambda n: "0." + "0" * n + "1",
    "groups": lambda n: "1" + ",111" * n,
    "broken groups": lambda n: "1" + ",111" * n + ",1",
    "spaced digits": lambda n: "1 " * n,
    "dashes": lambda n: "-" * n + "x",
    "brackets": lambda n: "(" * n + "x" + ")" * n,
    "open brackets": lambda n: "[ " * n,
    "markers": lambda n: "a" + "[1]" * n,
    "words with markers": lambda n: "a[1]b" * n,
    "quotes": lambda n: '"' * n + "x" + '"' * n,
    "nested quotes": lambda n: "\u201c\u00ab" * n + "x" + "\u00bb\u201d" * n,
    "periods": lambda n: "a." * n,
    "hyphens": lambda n: "a-" * n,
    "carets": lambda n: "a^1" * n,
    "fractions": lambda n: "½" * n,
    "raised": lambda n: "²" * n,
    "joiners": lambda n: "\u200d" * n + "x",
    "tags": lambda n: "x" + "\U000e0067" * n,
    "accents": lambda n: "e" + "\u0301" * n,
    "one address sign": lambda n: "a" * n + "@",
    "many address signs": lambda n: "@" * n,
    "slashes": lambda n: "/a" * n,
    "host": lambda n: "a." * n + "com",
    "addresses": lambda n: "a.com " * n,
    "no-break groups": lambda n: "1" + "\u00a0111" * n + "\u00a01",
    "plus and digits": lambda n: "+1" + "-1" * n,
    "words": lambda n: "word " * n,
    "long word": lambda n: "w" * n,
    "currencies": lambda n: "USD" * n + "-5",
}


@BOTH
@pytest.mark.parametrize("shape", RUNS)
def test_time_grows_linearly(found: ValueRules, shape: str) -> None:
    """Four times the length takes nowhere near sixteen times as long (measured where it takes time at all)."""
    short, long = RUNS[shape](5_000), RUNS[shape](20_000)
    before = min(_seconds(found, short) for _ in range(3))
    after = min(_seconds(found, long) for _ in range(3))
    assert after < 0.02 or after < 10 * before, (shape, before, after)


def _seconds(found: ValueRules, text: str) -> float:
    start = time.process_time()
    found.canon(text)
    return time.process_time() - start
