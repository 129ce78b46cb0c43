"""`docassay extract providers`: what can be run, where its key comes from, and its options."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from docassay.cli.common import json_option, out_console, print_json

if TYPE_CHECKING:
    from docassay.providers.contract import CredentialSource, ProviderSpec
    from docassay.providers.registry import Listed


@click.command()
@click.argument("name", required=False)
@json_option
def providers(name: str | None, as_json: bool) -> None:
    """List providers, their keys and their options.

    \b
    Examples:
      docassay extract providers
      docassay extract providers datalab
    """
    from docassay.providers.registry import MODEL, Listed, find, listing

    if name is None or name == MODEL:
        found = [item for item in listing() if name in (None, item.name)]
    else:
        found = [Listed(name, find(name))]
    if as_json:
        described = [_described(item) for item in found]
        print_json(described if name is None else described[0])
    elif name is None:
        _list(found)
    elif found[0].spec is not None:
        _detail(found[0].spec)


def _list(found: list[Listed]) -> None:
    from rich.table import Table

    table = Table(box=None)
    for heading in ("provider", "key", "set", "about"):
        table.add_column(heading, overflow="fold")
    for item in found:
        if item.spec is None:
            table.add_row(item.name, "", "", f"cannot be used: {item.fault}")
            continue
        table.add_row(item.name, *_keys(item.spec), item.spec.summary)
    out_console().print(table, highlight=False, markup=False)


def _keys(spec: ProviderSpec) -> tuple[str, str]:
    """Where the keys come from, and whether they are set; of optional ones only where there is no other."""
    needed = [source for source in spec.credentials if source.required]
    shown = needed or [source for source in spec.credentials if source.secret]
    if not shown:
        return "none needed", ""
    keys = ", ".join(" or ".join(source.variables) for source in shown)
    return keys if needed else f"{keys} (not always)", "yes" if all(_variable(source) for source in shown) else "no"


def _detail(spec: ProviderSpec) -> None:
    from rich.table import Table

    console = out_console()
    console.print(f"{spec.name}: {spec.summary}", highlight=False, markup=False)
    console.print(f"Documents at once: {spec.concurrency}. Costs: {_costs(spec)}.", highlight=False, markup=False)
    for source in spec.credentials:
        kind = "Key" if source.required else "Optional"
        state = f"set by {_variable(source)}" if _variable(source) else "not set"
        console.print(
            f"{kind}: {' or '.join(source.variables)} ({state}) {source.help}".rstrip(), highlight=False, markup=False
        )
    if not spec.credentials:
        console.print("No key is needed.", highlight=False)
    table = Table(box=None)
    for heading in ("option", "default", "values", "about"):
        table.add_column(heading, overflow="fold")
    for option in _options(spec):
        default = "(required)" if option["required"] else str(option["default"])
        table.add_row(str(option["name"]), default, str(option["type"]), str(option["help"]))
    console.print(table, highlight=False, markup=False)


def _described(item: Listed) -> dict[str, object]:
    if item.spec is None:
        return {"name": item.name, "fault": item.fault}
    return {
        "name": item.name,
        "summary": item.spec.summary,
        "concurrency": item.spec.concurrency,
        "cost_unit": item.spec.cost_unit,
        "free": item.spec.free,
        "credentials": [
            {
                "variables": list(source.variables),
                "required": source.required,
                "set_by": _variable(source),
                "help": source.help,
            }
            for source in item.spec.credentials
        ],
        "options": _options(item.spec),
    }


def _options(spec: ProviderSpec) -> list[dict[str, object]]:
    from docassay.providers.options import options_of

    return [
        {
            "name": option.name,
            "type": option.type,
            "required": option.required,
            "default": None if option.required else option.default,
            "help": option.help,
        }
        for option in options_of(spec.config)
    ]


def _variable(source: CredentialSource) -> str | None:
    """The variable that sets a credential; its value is never shown."""
    return next((name for name in source.variables if os.environ.get(name, "").strip()), None)


def _costs(spec: ProviderSpec) -> str:
    if spec.free:
        return "free"
    return f"stated in {spec.cost_unit}" if spec.cost_unit else "not stated"
