"""Decides what a value is compared as under `sound/1`: where a rule could only guess, it does not merge.

A canonical key opens with what the value was taken for (`number 12.5`, `date 2024-10-31`, `text acmeinc`), so that a
number never equals a text that looks like it. The rules, with what they had to choose, are in `docs/metric-values.md`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from decimal import Decimal

from docassay.extraction.values.addresses import as_written, is_address, is_path
from docassay.extraction.values.letters import drop_format, fold_letters
from docassay.extraction.values.moments import read_moment
from docassay.extraction.values.numbers import from_json_number, number, read_code, read_core, read_number
from docassay.extraction.values.plain import EXACT, NUMBER_STARTS, SMALL, is_iso_date, short_float, short_number
from docassay.extraction.values.quantities import CURRENCIES, is_currency, read_quantity
from docassay.extraction.values.reading import Fold, Trace, apply_folds
from docassay.extraction.values.words import GRADES, NUMBERED_THINGS, UNITS

ABSENT = ""
"""The key of what states nothing."""
DASH = "dash"
"""The key of a text of dashes only."""


def states_nothing(raw: object) -> bool:
    """Whether the value has no address: null, or text of white space and format characters only."""
    if raw is None:
        return True
    if not isinstance(raw, str):
        return False
    text = raw.strip()
    if not text:
        return True
    return unicodedata.category(text[0]) == "Cf" and not drop_format(text).strip()


def canon(raw: object) -> str:
    """The canonical key of a JSON scalar; equal keys mean equal values.

    Plain ASCII text, integers, short decimals and ISO dates take a short cut that tests hold equal to `trace_canon`.
    """
    kind = type(raw)
    key: str | None = None
    if kind is str:
        key = _quick_text(raw)  # type: ignore[arg-type]
    elif kind is int:
        key = "number " + str(raw) if -EXACT < raw < EXACT else None  # type: ignore[operator]
    elif kind is float and (number := short_float(raw)) is not None:  # type: ignore[arg-type]
        key = "number " + number
    return trace_canon(raw, None) if key is None else key


def trace_canon(raw: object, trace: Trace | None) -> str:
    """The key by every rule in full; the one implementation behind `canon` and `read`."""
    if states_nothing(raw) or raw == [] or raw == {}:
        return _told(trace, "absent", ABSENT)
    if isinstance(raw, str):
        return _read_text(raw, trace)
    if isinstance(raw, bool):
        return _told(trace, "boolean", "text true" if raw else "text false")
    if isinstance(raw, (int, float, Decimal)):
        return _read_json_number(raw, trace)
    return _read_text(str(raw), trace)


# Short cuts: the key where it can be told at a glance, else None

_SPACES = b" \t\n\v\f\r\x1c\x1d\x1e\x1f"
_LETTERS = bytes(c for c in range(128) if chr(c).isalpha())
_INERT = _LETTERS + _SPACES + b",;!?&'"
_MARKS = b".-:/()#*+=_~|<>{}$%"
_DELETED = _SPACES + b",.-()"
_LOOSE_MARK = re.compile("(?<![A-Za-z])[-/]|[-/](?![A-Za-z])").search
_HYPHENS = re.compile("([A-Za-z]*)-(?=([A-Za-z0-9]?))").findall
_DIGIT_GAP = re.compile("[0-9][ \t\n\v\f\r\x1c-\x1f,.-]+[0-9]").search
_NAMED_DAY = re.compile(
    "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun", re.IGNORECASE
).search
_HALVES_OF_DAY = ("am", "pm")
_SHORTEST_DATE = 8


def _quick_text(text: str) -> str | None:
    if not text.isascii():
        return None
    if text.isalnum():
        return _quick_word(text)
    first = text[:1]
    if first in NUMBER_STARTS:
        if is_iso_date(text):
            return "date " + text
        number = short_number(text)
        if number is not None:
            return "number " + number
    if not first.isalnum() and not (first == "(" and text[1:2].isalnum()):
        return None
    data = text.encode()
    held = data.translate(None, _INERT)
    if not held:
        key = data.translate(SMALL, _DELETED).decode()
        return "text " + key if key else None
    if not held.translate(None, _MARKS):
        return _quick_phrase(text, data, held)
    return None if held.translate(None, b"0123456789-.") else _quick_mixed(text, data, held)


def _quick_word(text: str) -> str | None:
    if text.isalpha():
        return "text " + text.lower()
    if text.isdigit():
        return _quick_digits(text)
    if len(text) >= _SHORTEST_DATE and _NAMED_DAY(text):
        return None
    key = text.lower()
    return None if key.endswith(_HALVES_OF_DAY) else "text " + key


def _quick_digits(text: str) -> str | None:
    if text[0] == "0":
        return "text " + text if len(text) > 1 else "number 0"
    if len(text) == _SHORTEST_DATE and "01" <= text[4:6] <= "12" and "01" <= text[6:] <= "31":
        return None
    return "number " + text if len(text) < 30 else None


def _quick_phrase(text: str, data: bytes, held: bytes) -> str | None:
    """No digit, double quote, square bracket, address sign: letters that fold together, with marks between them."""
    if b"." in held and not _points_end_words(data, held):
        return None
    if held.strip(b".") and not _marks_fold(text, held):
        return None
    key = data.translate(SMALL, _DELETED).decode()
    return "text " + key if key and key != "n/a" else None


def _points_end_words(data: bytes, held: bytes) -> bool:
    """Whether a space or the end follows every period."""
    if held.count(b".") == 1:
        after = data.find(b".") + 1
        return data[after : after + 1] in (b"", b" ")
    return held.count(b".") == data.count(b". ") + data.endswith(b".")


def _marks_fold(text: str, held: bytes) -> bool:
    """Whether every hyphen and slash stands between letters, and brackets beside letters only."""
    slash = b"/" in held
    if (slash or b"-" in held) and _LOOSE_MARK(text):
        return False
    if slash and (b":" in held or b"." in held):
        return False
    return not ((b"(" in held or b")" in held) and held.translate(None, b".-:()"))


def _quick_mixed(text: str, data: bytes, held: bytes) -> str | None:
    """Words and counts, never with a separator between two digits."""
    digits = held if held.isdigit() else held.translate(None, b"-.")
    if digits not in data and _DIGIT_GAP(text):
        return None
    if len(digits) > 4 and (digits not in data or len(digits) == _SHORTEST_DATE) and _NAMED_DAY(text):
        return None
    if b"'" in data or (digits is not held and not _joins_fold(text, data, held)):
        return None
    key = data.translate(SMALL, _DELETED).decode()
    return None if key.isdigit() or key.endswith(_HALVES_OF_DAY) else "text " + key


def _joins_fold(text: str, data: bytes, held: bytes) -> bool:
    """Whether periods end words, and hyphens follow a word that takes no minus."""
    if b"." in held and not _points_end_words(data, held):
        return False
    for before, after in _HYPHENS(text) if b"-" in held else ():
        if not before or not after or (after.isdigit() and before.lower() in _MINUS_WORDS):
            return False
    return True


_MINUS_WORDS = UNITS | CURRENCIES | {"e"}


def _told(trace: Trace | None, route: str, key: str) -> str:
    if trace is not None:
        trace.route = route
    return key


def _note(trace: Trace | None, name: str, before: str, after: str, sentence: str) -> None:
    if trace is not None:
        trace.note(name, before, after, sentence)


def _read_json_number(raw: int | float | Decimal, trace: Trace | None) -> str:
    if isinstance(raw, int) or (raw.is_finite() if isinstance(raw, Decimal) else math.isfinite(raw)):
        return _told(trace, "number", f"number {from_json_number(raw)}")
    sign = "-" if raw < 0 else ""
    return _told(trace, "text", f"text {sign}infinity" if math.isinf(raw) else "text nan")


# Text


def _read_text(raw: str, trace: Trace | None) -> str:
    text = apply_folds(raw, _EDGES, trace)
    if _ADDRESS_SIGN.search(text):
        written = as_written(text)
        if is_path(written) or (not _SPACE.search(written) and is_address(written)):
            _note(
                trace, "written address", text, written, "A URL, e-mail address, domain or path is compared as written."
            )
            return _told(trace, "address", f"text <{written}>")
    plain = fold_letters(text, trace)
    if not text.isascii():
        plain = apply_folds(plain, _ENDS, trace)
    if _DIGIT.search(plain):
        return _read_digits(text, plain, trace)
    if not plain.strip("- "):
        return _told(trace, "dash", DASH)
    return _told(trace, "text", f"text {_fold_text(text, plain, trace)}")


_ADDRESS_SIGN = re.compile(r"[@\\]|/[^\s\d]|\.[^\W\d_]|\.7z")
_SPACE = re.compile(r"\s")
_DIGIT = re.compile("[0-9]")


def _read_digits(text: str, plain: str, trace: Trace | None) -> str:
    moment = read_moment(plain)
    if moment is not None:
        _note(trace, moment.kind, plain, moment.text, _MOMENT_SENTENCES[moment.kind])
        return _told(trace, "time" if moment.kind != "date" else "date", f"{moment.kind} {moment.text}")
    stated = read_number(plain)
    if stated is not None:
        _note(trace, "number", plain, str(stated), "It is a number: groups, brackets, $ and % are notation.")
        return _told(trace, "number", f"number {stated}")
    code = read_code(plain)
    if code is not None:
        _note(trace, "sign", plain, code, "It is a code with leading zeros: brackets and a minus are its sign.")
        return _told(trace, "text", f"text {code}")
    digits = _grouped_identifier(plain)
    if digits is not None:
        _note(trace, "identifier", plain, digits, "Nine or more digits in groups are an identifier: its digits.")
        return _told(
            trace, "identifier", f"text {digits}" if digits[0] == "0" else f"number {number(digits, 0, False)}"
        )
    quantity = read_quantity(plain)
    if quantity is not None:
        _note(trace, "quantity", plain, quantity, "One number with a currency or unit: the sign stands at the number.")
        return _told(trace, "quantity", f"text {quantity}")
    return _told(trace, "text", f"text {_fold_text(text, plain, trace)}")


_MOMENT_SENTENCES = {
    "date": "It is a calendar date; midnight in its own zone is its day.",
    "instant": "It is a timestamp with a zone: an instant, compared in UTC.",
    "local": "It is a timestamp without a zone, equal only to such.",
    "clock": "It is a time of day.",
}


# The ends of a text

_BULLET = re.compile("^[\u2022\u2023\u25e6\u25aa\u25b6\u2219\u25cf\u25a0]\\s+(?=\\S)")
_CLOSING = {
    '"': '"',
    "'": "'",
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u2018": "\u2019",
    "\u201a": "\u2018\u2019",
    "\u00ab": "\u00bb",
    "\u00bb": "\u00ab",
    "\u2039": "\u203a",
    "\u203a": "\u2039",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
    "\uff02": "\uff02",
    "`": "`'",
}
_END_MARKS = ".,\u3002\u3001\u060c\uff0c\uff0e \t\r\n\u00a0\u3000"


def _unbullet(text: str) -> str:
    text = text.strip()
    return text if text.isascii() else _BULLET.sub("", text, count=1)


def _unquote(text: str) -> str:
    """Without the quotes round a value and the periods and commas at its end, however they are nested."""
    start, end = 0, len(text)
    if text[:1].isalnum() and text[-1].isalnum():
        return text
    while True:
        before = start, end
        while end > start and (text[end - 1] in _END_MARKS or text[end - 1].isspace()):
            end -= 1
        while start < end and text[start].isspace():
            start += 1
        if end - start > 2 and text[end - 1] in _CLOSING.get(text[start], ()) and _quotes_once(text, start, end):
            start, end = start + 1, end - 1
        if before == (start, end):
            return text[start:end] or text


def _quotes_once(text: str, start: int, end: int) -> bool:
    return text.find(text[start], start + 1, end - 1) < 0 and text.find(text[end - 1], start + 1, end - 1) < 0


_ENDS = (Fold("ends", "Quotes round the value go, and periods and commas at its end.", _unquote),)
_EDGES = (
    Fold("bullet", "White space at the ends and a bullet before the text are layout.", _unbullet),
    *_ENDS,
)


# Identifiers in groups

_GROUP_MARKS = re.compile("[0-9()+. -]+")
_GROUPED = re.compile(
    r"\+?[0-9]+(?:[-. ][0-9]+)+|\+[0-9]+|(?:\+?[0-9]{1,3}[- ]?)?\([0-9]{2,5}\)[- ]?[0-9]+(?:[-. ][0-9]+)*"
)
_DATE_SHAPE = re.compile(
    r"(?<![0-9])(?:[12][0-9]{3}[-. ](?:0?[1-9]|1[0-2])[-. ](?:0?[1-9]|[12][0-9]|3[01])"
    r"|(?:0?[1-9]|[12][0-9]|3[01])[-. ](?:0?[1-9]|[12][0-9]|3[01])[-. ][12][0-9]{3})(?![0-9])"
)
_LEAST_DIGITS = 9
_WIDE_HYPHEN = re.compile(r"(?<! ) ?- ?(?! )")


def _grouped_identifier(text: str) -> str | None:
    if not _GROUP_MARKS.fullmatch(text):
        return None
    text = _WIDE_HYPHEN.sub("-", text)
    if not _GROUPED.fullmatch(text) or _DATE_SHAPE.search(text):
        return None
    if text.count(".") == 3 and read_core(text) is None and _IP_ADDRESS.fullmatch(text):
        return None
    digits = "".join(c for c in text if c.isdigit())
    return digits if len(digits) >= _LEAST_DIGITS else None


_IP_ADDRESS = re.compile(r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})")


# Folds of a text that is nothing else


def _fold_text(text: str, plain: str, trace: Trace | None) -> str:
    if _ADDRESS_SIGN.search(text):
        parts = _split_addresses(text)
        if parts is not None:
            return _with_addresses(parts, plain, trace)
    if trace is None and not _STRUCTURE.search(plain):
        key = _RUN.sub("", plain)
    else:
        key = apply_folds(plain, _TEXT_FOLDS, trace)
    if key:
        return key
    whole = "".join(plain.split())
    _note(trace, "nothing left", key, whole, "The rules leave nothing, so the text itself is compared.")
    return whole


_STRUCTURE = re.compile(r"[0-9\[\]()\"'/^-]|\A[.,]")
"""What any of the text folds but the plain removal of separators could meet."""


def _split_addresses(text: str) -> list[str] | None:
    """Pieces of text at even positions, the written addresses between them at odd ones; None without any."""
    pieces, rest = [], 0
    for token in _WORD.finditer(text):
        word = as_written(token[0]) if _ADDRESS_SIGN.search(token[0]) else ""
        if is_address(word):
            pieces += [text[rest : token.start()], word]
            rest = token.end()
    return [*pieces, text[rest:]] if pieces else None


_WORD = re.compile(r"[^\s,;!?()<>\[\]{}\"'.:](?:[^\s,;!?()<>\[\]{}\"']*[^\s,;!?()<>\[\]{}\"'.:])?")


def _with_addresses(parts: list[str], plain: str, trace: Trace | None) -> str:
    folded = [
        f"<{part}>" if i % 2 else apply_folds(fold_letters(part, None), _TEXT_FOLDS, None)
        for i, part in enumerate(parts)
    ]
    key = "".join(folded)
    _note(
        trace,
        "written address",
        plain,
        key,
        "URLs, e-mail addresses, domains and paths stand as written; the rest folds.",
    )
    return key


# ... numbers in it

_NUMERAL = re.compile(r"(?<![0-9.])\.[0-9]++|(?<![0-9])[0-9]++(?:[.,'][0-9]++)++")
_LAST_WORD = re.compile(r"([^\W\d_]+|§)[\s.#:]{0,3}$")


def _numbers(text: str) -> str:
    return _NUMERAL.sub(_numeral, text)


def _numeral(found: re.Match[str]) -> str:
    written = found[0]
    before = found.string[max(0, found.start() - 16) : found.start()]
    if written[0] == ".":
        if before[-1:].isalnum() and not _ends_in_currency(before):
            return written
    elif before[-1:] == "." and before[-2:-1].isdigit():
        return written
    core = read_core(written)
    if core is None or (core.fraction and _is_list(written)):
        return written
    if core.fraction and _numbered(before):
        return f"{core.whole}.{core.fraction}"
    return str(core)


def _is_list(written: str) -> bool:
    """In running text a lone comma may part a list: it stays."""
    return "," in written and "." not in written and "'" not in written


def _numbered(before: str) -> bool:
    """Whether what stands before makes this a version or an outline number, whose zeros count."""
    word = _LAST_WORD.search(before)
    if word is None:
        return False
    attached = word.end(1) == len(before)
    return word[1] in NUMBERED_THINGS or (attached and not is_currency(word[1]))


def _ends_in_currency(before: str) -> bool:
    word = _LAST_WORD.search(before)
    return word is not None and is_currency(word[1])


# ... footnote markers, quotes and brackets

_MARKER = re.compile(r"(?<=[\w.)'\"])(?:\[\s*(?:[0-9]{1,2}|[a-z])\s*\])+(?!\w)")
_WORD_WINDOW = 40


def _footnotes(text: str) -> str:
    return _MARKER.sub(_footnote, text) if "[" in text else text


def _footnote(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - _WORD_WINDOW) : found.start()].split()[-1]
    return "" if any(c.isalpha() for c in before) else found[0]


_INCHES = re.compile(r"(?<=[0-9])''")
_QUOTE = re.compile(r'(?<![0-9])"(?!(?<=[^\W\d_]")[^\W\d_])')
_LONE_SECONDS = re.compile(r'(?<=[0-9])\s+(?=")')


def _quotes(text: str) -> str:
    if '"' not in text and "''" not in text:
        return text
    text = _INCHES.sub('"', text)
    if text.count('"') == 1:
        text = _LONE_SECONDS.sub("", text)
    return _QUOTE.sub("", text)


_OPENING = {")": "(", "]": "["}
_PASSED = frozenset(" .,;:&\"'()[]!?")


def _brackets(text: str) -> str:
    """Without brackets between letters; where a digit or sign stands next to one of a pair, both stay."""
    if "(" not in text and "[" not in text and ")" not in text and "]" not in text:
        return text
    places = [found.start() for found in _BRACKET.finditer(text)]
    left = _beside_letters(text, places)
    right = _beside_letters(text[::-1], [len(text) - 1 - place for place in reversed(places)])[::-1]
    loose = dict(zip(places, map(min, left, right), strict=True))
    opened: list[int] = []
    for place in places:
        if text[place] in "([":
            opened.append(place)
        elif opened and text[opened[-1]] == _OPENING[text[place]]:
            partner = opened.pop()
            loose[place] = loose[partner] = loose[place] and loose[partner]
    kept, last = [], 0
    for place in places:
        if loose[place]:
            kept.append(text[last:place])
            last = place + 1
    return "".join(kept) + text[last:]


_BRACKET = re.compile(r"[()\[\]]")


def _beside_letters(text: str, places: list[int]) -> list[bool]:
    """For each place, whether what stands before it, past punctuation, is a letter or nothing."""
    result, last, letter = [], -1, True
    for place in places:
        seen = place - 1
        while seen > last and (text[seen] in _PASSED or text[seen].isspace()):
            seen -= 1
        if seen > last:
            letter = text[seen].isalpha() or unicodedata.category(text[seen])[0] == "M"
        result.append(letter)
        last = place
    return result


# ... separators

_SOFT_RUN = re.compile(
    "(?<=[^0-9\\s,.\u3001\u3002\u060c-])[\\s,.\u3001\u3002\u060c]+(?=[^\\s,.\u3001\u3002\u060c-])"
    "|(?<=[0-9])[\\s,.\u3001\u3002\u060c]+(?=[^0-9\\s,.\u3001\u3002\u060c-])"
)
_RUN = re.compile(r"[\s,.\u3001\u3002\u060c-]+")


def _separators(text: str) -> str:
    if "-" not in text and text[:1] not in _DECIMAL_STARTS and not _DIGIT.search(text):
        return _RUN.sub("", text)
    return _RUN.sub(_separator, _SOFT_RUN.sub("", text))


def _separator(found: re.Match[str]) -> str:
    run, text = found[0], found.string
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    if before.isdigit() and after.isdigit():
        return _between_digits(run)
    if "-" not in run:
        return run if not before and after and run in _DECIMAL_STARTS else ""
    dashes = "-" * run.count("-")
    return dashes if _dash_counts(run, before, after, text, found) else ""


_DECIMAL_STARTS = (".", ",")


def _between_digits(run: str) -> str:
    marks = "".join(run.split())
    if not marks:
        return " "
    return marks + " " if "." in marks and marks != run else marks


def _dash_counts(run: str, before: str, after: str, text: str, found: re.Match[str]) -> bool:
    """Whether a hyphen that does not stand between two digits is content: a minus, a grade, an end."""
    if after.isdigit():
        joins = run == "-" or (run == " - " and len(_word_before(text, found.start())) == 1)
        return not (before.isalpha() and joins) or _takes_minus(text, found.start())
    if before.isdigit():
        return not (after.isalpha() and run in _JOINING) or is_currency(_word_after(text, found.end()))
    if not before:
        return run[-1] == "-" and bool(after)
    if not after:
        return run[0] == "-"
    if not before.isalpha() or not after.isalpha():
        return _is_mark(before) or _is_mark(after)
    return run[0] == "-" and run[-1].isspace() and _word_before(text, found.start()) in GRADES


_JOINING = ("-", " - ")


def _takes_minus(text: str, end: int) -> bool:
    """Whether a hyphen between the word that ends here and a digit is content: `usd-5`, `1e-5`, `5kg-6kg`."""
    word = _word_before(text, end)
    if is_currency(word):
        return True
    return (word == "e" or word in UNITS) and text[max(0, end - len(word) - 2) : end - len(word)].strip()[-1:].isdigit()


def _is_mark(character: str) -> bool:
    return not character.isalnum() and unicodedata.category(character)[0] != "M"


_WORD_LENGTH = 8


def _word_before(text: str, end: int) -> str:
    piece = text[max(0, end - _WORD_LENGTH) : end]
    start = len(piece)
    while start and piece[start - 1].isalpha():
        start -= 1
    return piece[start:]


def _word_after(text: str, start: int) -> str:
    piece = text[start : start + _WORD_LENGTH]
    end = 0
    while end < len(piece) and piece[end].isalpha():
        end += 1
    return piece[:end]


_NOT_AVAILABLE = re.compile(r"n\s*/\s*a")
_CARET = re.compile(r"(?<=[^\W\d_])\^(?=[0-9])")


def _spellings(text: str) -> str:
    if "/" in text and _NOT_AVAILABLE.fullmatch(text):
        return "na"
    return _CARET.sub("", text) if "^" in text else text


_TEXT_FOLDS = (
    Fold("spelling", "n/a is na, and m^2 is m2.", _spellings),
    Fold("footnotes", "A bracketed number or letter attached to the end of a word is a footnote marker.", _footnotes),
    Fold(
        "numbers",
        "Numbers in text lose groups and idle zeros; versions and outline numbers keep their zeros.",
        _numbers,
    ),
    Fold("quotes", "Double quotes go, except after a digit, where they are a unit, and between two letters.", _quotes),
    Fold("brackets", "Brackets between letters go; next to a digit or sign they are content.", _brackets),
    Fold(
        "separators",
        "Space, comma, period and hyphen go between letters; between digits, and at the ends, they are content.",
        _separators,
    ),
)
