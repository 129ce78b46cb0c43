"""LlamaExtract: the first project, a file, a job to poll; references are written out and unions kept."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from docassay.providers import dialects
from docassay.providers.contract import CredentialSource, Document, ProviderSpec, Setup
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
)

__all__ = ["PROVIDER", "LlamaExtract", "LlamaExtractConfig", "encode"]

KEYS = ("LLAMA_CLOUD_API_KEY", "LLAMAPARSE_API_KEY")
WELL = ("success", "completed")
ENDED = (*WELL, "failed", "error", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaExtractConfig:
    """Options of LlamaExtract."""

    tier: Literal["cost_effective", "agentic", "agentic_plus"] = option("agentic_plus", help="Extraction tier.")
    base_url: str = option("https://api.cloud.llamaindex.ai", help="Address of the API.", check=base_url_fault)
    poll_interval: float = option(5.0, help="Seconds between polls.", check=positive)


class LlamaExtract(JobProvider):
    """The extraction API of LlamaCloud."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup, headers={"Authorization": f"Bearer {setup.credentials.get(*KEYS)}"})
        self.config: LlamaExtractConfig = setup.config
        self.url = self.config.base_url.rstrip("/")
        self._project: str | None = None
        self._asking = asyncio.Lock()

    def encode(self, schema: Mapping[str, Any]) -> Encoded:
        return Encoded(encode(schema))

    async def submit(self, talk: Conversation, document: Document, encoded: Encoded) -> str:
        project = await self._project_id(talk)
        files = {"file": (document.name, document.data, "application/pdf")}
        form = {"purpose": "extract"}
        upload = (await talk.send("upload", "POST", f"{self.url}/api/v1/beta/files", data=form, files=files)).json()
        if not isinstance(member(upload, "id"), str):
            raise AnswerFailedError(f"upload: the answer names no file: {upload}")
        configuration = {"tier": self.config.tier, "extraction_target": "per_doc", "data_schema": encoded.schema}
        request = {"file_input": upload["id"], "configuration": configuration}
        reply = await talk.send(
            "submit", "POST", f"{self.url}/api/v2/extract", buys=True, params={"project_id": project}, json=request
        )
        body = reply.json()
        return talk.bought(member(body, "id") or member(body, "job_id"))

    async def collect(self, talk: Conversation, job_id: str) -> Reading:
        project = quote(await self._project_id(talk), safe="")
        url = f"{self.url}/api/v2/extract/{quote(job_id, safe='')}?project_id={project}&expand=metadata"
        state = await talk.poll(url, interval=self.config.poll_interval, pending=_pending)
        if _status(state) not in WELL:
            reason = member(state, "error_message")
            raise failure(f"the job ended as {member(state, 'status')}: {reason}", str(reason))
        keys = ("extract_result", "data", "result")
        found = next((state[key] for key in keys if member(state, key) is not None), None)
        return Reading(read_extraction(found, where="extract_result"))

    async def _project_id(self, talk: Conversation) -> str:
        """The account's first project; asked for once."""
        async with self._asking:
            if self._project is None:
                projects = (await talk.send("projects", "GET", f"{self.url}/api/v1/projects")).json()
                found = member(projects[0], "id") if isinstance(projects, list) and projects else None
                if not isinstance(found, str):
                    raise AnswerFailedError("projects: the account has no project")
                self._project = found
            return self._project


def encode(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema in LlamaExtract's dialect. Raises ProviderError for a reference that leads nowhere or into itself."""
    encoded = dialects.map_schema(dialects.inline(schema), _encode)
    assert isinstance(encoded, dict)
    return encoded


def _encode(node: dict[str, Any]) -> dict[str, Any]:
    node = {key: value for key, value in node.items() if not key.startswith("$")}
    if isinstance(node.get("additionalProperties"), Mapping):
        node["additionalProperties"] = True
    if isinstance(node.get("enum"), list) and "type" not in node:
        kinds = dialects.types_of(node)
        node["type"] = kinds[0] if len(kinds) == 1 else list(kinds)
    return node


def _status(state: Any) -> str:
    return str(member(state, "status")).lower()


def _pending(state: Any) -> bool:
    return _status(state) not in ENDED


PROVIDER = ProviderSpec(
    name="llamaextract",
    summary="LlamaExtract of LlamaCloud.",
    config=LlamaExtractConfig,
    open=LlamaExtract,
    credentials=(CredentialSource(KEYS, "from the LlamaCloud dashboard"),),
    concurrency=3,
    requires={"httpx": "predict"},
    jobs=True,
)
