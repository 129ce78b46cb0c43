"""`python -m docassay.examples`, which is `make demo`: from documents to reports, on both tracks, with nothing else.

Every step is a command that is shown before it runs, so that it can be repeated by hand in the demo's folder.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from docassay import Score, examples, score
from docassay.errors import ArgumentValueError, DocassayError
from docassay.extraction.verdicts import VERDICTS

HEADINGS = {"fabricated": "fabri-\ncated", "invented_item": "invented\nitem", "invented_field": "invented\nfield"}
MARK = ".made-by-the-demo"
AGENT = "python -m docassay.examples.agents.lexical_miner"
SUBMISSIONS = {
    "miner": "submissions",
    "right": "data-planted/submissions/right",
    "overclaimed": "data-planted/submissions/overclaimed",
}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--out", type=click.Path(path_type=Path), default=Path("demo-run"), help="The folder; renewed each time.")
def main(out: Path) -> None:
    """Run the whole path on the bundled documents and on simulated texts, and say where the reports are."""
    demo = Demo(out.absolute(), Console(highlight=False))
    try:
        demo.prepare()
        demo.extraction()
        demo.discovery()
    except DocassayError as error:
        raise click.ClickException(str(error)) from None
    demo.farewell()


class Demo:
    """The steps of the demo, in one folder."""

    def __init__(self, folder: Path, console: Console) -> None:
        self.folder = folder
        self.console = console

    def prepare(self) -> None:
        """An empty folder; one that the demo did not make is left alone."""
        if self.folder.exists():
            if any(self.folder.iterdir()) and not (self.folder / MARK).exists():
                raise ArgumentValueError(f"{self.folder} holds other things; name another folder with --out")
            shutil.rmtree(self.folder)
        self.folder.mkdir(parents=True)
        (self.folder / MARK).touch()

    def extraction(self) -> None:
        """Five documents: two given answers and those of the offline baseline, predicted, scored, reported."""
        self.chapter("Extraction: five documents, two given answers each")
        self.console.print(table(scores()))
        self.chapter("The same documents read by an offline baseline; all in one report")
        write_manifests(self.folder)
        self.run("extract predict --manifest documents.jsonl --provider baseline --out baseline -q")
        self.run("extract score --manifest baseline/manifest.parquet --out runs/baseline -q")
        for letter in examples.PREDICTIONS:
            self.run(f"extract score --manifest answer-{letter}.jsonl --out runs/answer-{letter} -q", show=False)
        names = " ".join(f"runs/{name}" for name in ("answer-a", "answer-b", "baseline"))
        self.run(f"report {names} --out extraction.html -q", show=False)

    def discovery(self) -> None:
        """Simulated texts: an agent mines them, an oracle that knows what is planted judges, a report follows."""
        self.chapter("Discovery: an agent mines texts with planted effects")
        self.run("discover simulate --out data --tasks 5 --documents 1000 -q")
        self.run(f"discover run --data data --out submissions --command {shlex.quote(AGENT)} -q")
        for name, submissions in SUBMISSIONS.items():
            common = f"--data data --submissions {submissions}"
            self.run(f"discover judge {common} --judge oracle --out reviews-{name} -q", show=False)
            self.run(f"discover evaluate {common} --reviews reviews-{name} --out findings-{name} -q")
        self.console.print(
            "The oracle knows the planted conditions alone, so what the agent says of words stays unresolved;"
        )
        self.console.print("a model as the judge reads the texts: docassay discover judge --model NAME.")
        self.run(f"report {' '.join(f'findings-{name}' for name in SUBMISSIONS)} --out discovery.html -q", show=False)

    def run(self, command: str, *, show: bool = True) -> None:
        """Run one docassay command in the folder, showing it and, if asked, what it prints."""
        self.console.print(Text(f"$ docassay {command}", style="bold cyan"), soft_wrap=True)
        words = [sys.executable, "-m", "docassay", *shlex.split(command)]
        # The agent is started as `python`, which must be the one that has docassay.
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        stdout = None if show else subprocess.DEVNULL
        done = subprocess.run(words, cwd=self.folder, env={**os.environ, "PATH": path}, stdout=stdout, check=False)
        if done.returncode:
            raise SystemExit(done.returncode)

    def chapter(self, title: str) -> None:
        """A heading."""
        self.console.print()
        self.console.rule(title, align="left")

    def farewell(self) -> None:
        """Where the reports are."""
        self.chapter("Open these in a browser")
        for name in ("extraction.html", "discovery.html"):
            self.console.print(str(self.folder / name), soft_wrap=True)


def write_manifests(folder: Path) -> None:
    """`documents.jsonl` to predict from, and `answer-a.jsonl`, `answer-b.jsonl` to score as they are."""
    bundled = [examples.load(name) for name in examples.names()]
    common = [
        {"doc_id": one.name, "gt_path": str(one.ground_truth_path), "schema": json.dumps(one.schema)} for one in bundled
    ]
    documents = [{"doc_path": str(one.document_path)} for one in bundled]
    write_lines(folder / "documents.jsonl", common, documents)
    for letter in examples.PREDICTIONS:
        answers = [{"pred_path": str(one.prediction_paths[letter])} for one in bundled]
        write_lines(folder / f"answer-{letter}.jsonl", common, answers)


def write_lines(path: Path, common: list[dict[str, str]], more: list[dict[str, str]]) -> None:
    """One JSON object a line: the fields of both lists together."""
    lines = [json.dumps({**first, **second}) + "\n" for first, second in zip(common, more, strict=True)]
    path.write_text("".join(lines), encoding="utf-8")


def scores() -> Iterator[tuple[str, str, Score]]:
    """Document, prediction and score of every bundled pair."""
    for name in examples.names():
        example = examples.load(name)
        for letter, prediction in example.predictions.items():
            yield name, letter, score(prediction, example.ground_truth, example.schema)


def table(results: Iterator[tuple[str, str, Score]]) -> Table:
    """One line per pair: accuracy and the six counts, narrow enough for a terminal of 80 columns."""
    shown = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    shown.add_column("document, answer", no_wrap=True, vertical="bottom")
    for heading in ("accuracy", *VERDICTS, "of"):
        shown.add_column(HEADINGS.get(heading, heading), justify="right", no_wrap=True, vertical="bottom")
    for name, letter, result in results:
        counts = [str(getattr(result.counts, verdict) or "·") for verdict in VERDICTS]
        accuracy = "–" if result.accuracy is None else f"{result.accuracy:.3f}"
        shown.add_row(f"{name} {letter}", accuracy, *counts, str(result.counts.total))
    return shown


if __name__ == "__main__":
    main()
