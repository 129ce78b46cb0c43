"""`docassay extract predict`: predictions from a vendor or a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from docassay.cli.common import DONE, FLAGGED, INTERRUPTED, err_console, json_option, print_json, quiet_option


def options_argument(text: str | None, name: str = "--options") -> Any:
    """The JSON of an option that takes an object, inline or as `@file`."""
    if text is None:
        return {}
    where = f"{name} {text}"
    try:
        value = json.loads(Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text)
    except OSError as error:
        raise click.UsageError(f"{where}: {error.strerror}") from None
    except ValueError as error:
        raise click.UsageError(f'{name} is no JSON: {error}; give an object such as \'{{"mode": "fast"}}\'') from None
    if not isinstance(value, dict):
        raise click.UsageError(f"{name} is a JSON object, not {text}")
    return value


def waits_argument(text: str) -> tuple[float, ...]:
    """Seconds separated by commas."""
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise click.UsageError(f"--retry-waits are seconds separated by commas, not {text!r}") from None


retry_waits_option = click.option(
    "--retry-waits", default="20,60,120", show_default=True, metavar="S,S,...", help="Seconds before each new attempt."
)
root_option = click.option(
    "--root", help="Where relative doc_paths start; default: DOCASSAY_ROOT, OEB_ROOT, the working directory."
)
timeout_option = click.option(
    "--timeout", type=float, default=1800.0, show_default=True, metavar="S", help="Seconds per document, all in all."
)
limit_option = click.option("--limit", type=int, metavar="N", help="Only the first N rows of the manifest.")
retry_errors_option = click.option(
    "--retry-errors", is_flag=True, help="Also ask again what failed for good, and collect jobs that timed out."
)


@click.command()
@click.option("--manifest", help="Table with doc_id, doc_path and schema: Parquet, CSV or JSON lines.")
@click.option("--out", help="Directory (or URI) for predictions/, records/ and manifest.parquet.")
@click.option("--doc", help="One PDF instead of a table; the extraction goes to stdout.")
@click.option("--schema", help="The JSON Schema file for --doc.")
@click.option("--provider", required=True, help="A name from `docassay extract providers`, or a model as org/model.")
@click.option("--options", help="The provider's options as a JSON object, or @file.")
@click.option("--workers", type=int, metavar="N", help="Documents at once, up to what the provider allows.")
@timeout_option
@limit_option
@click.option("--max-cost", type=float, metavar="USD", help="Stop before the stated costs exceed this.")
@retry_errors_option
@retry_waits_option
@root_option
@json_option
@quiet_option
def predict(
    manifest: str | None,
    out: str | None,
    doc: str | None,
    schema: str | None,
    provider: str,
    options: str | None,
    workers: int | None,
    timeout: float,
    limit: int | None,
    max_cost: float | None,
    retry_errors: bool,
    retry_waits: str,
    root: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Produce predictions with a vendor or a model.

    Safe to interrupt and to run again: what is answered is not asked again. Ctrl-C finishes what is in flight, a second
    one stops at once. The exit code is 1 if the account was refused or --max-cost was reached.

    \b
    Examples:
      docassay extract predict --manifest docs.parquet --out preds/ --provider baseline
      docassay extract predict --doc invoice.pdf --schema schema.json --provider openai/gpt-5
    """
    from docassay.providers.contract import RetryPolicy

    retry = RetryPolicy(waits=waits_argument(retry_waits))
    if doc is not None:
        given = {"--manifest": manifest, "--out": out, "--limit": limit, "--max-cost": max_cost, "--root": root}
        extra = [name for name, value in given.items() if value is not None]
        if schema is None or extra:
            raise click.UsageError("--doc needs --schema" if schema is None else f"--doc does not go with {extra[0]}")
        return _one(doc, schema, provider, options_argument(options), timeout, retry, as_json)
    if manifest is None or out is None:
        raise click.UsageError("give --manifest and --out, or --doc and --schema")
    if schema is not None:
        raise click.UsageError("--schema goes with --doc; a manifest has a schema column")

    from docassay.cli.progress import counting
    from docassay.pipelines.interrupts import Stop
    from docassay.pipelines.predict_table import predict_table

    console = err_console(quiet)
    stop = Stop(lambda: console.print("stopping: finishing what is in flight; Ctrl-C again stops at once"))
    with counting(console, [provider]) as watch:
        done = predict_table(
            manifest,
            out,
            provider=provider,
            options=options_argument(options),
            root=root,
            workers=workers,
            timeout=timeout,
            limit=limit,
            max_cost=max_cost,
            retry_errors=retry_errors,
            retry=retry,
            watch=lambda progress: watch(provider, progress),
            stop=stop,
        )
    if as_json:
        print_json(done.as_dict())
    else:
        click.echo(done.manifest)
    if done.stopped is not None:
        console.print(f"{done.left} documents are not answered: {done.stopped}", highlight=False, markup=False)
    if done.interrupted:
        return INTERRUPTED
    return DONE if done.stopped is None else FLAGGED


def _one(
    doc: str, schema: str, provider: str, options: dict[str, object], timeout: float, retry: Any, as_json: bool
) -> int:
    from docassay.errors import DocumentError
    from docassay.pipelines.predict_table import predict_document
    from docassay.providers.contract import Outcome
    from docassay.providers.evidence import result_dict
    from docassay.providers.jsontext import dump_bytes
    from docassay.runs.files import read_document

    content = read_document(schema)
    if content.data is None:
        raise DocumentError(f"--schema: {content.error}")
    result = predict_document(doc, content.data, provider=provider, options=options, timeout=timeout, retry=retry)
    if as_json:
        click.echo(dump_bytes({"extraction": result.extraction, **result_dict(result)}, indent=2))
    elif result.outcome is Outcome.OK:
        click.echo(dump_bytes(result.extraction, indent=2))
    if result.outcome is not Outcome.OK:
        click.echo(f"error: {doc}: {result.outcome.value}: {result.error}", err=True)
        return FLAGGED
    return DONE
