"""What every command shares: exit codes, the consoles, errors in one line, and lazy groups.

Exit codes: 0 done; 1 done, and something asked to be flagged; 2 the input or the arguments are wrong; 130 interrupted.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn

import click

from docassay.errors import DocassayError

if TYPE_CHECKING:
    from rich.console import Console

# Bits; Python refuses to print integers of more than 4300 digits, for that takes quadratic time.
_LONGEST_INTEGER = 14_000

DONE = 0
FLAGGED = 1
WRONG_INPUT = 2
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Verb:
    """One command of a lazy group: where it lives (`module:attribute`) and its line in the group's help."""

    target: str
    help: str


class LazyGroup(click.Group):
    """A group whose commands are imported only when one is run, so that `--help` loads nothing heavy."""

    def __init__(self, *args: Any, verbs: Mapping[str, Verb], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.verbs = dict(verbs)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        verb = self.verbs.get(cmd_name)
        if verb is None:
            return None
        module, _, attribute = verb.target.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, verb.help) for name, verb in self.verbs.items()])


class SpreadCommand(click.Command):
    """A command without arguments, whose repeatable options take several values at once: `--names a b c`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        repeatable = (option for option in self.params if isinstance(option, click.Option) and option.multiple)
        spread = {name for option in repeatable for name in option.opts}
        return super().parse_args(ctx, _spread(args, spread))


def _spread(args: list[str], names: set[str]) -> list[str]:
    """Repeat the name of an option in `names` before each value that follows it."""
    result: list[str] = []
    current: str | None = None
    for arg in args:
        if arg.startswith("-"):
            current = arg if arg in names else None
        elif current is not None and result[-1] != current:
            result.append(current)
        result.append(arg)
    return result


def run(command: click.Command) -> NoReturn:
    """Run the command line; a user's mistake is one line on stderr, never a traceback."""
    try:
        code = command.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(INTERRUPTED)
    except DocassayError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(WRONG_INPUT)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(DONE)
    sys.exit(code if isinstance(code, int) else DONE)


def stdout_is_terminal() -> bool:
    """Whether a person reads stdout."""
    return sys.stdout.isatty()


def out_console() -> Console:
    """A rich console on stdout, for results that a person reads."""
    from rich.console import Console

    return Console()


def err_console(quiet: bool = False) -> Console:
    """A rich console on stderr, for progress and messages; silent when `quiet`."""
    from rich.console import Console

    return Console(stderr=True, quiet=quiet)


def print_json(value: object) -> None:
    """One JSON object on stdout, strict and readable by `jq`.

    What JSON or its readers cannot hold is written as its text: NaN and infinities, decimals longer than a double,
    integers of thousands of digits.
    """
    plain = _plain(value)
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=2)
    if not text.isascii() and not _encodable(text):
        text = json.dumps(plain, ensure_ascii=True, allow_nan=False, indent=2)
    click.echo(text)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(below) for key, below in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(below) for below in value]
    if isinstance(value, Decimal) or (isinstance(value, float) and not math.isfinite(value)):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value), str(value))
    if isinstance(value, int) and value.bit_length() > _LONGEST_INTEGER:
        return f"{Decimal(value):f}"
    return value


def _encodable(text: str) -> bool:
    """Whether UTF-8 can carry the text; a lone surrogate it cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of what a person reads.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress and no messages.")
