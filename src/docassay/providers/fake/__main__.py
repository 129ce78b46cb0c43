"""Serve until interrupted: `python -m docassay.providers.fake [PORT]`; prints each vendor's address."""

from __future__ import annotations

import contextlib
import sys
import threading

from docassay.providers.fake import VENDORS, FakeServer

with FakeServer(port=int(sys.argv[1]) if len(sys.argv) > 1 else 0) as fake:
    for vendor in VENDORS:
        print(f"{vendor:14}{fake.url(vendor)}", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()
