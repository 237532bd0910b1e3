"""Folders whose modules and plug-ins are found as if they were installed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import impls


@contextmanager
def found_in(*folders: Path) -> Iterator[None]:
    """What the folders hold, and this one, is found here, and by processes that start here."""
    with pytest.MonkeyPatch.context() as patch:
        for folder in (Path(__file__).parent, *folders):
            patch.syspath_prepend(str(folder))
            patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        impls.registry.plugins.cache_clear()
        yield
    impls.registry.plugins.cache_clear()
