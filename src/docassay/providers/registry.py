"""Which providers there are, by name: docassay's own, those of installed packages, and every model as `org/model`.

Third parties add one through the entry point group `docassay.providers`: the entry's name is the provider's, its
object a `ProviderSpec`. What goes wrong with one entry never hides the others.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from docassay.errors import ArgumentValueError, CredentialError, MissingDependencyError
from docassay.providers.contract import Credentials, CredentialSource, Provider, ProviderSpec, RetryPolicy, Setup
from docassay.providers.options import as_settings, resolve

__all__ = [
    "BUILT_IN",
    "GROUP",
    "MODEL",
    "Configured",
    "Listed",
    "check_packages",
    "configure",
    "find",
    "listing",
    "open_provider",
    "read_credentials",
]

GROUP = "docassay.providers"
"""The entry point group of third parties' providers."""

MODEL = "org/model"
"""What stands in lists for every OpenAI-compatible model."""

BUILT_IN = {
    "datalab": "docassay.providers.datalab",
    "reducto": "docassay.providers.reducto",
    "extend": "docassay.providers.extend",
    "llamaextract": "docassay.providers.llamaextract",
    "mistral": "docassay.providers.mistral",
    "azure-cu": "docassay.providers.azure_cu",
    "baseline": "docassay.providers.baseline",
}
MODEL_MODULE = "docassay.providers.openai_compatible"


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of the list: a spec, or why an installed one cannot be used."""

    name: str
    spec: ProviderSpec | None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Configured:
    """A provider with all its options resolved: what a run is named by."""

    name: str
    spec: ProviderSpec
    config: Any

    @property
    def settings(self) -> dict[str, object]:
        """Provider and every option, defaults included, as one JSON object; holds no credential."""
        return {"provider": self.name, "options": as_settings(self.config)}


def listing() -> tuple[Listed, ...]:
    """Every provider there is: built-in ones first, then installed ones, then the models' stand-in."""
    own = [Listed(name, _built_in(module)) for name, module in BUILT_IN.items()]
    return (*own, *(_listed(entry) for entry in _entries()), Listed(MODEL, _built_in(MODEL_MODULE)))


def find(name: str) -> ProviderSpec:
    """The provider called `name`; `org/model` is a model.

    Raises ArgumentValueError where there is none, or an installed one cannot be used.
    """
    if name in BUILT_IN:
        return _built_in(BUILT_IN[name])
    entry = next((entry for entry in _entries() if entry.name == name), None)
    if entry is not None:
        listed = _listed(entry)
        if listed.spec is None:
            raise ArgumentValueError(f"provider {name!r}: {listed.fault}")
        return listed.spec
    if "/" in name.strip("/"):
        return replace(_built_in(MODEL_MODULE), name=name)
    raise ArgumentValueError(_no_provider(name))


def configure(name: str, options: Mapping[str, object] | None = None) -> Configured:
    """Resolve a provider's options; every fault is told at once (ArgumentValueError)."""
    spec = find(name)
    return Configured(name, spec, resolve(spec.config, options or {}, where=f"provider {name!r}"))


def open_provider(
    configured: Configured, *, environment: Mapping[str, str] | None = None, retry: RetryPolicy | None = None
) -> tuple[Provider, Credentials]:
    """Open a provider with credentials from `environment` (default: the process's); sends nothing.

    Raises MissingDependencyError or CredentialError before anything else happens.
    """
    check_packages(configured.spec)
    credentials = read_credentials(configured.spec, os.environ if environment is None else environment)
    setup = Setup(configured.name, configured.config, credentials, retry or RetryPolicy())
    return configured.spec.open(setup), credentials


def check_packages(spec: ProviderSpec) -> None:
    """Raise MissingDependencyError for the first package that `spec` needs and that is not installed."""
    for module, extra in spec.requires.items():
        if importlib.util.find_spec(module) is None:
            raise MissingDependencyError(module, extra)


def read_credentials(spec: ProviderSpec, environment: Mapping[str, str]) -> Credentials:
    """The credentials of `spec` that are set. Raises CredentialError that names every missing one."""
    found = {source: _first_set(source, environment) for source in spec.credentials}
    missing = [" or ".join(s.variables) for s, variable in found.items() if variable is None and s.required]
    if missing:
        raise CredentialError(f"provider {spec.name!r} needs a key: set {' and '.join(missing)} in the environment")
    return Credentials(
        {variable: environment[variable].strip() for variable in found.values() if variable is not None},
        frozenset(variable for source, variable in found.items() if variable is not None and source.secret),
    )


def _first_set(source: CredentialSource, environment: Mapping[str, str]) -> str | None:
    return next((name for name in source.variables if environment.get(name, "").strip()), None)


def _built_in(module: str) -> ProviderSpec:
    spec = importlib.import_module(module).PROVIDER
    assert isinstance(spec, ProviderSpec)
    return spec


def _entries() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda entry: entry.name)


def _listed(entry: EntryPoint) -> Listed:
    if entry.name in BUILT_IN:
        return Listed(entry.name, None, f"{entry.value} takes a name that docassay has itself; it is left out")
    try:
        spec = entry.load()
    except Exception as error:  # noqa: BLE001 - whatever a third party's import raises is told, not suffered
        return Listed(entry.name, None, f"{entry.value} cannot be imported: {error!r}")
    if not isinstance(spec, ProviderSpec):
        return Listed(entry.name, None, f"{entry.value} is no ProviderSpec but {type(spec).__name__}")
    return Listed(entry.name, replace(spec, name=entry.name))


def _no_provider(name: str) -> str:
    known = [*BUILT_IN, *(entry.name for entry in _entries())]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"there is no provider {name!r}; there are {', '.join(known)}, and models as {MODEL}.{hint}"
