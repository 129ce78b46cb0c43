"""Values that stretch the rules: numbers, dates, timestamps, dashes, brackets, markers, white space, every script."""

from __future__ import annotations

from hypothesis import strategies as st

_MARKS = list(
    " \t\n\u00a0\u2009\u200b,.-()[]/\"'$%+:&;#_@\\\x00\u2010\u2013\u2212\u2022\u2019\u201c\u2033\u2044\ufeff\u00ad"
)
_WORDS = (
    *(
        "Acme",
        "Inc",
        "kg",
        "USD",
        "eur",
        "m",
        "AM",
        "pm",
        "Oct",
        "may",
        "Thu",
        "Monday",
        "of",
        "the",
        "v",
        "No",
        "Version",
    ),
    *("e", "N/A", "and/or", "(net)", "(5)", "e-mail", "10-K", "1e", "31Oct2024", "9am", "[2]", "[a]"),
    *("x.com", "a.pdf", "http://x.org/1.2", "a.b@x.com", "/usr/b", "~/", "c:"),
    *("½", "10³", "m²", "№", "µg", "Straße", "Łódź", "ガラス", "ไม่", "мой", "עברית", "العربية", "ﬁ", "٣", "５"),
    *("\U0001f3f4\U000e0067\U000e0062\U000e007f", "\U0001f468\u200d\U0001f469"),
)

_digits = st.text("0123456789", min_size=1, max_size=12)
_grouped = st.builds(lambda n, mark: f"{n:,}".replace(",", mark), st.integers(0, 10**12), st.sampled_from(",.' \u00a0"))
_decimal = st.builds(
    lambda a, mark, b: a + mark + b, _digits | _grouped, st.sampled_from(".,"), st.text("0123456789", max_size=10)
)
_signed = st.builds(
    lambda before, body, after: before + body + after,
    st.sampled_from(
        ["", "", "-", "- ", "+", "(", "$", "-$", "$(", "(-", "\u2212", "€", "USD ", "-USD ", "--", "\u2013\t"]
    ),
    _digits | _grouped | _decimal,
    st.sampled_from(["", "", "-", ")", ")%", "%", " -", " kg", "- USD", "[1]", ".", ",", " USD)", "e5", "\n"]),
)
_day = st.sampled_from(["1", "05", "13", "29", "30", "31", "32", "0", " 5"])
_month = st.sampled_from(["1", "02", "10", "12", "13", "Jan", "FEB", "May", "Sept", "Sept.", "october", "December"])
_year = st.sampled_from(["2024", "1999", "0001", "0000", "24", "69", "2023", "\u0662\u0660\u0662\u0664"])
_date = st.builds(
    lambda parts, mark, second, ending: parts[0] + mark + parts[1] + second + parts[2] + ending,
    st.tuples(_year, _month, _day) | st.tuples(_day, _month, _year) | st.tuples(_month, _day, _year),
    st.sampled_from(["-", "/", ".", " ", "", ". "]),
    st.sampled_from(["-", "/", ".", " ", "", ", "]),
    st.sampled_from(["", "", ".", " "]),
)
_clock = st.builds(
    lambda hour, rest, zone: hour + rest + zone,
    st.sampled_from(["9", "09", "00", "12", "23", "24"]),
    st.sampled_from([":00", ":30", ":00:00", ":30:15", ":00:60", ":30:15.250", ":00:00.0000001", ":5"]),
    st.sampled_from(["", "Z", "+02:00", "-0530", "+25:00", " AM", "pm", " UTC", "+01:00:30"]),
)
_moment = (
    _date
    | _clock
    | st.builds(lambda day, join, time: day + join + time, _date, st.sampled_from(["T", " ", "t", ", "]), _clock)
)
_phrase = st.lists(st.sampled_from(_WORDS) | st.sampled_from(_MARKS) | _digits | _signed, min_size=1, max_size=6).map(
    "".join
)
_ascii = st.text("aAbeEmMzZ019 .,-()[]/'\"$%+:&@\n", max_size=9)
_any = st.text(st.characters(codec=None), max_size=6)

texts = _signed | _moment | _phrase | _ascii | _any
"""Texts, lone surrogates included."""

numbers = st.integers() | st.integers(-(10**40), 10**40) | st.floats()
"""JSON numbers, with NaN and infinities."""

scalars = texts | numbers | st.booleans() | st.none()
"""Any JSON scalar."""
