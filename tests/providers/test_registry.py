"""Which providers there are, and what is said when one cannot be used."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from docassay.errors import ArgumentValueError, CredentialError, MissingDependencyError
from docassay.providers.contract import Credentials, CredentialSource, ProviderSpec
from docassay.providers.options import options_of
from docassay.providers.registry import (
    BUILT_IN,
    MODEL,
    check_packages,
    configure,
    find,
    listing,
    open_provider,
    read_credentials,
)


def test_every_built_in_provider_is_listed_and_describes_itself() -> None:
    listed = {item.name: item.spec for item in listing()}
    assert [*BUILT_IN, MODEL] == [name for name in listed if name in BUILT_IN or name == MODEL]
    for name, spec in listed.items():
        assert spec is not None, name
        assert spec.name == name
        assert spec.summary.endswith(".")
        assert all(option.help for option in options_of(spec.config)), name
        assert not any("key" in option.name for option in options_of(spec.config)), name


@pytest.mark.parametrize(
    ("name", "defaults"),
    [
        ("datalab", {"mode": "balanced", "base_url": "https://www.datalab.to", "poll_interval": 5.0}),
        (
            "reducto",
            {
                "deep_extract_model": "v2",
                "agentic_table_mode": "max",
                "system_prompt": "",
                "base_url": "https://platform.reducto.ai",
                "poll_interval": 5.0,
            },
        ),
        (
            "extend",
            {
                "array_strategy": "large_array_max_context",
                "api_version": "2026-02-09",
                "base_url": "https://api.extend.ai",
                "poll_interval": 5.0,
            },
        ),
        (
            "llamaextract",
            {"tier": "agentic_plus", "base_url": "https://api.cloud.llamaindex.ai", "poll_interval": 5.0},
        ),
        ("mistral", {"model": "mistral-ocr-latest", "base_url": "https://api.mistral.ai"}),
    ],
)
def test_the_defaults_are_the_published_ones(name: str, defaults: dict[str, object]) -> None:
    assert configure(name).settings == {"provider": name, "options": defaults}


@pytest.mark.parametrize(
    ("name", "at_once"),
    [("datalab", 10), ("reducto", 3), ("extend", 5), ("llamaextract", 3), ("mistral", 5), ("azure-cu", 3), ("a/b", 5)],
)
def test_each_vendor_has_its_own_limit(name: str, at_once: int) -> None:
    assert find(name).concurrency == at_once


def test_azure_needs_its_endpoint() -> None:
    with pytest.raises(ArgumentValueError, match=r"'endpoint' is required: Address of the resource"):
        configure("azure-cu")


def test_an_unknown_name_is_answered_with_the_names_there_are() -> None:
    with pytest.raises(
        ArgumentValueError, match=r"no provider 'datalb'; .*models as org/model. Did you mean 'datalab'\?"
    ):
        find("datalb")


def test_any_org_and_model_is_a_model() -> None:
    assert configure("openai/gpt-5").settings["provider"] == "openai/gpt-5"
    with pytest.raises(ArgumentValueError, match="no option 'model'"):
        configure("openai/gpt-5", {"model": "other"})
    with pytest.raises(ArgumentValueError, match="there is no provider"):
        configure("openai/")


def test_a_missing_key_names_the_variable() -> None:
    with pytest.raises(CredentialError, match="set LLAMA_CLOUD_API_KEY or LLAMAPARSE_API_KEY in the environment"):
        open_provider(configure("llamaextract"), environment={"LLAMA_CLOUD_API_KEY": "  "})


def test_a_missing_package_names_the_command() -> None:
    spec = ProviderSpec("x", "X.", object, lambda setup: None, requires={"no_such_module": "predict"})  # type: ignore[arg-type,return-value]
    with pytest.raises(MissingDependencyError, match=r"pip install 'docassay\[predict\]'"):
        check_packages(spec)


def test_credentials_are_printed_nowhere() -> None:
    credentials = Credentials({"A_KEY": "value-of-the-key", "SHORT": "EMPTY"})
    assert "value" not in f"{credentials!r} {credentials}"
    assert credentials.redact("x value-of-the-key y EMPTY") == "x *** y EMPTY"


def test_only_secrets_are_redacted() -> None:
    source = CredentialSource(("WORKSPACE",), required=False, secret=False)
    spec = ProviderSpec("x", "X.", object, lambda setup: None, credentials=(source,))  # type: ignore[arg-type,return-value]
    credentials = read_credentials(spec, {"WORKSPACE": "workspace-1"})
    assert credentials.redact("workspace-1") == "workspace-1"
    assert credentials["WORKSPACE"] == "workspace-1"


def test_listing_loads_no_http_client() -> None:
    code = "import sys; from docassay.providers.registry import listing; listing(); print('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"


ENTRY = """
from docassay.providers.contract import ProviderSpec
from dataclasses import dataclass

@dataclass(frozen=True)
class NoOptions:
    pass

PROVIDER = ProviderSpec(name="whatever", summary="Theirs.", config=NoOptions, open=lambda setup: None)
NOT_ONE = 5
"""


def test_an_installed_provider_that_cannot_be_used_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Distributions are found on the path, as an installer leaves them there."""
    (tmp_path / "theirs_fine.py").write_text(ENTRY)
    metadata = tmp_path / "theirs-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[docassay.providers]\n"
        "fine = theirs_fine:PROVIDER\n"
        "broken = theirs_missing:PROVIDER\n"
        "other = theirs_fine:NOT_ONE\n"
        "datalab = theirs_fine:PROVIDER\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    found = {(item.name, item.spec is not None) for item in listing()}
    assert {("fine", True), ("broken", False), ("other", False), ("datalab", True), ("datalab", False)} <= found
    assert find("fine").name == "fine"
    assert find("datalab").summary != "Theirs."
    with pytest.raises(ArgumentValueError, match="theirs_missing:PROVIDER cannot be imported"):
        find("broken")
    with pytest.raises(ArgumentValueError, match="is no ProviderSpec but int"):
        find("other")


def test_json_of_the_list_holds_no_value_of_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATALAB_API_KEY", "key-4711-never-shown")
    done = subprocess.run(
        [sys.executable, "-m", "docassay", "extract", "providers", "datalab", "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    described = json.loads(done.stdout)
    assert described["credentials"][0]["set_by"] == "DATALAB_API_KEY"
    assert "key-4711" not in done.stdout + done.stderr
