"""Builds small extraction runs on disk from verdicts, with the declared tables, so that readers can be tested alone."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from docassay.runs.tables import scores_schema, verdicts_schema

SIGNATURE = "sound/1 order:free docassay:0.1.0"
GOLD = ("matched", "misread", "unfound")
ASSERTED = ("matched", "misread", "fabricated", "invented_item", "invented_field")
MANIFEST = pa.schema(
    [
        pa.field("doc_id", pa.string()),
        pa.field("gt_path", pa.string()),
        pa.field("pred_path", pa.string()),
        pa.field("schema", pa.string()),
        pa.field("suite", pa.string()),
        pa.field("doc_path", pa.string()),
    ]
)


@dataclass(frozen=True)
class Doc:
    """One manifest row and its verdicts: (address, verdict, gold value, predicted value)."""

    doc_id: str
    verdicts: Sequence[tuple[str, str, Any, Any]] = ()
    suite: str | None = None
    status: str = "scored"
    error: str | None = None
    seconds: float = 0.01
    extra: Mapping[str, Any] = field(default_factory=dict)


def write_run(
    path: Path, documents: Sequence[Doc], *, signature: str = SIGNATURE, record: Mapping[str, Any] | None = None
) -> Path:
    """A run directory in the declared layout, in one part per table."""
    (path / "scores.parquet").mkdir(parents=True)
    (path / "verdicts.parquet").mkdir()
    scores = [_score_row(document, signature) for document in documents]
    verdicts = [row for document in documents for row in _verdict_rows(document)]
    _write(path / "scores.parquet/part-00000.parquet", scores, scores_schema(MANIFEST))
    _write(path / "verdicts.parquet/part-00000.parquet", verdicts, verdicts_schema())
    run = {"signature": signature, "options": {"suite_column": "suite"}, "manifest_digest": "0" * 64}
    (path / "run.json").write_text(json.dumps({**run, **(record or {})}))
    return path


def _score_row(document: Doc, signature: str) -> dict[str, Any]:
    manifest = {"doc_id": document.doc_id, "suite": document.suite, "schema": "{}", **document.extra}
    row = {"status": document.status, "error": document.error, "signature": signature, "seconds": document.seconds}
    if document.status == "error":
        return {**row, **manifest}
    counts = Counter(verdict for _, verdict, _, _ in document.verdicts)
    matched, total = counts["matched"], sum(counts.values())
    gold, asserted = sum(counts[v] for v in GOLD), sum(counts[v] for v in ASSERTED)
    found = matched + counts["misread"]
    precision, recall = _ratio(matched, asserted), _ratio(matched, gold)
    f1 = None if total == 0 else 2 * matched / (asserted + gold)
    names = ("matched", "misread", "unfound", "fabricated", "invented_item", "invented_field")
    return {
        **row,
        **{name: counts[name] for name in names},
        "total": total,
        "gold": gold,
        "asserted": asserted,
        "accuracy": _ratio(matched, total),
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "addresses_found": _ratio(found, total),
        "addresses_read_right": _ratio(matched, found),
        "gt_rows": 0,
        "pred_rows": 0,
        "matched_rows": 0,
        "matching_exact": True,
        "approximated": [],
        "skipped_open_maps": [],
        **manifest,
    }


def _verdict_rows(document: Doc) -> list[dict[str, Any]]:
    rows = []
    for address, verdict, gold, predicted in document.verdicts:
        has_gold, has_pred = verdict in GOLD, verdict in ASSERTED
        rows.append(
            {
                "doc_id": document.doc_id,
                "address": address,
                "field": re.sub(r"\[p?\d+\]", "[*]", address),
                "verdict": verdict,
                "gold_raw": json.dumps(gold, ensure_ascii=False) if has_gold else None,
                "pred_raw": json.dumps(predicted, ensure_ascii=False) if has_pred else None,
                "gold_canon": f"t:{gold}" if has_gold else None,
                "pred_canon": (f"t:{gold}" if verdict == "matched" else f"t:{predicted}") if has_pred else None,
            }
        )
    return rows


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _write(path: Path, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)


@pytest.fixture(scope="session")
def doc() -> type[Doc]:
    """The record of one document to build runs from."""
    return Doc


@pytest.fixture(scope="session")
def run_writer() -> Callable[..., Path]:
    """Writes a run directory from documents."""
    return write_run


HOSTILE = (
    "<script>window.pwned=1</script>",
    '"><img src=x onerror=window.pwned=1>',
    "'; DROP TABLE rows; --",
    "{{ 7*7 }} {% raw %} ${7*7}",
    "\u202etxet desrever\u202c",
    "control \x00\x01\x1b[31m\x7f",
    "../../etc/passwd?x=1&y=2#z",
    "שלום עולם",
    "100%_\\ case",
    "]]> <!-- </style></script> -->",
)
"""Text that would act where it is not shown inert."""


@pytest.fixture(scope="session")
def hostile() -> tuple[str, ...]:
    """Text that would act where it is not shown inert."""
    return HOSTILE


@pytest.fixture(scope="session")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose ids, addresses, values, suites and reasons are hostile, with one document of 10,000 rows."""
    documents = [
        Doc(
            text,
            [(f'["{i}{text[:5]}"]', "misread", text, text[::-1]) for i in range(3)]
            + [("long", "misread", "x" * 200_000, "x" * 100_000 + "y" * 100_000), ("same", "matched", text, text)],
            suite=text,
        )
        for text in HOSTILE
    ]
    documents.append(Doc("failed <b>", (), None, "error", HOSTILE[0] + "\nTraceback\nValueError: " + HOSTILE[1]))
    documents.append(Doc("nothing", (), None, "nothing_to_score"))
    rows = [(f"rows[{i}].v", "matched" if i % 10 else "misread", i, i if i % 10 else -1) for i in range(10_000)]
    documents.append(Doc("large", [*rows, *((f"rows[p{i}].v", "invented_item", None, i) for i in range(50))]))
    return write_run(tmp_path_factory.mktemp("hostile") / "run <i>'\"", documents)


@pytest.fixture(scope="session")
def plain_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Three runs of thirty documents in three suites, with failures, costs apart."""
    folder = tmp_path_factory.mktemp("plain")
    return tuple(
        _plain_run(folder / name, step, fail) for name, step, fail in (("ant", 9, 0), ("bee", 5, 3), ("cat", 3, 1))
    )


def _plain_run(path: Path, step: int, fail: int) -> Path:
    """Every `step`-th address is wrong, in turn misread, unfound, fabricated and invented."""
    wrong = ("misread", "unfound", "fabricated", "invented_item", "invented_field")
    documents = []
    for place in range(30):
        if place < fail:
            documents.append(Doc(f"doc-{place:02}", (), f"suite-{place % 3}", "error", f"file {place} is no JSON"))
            continue
        rows = []
        for i in range(20):
            verdict = wrong[(place + i) % 5] if (place * 7 + i) % step == 0 else "matched"
            address = f"rows[p{i}].v{i % 4}" if verdict == "invented_item" else f"rows[{i}].v{i % 4}"
            rows.append((address, verdict, f"value {i}", f"value {i}" if verdict == "matched" else f"valve {i}"))
        documents.append(Doc(f"doc-{place:02}", rows, f"suite-{place % 3}"))
    return write_run(path, documents)


BROWSER = Path("/usr/bin/chromium")
BROWSER_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Headless Chromium; tests are skipped where none is installed.

    For one module at a time: while it is open, its event loop runs in this thread, and `asyncio.run` cannot.
    """
    if not BROWSER.exists():
        pytest.skip(f"no Chromium at {BROWSER}")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=str(BROWSER), args=BROWSER_ARGUMENTS)
        yield browser
        browser.close()


@dataclass
class Watched:
    """A page, what its console said, and every request it made."""

    page: Any
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def assert_quiet(self, origin: str) -> None:
        """Nothing was complained about, nothing asked of another origin, and no hostile text has acted."""
        assert self.messages == []
        assert [url for url in self.requests if not url.startswith((origin, "data:"))] == []
        assert self.page.evaluate("window.pwned") is None


@pytest.fixture
def watch(chromium: Any) -> Iterator[Callable[..., Watched]]:
    """Opens pages in contexts of their own: `watch(width=390, color_scheme="dark", offline=True)`."""
    contexts = []

    def open_page(*, width: int = 1280, height: int = 900, **options: Any) -> Watched:
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        watched = Watched(context.new_page())
        watched.page.set_default_timeout(20_000)
        watched.page.on("console", lambda message: watched.messages.append(message.text))
        watched.page.on("pageerror", lambda error: watched.messages.append(str(error)))
        watched.page.on("request", lambda request: watched.requests.append(request.url))
        return watched

    yield open_page
    for context in contexts:
        context.close()


ACCESSIBILITY = (Path(__file__).parent / "accessibility.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def accessibility_faults() -> Callable[[Any], list[str]]:
    """What is wrong with a page for those who see little or nothing: contrast below WCAG AA, names, landmarks, ids."""
    return lambda page: list(page.evaluate(ACCESSIBILITY))
