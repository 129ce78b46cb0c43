"""Decides which marks of a text are content under `sound/1`: separators, brackets, quotes, footnotes, numbers."""

from __future__ import annotations

import re
import unicodedata

from docassay.extraction.values.addresses import ADDRESS_SIGN, as_written, is_address
from docassay.extraction.values.letters import fold_letters
from docassay.extraction.values.numbers import read_core
from docassay.extraction.values.quantities import is_currency
from docassay.extraction.values.reading import Fold, Trace, apply_folds, note
from docassay.extraction.values.words import GRADES, NUMBERED_THINGS, UNITS


def fold_text(text: str, plain: str, trace: Trace | None) -> str:
    """What a text that states no number, date or amount is compared as.

    `text` is as written, without its ends; `plain` is the same with its letters folded.
    """
    if ADDRESS_SIGN.search(text):
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
    note(trace, "nothing left", key, whole, "The rules leave nothing, so the text itself is compared.")
    return whole


_STRUCTURE = re.compile(r"[0-9\[\]()\"'/^-]|\A[.,]")
"""What any of the text folds but the plain removal of separators could meet."""


def _split_addresses(text: str) -> list[str] | None:
    """Pieces of text at even positions, the written addresses between them at odd ones; None without any."""
    pieces, rest = [], 0
    for token in _WORD.finditer(text):
        word = as_written(token[0]) if ADDRESS_SIGN.search(token[0]) else ""
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
    note(
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


_DIGIT = re.compile("[0-9]")
