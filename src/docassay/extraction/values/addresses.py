"""Decides which texts are written addresses under `sound/1`: URLs, e-mail addresses, domains, file names and paths."""

from __future__ import annotations

import re
import unicodedata

from docassay.extraction.values.letters import drop_format
from docassay.extraction.values.words import COUNTRY_DOMAINS, FILE_EXTENSIONS, GENERIC_DOMAINS

ADDRESS_SIGN = re.compile(r"[@\\]|/[^\s\d]|\.[^\W\d_]|\.7z")
"""Without any of this, no part of a text is a written address."""


def is_address(token: str) -> bool:
    """Whether a text without white space is a written address; `token` is in small letters."""
    if "@" in token:
        local, _, host = token.rpartition("@")
        return bool(local) and _LABELS.fullmatch(host) is not None
    if "/" in token or "\\" in token or ":" in token:
        return is_path(token) or _URL.match(token) is not None or is_address(_HOST_END.split(token, maxsplit=1)[0])
    return "." in token and _is_host_or_file(token)


def is_path(text: str) -> bool:
    """Whether a text, in which white space may stand, begins as a path or ends as a file in a folder."""
    return _PATH.match(text) is not None or (
        "/" in text and not any(c.isspace() for c in text) and _is_file(text.rpartition("/")[2])
    )


def as_written(text: str) -> str:
    """A written address as it is compared: as it stands, but for case, composition and invisible characters."""
    return unicodedata.normalize("NFC", drop_format(text).casefold())


_URL = re.compile(r"[a-z][a-z0-9+.-]*://.|www\.\w")
_HOST_END = re.compile(r"[/\\:?#]")
_PATH = re.compile(r"[a-z]:[\\/]\S|\\\\\w|~/\S|\.{1,2}/\S|/[\w.-]+/[\w.-]")
_LABELS = re.compile(r"[\w-]+(?:\.[\w-]+)+")


def _is_host_or_file(token: str) -> bool:
    return _is_host(token) or _is_file(token)


def _is_host(token: str) -> bool:
    labels = token.split(".")
    if len(labels) < 2 or not _LABELS.fullmatch(token) or token[: -len(labels[-1])].strip("0123456789.-_") == "":
        return False
    return labels[-1] in GENERIC_DOMAINS or (labels[-1] in COUNTRY_DOMAINS and len(labels[-2]) > 1)


def _is_file(token: str) -> bool:
    name, _, extension = token.rpartition(".")
    return bool(name.strip(".")) and extension in FILE_EXTENSIONS
