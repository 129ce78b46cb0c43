"""Decides how foreign text (ids, values, reasons) is made harmless and short for each place where it is shown."""

from __future__ import annotations

import re
import unicodedata

_VISIBLE = {"\t": "⇥", "\n": "⏎", "\r": "␍"}
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|~#&$])")


def visible(value: str) -> str:
    """Text with every control or direction mark as something that can be seen and acts on nothing around it."""
    if value.isprintable() and not any(c in _BIDI for c in value):
        return value
    return "".join(_shown(character) for character in value)


def one_line(value: str) -> str:
    """Visible text on one line without backquotes, as it stands in a code span."""
    return visible(value).replace("`", "'")


def shortened(value: str, limit: int) -> str:
    """At most `limit` characters, the cut said: `abc… (+1,234 characters)`."""
    if len(value) <= limit:
        return value
    return f"{value[:limit]}… (+{len(value) - limit:,} characters)"


def markdown(value: str) -> str:
    """Text in a Markdown table or paragraph, inert: no markup, no HTML, no mention, one line."""
    return _MARKDOWN.sub(r"\\\1", visible(value)).replace("@", "@\u200b")


def xml(value: str) -> str:
    """Text that XML 1.0 can carry; what it cannot is shown, not dropped."""
    return "".join(c if _xml_allows(c) else _shown(c) for c in value)


def _shown(character: str) -> str:
    if character in _VISIBLE:
        return _VISIBLE[character]
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if character in _BIDI or unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return character if _joins(character) else f"⟨U+{code:04X}⟩"
    return character


def _joins(character: str) -> bool:
    """Format characters that belong to words and emoji: joiners, variation and tag characters."""
    return character in "\u200c\u200d\u00ad" or 0xE0020 <= ord(character) <= 0xE007F


def _xml_allows(character: str) -> bool:
    code = ord(character)
    return character in "\t\n\r" or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
