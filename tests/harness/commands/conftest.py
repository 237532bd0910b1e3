"""What several tests of the command line share: a small model in a file, and an empty cache."""

from __future__ import annotations

from pathlib import Path

import pytest

import impls
from impls.compiled.codegen.build import kernel_address


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = ["evlerimizden gelen hello world", "hello hello world"]
    spec = impls.TrainingSpec(vocab_size=275, special_tokens=("<s>",))
    path = tmp_path_factory.mktemp("models") / "tiny.json"
    impls.train("priority", texts, spec).model.save(path)
    return path


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache; the kernels of `compiled` come from the user's before."""
    kernel_address("run_worker")
    monkeypatch.setenv("BPEBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
