"""Draws the bundled example documents as PDFs from their ground truth: `python tools/make_example_pdfs.py`.

Five layouts: `label: value` beside address blocks and a ruled table (invoice), two columns and a table that runs over
a page break (bank statement), boxes with small labels inside (form), dotted leaders, a table and lists (lab report),
and statements with two year columns over several pages (filing). What is null in the ground truth is not printed.

The same bytes come out on every machine: no dates, no random ids, no compression.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from docassay import examples

WIDTH, HEIGHT = A4
LEFT, RIGHT, TOP, BOTTOM = 56.0, WIDTH - 56.0, HEIGHT - 60.0, 70.0
PLAIN, BOLD = "Helvetica", "Helvetica-Bold"
Gold = dict[str, Any]


def draw(name: str) -> bytes:
    """The PDF of one example."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=True, pageCompression=0)
    canvas.setTitle(name.replace("-", " ").capitalize())
    LAYOUTS[name](Page(canvas), examples.load(name).ground_truth)
    canvas.save()
    return buffer.getvalue()


class Page:
    """A canvas that remembers how far down it is written."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas
        self.y = TOP

    def text(self, x: float, text: str, *, size: float = 10, font: str = PLAIN, right: bool = False) -> None:
        """Write at the present height; `x` is the text's right end if `right`."""
        self.canvas.setFont(font, size)
        (self.canvas.drawRightString if right else self.canvas.drawString)(x, self.y, text)

    def down(self, by: float = 15) -> None:
        self.y -= by

    def line(self, start: float = LEFT, end: float = RIGHT) -> None:
        self.canvas.line(start, self.y, end, self.y)

    def break_page(self) -> None:
        self.canvas.showPage()
        self.y = TOP

    def footer(self, text: str) -> None:
        self.canvas.setFont(PLAIN, 8)
        self.canvas.drawCentredString(WIDTH / 2, 40, text)


def invoice(page: Page, gold: Gold) -> None:
    seller, buyer = gold["seller"], gold["buyer"]
    page.text(LEFT, seller["name"], size=16, font=BOLD)
    page.text(RIGHT, "INVOICE", size=16, font=BOLD, right=True)
    for line in (seller["street"], seller["city"], f"Tax ID: {seller['tax_id']}"):
        page.down()
        page.text(LEFT, line)
    page.down(40)
    facts = [
        ("Invoice no.", gold["invoice_number"]),
        ("Invoice date", long_date(gold["issue_date"])),
        ("Due date", long_date(gold["due_date"])),
        ("Currency", gold["currency"]),
        ("Payment terms", gold["payment_terms"]),
    ]
    block = ["Bill to", buyer["name"], buyer["street"], buyer["city"], ""]
    for (label, value), line in zip(facts, block, strict=True):
        page.text(LEFT, line, font=BOLD if line == "Bill to" else PLAIN)
        page.text(320, f"{label}:", font=BOLD)
        page.text(410, value)
        page.down()
    page.down(30)
    columns = [(LEFT, False), (120, False), (370, True), (450, True), (RIGHT, True)]
    row(page, columns, ["SKU", "Description", "Quantity", "Unit price", "Amount"], font=BOLD)
    page.down(6)
    page.line()
    page.down(14)
    for item in gold["lines"]:
        cells = [item["sku"], item["description"], str(item["quantity"])]
        row(page, columns, [*cells, money(item["unit_price"]), money(item["amount"])])
        page.down(17)
    page.line()
    for label, value in (
        ("Subtotal", money(gold["subtotal"])),
        ("Tax rate", f"{gold['tax_rate']} %"),
        ("Tax", money(gold["tax"])),
        ("Total", f"{gold['currency']} {money(gold['total'])}"),
    ):
        page.down(18)
        page.text(370, label, font=BOLD)
        page.text(RIGHT, value, right=True)
    page.footer("Thank you for your order.")


def bank_statement(page: Page, gold: Gold) -> None:
    page.text(LEFT, gold["bank"], size=18, font=BOLD)
    page.down(20)
    page.text(LEFT, "Account statement", size=12)
    page.down(35)
    period = f"{long_date(gold['period']['start'])} to {long_date(gold['period']['end'])}"
    left = [("Account holder", gold["account_holder"]), ("Account number", gold["account_number"]), ("Period", period)]
    right = [
        ("Currency", gold["currency"]),
        ("Opening balance", money(gold["opening_balance"])),
        ("Closing balance", money(gold["closing_balance"])),
    ]
    for (label, value), (other, amount) in zip(left, right, strict=True):
        page.text(LEFT, label, size=9)
        page.text(140, value, size=9)
        page.text(370, other, size=9)
        page.text(RIGHT, amount, size=9, right=True)
        page.down(16)
    page.down(25)
    head = ["Date", "Description", "Money out", "Money in", "Balance"]
    columns = [(LEFT, False), (130, False), (380, True), (460, True), (RIGHT, True)]
    for number, item in enumerate(gold["transactions"]):
        if number == 7:
            page.footer("Page 1 of 2")
            page.break_page()
        if number in (0, 7):
            row(page, columns, head, font=BOLD)
            page.down(20)
        amounts = [item["money_out"], item["money_in"], item["balance"]]
        printed = ["" if amount is None else money(amount) for amount in amounts]
        row(page, columns, [short_date(item["date"]), item["description"], *printed])
        page.down(18)
    page.footer("Page 2 of 2")


def form(page: Page, gold: Gold) -> None:
    applicant, address, membership = gold["applicant"], gold["applicant"]["address"], gold["membership"]
    page.text(LEFT, "Membership application", size=16, font=BOLD)
    page.down(20)
    boxes(page, [("Form number", gold["form_number"]), ("Submitted on", numeric_date(gold["submitted_on"]))])
    section(page, "Applicant")
    boxes(page, [("Name", applicant["name"]), ("Date of birth", numeric_date(applicant["date_of_birth"]))])
    boxes(page, [("E-mail", applicant["email"]), ("Phone", applicant["phone"])])
    boxes(page, [("Street", address["street"]), ("Postcode", address["postcode"])])
    boxes(page, [("City", address["city"]), ("Country", address["country"])])
    section(page, "Membership")
    kinds = "   ".join(f"[{'x' if kind == membership['kind'] else ' '}] {kind}" for kind in KINDS)
    boxes(page, [("Kind", kinds), ("Start", numeric_date(membership["start"]))])
    news = "[x] yes   [ ] no" if membership["newsletter"] else "[ ] yes   [x] no"
    boxes(page, [("Monthly fee", f"EUR {money(membership['monthly_fee'])}"), ("Newsletter", news)])
    section(page, "Emergency contacts", gap=18)
    columns = [(LEFT + 6, False), (230, False), (370, False)]
    row(page, columns, ["Name", "Relation", "Phone"], size=9, font=BOLD)
    for contact in gold["emergency_contacts"]:
        page.down(15)
        row(page, columns, [contact["name"], contact["relation"], contact["phone"]])
    page.down(30)
    page.text(LEFT, "Interests: " + ", ".join(gold["interests"]))
    for asked, answered in gold["other_answers"].items():
        page.down(16)
        page.text(LEFT, f"{asked}  {answered}", size=9)
    page.down(40)
    page.line(LEFT, 300)
    page.canvas.setFont("Helvetica-Oblique", 13)
    page.canvas.drawString(LEFT + 10, page.y + 5, applicant["name"])
    page.down(12)
    page.text(LEFT, "Signature", size=8)
    page.text(370, "Office use", size=8)


def lab_report(page: Page, gold: Gold) -> None:
    page.text(WIDTH / 2 + 90, gold["laboratory"], size=14, font=BOLD, right=True)
    page.down(34)
    leaders = [
        ("Report ID", gold["report_id"]),
        ("Sample ID", gold["sample_id"]),
        ("Collected at", gold["collected_at"]),
        ("Reported on", gold["reported_on"]),
        ("Fasting", "yes" if gold["fasting"] else "no"),
    ]
    for label, value in leaders:
        page.text(LEFT, f"{label} {'.' * (40 - len(label))} {value}", font="Courier", size=9)
        page.down(14)
    page.down(10)
    page.text(LEFT, "Requested tests", font=BOLD)
    for test in gold["requested_tests"]:
        page.down(13)
        page.text(LEFT + 12, f"- {test}", size=9)
    page.down(30)
    columns = [(LEFT, False), (230, True), (245, False), (330, False), (450, False)]
    row(page, columns, ["Test", "Value", "Unit", "Reference range", "Flags"], size=9, font=BOLD)
    page.down(4)
    page.line()
    for item in gold["results"]:
        page.down(14)
        low, high = (f"{limit:g}" for limit in item["reference_range"])
        cells = [item["test"], f"{item['value']:g}", item["unit"], f"{low} - {high}", ", ".join(item["flags"])]
        row(page, columns, cells, size=9)
    page.down(30)
    page.text(LEFT, "Methods: " + "; ".join(gold["methods"]), size=9)
    page.down(20)
    page.text(LEFT, "Remarks", font=BOLD)
    for remark in gold["remarks"]:
        page.down(13)
        page.text(LEFT + 12, f"• {remark}", size=9)


def filing(page: Page, gold: Gold) -> None:
    page.down(160)
    page.text(LEFT, "Annual accounts", size=22, font=BOLD)
    page.down(40)
    for label, value in (
        ("Company", gold["company"]),
        ("Registration number", gold["registration_number"]),
        ("Fiscal year end", long_date(gold["fiscal_year_end"])),
        ("Employees", str(gold["employees"])),
    ):
        page.text(LEFT, label, size=11)
        page.text(220, value, size=11)
        page.down(20)
    columns = [(LEFT, False), (340, True), (440, True), (RIGHT, True)]
    for statement in gold["statements"]:
        page.break_page()
        page.text(LEFT, statement["title"], size=15, font=BOLD)
        page.down(16)
        page.text(LEFT, f"in {statement['unit']}", size=9)
        page.down(26)
        years = [str(value["year"]) for value in statement["sections"][0]["total"]]
        row(page, columns, ["", "Note", *years], font=BOLD)
        for part in statement["sections"]:
            page.down(24)
            page.text(LEFT, part["name"], font=BOLD)
            for item in part["items"]:
                page.down(15)
                note = "" if item["note"] is None else str(item["note"])
                row(page, columns, [item["label"], note, *(whole(value["amount"]) for value in item["values"])])
            page.down(5)
            page.line(380, RIGHT)
            page.down(13)
            row(page, columns, ["Total", "", *(whole(value["amount"]) for value in part["total"])], font=BOLD)


def row(
    page: Page, columns: Sequence[tuple[float, bool]], cells: Sequence[str], *, size: float = 10, font: str = PLAIN
) -> None:
    """One line of a table; a column is its x, and whether that is its right end."""
    for (x, right), cell in zip(columns, cells, strict=True):
        page.text(x, cell, size=size, font=font, right=right)


def boxes(page: Page, cells: Sequence[tuple[str, str]]) -> None:
    """Boxes side by side, each with a small label above its value."""
    width = (RIGHT - LEFT) / len(cells)
    page.down(34)
    for number, (label, value) in enumerate(cells):
        x = LEFT + number * width
        page.canvas.rect(x, page.y, width, 30)
        page.canvas.setFont(PLAIN, 6.5)
        page.canvas.drawString(x + 4, page.y + 21, label)
        page.canvas.setFont(PLAIN, 10)
        page.canvas.drawString(x + 4, page.y + 7, value)


def section(page: Page, title: str, gap: float = 6) -> None:
    """A heading; `gap` is what is left below it."""
    page.down(24)
    page.text(LEFT, title, size=11, font=BOLD)
    page.down(gap)


def money(amount: float) -> str:
    return f"{amount:,.2f}"


def whole(amount: int) -> str:
    return f"({-amount:,})" if amount < 0 else f"{amount:,}"


def long_date(iso: str) -> str:
    day = date.fromisoformat(iso)
    return f"{day.day} {day:%B %Y}"


def short_date(iso: str) -> str:
    return f"{date.fromisoformat(iso):%d %b %Y}"


def numeric_date(iso: str) -> str:
    return f"{date.fromisoformat(iso):%d.%m.%Y}"


KINDS = ("single", "family", "student")
LAYOUTS: dict[str, Callable[[Page, Gold], None]] = {
    "bank-statement": bank_statement,
    "filing": filing,
    "form": form,
    "invoice": invoice,
    "lab-report": lab_report,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(examples.__file__).parent, help="folder of the examples")
    out: Path = parser.parse_args().out
    for name in LAYOUTS:
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "document.pdf").write_bytes(draw(name))
        print(folder / "document.pdf")


if __name__ == "__main__":
    main()
