"""Loads one corpus, validates one submission and completes one finding, in a process of its own; prints JSON.

Times are seconds of CPU (one thread does it all), so that what else the machine does is not in them.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from docassay.discovery.corpus import load_corpus
from docassay.discovery.statistics import expected_statistics
from docassay.discovery.tasks import load_data
from docassay.discovery.validate import validate_submission


def main() -> None:
    """`discovery_worker.py DATA SUBMISSION REPEATS`"""
    data, submission, repeats = load_data(sys.argv[1]), Path(sys.argv[2]).read_bytes(), int(sys.argv[3])
    before = _peak()
    began = time.process_time()
    corpus = load_corpus(data, data.tasks[0])
    load = time.process_time() - began
    loaded = _peak()
    validations, completions = [], []
    for _ in range(repeats):
        began = time.process_time()
        validation = validate_submission(submission, data.tasks[0], corpus)
        validations.append(time.process_time() - began)
        assert validation.valid, validation.faults
        assert validation.submission is not None
        finding = json.loads(submission)["findings"][0]
        began = time.process_time()
        expected_statistics(finding, data.tasks[0], corpus)
        completions.append(time.process_time() - began)
    print(json.dumps({"load": load, "memory": loaded - before, "validate": validations, "statistics": completions}))


def _peak() -> int:
    """Peak memory of this process so far, in KiB; on Linux of this program alone, not of what started it."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
