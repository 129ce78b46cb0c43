"""Decides what two equal things share: the SHA-256 of bytes, of a file, and of a JSON value's canonical text.

The canonical text of a value is its compact JSON: keys sorted by code point, `,` and `:` without spaces, non-ASCII kept
as it is, escapes only for `"`, `\\` and controls below U+0020, floats as Python prints them (shortest text that reads
back, `1.0`, `1e+16`, `-0.0`), integers in full. So `12` and `12.0` are equal numbers with different digests.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from docassay.errors import DocumentError

__all__ = ["canonical_json", "digest_bytes", "digest_file", "digest_object"]


def canonical_json(value: object) -> str:
    """The canonical JSON text of `value`.

    Raises DocumentError for what has no canonical text: NaN or infinity, a lone surrogate, nesting too deep to write,
    or an object that is not JSON.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DocumentError(f"a lone surrogate (U+{ord(error.object[error.start]):04X}) has no UTF-8 form") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise DocumentError(f"the value has no canonical JSON text: {error}") from error
    return text


def digest_object(value: object) -> str:
    """SHA-256 (lower-case hex) of the UTF-8 of the canonical text of a JSON value; raises as `canonical_json` does."""
    return digest_bytes(canonical_json(value).encode("utf-8"))


def digest_bytes(data: bytes) -> str:
    """SHA-256 (lower-case hex) of `data`."""
    return hashlib.sha256(data).hexdigest()


def digest_file(path: Path | str) -> str:
    """SHA-256 (lower-case hex) of a file's bytes, read in pieces. Raises OSError if it cannot be read."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
