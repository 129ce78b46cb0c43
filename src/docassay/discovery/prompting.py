"""Decides what a judge is told: the prompt files by version, their digests, and how data is fenced off in them.

Data goes as JSON between `<data>` and `</data>`, with every `<` and `>` in it escaped as JSON allows: no text of a
corpus or a submission can close the fence, open another, or hold a control token of a chat template.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from importlib import resources

from docassay.core.digest import digest_object

__all__ = ["Prompt", "as_data", "from_data", "prompt_digests", "prompt_text"]


class Prompt(StrEnum):
    """Every prompt file; the version is part of the name."""

    BLIND_CHECK = "blind_check.v1"
    BLIND_REPAIR = "blind_repair.v1"
    ASSESSMENT = "assessment.v1"
    ASSESSMENT_AUDITED = "assessment_audited.v1"
    ASSESSMENT_DISCOVERY = "assessment_discovery.v1"
    ASSESSMENT_ANSWER = "assessment_answer.v1"
    ASSESSMENT_REPAIR = "assessment_repair.v1"
    REFERENCE_MATCH = "reference_match.v1"


@cache
def prompt_text(prompt: Prompt) -> str:
    """A prompt's text, as it stands in its file."""
    return resources.files("docassay.discovery").joinpath("prompts", f"{prompt.value}.md").read_text(encoding="utf-8")


def prompt_digests(prompts: Iterable[Prompt] = Prompt) -> dict[str, str]:
    """Prompt name → digest of its text: part of every judge configuration."""
    return {prompt.value: digest_object(prompt_text(prompt)) for prompt in prompts}


def as_data(payload: object) -> str:
    """A user message that holds the payload as fenced data and nothing else."""
    text = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return "<data>\n" + text.replace("<", "\\u003c").replace(">", "\\u003e") + "\n</data>"


def from_data(message: str) -> object:
    """The payload of such a message; for tests and offline judges."""
    body = message.removeprefix("<data>\n").removesuffix("\n</data>")
    value: object = json.loads(body)
    return value
