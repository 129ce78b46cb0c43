"""The baseline's floor on the bundled documents, and on layouts drawn here that it was not made for."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reportlab.lib.pagesizes import LETTER
from reportlab.pdfgen.canvas import Canvas

import docassay
from docassay import examples
from docassay.errors import ProviderError
from docassay.extraction.metric import METRICS
from docassay.providers.baseline import fill
from docassay.providers.baseline.fields import field_tree, likeness, words
from docassay.providers.baseline.pages import read_lines
from docassay.providers.baseline.values import dates_in, numbers_in, read_value
from docassay.providers.contract import Budget, Document, ExtractionTask, Outcome
from docassay.providers.registry import configure, open_provider

Draw = Callable[[Canvas], None]
FLOORS = {"bank-statement": 0.9, "filing": 0.03, "form": 0.8, "invoice": 0.8, "lab-report": 0.9}


def bundled(name: str) -> bytes:
    return (Path(examples.__file__).parent / name / "document.pdf").read_bytes()


def pdf(draw: Draw) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=LETTER, invariant=True)
    draw(canvas)
    canvas.save()
    return buffer.getvalue()


def write(canvas: Canvas, *cells: tuple[float, float, str], size: float = 10) -> None:
    """Texts at x and y; y counts from the bottom."""
    canvas.setFont("Times-Roman", size)
    for x, y, text in cells:
        canvas.drawString(x, y, text)


@pytest.mark.parametrize("name", examples.names())
@pytest.mark.parametrize("metric", sorted(METRICS))
def test_every_bundled_document_is_read_better_than_not_at_all(name: str, metric: str) -> None:
    example = examples.load(name)
    got = fill(bundled(name), example.schema)
    score = docassay.score(got, example.ground_truth, example.schema, metric=metric)
    empty = docassay.score({}, example.ground_truth, example.schema, metric=metric)
    assert score.accuracy is not None
    assert score.accuracy > (empty.accuracy or 0.0)
    assert score.accuracy >= FLOORS[name]
    assert score.precision is not None
    assert score.precision >= 0.9, "a floor does not make things up"


def test_bundled_documents_are_what_the_script_draws(tmp_path: Path, repository: Path) -> None:
    script = repository / "tools" / "make_example_pdfs.py"
    subprocess.run([sys.executable, str(script), "--out", str(tmp_path)], check=True, capture_output=True)
    for name in examples.names():
        assert (tmp_path / name / "document.pdf").read_bytes() == bundled(name), f"{name}: run {script.name} again"


# Layouts that are not bundled. Each: what is drawn, what is asked, what is there, and the accuracy to reach.

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
DAY = {"type": "string", "format": "date"}


def draw_delivery(canvas: Canvas) -> None:
    """Colons far from values, a header with other words, wrapped descriptions, a repeated header, footers."""
    write(canvas, (72, 740, "Placeholder Freight"), size=18)
    write(canvas, (72, 700, "Delivery note number:"), (220, 700, "DN-88-17"))
    write(canvas, (72, 684, "Delivery date:"), (220, 684, "7/21/2026"))
    write(
        canvas, (72, 668, "Carrier:"), (220, 668, "Sample Haulage"), (360, 668, "Number of pallets:"), (500, 668, "3")
    )
    write(
        canvas,
        (72, 652, "Gross weight:"),
        (220, 652, "1,204.5 kg"),
        (360, 652, "Signed by recipient:"),
        (500, 652, "Yes"),
    )
    rows = [
        ("P-1", "Copper pipe,", "12", "88.0"),
        ("P-2", "Brass valve", "7", "10.5"),
        ("P-3", "Steel bracket", "140", "61.25"),
    ]
    for page in (0, 1):
        top = 600 if page == 0 else 740
        write(
            canvas,
            (72, top, "Item no."),
            (150, top, "Description of goods"),
            (380, top, "Qty"),
            (450, top, "Weight (kg)"),
            size=9,
        )
        for number, (sku, text, count, weight) in enumerate(rows if page == 0 else [("P-4", "Hinge", "16", "2.75")]):
            y = top - 26 * (number + 1)
            write(canvas, (72, y, sku), (150, y, text), (380, y, count), (450, y, weight), size=9)
            if text.endswith(","):
                write(canvas, (150, y - 11, "half hard"), size=9)
        write(canvas, (280, 40, f"Page {page + 1}"), size=7)
        canvas.showPage()


DELIVERY: dict[str, Any] = {
    "title": "Delivery note",
    "type": "object",
    "properties": {
        "noteNumber": {"type": "string", "title": "Delivery note number"},
        "deliveryDate": DAY,
        "carrier": TEXT,
        "pallets": {"type": "integer", "description": "Number of pallets"},
        "grossWeight": {"type": ["number", "null"]},
        "signed": {"type": "boolean", "title": "Signed by recipient"},
        "goods": {"type": "array", "items": {"$ref": "#/$defs/good"}},
    },
    "$defs": {
        "good": {
            "type": "object",
            "properties": {
                "itemNumber": TEXT,
                "description": TEXT,
                "quantity": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "weight": NUMBER,
            },
        }
    },
}
DELIVERY_GOLD = {
    "noteNumber": "DN-88-17",
    "deliveryDate": "2026-07-21",
    "carrier": "Sample Haulage",
    "pallets": 3,
    "grossWeight": 1204.5,
    "signed": True,
    "goods": [
        {"itemNumber": "P-1", "description": "Copper pipe, half hard", "quantity": 12, "weight": 88.0},
        {"itemNumber": "P-2", "description": "Brass valve", "quantity": 7, "weight": 10.5},
        {"itemNumber": "P-3", "description": "Steel bracket", "quantity": 140, "weight": 61.25},
        {"itemNumber": "P-4", "description": "Hinge", "quantity": 16, "weight": 2.75},
    ],
}


def draw_payslip(canvas: Canvas) -> None:
    """A grid of labels over values, sections, two tables, negative amounts in brackets, dollar signs."""
    write(canvas, (250, 750, "Payslip"), size=16)
    grid = [
        ("Employee", "Robin Specimen"),
        ("Employee ID", "E-0042"),
        ("Pay date", "March 31, 2026"),
        ("Tax code", "K12"),
    ]
    for number, (label, value) in enumerate(grid):
        x = 60 + 125 * number
        canvas.rect(x - 4, 690, 120, 34)
        write(canvas, (x, 712, label), size=7)
        write(canvas, (x, 697, value))
    write(canvas, (60, 660, "Earnings"), size=12)
    write(canvas, (60, 640, "Kind"), (300, 640, "Hours"), (420, 640, "Amount"))
    for number, (kind, hours, amount) in enumerate([("Base pay", "160", "$4,000.00"), ("Overtime", "6.5", "$243.75")]):
        write(canvas, (60, 624 - 16 * number, kind), (300, 624 - 16 * number, hours), (420, 624 - 16 * number, amount))
    write(canvas, (60, 570, "Deductions"), size=12)
    write(canvas, (60, 550, "Reason"), (420, 550, "Amount"))
    for number, (reason, amount) in enumerate([("Income tax", "($611.20)"), ("Pension", "($170.00)")]):
        write(canvas, (60, 534 - 16 * number, reason), (420, 534 - 16 * number, amount))
    write(canvas, (60, 470, "Net pay"), (420, 470, "$3,462.55"))
    write(canvas, (60, 440, "Year to date"), size=12)
    write(canvas, (60, 424, "Gross"), (150, 424, "$12,480.00"), (300, 424, "Tax"), (420, 424, "$1,809.33"))


PAYSLIP: dict[str, Any] = {
    "title": "Payslip",
    "type": "object",
    "properties": {
        "employee": {"type": "object", "properties": {"name": TEXT, "id": TEXT, "tax_code": TEXT}},
        "pay_date": DAY,
        "earnings": {
            "type": "array",
            "items": {"type": "object", "properties": {"kind": TEXT, "hours": NUMBER, "amount": NUMBER}},
        },
        "deductions": {"type": "array", "items": {"type": "object", "properties": {"reason": TEXT, "amount": NUMBER}}},
        "net_pay": NUMBER,
        "year_to_date": {"type": "object", "properties": {"gross": NUMBER, "tax": NUMBER}},
    },
}
PAYSLIP_GOLD = {
    "employee": {"name": "Robin Specimen", "id": "E-0042", "tax_code": "K12"},
    "pay_date": "2026-03-31",
    "earnings": [
        {"kind": "Base pay", "hours": 160, "amount": 4000.0},
        {"kind": "Overtime", "hours": 6.5, "amount": 243.75},
    ],
    "deductions": [{"reason": "Income tax", "amount": -611.2}, {"reason": "Pension", "amount": -170.0}],
    "net_pay": 3462.55,
    "year_to_date": {"gross": 12480.0, "tax": 1809.33},
}


def draw_permit(canvas: Canvas) -> None:
    """Run-on lines without separators, bulleted lists, ticked boxes, sections of equal labels, prose around."""
    write(canvas, (72, 740, "TEMPORARY EVENT PERMIT"), size=14)
    write(
        canvas,
        (72, 715, "This permit is issued under the rules of the fictitious town of Testville and may be withdrawn."),
    )
    write(canvas, (72, 690, "Permit number TEP/2026/55"))
    write(canvas, (72, 674, "Issued 2026-02-03"))
    write(canvas, (72, 658, "Valid until 15-Aug-2026"))
    write(canvas, (72, 630, "Organiser"), size=12)
    write(canvas, (72, 614, "Name: Demo Choir"), (320, 614, "Phone: 555 0100"))
    write(canvas, (72, 590, "Venue"), size=12)
    write(canvas, (72, 574, "Name: Placeholder Hall"), (320, 574, "Capacity: 350"))
    write(canvas, (72, 545, "Category:  [ ] market  [x] concert  [ ] sports event"))
    write(canvas, (72, 529, "Alcohol served: [ ] yes [x] no"))
    write(canvas, (72, 500, "Conditions:"))
    for number, text in enumerate(["Music ends at 22:00", "Stewards at each exit", "Noise below 85 dB"]):
        write(canvas, (90, 484 - 14 * number, f"• {text}"))
    write(canvas, (72, 420, "Fee paid (EUR) ......... 1.250,00"))


PERMIT: dict[str, Any] = {
    "title": "Event permit",
    "type": "object",
    "properties": {
        "permit_number": TEXT,
        "issued": DAY,
        "valid_until": DAY,
        "organiser": {"type": "object", "properties": {"name": TEXT, "phone": TEXT}},
        "venue": {"type": "object", "properties": {"name": TEXT, "capacity": {"type": "integer"}}},
        "category": {"enum": ["market", "concert", "sports_event"]},
        "alcohol_served": {"type": "boolean"},
        "conditions": {"type": "array", "items": TEXT},
        "fee_paid": NUMBER,
        "insurance": {"type": ["string", "null"]},
    },
}
PERMIT_GOLD = {
    "permit_number": "TEP/2026/55",
    "issued": "2026-02-03",
    "valid_until": "2026-08-15",
    "organiser": {"name": "Demo Choir", "phone": "555 0100"},
    "venue": {"name": "Placeholder Hall", "capacity": 350},
    "category": "concert",
    "alcohol_served": False,
    "conditions": ["Music ends at 22:00", "Stewards at each exit", "Noise below 85 dB"],
    "fee_paid": 1250.0,
    "insurance": None,
}


def draw_timetable(canvas: Canvas) -> None:
    """Nothing but a table, with empty cells, a column that nobody asks for, and text below it."""
    head = (("Train", 72), ("Platform", 150), ("Departure", 230), ("Destination", 330), ("Remarks", 450))
    write(canvas, *((x, 700, text) for text, x in head))
    body = [
        ("IC 12", "3", "08:15", "Exampleton", "daily"),
        ("RE 7", "", "08:40", "Testville", ""),
        ("IC 14", "3a", "09:15", "Exampleton", ""),
    ]
    for number, cells in enumerate(body):
        write(canvas, *((x, 682 - 15 * number, cell) for (_, x), cell in zip(head, cells, strict=True)))
    write(canvas, (72, 560, "All times are local. Train crews may change platforms at short notice."))


DEPARTURES: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"train": TEXT, "platform": {"type": ["string", "null"]}, "departure": TEXT, "destination": TEXT},
    },
}
TIMETABLE: dict[str, Any] = {"type": "object", "properties": {"departures": DEPARTURES}}
TIMETABLE_GOLD = {
    "departures": [
        {"train": "IC 12", "platform": "3", "departure": "08:15", "destination": "Exampleton"},
        {"train": "RE 7", "platform": None, "departure": "08:40", "destination": "Testville"},
        {"train": "IC 14", "platform": "3a", "departure": "09:15", "destination": "Exampleton"},
    ]
}


def draw_hotel(canvas: Canvas) -> None:
    """Labels over values in a grid without boxes, month-first dates, abbreviated columns."""
    write(canvas, (60, 750, "Specimen Inn"), size=20)
    write(canvas, (60, 735, "1 Test Road, Exampleton"), size=8)
    write(canvas, (60, 700, "Guest"), (250, 700, "Room"), (400, 700, "Folio #"))
    write(canvas, (60, 688, "Kim Placeholder"), (250, 688, "214"), (400, 688, "F-99120"))
    write(canvas, (60, 660, "Arrival"), (250, 660, "Departure"), (400, 660, "Nights"))
    write(canvas, (60, 648, "05/02/2026"), (250, 648, "05/06/2026"), (400, 648, "4"))
    write(canvas, (60, 610, "Date"), (150, 610, "Charge"), (400, 610, "Debit"), (500, 610, "Credit"))
    charges = [("05/02", "Room rate", "120.00", ""), ("05/03", "Minibar", "14.50", ""), ("05/06", "Paid", "", "134.50")]
    for number, cells in enumerate(charges):
        columns = zip((60, 150, 400, 500), cells, strict=True)
        write(canvas, *((x, 594 - 14 * number, cell) for x, cell in columns))
    write(canvas, (300, 520, "Balance due"), (400, 520, "0.00"))


HOTEL: dict[str, Any] = {
    "title": "Hotel bill",
    "type": "object",
    "properties": {
        "hotel": TEXT,
        "guest_name": TEXT,
        "room_number": TEXT,
        "folio_number": TEXT,
        "arrival_date": DAY,
        "departure_date": DAY,
        "nights": {"type": "integer"},
        "charges": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"date": TEXT, "description": TEXT, "debit": NUMBER, "credit": NUMBER},
            },
        },
        "balance_due": NUMBER,
    },
}
HOTEL_GOLD = {
    "hotel": "Specimen Inn",
    "guest_name": "Kim Placeholder",
    "room_number": "214",
    "folio_number": "F-99120",
    "arrival_date": "2026-05-02",
    "departure_date": "2026-05-06",
    "nights": 4,
    "charges": [
        {"date": "05/02", "description": "Room rate", "debit": 120.0, "credit": None},
        {"date": "05/03", "description": "Minibar", "debit": 14.5, "credit": None},
        {"date": "05/06", "description": "Paid", "debit": None, "credit": 134.5},
    ],
    "balance_due": 0,
}


def draw_certificate(canvas: Canvas) -> None:
    """Labels that differ from the fields' names, two labels for one line, units in the head of a table."""
    write(canvas, (200, 740, "CERTIFICATE OF CALIBRATION"), size=15)
    facts = [
        ("Certificate No", "CAL-2026-311"),
        ("Instrument", "Digital thermometer"),
        ("Manufacturer / model", "Sample Instruments T-9"),
        ("Serial number", "SN 00817"),
        ("Customer", "Placeholder Clinical Laboratory"),
        ("Date of calibration", "11 June 2026"),
        ("Next calibration due", "11 June 2027"),
        ("Ambient temperature", "21.5 °C"),
        ("Result", "PASS"),
    ]
    for number, (label, value) in enumerate(facts):
        write(canvas, (80, 700 - 18 * number, label), (260, 700 - 18 * number, value))
    write(canvas, (80, 500, "Nominal °C"), (180, 500, "Measured °C"), (290, 500, "Error °C"), (390, 500, "Limit ±°C"))
    points = [
        ("0.00", "0.03", "0.03", "0.20"),
        ("50.00", "49.91", "-0.09", "0.20"),
        ("100.00", "99.95", "-0.05", "0.30"),
    ]
    for number, cells in enumerate(points):
        columns = zip((80, 180, 290, 390), cells, strict=True)
        write(canvas, *((x, 484 - 15 * number, cell) for x, cell in columns))
    write(canvas, (80, 400, "Calibrated by: A. Specimen      Approved: yes"))


CERTIFICATE: dict[str, Any] = {
    "title": "Calibration certificate",
    "type": "object",
    "properties": {
        "certificate_number": TEXT,
        "instrument": {
            "type": "object",
            "properties": {"type": TEXT, "manufacturer": TEXT, "model": TEXT, "serial_number": TEXT},
        },
        "customer": TEXT,
        "calibration_date": DAY,
        "due_date": DAY,
        "ambient_temperature": NUMBER,
        "passed": {"type": "boolean"},
        "points": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"nominal": NUMBER, "measured": NUMBER, "error": NUMBER, "limit": NUMBER},
            },
        },
        "technician": TEXT,
        "approved": {"type": "boolean"},
    },
}
CERTIFICATE_GOLD = {
    "certificate_number": "CAL-2026-311",
    "instrument": {
        "type": "Digital thermometer",
        "manufacturer": "Sample Instruments",
        "model": "T-9",
        "serial_number": "SN 00817",
    },
    "customer": "Placeholder Clinical Laboratory",
    "calibration_date": "2026-06-11",
    "due_date": "2027-06-11",
    "ambient_temperature": 21.5,
    "passed": True,
    "points": [
        {"nominal": 0, "measured": 0.03, "error": 0.03, "limit": 0.2},
        {"nominal": 50, "measured": 49.91, "error": -0.09, "limit": 0.2},
        {"nominal": 100, "measured": 99.95, "error": -0.05, "limit": 0.3},
    ],
    "technician": "A. Specimen",
    "approved": True,
}

OTHER_LAYOUTS = {
    "delivery": (draw_delivery, DELIVERY, DELIVERY_GOLD, 0.8),
    "payslip": (draw_payslip, PAYSLIP, PAYSLIP_GOLD, 0.8),
    "permit": (draw_permit, PERMIT, PERMIT_GOLD, 0.8),
    "timetable": (draw_timetable, TIMETABLE, TIMETABLE_GOLD, 0.9),
    # These two were drawn last and the baseline was not changed after: what it reaches on them is its real floor.
    "hotel": (draw_hotel, HOTEL, HOTEL_GOLD, 0.5),
    "certificate": (draw_certificate, CERTIFICATE, CERTIFICATE_GOLD, 0.7),
}


@pytest.mark.parametrize("name", OTHER_LAYOUTS)
def test_other_layouts(name: str) -> None:
    draw, schema, gold, least = OTHER_LAYOUTS[name]
    score = docassay.score(fill(pdf(draw), schema), gold, schema, metric="omni/1")
    assert score.accuracy is not None
    assert score.accuracy >= least


def test_an_array_at_the_root() -> None:
    assert fill(pdf(draw_timetable), DEPARTURES) == TIMETABLE_GOLD["departures"]


def test_fields_whose_labels_are_not_there_stay_empty() -> None:
    schema = {
        "type": "object",
        "properties": {
            "gearbox": TEXT,
            "first_flight": DAY,
            "engines": {"type": "array", "items": {"type": "object", "properties": {"maker": TEXT, "thrust": NUMBER}}},
            "crew": {"type": "array", "items": TEXT},
        },
    }
    assert fill(pdf(draw_payslip), schema) == {"gearbox": None, "first_flight": None, "engines": [], "crew": []}


@pytest.mark.parametrize("draw", [lambda canvas: canvas.showPage(), lambda canvas: canvas.rect(10, 10, 50, 50)])
def test_a_page_without_text_gives_nothing(draw: Draw) -> None:
    assert fill(pdf(draw), PERMIT) == {
        **dict.fromkeys(PERMIT["properties"]),
        "organiser": {"name": None, "phone": None},
        "venue": {"name": None, "capacity": None},
        "conditions": [],
    }


def test_as_a_provider() -> None:
    async def run(data: bytes) -> Any:
        provider, _ = open_provider(configure("baseline"), environment={})
        try:
            return await provider.extract(ExtractionTask(Document("d", "d.pdf", data, PERMIT), Budget(30)))
        finally:
            await provider.aclose()

    good = asyncio.run(run(pdf(draw_permit)))
    assert good.outcome is Outcome.OK
    assert good.extraction["venue"]["capacity"] == 350
    assert (good.cost, good.schema_sent, good.exchanges) == (None, None, ())
    bad = asyncio.run(run(b"%PDF-1.7 but not really"))
    assert (bad.outcome, bad.transient) == (Outcome.FAILED, False)
    assert "cannot be read as a PDF" in bad.error


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        (NUMBER, "EUR 1,043.60", 1043.6),
        (NUMBER, "1.043,60 €", 1043.6),
        (NUMBER, "(640)", -640),
        (NUMBER, "12.50-", -12.5),
        (NUMBER, "−3", -3),
        (NUMBER, "20 %", 20),
        (NUMBER, "0.125", 0.125),
        (NUMBER, "1 250 000", 1250000),
        (NUMBER, "see page 4 of the annex", None),
        (NUMBER, "3 x 4", None),
        ({"type": "integer"}, "214", 214),
        ({"type": "integer"}, "2.5", None),
        (DAY, "14 March 2026", "2026-03-14"),
        (DAY, "Mar 14th, 2026", "2026-03-14"),
        (DAY, "14.03.2026", "2026-03-14"),
        (DAY, "3/14/2026", "2026-03-14"),
        (DAY, "31.02.2026", None),
        (DAY, "soon", None),
        ({"type": "boolean"}, "[x] yes [ ] no", True),
        ({"type": "boolean"}, "No", False),
        ({"type": "boolean"}, "perhaps", None),
        ({"enum": ["single", "family"]}, "☐ single ☒ family", "family"),
        ({"enum": ["single", "family"]}, "Family membership", "family"),
        ({"enum": ["single", "family"]}, "single or family", None),
        (TEXT, "....", None),
    ],
)
def test_types_direct_the_reading(schema: dict[str, Any], text: str, value: object) -> None:
    assert read_value(field_tree(schema), text) == value


def test_pieces() -> None:
    assert numbers_in("12.0 - 16.0") == [12.0, 16.0]
    assert dates_in("from 1 January 2026 to 2026-01-31") == ["2026-01-01", "2026-01-31"]
    assert words("issueDate") == words("Issue date") == words("issue_dates")
    assert words("Invoice No.") == words("invoice_number")
    assert likeness(words("due date"), words("invoice date")) == 0.5
    assert likeness(frozenset(), frozenset()) == 0.0


def test_lines_and_spans() -> None:
    lines = read_lines(pdf(draw_timetable))
    assert [span.text for span in lines[0].spans] == ["Train", "Platform", "Departure", "Destination", "Remarks"]
    with pytest.raises(ProviderError):
        read_lines(b"")
