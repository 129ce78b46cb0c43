"""What a request carries, however the vendor's API packs it."""

from __future__ import annotations

import base64
import email.parser
import email.policy
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from docassay.providers.fake.script import FakeDocument

__all__ = ["Form", "Seen", "chat_file", "dig"]

SCHEMA_PATHS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("reducto", "submit"): ("instructions", "schema"),
    ("extend", "submit"): ("config", "schema"),
    ("llamaextract", "submit"): ("configuration", "data_schema"),
    ("mistral", "submit"): ("document_annotation_format", "json_schema", "schema"),
    ("azure-cu", "analyzer"): ("fieldSchema", "fields"),
    ("openai", "submit"): ("response_format", "json_schema", "schema"),
}
"""Where a vendor's step carries the schema in its JSON body."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One request that the server got."""

    vendor: str
    step: str
    method: str
    path: str
    key: str
    """The credential that was sent."""
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    at: float
    """Seconds on the monotonic clock."""
    schema: Any = field(default=None, repr=False)
    """The schema in the request, parsed, where it carries one."""

    def json(self) -> Any:
        """The request's JSON body."""
        return json.loads(self.body)


class Form:
    """A request's content."""

    def __init__(self, request: Seen, argument: str = "") -> None:
        self.request = request
        self.argument = argument
        """What the address names: a job, a file, an analyzer."""

    def parts(self) -> dict[str, tuple[str, bytes]]:
        """A multipart body: field -> (file name, content)."""
        kind = self.request.headers.get("content-type", "")
        if not kind.startswith("multipart/form-data"):
            return {}
        head = f"Content-Type: {kind}\r\n\r\n".encode()
        message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + self.request.body)
        found = {}
        for part in message.iter_parts():
            name = part.get_param("name", header="content-disposition")
            data = part.get_payload(decode=True)
            found[str(name)] = (part.get_filename() or "", data if isinstance(data, bytes) else b"")
        return found

    def json(self) -> Any:
        """A JSON body, else an empty object."""
        if not self.request.headers.get("content-type", "").startswith("application/json"):
            return {}
        try:
            return json.loads(self.request.body)
        except ValueError:
            return {}

    def uploaded(self) -> FakeDocument:
        """The file in a multipart body."""
        name, data = self.parts().get("file", ("", b""))
        return FakeDocument(self.request.vendor, name, data)

    def schema(self) -> Any:
        """The schema that the request carries, wherever the vendor's API puts it."""
        vendor, step = self.request.vendor, self.request.step
        if (vendor, step) == ("datalab", "submit"):
            return json.loads(self.parts().get("page_schema", ("", b"null"))[1])
        path = SCHEMA_PATHS.get((vendor, step))
        return None if path is None else dig(self.json(), *path)

    def file_id(self) -> object:
        """The uploaded file that the request is about; None where it names none."""
        body = self.json()
        return (body.get("input") or body.get("file_input") or dig(body, "file", "id")) if body else None

    def file_name(self) -> str:
        """The file name that the request itself states; empty where it states none."""
        return chat_file(self.json())[0] if self.request.vendor == "openai" else self.uploaded().name


def chat_file(body: Any) -> tuple[str, bytes]:
    """The name and content of the file part in a chat request."""
    for message in body.get("messages") or ():
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            if part.get("type") == "file":
                encoded = str(dig(part, "file", "file_data")).partition(",")[2]
                return str(dig(part, "file", "filename")), base64.b64decode(encoded)
    return "", b""


def dig(value: Any, *path: str) -> Any:
    """What lies under `path` in nested objects, or None."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
