"""`docassay extract score-one`: JSON for a program, a card for a person, notes on stderr."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from docassay import examples, score
from docassay.cli.extract.card import STYLES, card, shares
from docassay.extraction.verdicts import VERDICTS, Counts

INVOICE = examples.load("invoice")


def arguments(letter: str = "b") -> list[str]:
    files = (
        "--gt",
        INVOICE.ground_truth_path,
        "--pred",
        INVOICE.prediction_paths[letter],
        "--schema",
        INVOICE.schema_path,
    )
    return [str(part) for part in files]


def run(*more: str, stdin: bytes = b"", files: list[str] | None = None) -> subprocess.CompletedProcess[bytes]:
    line = [sys.executable, "-m", "docassay", "extract", "score-one", *(arguments() if files is None else files), *more]
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    return subprocess.run(line, input=stdin, capture_output=True, timeout=60, check=False, env=environment)


def test_json_is_what_the_library_says() -> None:
    done = run("--metric", "omni/1")
    result = score(INVOICE.predictions["b"], INVOICE.ground_truth, INVOICE.schema, metric="omni/1")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == result.as_dict()
    assert "verdicts" not in json.loads(done.stdout)
    assert json.loads(done.stdout)["signature"].startswith("omni/1 ")


def test_verdicts_are_listed_when_asked_for() -> None:
    found = json.loads(run("--verdicts").stdout)
    assert len(found["verdicts"]) == found["total"]
    assert {"address", "field", "verdict", "gold_raw", "pred_raw", "gold_canon", "pred_canon"} == set(
        found["verdicts"][0]
    )


def test_order_matters_takes_several_names_and_is_signed() -> None:
    form = examples.load("form")
    files = [
        "--gt",
        str(form.ground_truth_path),
        "--pred",
        str(form.prediction_paths["a"]),
        "--schema",
        str(form.schema_path),
    ]
    together = json.loads(run("--order-matters", "interests", "emergency_contacts", "--verdicts", files=files).stdout)
    apart = json.loads(
        run("--order-matters", "interests", "--order-matters", "emergency_contacts", "--verdicts", files=files).stdout
    )
    assert together == apart
    assert "interests" in together["signature"]
    assert "emergency_contacts" in together["signature"]
    assert together["matched"] < json.loads(run(files=files).stdout)["matched"]


def test_repeated_keys_are_noted_and_the_last_counts(tmp_path: Path) -> None:
    prediction = tmp_path / "pred.json"
    prediction.write_text('{"invoice_number": "x", "invoice_number": "INV-2026-00417"}', encoding="utf-8")
    files = arguments()
    files[3] = str(prediction)
    done = run(files=files)
    assert json.loads(done.stdout)["matched"] == 1
    assert done.stderr.decode().count("\n") == 1
    assert "invoice_number" in done.stderr.decode()
    assert run("-q", files=files).stderr == b""


def test_a_dash_reads_stdin() -> None:
    files = arguments()
    data = Path(files[3]).read_bytes()
    files[3] = "-"
    assert json.loads(run(files=files, stdin=data).stdout) == json.loads(run().stdout)


def test_values_that_json_cannot_hold_still_print(tmp_path: Path) -> None:
    """NaN, a lone surrogate and a long decimal in a document do not break the output."""
    for name in ("gold", "pred"):
        (tmp_path / f"{name}.json").write_text(
            '{"a": NaN, "b": "\\ud800", "c": 1.23456789012345678901234567890, "d": %s}' % ("9" * 5000), encoding="utf-8"
        )
    (tmp_path / "schema.json").write_text('{"type": "object", "properties": {"a": {}, "b": {}, "c": {}, "d": {}}}')
    files = [part for name in ("gt", "pred", "schema") for part in (f"--{name}", str(tmp_path / f"{name}.json"))]
    files[1] = str(tmp_path / "gold.json")
    for metric in ("omni/1", "sound/1"):
        done = run("--verdicts", "--metric", metric, files=files)
        assert (done.returncode, done.stderr) == (0, b"")
        found = json.loads(done.stdout, parse_constant=pytest.fail, parse_int=str)
        assert found["matched"] == "4"
        assert found["verdicts"][0]["pred_raw"] == "NaN"
        assert run("--card", "--metric", metric, files=files).returncode == 0


def test_a_terminal_gets_the_card() -> None:
    """Through a real pseudo-terminal: without it JSON, with it the card, and with --json JSON again."""
    assert "accuracy" in on_terminal()
    assert "Worst fields" in on_terminal()
    assert json.loads(on_terminal("--json"))["total"] > 0


def on_terminal(*more: str) -> str:
    ours, theirs = pty.openpty()
    line = [sys.executable, "-m", "docassay", "extract", "score-one", *arguments(), *more]
    environment = {**os.environ, "COLUMNS": "120", "TERM": "xterm"}
    with subprocess.Popen(line, stdout=theirs, stderr=subprocess.PIPE, env=environment) as process:
        os.close(theirs)
        chunks = []
        try:
            while chunk := os.read(ours, 65536):
                chunks.append(chunk)
        except OSError:  # the other end is closed: Linux says EIO
            pass
        process.wait(timeout=60)
    os.close(ours)
    return b"".join(chunks).decode()


def shown(result: Any, **options: Any) -> str:
    console = Console(file=io.StringIO(), width=120, color_system=None)
    console.print(card(result, **options))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_card_names_every_wrong_address_and_why() -> None:
    result = score(INVOICE.predictions["b"], INVOICE.ground_truth, INVOICE.schema, verdicts=True)
    text = " ".join(shown(result).split())
    assert result.signature in text
    assert result.verdicts is not None
    for verdict in result.verdicts:
        assert (f" {verdict.address} " in text) == (verdict.verdict != "matched")
    assert "the schema has no such field" in text
    assert "in rows that go with no row of the ground truth" in text
    for name in VERDICTS:
        assert f"{name} {getattr(result.counts, name)}" in text


def test_the_card_can_list_matched_addresses_too() -> None:
    result = score(INVOICE.predictions["a"], INVOICE.ground_truth, INVOICE.schema, verdicts=True)
    assert "Matched addresses" not in shown(result)
    assert '"14 March 2026"' in shown(result, every_verdict=True)


def test_the_card_of_nothing() -> None:
    result = score({}, {}, INVOICE.schema, metric="sound/1", verdicts=True)
    assert "nothing to score" in shown(result)
    assert "0.0000" not in shown(result)


@pytest.mark.parametrize("width", [6, 10, 72])
@pytest.mark.parametrize("counts", [(1, 0, 0, 0, 0, 0), (997, 1, 1, 0, 1, 0), (1, 1, 1, 1, 1, 1), (5, 0, 9, 0, 0, 700)])
def test_the_bar_is_full_and_hides_no_count(counts: tuple[int, ...], width: int) -> None:
    cells = dict(shares(Counts(*counts), width))
    assert sum(cells.values()) == width
    assert all((name in cells) == (count > 0) for name, count in zip(STYLES, counts, strict=True))
    assert all(cells.values())


def test_every_verdict_has_a_shade_of_its_own() -> None:
    assert tuple(STYLES) == VERDICTS
    assert len({shade for shade, _ in STYLES.values()}) == len(STYLES)
