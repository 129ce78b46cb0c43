"""Reducto: upload, an asynchronous extraction, a job to poll; several passes are read as one answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

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
    stated_cost,
)

__all__ = ["PROVIDER", "Reducto", "ReductoConfig", "merge_passes"]

KEY = "REDUCTO_API_KEY"
ENDED = ("completed", "failed", "error", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReductoConfig:
    """Options of Reducto."""

    deep_extract_model: str = option("v2", help="Model of deep extraction.")
    agentic_table_mode: Literal["max", "default"] = option("max", help="How hard tables are worked on.")
    system_prompt: str = option("", help="Instructions sent with the schema; none when empty.")
    base_url: str = option("https://platform.reducto.ai", help="Address of the API.", check=base_url_fault)
    poll_interval: float = option(5.0, help="Seconds between polls.", check=positive)


class Reducto(JobProvider):
    """Reducto's extraction API."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup, headers={"Authorization": f"Bearer {setup.credentials[KEY]}"})
        self.config: ReductoConfig = setup.config
        self.url = self.config.base_url.rstrip("/")

    async def submit(self, talk: Conversation, document: Document, encoded: Encoded) -> str:
        files = {"file": (document.name, document.data, "application/pdf")}
        upload = (await talk.send("upload", "POST", f"{self.url}/upload", files=files)).json()
        file_id = member(upload, "file_id")
        if not isinstance(file_id, str):
            raise AnswerFailedError(f"upload: the answer names no file: {upload}")
        reply = await talk.send(
            "submit", "POST", f"{self.url}/extract_async", buys=True, json=self._request(file_id, encoded.schema)
        )
        return talk.bought(member(reply.json(), "job_id"))

    async def collect(self, talk: Conversation, job_id: str) -> Reading:
        url = f"{self.url}/job/{quote(job_id, safe='')}"
        state = await talk.poll(url, interval=self.config.poll_interval, pending=_pending)
        if str(member(state, "status")).lower() != "completed":
            reason = member(state, "reason") or member(state, "error") or member(state, "result")
            raise failure(f"the job ended as {member(state, 'status')}: {reason}", str(reason))
        found = member(state, "result", "result")
        extraction = read_extraction(merge_passes(found) if isinstance(found, list) else found, where="result.result")
        return Reading(extraction, stated_cost(state, "result.usage.credits", unit="credits"))

    def _request(self, file_id: str, schema: object) -> dict[str, object]:
        prompt = {"system_prompt": self.config.system_prompt} if self.config.system_prompt else {}
        return {
            "async": {"priority": False},
            "input": file_id,
            "parsing": {"enhance": {"agentic": [{"scope": "table", "mode": self.config.agentic_table_mode}]}},
            "instructions": {"schema": schema, **prompt},
            "settings": {
                "deep_extract": True,
                "citations": {"enabled": False},
                "alpha": {"deep_extract_model": self.config.deep_extract_model},
            },
        }


def merge_passes(passes: list[object]) -> object:
    """One answer from one object per pass, or None where there is none.

    A later pass fills what earlier ones left unstated and adds rows that they do not have; it overrides nothing.
    """
    merged: object = None
    for found in passes:
        merged = _fill(merged, found)
    return merged


def _fill(first: object, later: object) -> object:
    if isinstance(first, dict) and isinstance(later, dict):
        filled = {key: _fill(value, later.get(key)) for key, value in first.items()}
        return {**filled, **{key: value for key, value in later.items() if key not in first}}
    if isinstance(first, list) and isinstance(later, list):
        return first + [row for row in later if row not in first]
    return later if first is None or first == "" else first


def _pending(state: Any) -> bool:
    return str(member(state, "status")).lower() not in ENDED


PROVIDER = ProviderSpec(
    name="reducto",
    summary="Reducto deep extraction.",
    config=ReductoConfig,
    open=Reducto,
    credentials=(CredentialSource((KEY,), "from Reducto Studio"),),
    concurrency=3,
    cost_unit="credits",
    requires={"httpx": "predict"},
    jobs=True,
)
