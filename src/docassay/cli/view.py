"""`docassay view`: explore a run on a local page."""

from __future__ import annotations

from pathlib import Path

import click

from docassay.cli.common import DONE, err_console, quiet_option


@click.command(short_help="Explore a run on a local page.")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--docs", is_flag=True, help="Show the documents' own pages too (the manifest's column doc_path).")
@click.option("--root", help="With --docs: where relative paths start; default: the root that the run recorded.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in the default browser.")
@quiet_option
def view(run: Path, docs: bool, root: str | None, open_browser: bool, quiet: bool) -> int:
    """Explore one RUN on a local page: filter, sort, step from error to error, see why.

    Served on 127.0.0.1 at a free port, under an address with a random token that is printed; nobody without it gets
    an answer. Ctrl-C ends it.

    \b
    Examples:
      docassay view runs/reducto
      docassay view runs/reducto --docs --open
    """
    from docassay.report.view.server import Server, open_view

    console = err_console(quiet)
    with console.status("loading the run"):
        server = Server(open_view(run, docs=docs, root=root))
    click.echo(server.address.url)
    console.print("Ctrl-C ends it; in the page, ? lists the keys.")
    if open_browser:
        click.launch(server.address.url)
    server.run()
    return DONE
