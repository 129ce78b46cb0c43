"""Decides which characters are the same letter, digit, dash or quote under `sound/1`, in every script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from docassay.extraction.values.reading import Fold, Trace, apply_folds


class _Table(dict[int, str]):
    """A translation table filled as characters are met, at most one entry per code point."""

    def __init__(self, rule: Callable[[str], str]) -> None:
        self.rule = rule

    def __missing__(self, code: int) -> str:
        self[code] = mapped = self.rule(chr(code))
        return mapped


def drop_format(text: str) -> str:
    """Without format characters (category Cf); those that hold an emoji sequence together stay."""
    if text.isascii() or not _FORMAT.search(text):
        return text
    return _PLAIN_FORMAT.sub("", _LONE_TAGS.sub("", _LONE_JOINER.sub("", text)))


_EMOJI = "\u203c\u2049\u2100-\u27bf\u2900-\u2bff\u3030\u303d\u3297\u3299\ufe0f\U0001f000-\U0001faff"
_LONE_JOINER = re.compile(f"(?<![{_EMOJI}])\u200d|\u200d(?![{_EMOJI}])")
_TAGS = "\U000e0020-\U000e007f"
_LONE_TAGS = re.compile(f"(?<![\U0001f3f4{_TAGS}])[{_TAGS}]+")


_PLAIN_FORMATS = (
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001"
)
_PLAIN_FORMAT = re.compile(f"[{_PLAIN_FORMATS}]+")
_FORMAT = re.compile(f"[\u200d{_TAGS}{_PLAIN_FORMATS}]")


# Characters that are one mark in several shapes

_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d"
_APOSTROPHES = "\u2018\u2019\u201b\u2032\u02bc\u02b9\u00b4`\uff40\uff07\u05f3"
_QUOTES = "\u201c\u201d\u201e\u201f\u2033\uff02\u02ba\u05f4"
_SAME_MARK = (
    dict.fromkeys(_DASHES, "-")
    | dict.fromkeys(_APOSTROPHES, "'")
    | dict.fromkeys(_QUOTES, '"')
    | {"\u201a": ",", "\u2044": "/", "\u066b": ".", "\u066c": ",", "\ufe0e": "", "\ufe0f": ""}
)


def _mark_rule(character: str) -> str:
    if character in _SAME_MARK:
        return _SAME_MARK[character]
    value = unicodedata.decimal(character, None)
    return str(value) if value is not None else character


_MARKS = _Table(_mark_rule)


def _same_marks(text: str) -> str:
    if text.isascii():
        return text.replace("`", "'")
    text = text.translate(_MARKS)
    return _NO_BREAK_GROUPS.sub(_closed_groups, text) if _NO_BREAK.search(text) else text


def _closed_groups(found: re.Match[str]) -> str:
    return _NO_BREAK.sub("'", found[0])


_BREAKS = "[\u00a0\u202f\u2007\u2009]"
_NO_BREAK = re.compile(_BREAKS)
_NO_BREAK_GROUPS = re.compile(
    f"(?<![0-9])(?<![0-9]{_BREAKS})[1-9][0-9]{{0,2}}(?:{_BREAKS}[0-9]{{3}})++(?!{_BREAKS}?[0-9])"
)


# Digits in special shapes: where plain digits would run into their neighbours, a mark keeps them apart

_RAISED = str.maketrans("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b", "0123456789+-")
_LOWERED = str.maketrans("\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089\u208a\u208b", "0123456789+-")
_RAISED_RUN = re.compile("[\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u207a\u207b]+")
_LOWERED_RUN = re.compile("[\u2080-\u208b]+")
_COUNT = re.compile(
    "[\u00bc-\u00be\u2150-\u215f\u2189\u2460-\u249b\u24ea-\u24ff\u2776-\u2793\u3251-\u325f\u32b1-\u32cb\u3358-\u3370"
    "\u33e0-\u33fe\U0001f100-\U0001f10a]"
)
_SPECIAL = re.compile(f"{_RAISED_RUN.pattern}|{_LOWERED_RUN.pattern}|{_COUNT.pattern}")


def _special_digits(text: str) -> str:
    if text.isascii() or not _SPECIAL.search(text):
        return text
    text = _RAISED_RUN.sub(_raised, text)
    text = _LOWERED_RUN.sub(_lowered, text)
    return _COUNT.sub(_count, text)


def _raised(found: re.Match[str]) -> str:
    run, before = found[0].translate(_RAISED), found.string[found.start() - 1 : found.start()]
    signed = run[0] in "+-" and len(run) > 1
    return run if before.isalpha() and not signed else "^" + run


def _lowered(found: re.Match[str]) -> str:
    run, before = found[0].translate(_LOWERED), found.string[found.start() - 1 : found.start()]
    return "_" + run if before.isdigit() else run


def _count(found: re.Match[str]) -> str:
    plain = unicodedata.normalize("NFKC", found[0]).replace("\u2044", "/").strip("()")
    before, after = found.string[found.start() - 1 : found.start()], found.string[found.end() : found.end() + 1]
    apart = before.isnumeric() and plain[:1].isdigit()
    return (" " if apart else "") + plain + (" " if plain[-1:].isdigit() and after.isdecimal() else "")


# Letters


def _compatible(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _small(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text.casefold())


_LATIN_OR_GREEK = "a-z\u00df-\u02af\u1e00-\u1eff\u0370-\u03ff\u1f00-\u1fff"
_CYRILLIC_VOWELS = "\u0430\u0435\u0438\u043e\u0443\u044b\u044d\u044e\u044f\u0456\u0454"
_ACCENTS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff"
_SOME_ACCENT = re.compile(f"[{_ACCENTS}]")
_ACCENTED = re.compile(f"([{_LATIN_OR_GREEK}])[{_ACCENTS}]+")
_STRESSED = re.compile(f"([{_CYRILLIC_VOWELS}])[\u0300\u0301]+|(\u0435)\u0308")
_STROKES = {"ł": "l", "ø": "o", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe"}
_MICRO = re.compile("(?<![\u0370-\u03ff])\u03bc(?=[a-z])")


def _unaccent(text: str) -> str:
    if text.isascii():
        return text
    text = text.translate(_UNACCENTED)
    if _SOME_ACCENT.search(text):
        text = unicodedata.normalize("NFC", _drop_accents(text))
    return _MICRO.sub("u", text) if "\u03bc" in text else text


def _drop_accents(text: str) -> str:
    return _STRESSED.sub(r"\1\2", _ACCENTED.sub(r"\1", text))


def _unaccent_rule(character: str) -> str:
    apart = unicodedata.normalize("NFD", character)
    plain = _drop_accents(apart) if len(apart) > 1 else character
    return _STROKES.get(plain, plain) if len(plain) == 1 else character


_UNACCENTED = _Table(_unaccent_rule)


_MARKS_FOLD = Fold(
    "marks", "Every dash is one dash, every quote one quote, digits of all scripts are digits.", _same_marks
)
_CASE_FOLD = Fold("case", "Capitals become small letters.", _small)
LETTER_FOLDS = (
    Fold("invisible", "Format characters go, except those that hold an emoji sequence together.", drop_format),
    _MARKS_FOLD,
    Fold(
        "special digits",
        "Raised, lowered, circled and fraction digits become plain ones, kept apart from their neighbours.",
        _special_digits,
    ),
    Fold("styles", "Compatibility characters become the plain ones they stand for (NFKC).", _compatible),
    _CASE_FOLD,
    Fold(
        "accents",
        "Accents go from Latin and Greek letters, and from Cyrillic vowels where no other letter results; "
        "strokes and ligatures are spelled plainly, micro is u.",
        _unaccent,
    ),
)
"""From text as written to small plain letters, in order."""

ASCII_FOLDS = (_MARKS_FOLD, _CASE_FOLD)
"""Those of the letter folds that can change ASCII text."""


def fold_letters(text: str, trace: Trace | None) -> str:
    """Text as written to small plain letters.

    Without a trace, characters that fold alike wherever they stand are folded one by one from a table.
    """
    if text.isascii():
        return apply_folds(text, ASCII_FOLDS, trace)
    if trace is None:
        folded = text.translate(_WHOLE)
        if _IN_CONTEXT not in folded:
            return folded
    return apply_folds(text, LETTER_FOLDS, trace)


_IN_CONTEXT = "\uffff"
_JAMO = "[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb\uffa0-\uffdc]"
_NEIGHBOURLY = re.compile("|".join((_SPECIAL.pattern, _NO_BREAK.pattern, _SOME_ACCENT.pattern, _JAMO)))


def _whole_rule(character: str) -> str:
    """What a character folds to, or a mark that its neighbours have a say: marks, formats, special digits, spaces."""
    folded = apply_folds(character, LETTER_FOLDS, None)
    if _FORMAT.search(character) or _NEIGHBOURLY.search(character):
        return _IN_CONTEXT
    if "\u03bc" in unicodedata.normalize("NFKC", character).casefold():
        return _IN_CONTEXT
    return _IN_CONTEXT if any(unicodedata.category(c)[0] == "M" for c in character + folded) else folded


_WHOLE = _Table(_whole_rule)
