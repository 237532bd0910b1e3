"""Tokenizers of `compiled` over one small model, with the fast and the plain way across the border to Python."""

from __future__ import annotations

import pytest

import impls
from impls.compiled import Compiled
from impls.core.model.model import Model
from impls.priority import Priority


@pytest.fixture(scope="module")
def model() -> Model:
    spec = impls.TrainingSpec(vocab_size=320, pattern="cl100k", special_tokens=("<|end|>",))
    return Priority.train_model(["the cat sat on the mat; it'll hat the rat", "日本語の日本 kedi"] * 2, spec)


@pytest.fixture
def tokenizer(boundary: str, model: Model) -> Compiled:
    return Compiled(model)


@pytest.fixture
def fast(model: Model, monkeypatch: pytest.MonkeyPatch) -> Compiled:
    monkeypatch.delenv("BPEBENCH_COMPILED_BORDER", raising=False)
    return Compiled(model)
