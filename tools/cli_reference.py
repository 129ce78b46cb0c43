"""Writes docs/cli.md from the commands' own help: `python tools/cli_reference.py > docs/cli.md`, or `make docs`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from docassay.cli import cli

WIDTH = 100
PREFACE = """\
# The command line

Results go to stdout, progress and messages to stderr. Exit codes: 0 the command did its job (also when documents
failed: those are the findings); 1 it did it and something asked to be flagged; 2 the input or the arguments are wrong;
130 interrupted. Completion: `eval "$(docassay completion bash)"`, or zsh, or fish.

This page is made from the commands' own help by `make docs`; a test holds the two together.
"""


def main() -> None:
    """Print the page."""
    print(page(), end="")


def page() -> str:
    """The whole page as Markdown."""
    sections = [section(name, command) for name, command in commands("docassay", cli)]
    return "\n".join([PREFACE, *sections])


def commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """Every command below `command`, with the words that call it; groups before what they hold."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name)
        for verb in command.list_commands(context):
            found = command.get_command(context, verb)
            assert found is not None, f"{name} {verb} is listed but not there"
            yield from commands(f"{name} {verb}", found)


def section(name: str, command: click.Command) -> str:
    """One command's heading and help."""
    context = click.Context(command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH)
    return f"## {name}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"


if __name__ == "__main__":
    main()
