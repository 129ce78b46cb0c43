"""The local page's server: what it answers, and whom it refuses, over a real socket."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import duckdb
import pytest

from docassay.errors import ArgumentValueError, InputError
from docassay.pipelines.run_data import open_runs
from docassay.report.view.pdf import spellings
from docassay.report.view.server import Server, open_view
from docassay.report.view.tree import steps_of, tree_lines
from docassay.report.view.verdict_table import Filters, VerdictTable

Doc = Any
Writer = Callable[..., Path]


class Client:
    """Asks one server, with headers of its own choice."""

    def __init__(self, server: Server) -> None:
        self.port, self.token = server.address.port, server.address.token

    def get(self, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.putrequest(method, path, skip_host=True)
        for name, value in {"Host": f"127.0.0.1:{self.port}", **headers}.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, body

    def ask(self, question: str, **params: Any) -> Any:
        status, _, body = self.get(f"/{self.token}/api/{question}?{urlencode(params, doseq=True)}")
        return {"status": status, **json.loads(body)}


@pytest.fixture(scope="module")
def serve() -> Iterator[Callable[..., Client]]:
    """Serves runs until the module's tests are done."""
    started: list[tuple[Server, threading.Thread]] = []

    def start(run: Path, **options: Any) -> Client:
        server = Server(open_view(run, **options))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        started.append((server, thread))
        return Client(server)

    yield start
    for server, thread in started:
        server.stop()
        thread.join(timeout=10)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def client(serve: Callable[..., Client], plain_runs: tuple[Path, ...]) -> Client:
    return serve(plain_runs[1])


@pytest.fixture(scope="module")
def hostile_client(serve: Callable[..., Client], hostile_run: Path) -> Client:
    return serve(hostile_run)


def test_who_knows_the_token_sees_the_page_and_nobody_else(client: Client) -> None:
    status, headers, body = client.get(f"/{client.token}/")
    assert status == 200
    assert b"<title>docassay view</title>" in body
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    for path in (
        "/",
        "/x/",
        f"/{client.token}x/",
        f"/{client.token[:-1]}/",
        "//",
        f"/X{client.token}/api/run",
        "/api/run",
    ):
        status, headers, body = client.get(path)
        assert status == 403, path
        assert client.token.encode() not in body
        assert "content-security-policy" in headers


def test_other_hosts_origins_sites_and_methods_are_refused(client: Client) -> None:
    page, api = f"/{client.token}/", f"/{client.token}/api/run"
    assert client.get(page, Host=f"localhost:{client.port}")[0] == 200
    for host in ("evil.example", f"evil.example:{client.port}", "127.0.0.1", f"127.0.0.1:{client.port + 1}", ""):
        assert client.get(page, Host=host)[0] == 421, host
    assert client.get(api, Origin=f"http://127.0.0.1:{client.port}")[0] == 200
    for origin in (
        "null",
        "http://evil.example",
        f"https://127.0.0.1:{client.port}",
        f"http://localhost:{client.port}",
    ):
        assert client.get(api, Origin=origin)[0] == 403, origin
    assert client.get(api, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors", Sec_Fetch_Dest="script")[0] == 403
    assert client.get(api, Sec_Fetch_Site="same-site", Sec_Fetch_Mode="cors", Sec_Fetch_Dest="empty")[0] == 403
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    assert client.get(page, **link)[0] == 200, "a shared link may be followed"
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert client.get(api, method=method)[0] == 405, method


def test_no_path_leads_out_of_the_page(client: Client) -> None:
    token = client.token
    for path in (
        "assets/../report.css",
        "assets/..%2freport.css",
        "assets/%2e%2e%2fserver.py",
        "assets/extraction.html",
        "assets//etc/passwd",
        "assets/report.css%00.js",
        "pages/0/0.png",
        "pages/-1/0.png",
        "pages/999999/0.png",
        "pages/../../../etc/passwd",
        "../../etc/passwd",
        "%2e%2e/%2e%2e/etc/passwd",
    ):
        status, _, body = client.get(f"/{token}/{path}")
        assert status == 404, path
        assert b"root:" not in body


def test_rows_are_the_tables(client: Client, plain_runs: tuple[Path, ...]) -> None:
    table = f"'{plain_runs[1]}/verdicts.parquet/*.parquet'"
    for params, where in (
        ({}, "true"),
        ({"verdict": ["misread", "unfound"]}, "verdict IN ('misread', 'unfound')"),
        ({"field": "rows[*].v1"}, "field = 'rows[*].v1'"),
        ({"document": "doc-07"}, "doc_id = 'doc-07'"),
        ({"suite": "suite-1"}, "substr(doc_id, 5)::INT % 3 = 1"),
        ({"q": "VALUE 1"}, "concat_ws(' ', doc_id, address, gold_raw, pred_raw) ILIKE '%value 1%'"),
        (
            {"q": "doc-1", "verdict": "matched", "field": "rows[*].v0"},
            "doc_id LIKE 'doc-1%' AND verdict = 'matched' AND field = 'rows[*].v0'",
        ),
        ({"q": "100%"}, "false"),
    ):
        count = duckdb.sql(f"SELECT count(*) FROM {table} WHERE {where}").fetchall()[0][0]
        answer = client.ask("verdicts", limit=500, **params)
        assert answer["total"] == count, params
        assert len(answer["rows"]) == min(count, 500)
        facets = client.ask("facets", **params)
        assert sum(n for _, _, n in facets["document"]["values"]) >= count
        chosen = params.get("verdict")
        shown = {name: n for name, _, n in facets["verdicts"]["values"]}
        assert sum(n for name, n in shown.items() if chosen is None or name in chosen) == count


@pytest.mark.parametrize("sort", ["doc_id", "-address", "field", "-verdict", "gold_raw", "-pred_raw"])
def test_rows_are_sorted_and_paged_without_loss(client: Client, sort: str) -> None:
    pages = [client.ask("verdicts", sort=sort, offset=offset, limit=200)["rows"] for offset in range(0, 540, 200)]
    rows = [row for page in pages for row in page]
    assert sorted(row["id"] for row in rows) == list(range(540))
    column = {"gold_raw": "gold", "pred_raw": "predicted"}.get(sort.lstrip("-"), sort.lstrip("-"))
    values = [row[column] for row in rows]
    present = [value for value in values if value is not None]
    assert present == sorted(present, reverse=sort.startswith("-"))
    assert values[len(present) :] == [None] * (len(values) - len(present)), "what is absent stands last"


def test_a_page_beyond_the_end_is_the_last_one(client: Client) -> None:
    assert client.ask("verdicts", offset=10_000_000, limit=100)["offset"] == 539
    assert client.ask("verdicts", offset=-5, limit=100)["offset"] == 0
    answer = client.ask("verdicts", verdict="no such verdict")
    assert (answer["total"], answer["rows"]) == (0, [])


def test_steps_find_the_next_error_document_and_field(client: Client) -> None:
    def step(**params: Any) -> Any:
        return client.ask("step", **params)["id"]

    first = step(kind="error", to="next")
    assert client.ask("verdict", id=first)["verdict"] != "matched"
    second = step(kind="error", to="next", id=first)
    assert second > first
    assert step(kind="error", to="previous", id=second) == first
    assert step(kind="error", to="previous", id=first) is None
    assert step(kind="document", to="next", id=0) == 20
    assert step(kind="document", to="previous", id=45) == 20
    assert step(kind="field", to="next", id=0) == 1
    assert step(kind="row", to="previous", id=0) is None
    assert step(kind="row", to="next", id=539) is None
    assert step(kind="row", to="next", field="rows[*].v0", id=0) == 4
    assert client.ask("step", kind="sideways")["status"] == 400


def test_a_row_tells_both_values_and_how_they_are_read(client: Client) -> None:
    row = client.ask("verdicts", verdict="misread", limit=1)["rows"][0]
    one = client.ask("verdict", id=row["id"])
    assert one["doc_id"] == row["doc_id"]
    assert [text for text, changed in one["gold"]["parts"] if changed] == ["u"]
    assert [text for text, changed in one["predicted"]["parts"] if changed] == ["v"]
    assert one["gold_reading"]["route"] == "text"
    assert one["reason"].startswith("Both read as text")
    unfound = client.ask("verdicts", verdict="unfound", limit=1)["rows"][0]
    one = client.ask("verdict", id=unfound["id"])
    assert one["predicted"] is None
    assert one["predicted_reading"] is None
    assert one["reason"] == "the prediction has no value here"


def test_documents_are_listed_with_status_and_reason(client: Client) -> None:
    answer = client.ask("documents", sort="accuracy")
    assert answer["total"] == 30
    first = answer["rows"][0]
    assert (first["status"], first["accuracy"], first["error"]) == ("error", None, "file 0 is no JSON")
    shares = [float(row["accuracy"].rstrip("%")) for row in answer["rows"][3:]]
    assert shares == sorted(shares)
    assert client.ask("documents", q="no json")["total"] == 3
    assert client.ask("documents", suite="suite-1", sort="-wrong")["total"] == 10


def test_a_document_is_one_tree_with_paired_rows_on_one_line(client: Client) -> None:
    answer = client.ask("tree", document="doc-07")
    lines = answer["lines"]
    assert lines[0][:3] == [0, "rows", None]
    leaves = [line for line in lines if line[2] is not None]
    assert len(leaves) == 20
    assert lines[0][7] == 20
    assert lines[0][6] == sum(line[3] != "matched" for line in leaves)
    wrong = client.ask("tree", document="doc-07", only="wrong")["lines"]
    assert all(line[6] for line in wrong)
    assert client.ask("tree", document="no such")["status"] == 400


def test_what_is_asked_wrongly_is_refused_with_a_reason(client: Client) -> None:
    for question, params in (
        ("verdicts", {"offset": "x"}),
        ("verdicts", {"sort": "rowid; DROP TABLE rows"}),
        ("verdict", {"id": 10**9}),
        ("verdict", {"id": "٣"}),
        ("verdict", {}),
        ("find", {"id": 0}),
    ):
        answer = client.ask(question, **params)
        assert answer["status"] == 400, (question, params)
        assert answer["error"]
    assert client.ask("verdicts", limit=1)["total"] == 540


def test_hostile_ids_and_values_can_be_filtered_by_and_stepped_through(
    hostile_client: Client, hostile: tuple[str, ...]
) -> None:
    for text in hostile:
        assert hostile_client.ask("verdicts", document=text)["total"] == 5, text
        assert hostile_client.ask("verdicts", suite=text)["total"] == 5
        row = hostile_client.ask("verdicts", document=text)["rows"][0]
        assert row["doc_id"] == text
        assert "\u202e" not in row["shown_id"]
        assert "\x00" not in row["gold"]
        assert hostile_client.ask("tree", document=text)["document"]["total"] == 5
    long = hostile_client.ask("verdicts", field="long", limit=1)["rows"][0]
    assert len(long["gold"]) == 300
    assert long["gold_more"] == 200_002 - 300
    one = hostile_client.ask("verdict", id=long["id"])
    assert sum(len(text) for text, _ in one["gold"]["parts"]) <= 2000
    assert one["gold_reading"] is None, "nobody waits for a megabyte to be explained"
    tree = hostile_client.ask("tree", document="large")
    assert len(tree["lines"]) == 1 + 2 * 10_050


def test_a_run_without_any_verdict_is_shown_too(tmp_path: Path, doc: Doc, run_writer: Writer) -> None:
    run = run_writer(tmp_path / "run", [doc("only", (), None, "error", "no file")])
    table = VerdictTable(open_runs([run])[0])
    assert table.page(Filters(), "", 0, 100).total == 0
    assert table.page(Filters(text="x", suite="s", document="only"), "gold_raw", 0, 100).rows == ()
    assert table.facets(Filters(), {})["field"].values == ()
    assert table.step(Filters(), "", None, "error", True) is None
    assert table.full(0) is None


def test_a_view_needs_a_finished_run(tmp_path: Path, plain_runs: tuple[Path, ...]) -> None:
    with pytest.raises(InputError, match="no finished run"):
        open_view(tmp_path)
    (tmp_path / "run" / "scores.parquet").mkdir(parents=True)
    with pytest.raises(InputError, match="has no parts"):
        open_view(tmp_path / "run")
    with pytest.raises(ArgumentValueError, match="sort is"):
        VerdictTable(open_runs([plain_runs[0]])[0]).page(Filters(), "nonsense", 0, 1)


@pytest.mark.parametrize(
    ("address", "steps"),
    [
        ("name", ["name"]),
        ("rows[0].price", ["rows", "[0]", "price"]),
        ("rows[p2].price", ["rows", "[p2]", "price"]),
        ('rows[0]["a.b"].c', ["rows", "[0]", "a.b", "c"]),
        ('["say \\"hi\\" [0]"]', ['say "hi" [0]']),
        ("m[0][1]", ["m", "[0]", "[1]"]),
        ("<root>", ["<root>"]),
        ("[", ["["]),
    ],
)
def test_an_address_is_read_back_into_its_steps(address: str, steps: list[str]) -> None:
    assert steps_of(address) == steps


def test_a_deep_document_does_not_exhaust_the_stack(tmp_path: Path, doc: Doc, run_writer: Writer) -> None:
    address = ".".join(["a"] * 3000)
    run = run_writer(tmp_path / "run", [doc("deep", [(address, "misread", 1, 2)])])
    lines = tree_lines(VerdictTable(open_runs([run])[0]).of_document("deep"))
    assert len(lines) == 3000
    assert lines[0].wrong == 1


@pytest.mark.parametrize(
    ("raw", "includes"),
    [
        ('"Total"', ["Total"]),
        ("48092.5", ["48092.5", "48,092.50", "48.092,50", "48092.50"]),
        ("1240", ["1240", "1,240", "1.240", "1,240.00"]),
        ("-5", ["-5", "5"]),
        ('"2024-03-09"', ["2024-03-09", "March 9, 2024", "03/09/2024", "09.03.2024", "9 Mar 2024"]),
        ('"2024-13-09"', ["2024-13-09"]),
        ('"$1,240.5"', ["$1,240.5", "1,240.50"]),
        ("true", []),
        ("null", []),
        ('" "', []),
    ],
)
def test_a_value_is_looked_for_as_it_may_be_printed(raw: str, includes: list[str]) -> None:
    found = list(spellings(raw))
    assert found[:1] == includes[:1]
    assert set(includes) <= set(found)


@pytest.fixture(scope="module")
def pdf_run(tmp_path_factory: pytest.TempPathFactory, run_writer: Writer, doc: Doc) -> Path:
    canvas = pytest.importorskip("reportlab.pdfgen.canvas")
    folder = tmp_path_factory.mktemp("pdf")
    drawn = canvas.Canvas(str(folder / "invoice.pdf"), pagesize=(600, 800))
    drawn.drawString(100, 700, "Invoice 2024-17 of March 9, 2024")
    drawn.showPage()
    drawn.drawString(300, 400, "Total 48,092.50")
    drawn.save()
    (folder / "broken.pdf").write_bytes(b"this is no PDF")
    verdicts = [("total", "misread", 48092.5, 48092.0), ("date", "matched", "2024-03-09", "2024-03-09")]
    documents = [
        doc(name, verdicts, extra={"doc_path": path})
        for name, path in (("a", "invoice.pdf"), ("b", "broken.pdf"), ("c", "missing.pdf"), ("d", None))
    ]
    return run_writer(folder / "run", documents, record={"root": str(folder)})


def test_pages_are_shown_and_values_found_on_them(serve: Callable[..., Client], pdf_run: Path) -> None:
    client = serve(pdf_run, docs=True)
    found = client.ask("find", id=0)
    assert found["pages"] == 2
    assert found["gold"]["spelling"] == "48,092.50"
    box = found["gold"]["boxes"][0]
    assert box["page"] == 1
    assert 0.5 < box["left"] < 0.6
    assert 0.48 < box["top"] < 0.51
    assert found["predicted"] == {"spelling": None, "boxes": []}
    assert client.ask("find", id=1)["gold"]["spelling"] == "March 9, 2024"
    status, headers, body = client.get(f"/{client.token}/pages/0/1.png")
    assert (status, headers["content-type"], body[:4]) == (200, "image/png", b"\x89PNG")
    for path in ("pages/0/2.png", "pages/1/0.png", "pages/2/0.png", "pages/3/0.png", "pages/9/0.png"):
        assert client.get(f"/{client.token}/{path}")[0] == 404
    for row in (2, 4, 6):
        assert client.ask("find", id=row)["status"] == 400


def test_documents_need_their_paths(plain_runs: tuple[Path, ...], tmp_path: Path, doc: Doc) -> None:
    view = open_view(plain_runs[0], docs=True)
    assert view.page_png(-1, 0) is None
    with pytest.raises(InputError, match="names no doc_path"):
        view.page_png(0, 0)
