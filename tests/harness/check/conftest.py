"""The tokenizers and trainers of `check_plugins`, right and wrong, as plug-ins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from module_folders import found_in

_PLUGINS = Path(__file__).resolve().parent / "check_plugins"


@pytest.fixture(autouse=True, scope="module")
def plugins() -> Iterator[None]:
    with found_in(_PLUGINS):
        yield
