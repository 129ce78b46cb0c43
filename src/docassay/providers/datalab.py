"""Datalab: one multipart request submits, one address is polled; optional means absent from `required`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from docassay.providers import dialects, jsontext
from docassay.providers.contract import CredentialSource, Document, ProviderSpec, Setup
from docassay.providers.options import option
from docassay.providers.transport import (
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

__all__ = ["PROVIDER", "Datalab", "DatalabConfig", "encode"]

KEY = "DATALAB_API_KEY"
COSTS = ("cost_breakdown.final_cost_cents", "total_cost")


@dataclass(frozen=True, slots=True, kw_only=True)
class DatalabConfig:
    """Options of Datalab."""

    mode: Literal["fast", "balanced", "accurate"] = option("balanced", help="Extraction mode.")
    base_url: str = option("https://www.datalab.to", help="Address of the API.", check=base_url_fault)
    poll_interval: float = option(5.0, help="Seconds between polls.", check=positive)


class Datalab(JobProvider):
    """Datalab's extraction API."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup, headers={"X-Api-Key": setup.credentials[KEY]})
        self.config: DatalabConfig = setup.config
        self.url = self.config.base_url.rstrip("/") + "/api/v1/extract"

    def encode(self, schema: Mapping[str, Any]) -> Encoded:
        return Encoded(encode(schema))

    async def submit(self, talk: Conversation, document: Document, encoded: Encoded) -> str:
        form = {
            "page_schema": jsontext.dump_bytes(encoded.schema).decode(),
            "extraction_mode": self.config.mode,
            "output_format": "json",
        }
        files = {"file": (document.name, document.data, "application/pdf")}
        reply = await talk.send("submit", "POST", self.url, buys=True, data=form, files=files)
        return talk.bought(member(reply.json(), "request_id"))

    async def collect(self, talk: Conversation, job_id: str) -> Reading:
        url = f"{self.url}/{quote(job_id, safe='')}"
        state = await talk.poll(url, interval=self.config.poll_interval, pending=_pending)
        if member(state, "status") == "error":
            raise failure(f"the job failed: {member(state, 'error')}", str(member(state, "error")))
        cost = stated_cost(state, *COSTS, unit="USD", cents=True)
        if cost is None:  # it can arrive a moment after the answer
            cost = stated_cost(await talk.again(url, "cost"), *COSTS, unit="USD", cents=True)
        return Reading(read_extraction(member(state, "extraction_schema_json"), where="extraction_schema_json"), cost)


def encode(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema in Datalab's dialect: a nullable property is left out of `required` and loses its null."""
    encoded = _encode(schema, schema)
    assert isinstance(encoded, dict)
    return encoded


def _pending(state: Any) -> bool:
    return member(state, "status") not in ("complete", "error")


def _encode(node: Any, root: Mapping[str, Any]) -> Any:
    if not isinstance(node, Mapping):
        return node
    encoded = {k: dialects.map_children(k, v, lambda sub: _encode(sub, root)) for k, v in node.items()}
    properties = node.get("properties")
    if isinstance(node.get("required"), list) and isinstance(properties, Mapping):
        encoded["required"] = [name for name in node["required"] if not _nullable(properties.get(name), root)]
    return _without_null(encoded)


def _nullable(node: Any, root: Mapping[str, Any], seen: tuple[str, ...] = ()) -> bool:
    if not isinstance(node, Mapping):
        return False
    reference = node.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        return _nullable(dialects.resolve(root, reference), root, (*seen, reference))
    return "null" in dialects.types_of(node) or any(_nullable(branch, root, seen) for branch in dialects.branches(node))


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    """`node` that no longer offers null beside something else; already so below."""
    node = dict(node)
    if isinstance(node.get("enum"), list) and any(member is not None for member in node["enum"]):
        node["enum"] = [member for member in node["enum"] if member is not None]
    if isinstance(node.get("type"), list):
        node = _one_type(node)
    for key in ("anyOf", "oneOf"):
        if isinstance(node.get(key), list):
            node = _without_null_branch(node, key)
    return node


def _one_type(node: dict[str, Any]) -> dict[str, Any]:
    kinds = [kind for kind in node["type"] if kind != "null"] or ["null"]
    if len(kinds) == 1:
        return {**node, "type": kinds[0]}
    rest = {key: value for key, value in node.items() if key != "type"}
    alternatives = [{"type": kind} for kind in kinds]
    return {**rest, "allOf": [{"anyOf": alternatives}]} if "anyOf" in rest else {**rest, "anyOf": alternatives}


def _without_null_branch(node: dict[str, Any], key: str) -> dict[str, Any]:
    kept = [branch for branch in node[key] if not (isinstance(branch, Mapping) and dialects.is_null(branch))]
    rest = {name: value for name, value in node.items() if name != key}
    if len(kept) == 1 and isinstance(kept[0], Mapping) and not set(kept[0]) & set(rest) - {"description", "title"}:
        return {**kept[0], **rest}
    return {**rest, key: kept or node[key]}


PROVIDER = ProviderSpec(
    name="datalab",
    summary="Datalab document extraction.",
    config=DatalabConfig,
    open=Datalab,
    credentials=(CredentialSource((KEY,), "from the Datalab dashboard"),),
    concurrency=10,
    cost_unit="USD",
    requires={"httpx": "predict"},
    jobs=True,
)
