"""`docassay completion`: the shell's own completion script, made by click."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script for SHELL.

    For bash: eval "$(docassay completion bash)"
    """
    from docassay.cli import cli

    maker = get_completion_class(shell)
    assert maker is not None
    click.echo(maker(cli, {}, "docassay", "_DOCASSAY_COMPLETE").source())
