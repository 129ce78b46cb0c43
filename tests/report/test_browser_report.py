"""The report in headless Chromium, from disk, without a network: themes, narrow screens, keys, print, hostile text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docassay.report import make_report

pytestmark = pytest.mark.browser

Watch = Callable[..., Any]
Faults = Callable[[Any], list[str]]


@pytest.fixture(scope="module")
def report_file(plain_runs: tuple[Path, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_report(plain_runs, tmp_path_factory.mktemp("report") / "report.html").path


@pytest.fixture(scope="module")
def hostile_file(hostile_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_report([hostile_run], tmp_path_factory.mktemp("report") / "hostile.html").path


def _open(watch: Watch, file: Path, **options: Any) -> Any:
    watched = watch(offline=True, **options)
    watched.page.goto(file.as_uri())
    return watched


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_opens_from_disk_in_either_scheme_and_width(
    watch: Watch, report_file: Path, accessibility_faults: Faults, scheme: str, width: int
) -> None:
    watched = _open(watch, report_file, width=width, color_scheme=scheme)
    page = watched.page
    assert page.locator("h1").inner_text().startswith("Extraction report")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("svg.plot").count() >= 5
    page.click("[data-expand='true']")
    assert accessibility_faults(page) == []
    watched.assert_quiet(report_file.as_uri())
    assert watched.requests == [report_file.as_uri()]


def test_the_reader_chooses_the_colours(watch: Watch, report_file: Path) -> None:
    page = _open(watch, report_file, color_scheme="light").page
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.click("[data-set-theme='dark']")
    dark = page.evaluate(background)
    assert dark != light
    page.click("[data-set-theme='light']")
    assert page.evaluate(background) == light
    page.click("[data-set-theme='auto']")
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(background) == dark


def test_plots_follow_the_colours_and_keep_their_text(watch: Watch, report_file: Path) -> None:
    page = _open(watch, report_file, color_scheme="light").page
    text = page.locator("svg.plot text", has_text="accuracy").first
    light = text.evaluate("node => getComputedStyle(node).fill")
    page.emulate_media(color_scheme="dark")
    assert text.evaluate("node => getComputedStyle(node).fill") != light


def test_documents_are_filtered_and_sorted(watch: Watch, report_file: Path) -> None:
    page = _open(watch, report_file).page
    rows = page.locator("#documents-table tbody tr:visible")
    assert rows.count() == 30
    page.fill("[data-filter]", "failed")
    assert rows.count() == 3
    assert page.locator("[data-filter-status]").inner_text() == "3 of 30 shown"
    page.fill("[data-filter]", "")
    heading = page.locator("#documents-table th", has_text="ant").locator("button")
    heading.click()
    place = page.locator("#documents-table thead th").all_inner_texts()
    column = next(i for i, name in enumerate(place) if name.startswith("ant"))
    shares = [
        float(text.rstrip("%"))
        for text in page.locator(f"#documents-table tbody tr > :nth-child({column + 1})").all_inner_texts()
    ]
    assert shares == sorted(shares)
    heading.click()
    assert page.locator("#documents-table th[aria-sort='descending']").count() == 1


def test_a_document_unfolds_to_its_wrong_values(watch: Watch, report_file: Path) -> None:
    page = _open(watch, report_file).page
    closed = page.locator("details.document:not([open])").first
    closed.locator("summary").click()
    opened = page.locator("details.document[open]")
    assert opened.count() == 2
    assert opened.last.locator("mark").count() or opened.last.locator(".missing").count()
    page.click("[data-expand='false']")
    assert opened.count() == 0


def test_the_keyboard_alone_reaches_everything(watch: Watch, report_file: Path) -> None:
    page = _open(watch, report_file).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.url.endswith("#main")
    page.locator("details.document summary").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.locator("details.document[open]").count() == 2
    page.locator("#documents-table th button").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#documents-table th[aria-sort='ascending']").count() == 1


def test_a_link_leads_to_its_section_below_the_bar(watch: Watch, report_file: Path) -> None:
    page = _open(watch, report_file).page
    page.click("nav a[href='#fields']")
    top = page.locator("#fields").evaluate("node => node.getBoundingClientRect().top")
    assert 0 < top < 300


def test_print_shows_what_is_folded_away(watch: Watch, report_file: Path, tmp_path: Path) -> None:
    page = _open(watch, report_file, color_scheme="dark").page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.document:not([open])").count() > 0
    pdf = tmp_path / "report.pdf"
    page.pdf(path=str(pdf), format="A4")
    pdfium = pytest.importorskip("pypdfium2")
    document = pdfium.PdfDocument(pdf)
    text = "".join(one.get_textpage().get_text_range() for one in document)
    assert "Leaderboard" in text
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator(".top").is_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_text_does_nothing(watch: Watch, hostile_file: Path, hostile: tuple[str, ...], width: int) -> None:
    watched = _open(watch, hostile_file, width=width)
    page = watched.page
    page.click("[data-expand='true']")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("bdi.id", has_text=hostile[0]).count() > 0
    assert page.locator("bdi.id", has_text="⟨U+202E⟩").count() > 0
    assert page.locator("main img, main script, main iframe").count() == 0
    watched.assert_quiet(hostile_file.as_uri())


def test_without_scripts_everything_is_there(watch: Watch, report_file: Path) -> None:
    page = _open(watch, report_file, java_script_enabled=False).page
    assert page.locator("#documents-table tbody tr").count() == 30
    page.locator("details.document summary").nth(1).click()
    assert page.locator("details.document[open]").count() == 2
