"""Mistral OCR with a document annotation: one call, the PDF inside it, nothing to poll."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from docassay.providers.contract import CredentialSource, ProviderSpec, Setup
from docassay.providers.options import option
from docassay.providers.transport import (
    Conversation,
    Encoded,
    HttpProvider,
    Reading,
    base_url_fault,
    member,
    read_extraction,
    stated_cost,
)

__all__ = ["PROVIDER", "Mistral", "MistralConfig"]

KEY = "MISTRAL_API_KEY"


@dataclass(frozen=True, slots=True, kw_only=True)
class MistralConfig:
    """Options of Mistral."""

    model: str = option("mistral-ocr-latest", help="Model that reads and annotates the document.")
    base_url: str = option("https://api.mistral.ai", help="Address of the API.", check=base_url_fault)


class Mistral(HttpProvider):
    """Mistral's OCR API."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup, headers={"Authorization": f"Bearer {setup.credentials[KEY]}"})
        self.config: MistralConfig = setup.config
        self.url = self.config.base_url.rstrip("/") + "/v1/ocr"

    async def answer(self, talk: Conversation, encoded: Encoded) -> Reading:
        request = self._request(talk.task.document.data, encoded.schema)
        body = (await talk.send("submit", "POST", self.url, buys=True, json=request)).json()
        extraction = read_extraction(member(body, "document_annotation"), where="document_annotation")
        return Reading(extraction, stated_cost(body, "usage_info.cost", unit="USD"))

    def _request(self, data: bytes, schema: object) -> dict[str, object]:
        encoded = base64.b64encode(data).decode()
        form = {"name": "extraction", "schema": schema, "strict": False}
        return {
            "model": self.config.model,
            "document": {"type": "document_url", "document_url": f"data:application/pdf;base64,{encoded}"},
            "document_annotation_format": {"type": "json_schema", "json_schema": form},
        }


PROVIDER = ProviderSpec(
    name="mistral",
    summary="Mistral OCR with document annotation.",
    config=MistralConfig,
    open=Mistral,
    credentials=(CredentialSource((KEY,), "from the Mistral console"),),
    concurrency=5,
    cost_unit="USD",
    requires={"httpx": "predict"},
)
