"""`docassay extract providers`: what there is, where its key comes from, whether it is set, every option."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from docassay.providers.registry import BUILT_IN


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return subprocess.run(
        [sys.executable, "-m", "docassay", "extract", "providers", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**kept, "COLUMNS": "160", **variables},
    )


def test_all_providers_are_listed_with_their_keys() -> None:
    done = run(MISTRAL_API_KEY="key-4711")
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert done.returncode == 0
    assert {*BUILT_IN, "org/model"} <= set(lines)
    assert "MISTRAL_API_KEY" in lines["mistral"]
    assert " yes " in lines["mistral"]
    assert " no " in lines["datalab"]
    assert "none needed" in lines["baseline"]
    assert "key-4711" not in done.stdout + done.stderr


def test_one_provider_with_every_option() -> None:
    shown = run("azure-cu").stdout
    for text in (
        "AZURE_CU_KEY (not set)",
        "endpoint",
        "(required)",
        "gpt-4.1-mini",
        "poll_interval",
        "Documents at once: 3",
    ):
        assert text in shown
    described = json.loads(run("azure-cu", "--json").stdout)
    assert [option["name"] for option in described["options"]] == [
        "endpoint",
        "completion_model",
        "api_version",
        "poll_interval",
    ]


def test_a_model_by_its_id() -> None:
    assert "max_output_tokens" in run("openai/gpt-5").stdout


def test_an_unknown_one_is_an_error() -> None:
    done = run("datalb")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean 'datalab'?" in done.stderr
