"""What tests of providers share: how one document is asked of one vendor over a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from docassay.providers.asking import extract
from docassay.providers.contract import Budget, Document, ExtractionResult, ExtractionTask, RetryPolicy
from docassay.providers.fake import KEYS, FakeServer
from docassay.providers.registry import configure, open_provider

KEY = "key-4711-never-written"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": ["string", "null"], "default": "X"},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"price": {"type": "number"}}}},
    },
    "required": ["id"],
}
QUICK = RetryPolicy(waits=(0.02, 0.04, 0.06))

Ask = Callable[..., ExtractionResult]


@pytest.fixture
def ask() -> Ask:
    """Ask one vendor, served by a fake, about one document."""

    def asked(
        fake: FakeServer,
        vendor: str,
        *,
        seconds: float = 20.0,
        retry: RetryPolicy = QUICK,
        schema: Mapping[str, Any] = SCHEMA,
        options: Mapping[str, object] | None = None,
        job_id: str | None = None,
        on_job: Callable[[str], None] = lambda job_id: None,
        data: bytes = b"%PDF-1.4 one",
        environment: Mapping[str, str] | None = None,
    ) -> ExtractionResult:
        async def work() -> ExtractionResult:
            configured = configure(vendor, {**fake.options(vendor), **(options or {})})
            provider, credentials = open_provider(
                configured, environment=environment or {KEYS[vendor]: KEY}, retry=retry
            )
            document = Document("doc-1", "one.pdf", data, schema)
            try:
                return await extract(provider, ExtractionTask(document, Budget(seconds), job_id, on_job), credentials)
            finally:
                await provider.aclose()

        return asyncio.run(work())

    return asked
