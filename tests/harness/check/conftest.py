"""The tokenizers and trainers of `check_plugins`, right and wrong, as plug-ins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import impls

_PLUGINS = Path(__file__).resolve().parent / "check_plugins"


@pytest.fixture(autouse=True, scope="module")
def plugins() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(_PLUGINS))
        patch.setenv("PYTHONPATH", str(_PLUGINS))
        impls.registry._plugins.cache_clear()
        yield
    impls.registry._plugins.cache_clear()
