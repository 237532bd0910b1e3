"""What the tests of the implementations share: how much a test at random tries."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="session")
def fuzz() -> int:
    """How many times as much a test at random tries: BPEBENCH_FUZZ, 1 by default."""
    return int(os.environ.get("BPEBENCH_FUZZ", "1"))
