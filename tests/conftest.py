"""What all tests share: where the shared vectors and data lie, and how hard hypothesis tries.

`DOCASSAY_SHARED` names the folder with the shared vectors and documents where it is not beside the repository;
`HYPOTHESIS_PROFILE` is `ci` (the same examples every time), `dev` (other ones every time) or `thorough`.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("DOCASSAY_SHARED", REPOSITORY.parent / "shared"))

SLOW_IS_FINE = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile("dev", deadline=None, max_examples=60, suppress_health_check=SLOW_IS_FINE)
settings.register_profile("ci", deadline=None, max_examples=100, derandomize=True, suppress_health_check=SLOW_IS_FINE)
settings.register_profile("thorough", deadline=None, max_examples=2000, suppress_health_check=SLOW_IS_FINE)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))

# A shell that starts tests in the background lets them ignore interrupts, and what they start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder with `vectors/` and `data/`; the test is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"the shared vectors and documents are not at {SHARED} (set DOCASSAY_SHARED)")
    return SHARED


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return REPOSITORY
