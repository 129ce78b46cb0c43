"""Extend: upload, an extraction run to poll, and a strict dialect of JSON Schema in which `id` is reserved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from docassay.providers import dialects
from docassay.providers.contract import CredentialSource, Document, ProviderSpec, Setup
from docassay.providers.dialects import Names, Shape
from docassay.providers.options import option
from docassay.providers.transport import (
    AnswerFailedError,
    Conversation,
    Encoded,
    JobProvider,
    Reading,
    base_url_fault,
    failure,
    member,
    positive,
    read_extraction,
    stated_cost,
)

__all__ = ["PROVIDER", "Extend", "ExtendConfig", "encode"]

KEY = "EXTEND_API_KEY"
WORKSPACE = "EXTEND_WORKSPACE_ID"
RESERVED = frozenset({"id"})
RUN_KEYS = ("extractRun", "processorRun", "run")
WELL = ("processed", "completed")
ENDED = (*WELL, "failed", "cancelled", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendConfig:
    """Options of Extend."""

    array_strategy: str = option("large_array_max_context", help="How long arrays are read.")
    api_version: str = option("2026-02-09", help="Version of the API, sent with every request.")
    base_url: str = option("https://api.extend.ai", help="Address of the API.", check=base_url_fault)
    poll_interval: float = option(5.0, help="Seconds between polls.", check=positive)


class Extend(JobProvider):
    """Extend's extraction API."""

    def __init__(self, setup: Setup) -> None:
        self.config: ExtendConfig = setup.config
        workspace = setup.credentials.get(WORKSPACE)
        headers = {
            "Authorization": f"Bearer {setup.credentials[KEY]}",
            "x-extend-api-version": self.config.api_version,
            **({"x-extend-workspace-id": workspace} if workspace else {}),
        }
        super().__init__(setup, headers=headers)
        self.url = self.config.base_url.rstrip("/")

    def encode(self, schema: Mapping[str, Any]) -> Encoded:
        return encode(schema)

    async def submit(self, talk: Conversation, document: Document, encoded: Encoded) -> str:
        files = {"file": (document.name, document.data, "application/pdf")}
        upload = (await talk.send("upload", "POST", f"{self.url}/files/upload", files=files)).json()
        file_id = member(upload, "file", "id") or member(upload, "id")
        if not isinstance(file_id, str):
            raise AnswerFailedError(f"upload: the answer names no file: {upload}")
        strategy = {"arrayStrategy": {"type": self.config.array_strategy}}
        request = {"file": {"id": file_id}, "config": {"schema": encoded.schema, "advancedOptions": strategy}}
        reply = await talk.send("submit", "POST", f"{self.url}/extract_runs", buys=True, json=request)
        return talk.bought(member(_run(reply.json()), "id"))

    async def collect(self, talk: Conversation, job_id: str) -> Reading:
        url = f"{self.url}/extract_runs/{quote(job_id, safe='')}"
        run = _run(await talk.poll(url, interval=self.config.poll_interval, pending=_pending))
        if _status(run) not in WELL:
            reason = member(run, "failureMessage") or member(run, "failureReason") or member(run, "error")
            raise failure(f"the run ended as {member(run, 'status')}: {reason}", str(reason))
        extraction = read_extraction(member(run, "output", "value"), where="output.value")
        return Reading(extraction, stated_cost(run, "usage.totalCredits", "usage.credits", unit="credits"))


def encode(schema: Mapping[str, Any]) -> Encoded:
    """The schema in Extend's strict dialect, and the way back to reserved names.

    Raises ProviderError for a reference that leads nowhere or into itself.
    """
    encoded, names = _encode(dialects.shape_of(dialects.inline(schema)), nullable=False)
    return Encoded(encoded, lambda extraction: dialects.restore(extraction, names))


def _encode(shape: Shape, *, nullable: bool) -> tuple[dict[str, Any], Names]:
    about = {"description": shape.description} if shape.description else {}
    if shape.kind == "object":
        encoded, names = _object(shape)
        return {**encoded, **about}, names
    if shape.kind == "array":
        items, below = _encode(shape.items or Shape("string"), nullable=False)
        return {"type": "array", "items": items, **about}, Names(items=below)
    kind: object = [shape.kind, "null"] if nullable else shape.kind
    enum = {"enum": [*shape.enum, *([None] if nullable else [])]} if shape.enum else {}
    return {"type": kind, **enum, **about}, Names()


def _object(shape: Shape) -> tuple[dict[str, Any], Names]:
    sent_names = {
        name: dialects.free_name(name, shape.properties) if name in RESERVED else name for name in shape.properties
    }
    encoded = {sent_names[name]: _encode(sub, nullable=True) for name, sub in shape.properties.items()}
    required = [sent_names[name] for name in shape.required if name in sent_names]
    names = Names(
        renamed={sent: name for name, sent in sent_names.items() if sent != name},
        children={name: below for name, (_, below) in encoded.items()},
    )
    properties = {name: sub for name, (sub, _) in encoded.items()}
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}, names


def _run(body: Any) -> Any:
    """The run in an answer, whichever key it comes under."""
    return next((body[key] for key in RUN_KEYS if isinstance(member(body, key), dict)), body)


def _status(run: Any) -> str:
    return str(member(run, "status")).lower()


def _pending(body: Any) -> bool:
    return _status(_run(body)) not in ENDED


PROVIDER = ProviderSpec(
    name="extend",
    summary="Extend document extraction.",
    config=ExtendConfig,
    open=Extend,
    credentials=(
        CredentialSource((KEY,), "from the Extend dashboard"),
        CredentialSource((WORKSPACE,), "for keys of an organisation", required=False, secret=False),
    ),
    concurrency=5,
    cost_unit="credits",
    requires={"httpx": "predict"},
    jobs=True,
)
