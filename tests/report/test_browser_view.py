"""The local page in headless Chromium: filter, sort, page, step, link, keys, themes, narrow screens, hostile text."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from docassay.report.view.server import Server, open_view

pytestmark = pytest.mark.browser

Watch = Callable[..., Any]
Faults = Callable[[Any], list[str]]


@pytest.fixture(scope="module")
def serve() -> Iterator[Callable[..., str]]:
    """Serves a run and gives its address."""
    started: list[tuple[Server, threading.Thread]] = []

    def start(run: Path, **options: Any) -> str:
        server = Server(open_view(run, **options))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        started.append((server, thread))
        return server.address.url

    yield start
    for server, thread in started:
        server.stop()
        thread.join(timeout=10)


@pytest.fixture(scope="module")
def url(serve: Callable[..., str], plain_runs: tuple[Path, ...]) -> str:
    return serve(plain_runs[1])


@pytest.fixture(scope="module")
def hostile_url(serve: Callable[..., str], hostile_run: Path) -> str:
    return serve(hostile_run)


def _open(watch: Watch, url: str, query: str = "", **options: Any) -> Any:
    watched = watch(**options)
    watched.page.goto(url + query)
    watched.page.wait_for_selector("body[data-ready]")
    return watched


def _status(page: Any, text: str) -> None:
    page.wait_for_function("text => document.getElementById('status').textContent === text", arg=text)


def _title(page: Any) -> str:
    return str(page.locator("#detail-title").inner_text())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_it_reads_well_in_either_scheme_and_width(
    watch: Watch, url: str, accessibility_faults: Faults, scheme: str, width: int
) -> None:
    watched = _open(watch, url, "?id=3", width=width, color_scheme=scheme)
    page = watched.page
    page.wait_for_selector("#tree .line.current")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert accessibility_faults(page) == []
    page.click("#close")
    page.click("#tab-documents")
    _status(page, "1–30 of 30 documents")
    assert accessibility_faults(page) == []
    watched.assert_quiet(url)


def test_filters_narrow_the_rows_and_stay_in_the_link(watch: Watch, url: str) -> None:
    watched = _open(watch, url)
    page = watched.page
    _status(page, "1–100 of 540 values")
    page.check("#facet-verdicts input[value='misread']")
    page.wait_for_function("() => !document.getElementById('status').textContent.includes('540')")
    misread = page.locator("#status").inner_text()
    assert page.locator("tbody .verdict.misread").count() == page.locator("tbody tr").count()
    page.locator("#facet-field button", has_text="rows[*].v1").click()
    page.wait_for_function("text => document.getElementById('status').textContent !== text", arg=misread)
    narrowed = page.locator("#status").inner_text()
    link = page.url
    assert "verdict=misread" in link
    assert "field=rows" in link
    other = _open(watch, link).page
    assert other.locator("#status").inner_text() == narrowed
    assert other.locator("#facet-verdicts input[value='misread']").is_checked()
    page.go_back()
    _status(page, misread)
    page.click("#clear")
    _status(page, "1–100 of 540 values")
    watched.assert_quiet(url)


def test_text_is_searched_as_it_is_typed(watch: Watch, url: str) -> None:
    page = _open(watch, url).page
    page.keyboard.press("/")
    page.keyboard.type("DOC-07")
    _status(page, "1–20 of 20 values")
    assert "q=DOC-07" in page.url
    page.fill("#text", "nothing like it")
    _status(page, "no values pass these filters")


def test_rows_are_sorted_and_paged(watch: Watch, url: str) -> None:
    page = _open(watch, url).page
    page.locator("thead button", has_text="verdict").click()
    page.wait_for_selector("th[aria-sort='ascending']")
    assert page.locator("tbody .verdict").first.inner_text() == "fabricated"
    page.locator("thead button", has_text="verdict").click()
    page.wait_for_selector("th[aria-sort='descending']")
    assert page.locator("tbody .verdict").first.inner_text() == "unfound"
    page.click("#last")
    _status(page, "501–540 of 540 values")
    assert page.locator("#next").is_disabled()
    page.keyboard.press("p")
    _status(page, "401–500 of 540 values")
    page.fill("#page", "2")
    page.keyboard.press("Enter")
    _status(page, "101–200 of 540 values")
    assert "page=2" in page.url


def test_a_row_opens_with_its_tree_and_its_reasons(watch: Watch, url: str) -> None:
    watched = _open(watch, url, "?verdict=misread")
    page = watched.page
    page.locator("tbody tr").first.click()
    page.wait_for_selector("#tree .line.current")
    assert page.locator("#detail mark").count() == 2
    assert "Both read as text" in page.locator(".because").inner_text()
    assert "compared as" in page.locator(".reading").first.inner_text()
    current = page.locator("#tree .line.current")
    assert current.locator(".cell").all_inner_texts()[0].startswith('"value')
    page.check("#only-wrong")
    page.wait_for_function("() => document.querySelectorAll('#tree .line.matched').length === 0")
    fold = page.locator("#tree .line.inner").first
    fold.click()
    assert page.locator("#tree .line").count() == 1
    page.keyboard.press("Escape")
    page.wait_for_selector("#detail", state="hidden")
    watched.assert_quiet(url)


def test_the_keyboard_steps_through_errors_documents_and_fields(watch: Watch, url: str) -> None:
    page = _open(watch, url).page

    def press(key: str) -> str:
        before = page.url
        page.keyboard.press(key)
        page.wait_for_function("before => location.href !== before", arg=before)
        page.wait_for_function("id => document.getElementById('detail').dataset.id === id", arg=_id(page.url))
        return _title(page)

    first = press("j")
    assert first.startswith("doc-03")
    assert press("k") if press("j") else False
    assert _title(page) == first
    errors = [press("e") for _ in range(4)]
    assert len(set(errors)) == 4
    assert page.locator("#detail .because .verdict.matched").count() == 0
    assert press("E") == errors[2]
    document = press("d")
    assert document.startswith("doc-04")
    field = press("f")
    assert field != document
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()
    assert page.locator("#detail").is_visible()


def _id(url: str) -> str:
    found = re.search(r"[?&]id=(\d+)", url)
    assert found is not None
    return found[1]


def test_rows_are_reached_and_opened_by_keys_alone(watch: Watch, url: str) -> None:
    page = _open(watch, url).page
    page.locator("#rows").focus()
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "TR":
            break
    assert page.evaluate("document.activeElement.tagName") == "TR"
    page.keyboard.press("Enter")
    page.wait_for_selector("#detail:not([hidden])")
    page.locator("#tab-verdicts").focus()
    page.keyboard.press("ArrowRight")
    _status(page, "1–30 of 30 documents")
    assert page.evaluate("document.activeElement.id") == "tab-documents"


def test_documents_lead_to_their_values(watch: Watch, url: str) -> None:
    page = _open(watch, url, "?tab=documents&sort=accuracy").page
    _status(page, "1–30 of 30 documents")
    failed = page.locator("tbody tr", has_text="file 0 is no JSON")
    assert failed.locator(".missing").count() == 2
    page.locator("tbody tr", has_text="doc-07").click()
    _status(page, "1–20 of 20 values")
    assert "document=doc-07" in page.url


def test_hostile_text_does_nothing(watch: Watch, hostile_url: str, hostile: tuple[str, ...]) -> None:
    watched = _open(watch, hostile_url)
    page = watched.page
    for text in hostile:
        page.goto(f"{hostile_url}?document={quote(text, safe='')}")
        page.wait_for_selector("body[data-ready]")
        _status(page, "1–5 of 5 values")
        page.locator("tbody tr").nth(1).click()
        page.wait_for_selector("#tree .line.current")
        assert page.locator("main img, main script, #detail img, #detail script").count() == 0
    page.goto(f"{hostile_url}?tab=documents")
    page.wait_for_selector("body[data-ready]")
    watched.assert_quiet(hostile_url)


def test_a_document_of_ten_thousand_rows_is_scrolled(watch: Watch, hostile_url: str) -> None:
    page = _open(watch, hostile_url, "?document=large").page
    page.locator("tbody tr").nth(5).click()
    page.wait_for_selector("#tree .line.current")
    assert page.locator("#tree .line").count() < 80, "only lines in sight exist"
    page.evaluate("document.getElementById('tree').scrollTop = 1e9")
    page.wait_for_function(
        "() => [...document.querySelectorAll('#tree .line')].some((line) => line.textContent.includes('p49'))"
    )
    page.keyboard.press("E")
    assert page.locator("#problem").is_hidden()


def test_a_value_is_boxed_on_its_page(
    watch: Watch, serve: Callable[..., str], tmp_path: Path, doc: Any, run_writer: Callable[..., Path]
) -> None:
    canvas = pytest.importorskip("reportlab.pdfgen.canvas")
    drawn = canvas.Canvas(str(tmp_path / "one.pdf"), pagesize=(600, 800))
    drawn.showPage()
    drawn.drawString(300, 400, "Total 48,092.50")
    drawn.save()
    verdicts = [("total", "misread", 48092.5, 1)]
    documents = [doc("a", verdicts, extra={"doc_path": str(tmp_path / "one.pdf")}), doc("b", verdicts)]
    url = serve(run_writer(tmp_path / "run", documents), docs=True)
    watched = _open(watch, url, "?id=0")
    page = watched.page
    page.wait_for_selector(".hit.gold")
    assert page.locator("#pdf-place").inner_text() == "2 of 2"
    assert "ground truth found as “48,092.50”" in page.locator("#pdf-facts").inner_text()
    image = page.locator(".sheet img")
    page.wait_for_function("() => document.querySelector('.sheet img').complete")
    assert image.evaluate("node => node.naturalWidth") > 1000
    box, sheet = page.locator(".hit.gold").bounding_box(), image.bounding_box()
    assert box["x"] - sheet["x"] == pytest.approx(sheet["width"] * 0.55, rel=0.05)
    page.click("#pdf-previous")
    assert page.locator(".hit").count() == 0
    watched.assert_quiet(url)
    page.goto(f"{url}?id=1")
    page.wait_for_selector("#pdf-page .missing")
    assert "names no doc_path" in page.locator("#pdf-page").inner_text()


def test_a_dead_server_is_told(watch: Watch, plain_runs: tuple[Path, ...]) -> None:
    server = Server(open_view(plain_runs[0]))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    page = _open(watch, server.address.url).page
    server.stop()
    thread.join(timeout=10)
    page.check("#facet-verdicts input[value='misread']")
    page.wait_for_selector("#problem:not([hidden])")
    assert "is docassay view still running" in page.locator("#problem").inner_text()
