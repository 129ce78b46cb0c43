"""Azure AI Content Understanding: one analyzer per schema, made once; documents go to it as bytes."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from docassay.errors import ProviderError
from docassay.providers import dialects, jsontext
from docassay.providers.contract import CredentialSource, Document, ProviderSpec, Setup
from docassay.providers.dialects import Names, Shape
from docassay.providers.options import option
from docassay.providers.transport import (
    AnswerFailedError,
    Conversation,
    Encoded,
    JobProvider,
    Reading,
    Reply,
    base_url_fault,
    failure,
    member,
    positive,
    read_extraction,
)

__all__ = ["PROVIDER", "AzureCu", "AzureCuConfig", "encode", "read_fields"]

KEY = "AZURE_CU_KEY"
BASE_ANALYZER = "prebuilt-documentAnalyzer"
WELL = ("succeeded", "completed")
ENDED = (*WELL, "failed", "cancelled", "canceled")
MAKING = ("creating", "notstarted", "running")
WRAPPER = "items"
VALUE_KEYS = ("valueString", "valueNumber", "valueInteger", "valueBoolean", "valueDate", "content")


@dataclass(frozen=True, slots=True, kw_only=True)
class AzureCuConfig:
    """Options of Azure AI Content Understanding."""

    endpoint: str = option(
        help="Address of the resource: https://<resource>.cognitiveservices.azure.com", check=base_url_fault
    )
    completion_model: str = option("gpt-4.1-mini", help="Model that completes the fields.")
    api_version: str = option("2025-05-01-preview", help="Version of the API, sent with every request.")
    poll_interval: float = option(3.0, help="Seconds between polls.", check=positive)


class AzureCu(JobProvider):
    """Azure AI Content Understanding. A job's id is the address of its operation."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup, headers={"Ocp-Apim-Subscription-Key": setup.credentials[KEY]})
        self.config: AzureCuConfig = setup.config
        self.url = self.config.endpoint.rstrip("/")
        self._ready: set[str] = set()
        self._making: dict[str, asyncio.Lock] = {}

    def encode(self, schema: Mapping[str, Any]) -> Encoded:
        return encode(schema)

    async def submit(self, talk: Conversation, document: Document, encoded: Encoded) -> str:
        name = await self._analyzer(talk, encoded)
        reply = await talk.send(
            "submit",
            "POST",
            self._address(f"{name}:analyze"),
            buys=True,
            content=document.data,
            headers={"Content-Type": "application/octet-stream"},
        )
        return talk.bought(self._operation(reply))

    async def collect(self, talk: Conversation, job_id: str) -> Reading:
        self._check_origin(job_id)
        state = await talk.poll(job_id, interval=self.config.poll_interval, pending=_pending)
        if _status(state) not in WELL:
            raise failure(f"the analysis ended as {member(state, 'status')}: {member(state, 'error')}", str(state))
        contents = member(state, "result", "contents")
        fields = member(contents[0], "fields") if isinstance(contents, list) and contents else None
        if not isinstance(fields, Mapping):
            raise AnswerFailedError("the job ended well, but result.contents[0].fields is empty")
        return Reading(read_extraction(read_fields(fields), where="result.contents[0].fields"))

    async def _analyzer(self, talk: Conversation, encoded: Encoded) -> str:
        """The name of the analyzer for this schema, which exists and is ready when this returns."""
        body: dict[str, object] = {
            "baseAnalyzerId": BASE_ANALYZER,
            "config": {"returnDetails": False, "completion": self.config.completion_model},
            "fieldSchema": {"fields": encoded.schema},
        }
        key = jsontext.dump_bytes([self.config.api_version, body])
        name = f"docassay-{hashlib.sha256(key).hexdigest()[:32]}"
        async with self._making.setdefault(name, asyncio.Lock()):
            if name not in self._ready:
                await self._make(talk, name, body)
                self._ready.add(name)
        return name

    async def _make(self, talk: Conversation, name: str, body: dict[str, object]) -> None:
        reply = await talk.send("analyzer", "PUT", self._address(name), accept=frozenset({409}), json=body)
        exists = reply.status == 409
        url = self._address(name) if exists else self._operation(reply)
        state = await talk.poll(
            url, interval=self.config.poll_interval, pending=_being_made if exists else _pending, step="analyzer-poll"
        )
        if _status(state) in ("failed", "cancelled", "canceled"):
            raise failure(f"the analyzer could not be made: {member(state, 'error')}", str(state))

    def _address(self, tail: str) -> str:
        return f"{self.url}/contentunderstanding/analyzers/{tail}?api-version={self.config.api_version}"

    def _operation(self, reply: Reply) -> str:
        location = reply.headers.get("operation-location")
        if not location:
            raise AnswerFailedError("the answer has no Operation-Location header")
        self._check_origin(location)
        return location

    def _check_origin(self, url: str) -> None:
        """The key goes to the endpoint and nowhere else, whatever an answer says."""
        if urlsplit(url)[:2] != urlsplit(self.url)[:2]:
            raise AnswerFailedError(f"Operation-Location leads away from the endpoint: {url}")


def encode(schema: Mapping[str, Any]) -> Encoded:
    """The schema as Azure's fields, and the way back. What a field type cannot say is said in its description.

    Raises ProviderError for references that cannot be written out, and for a root without properties.
    """
    shape = dialects.shape_of(dialects.inline(schema))
    if shape.kind != "object" or not shape.properties:
        raise ProviderError("the schema cannot be sent: an analyzer needs an object with properties at the root")
    fields, names = _fields(shape)
    return Encoded(fields, lambda extraction: dialects.restore(extraction, names))


def read_fields(fields: Mapping[str, Any]) -> dict[str, object]:
    """Azure's typed values as plain JSON."""
    return {name: _read(value) for name, value in fields.items()}


def _read(value: Any) -> object:
    if isinstance(member(value, "valueObject"), Mapping):
        return read_fields(value["valueObject"])
    if isinstance(member(value, "valueArray"), list):
        return [_read(item) for item in value["valueArray"]]
    return next((value[key] for key in VALUE_KEYS if member(value, key) is not None), None)


def _fields(shape: Shape) -> tuple[dict[str, Any], Names]:
    encoded = {name: _encode(sub) for name, sub in shape.properties.items()}
    names = Names(children={name: below for name, (_, below) in encoded.items()})
    return {name: sub for name, (sub, _) in encoded.items()}, names


def _encode(shape: Shape) -> tuple[dict[str, Any], Names]:
    said = _description(shape)
    about = {"description": said} if said else {}
    if shape.kind == "object":
        properties, names = _fields(shape)
        return {"type": "object", "properties": properties, **about}, names
    if shape.kind == "array":
        items, below = _items(shape.items or Shape("string"))
        return {"type": "array", "items": items, **about}, Names(items=below)
    return {"type": "number" if shape.kind == "integer" else shape.kind, **about}, Names()


def _items(shape: Shape) -> tuple[dict[str, Any], Names]:
    """Items are objects or strings; an array in an array travels inside an object."""
    if shape.kind == "object":
        return _encode(shape)
    if shape.kind == "array":
        inner, below = _encode(shape)
        return {"type": "object", "properties": {WRAPPER: inner}}, Names(items=below.items, wrapped=WRAPPER)
    said = _description(shape)
    return {"type": "string", **({"description": said} if said else {})}, Names()


def _description(shape: Shape) -> str:
    allowed = "One of: " + ", ".join(str(value) for value in shape.enum) + "." if shape.enum else ""
    return " ".join(part for part in (shape.description, allowed) if part)


def _status(state: Any) -> str:
    return str(member(state, "status")).lower()


def _pending(state: Any) -> bool:
    return _status(state) not in ENDED


def _being_made(analyzer: Any) -> bool:
    return _status(analyzer) in MAKING


PROVIDER = ProviderSpec(
    name="azure-cu",
    summary="Azure AI Content Understanding.",
    config=AzureCuConfig,
    open=AzureCu,
    credentials=(CredentialSource((KEY,), "of the Azure resource"),),
    concurrency=3,
    requires={"httpx": "predict"},
    jobs=True,
)
