"""What several tests of the command line share: a small model in a file, and an empty cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from impls.compiled.codegen.build import kernel_address


@pytest.fixture(scope="module")
def model_file(saved: Callable[..., Path]) -> Path:
    texts = "evlerimizden gelen hello world", "hello hello world"
    return saved(*texts, name="tiny.json", vocab_size=275, special_tokens=("<s>",))


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache; the kernels of `compiled` come from the user's before."""
    kernel_address("run_worker")
    monkeypatch.setenv("BPEBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
