"""What several tests of measuring share: implementations that fail or remember in known ways."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from toy_runs import TOYS


@pytest.fixture(scope="module")
def toys() -> Iterator[None]:
    """Install the toys where worker processes find them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(TOYS), prepend=os.pathsep)
        yield
