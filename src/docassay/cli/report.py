"""`docassay report`: one self-contained HTML file about finished runs."""

from __future__ import annotations

from pathlib import Path

import click

from docassay.cli.common import err_console, json_option, print_json, quiet_option


@click.command(short_help="Write a self-contained HTML report of one or more runs.")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="The file to write.",
)
@click.option("--title", help="Title of the report; by default it names the runs.")
@click.option(
    "--documents", default=20, show_default=True, type=click.IntRange(0), help="Worst documents listed for each run."
)
@click.option(
    "--addresses",
    default=30,
    show_default=True,
    type=click.IntRange(1),
    help="Wrong addresses listed for each of these documents.",
)
@click.option("--fields", default=40, show_default=True, type=click.IntRange(0), help="Worst fields listed.")
@click.option("--alpha", default=0.05, show_default=True, help="Level of the tests; intervals have level 1 - alpha.")
@click.option("--seed", default=0, show_default=True, help="Seed of the bootstrap and of the permutations.")
@json_option
@quiet_option
def report(
    runs: tuple[Path, ...],
    out: Path,
    title: str | None,
    documents: int,
    addresses: int,
    fields: int,
    alpha: float,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write one HTML file about RUNS: extraction runs, or discovery reports.

    The file needs no network, opens from disk, prints, and follows the reader's light or dark colours. Several
    extraction runs of the same documents make a leaderboard.

    \b
    Examples:
      docassay report runs/reducto --out report.html
      docassay report runs/reducto runs/extend runs/mistral --title "Invoices, November"
    """
    from docassay.report import ReportOptions, make_report

    options = ReportOptions(
        title=title, documents=documents, addresses=addresses, fields=fields, alpha=alpha, seed=seed
    )
    with err_console(quiet).status("reading the runs"):
        written = make_report(runs, out, options)
    if as_json:
        print_json({"report": str(written.path), "bytes": written.size, "kind": written.kind})
    else:
        click.echo(written.path)
