"""Which options a provider has and what they resolve to: declared once, listed, checked and named by a digest.

Options are the fields of a frozen dataclass, made with `option(...)`. Credentials are no options.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from docassay.errors import ArgumentTypeError, ArgumentValueError

__all__ = ["REQUIRED", "Option", "as_settings", "option", "options_of", "resolve"]

REQUIRED = dataclasses.MISSING
"""The default of an option that has none."""

Check = Callable[[Any], str | None]


@dataclass(frozen=True, slots=True)
class Option:
    """One option as a person reads it."""

    name: str
    type: str
    """Such as `text`, `number`, or the choices: `fast | balanced | accurate`."""
    default: object
    """A JSON value, or `REQUIRED`."""
    help: str

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is REQUIRED


def option(default: Any = REQUIRED, *, help: str, check: Check | None = None) -> Any:
    """Declare an option of a config dataclass. `check` gets the value and returns what is wrong with it, or None."""
    metadata = {"help": help, "check": check}
    if default is REQUIRED:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def options_of(config: type[Any]) -> tuple[Option, ...]:
    """The options that a config dataclass declares, in order."""
    hints = get_type_hints(config)
    return tuple(
        Option(item.name, _type_text(hints[item.name]), item.default, str(item.metadata.get("help", "")))
        for item in dataclasses.fields(config)
    )


def resolve(config: type[Any], given: Mapping[str, object], *, where: str) -> Any:
    """An instance of `config` with `given` over its defaults.

    Raises ArgumentValueError that lists every fault at once: unknown names, wrong types, refused values, required
    options that are missing. `where` names the provider.
    """
    hints = get_type_hints(config)
    fields = {item.name: item for item in dataclasses.fields(config)}
    faults = [_unknown(name, list(fields)) for name in given if name not in fields]
    faults += [
        f"{name!r} is required: {item.metadata.get('help', '')}"
        for name, item in fields.items()
        if item.default is REQUIRED and name not in given
    ]
    values = {name: _number_as(hints[name], value) for name, value in given.items() if name in fields}
    faults += [
        fault for name, value in values.items() if (fault := _fault(name, hints[name], value, fields[name])) is not None
    ]
    if faults:
        raise ArgumentValueError(f"options of {where}: " + "; ".join(faults))
    return config(**values)


def as_settings(config: object) -> dict[str, object]:
    """A resolved config as a JSON object, defaults included."""
    if not dataclasses.is_dataclass(config) or isinstance(config, type):
        raise ArgumentTypeError(f"a config is a dataclass instance, not {config!r}")
    return {item.name: getattr(config, item.name) for item in dataclasses.fields(config)}


def _unknown(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"there is no option {name!r} (there are: {', '.join(known) or 'none'}){hint}"


def _fault(name: str, hint: Any, value: object, item: dataclasses.Field[Any]) -> str | None:
    if not _fits(hint, value):
        return f"{name!r} is {_type_text(hint)}, not {json.dumps(value, default=repr)}"
    check: Check | None = item.metadata.get("check")
    complaint = check(value) if check is not None else None
    return f"{name!r}: {complaint}" if complaint else None


def _fits(hint: Any, value: object) -> bool:
    if get_origin(hint) is Literal:
        return any(value == choice and type(value) is type(choice) for choice in get_args(hint))
    if get_origin(hint) in (Union, UnionType):
        return any(_fits(branch, value) for branch in get_args(hint))
    if hint is float:
        return isinstance(value, float) and math.isfinite(value)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if hint in (str, bool, NoneType):
        return isinstance(value, hint)
    return True


def _number_as(hint: Any, value: object) -> object:
    """JSON has one kind of number: `5` is a float where a float is asked for, so that settings have one spelling."""
    wants_float = hint is float or (float in get_args(hint) and int not in get_args(hint))
    if wants_float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def _type_text(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return " | ".join(str(choice) for choice in get_args(hint))
    if get_origin(hint) in (Union, UnionType):
        return " | ".join(_type_text(branch) for branch in get_args(hint))
    names = {str: "text", int: "whole number", float: "number", bool: "true or false", NoneType: "null"}
    return names.get(hint, getattr(hint, "__name__", str(hint)))
