"""A server on loopback that speaks every vendor's API, with scripted answers and faults: for tests of pipelines.

    with FakeServer(answers={"invoice.pdf": {"total": 5}}, faults=[Fault("status", status=503, times=2)]) as fake:
        options = fake.options("datalab")   # base_url and a short poll_interval
        ...
        assert fake.count("datalab", "submit") == 3

Keys are not checked, only that one is sent. Nothing leaves the machine. `python -m docassay.providers.fake` serves one
until it is interrupted.
"""

from docassay.providers.fake.form import Seen
from docassay.providers.fake.script import KEYS, VENDORS, Answers, FakeDocument, Fault, sample
from docassay.providers.fake.server import FakeServer

__all__ = ["KEYS", "VENDORS", "Answers", "FakeDocument", "FakeServer", "Fault", "Seen", "sample"]
