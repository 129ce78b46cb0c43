"""What is taken off a document before it is scored: provenance envelopes and sidecar fields.

Source: the rules published with omni-extract-bench 0.1.7; `sound/1` asks the schema first and treats both sides alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from docassay.extraction.schema import SchemaNode

ENVELOPE_KEYS: Final = frozenset(
    (
        "citations",
        "citation",
        "confidence",
        "score",
        "reasoning",
        "evidence",
        "provenance",
        "source",
        "sources",
        "page",
        "pages",
        "bbox",
        "span",
        "spans",
        "offset",
        "offsets",
        "extraction_status",
        "status",
        "meta",
    )
)
SIDECAR_ENDINGS: Final = ("_citations", "_meta")


@dataclass(frozen=True, slots=True)
class Preparation:
    """How one metric prepares documents, and how it names and prices what it meets."""

    asks_schema: bool  # declared fields are never envelopes or sidecars
    sidecars_on_both_sides: bool
    names_skipped_by_field: bool  # `r[*].m`, the same whatever the order; else each document's own `r[0].m`
    prices_by_position: bool  # below an ordered array inside an order-free one, pricing goes by position

    def unwrap(self, value: object, schema: SchemaNode | None) -> object:
        """The value inside any number of provenance envelopes."""
        while isinstance(value, dict) and _is_envelope(value) and not self._declared(value, schema):
            value = value["value"]
        return value

    def sidecar_base(self, schema: SchemaNode | None, key: str) -> str | None:
        """The key that `key` is a sidecar of, should that key stand beside it; None if it is none."""
        for ending in SIDECAR_ENDINGS:
            if key.endswith(ending) and not (self.asks_schema and schema is not None and schema.child(key) is not None):
                return key[: -len(ending)]
        return None

    def _declared(self, value: dict[str, object], schema: SchemaNode | None) -> bool:
        if not self.asks_schema or schema is None:
            return False
        return schema.skips_undeclared or any(schema.child(key) is not None for key in value)


def _is_envelope(value: dict[str, object]) -> bool:
    return "value" in value and len(value) > 1 and all(key in ENVELOPE_KEYS for key in value if key != "value")
