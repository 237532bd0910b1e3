"""Texts that grow, by SentencePiece's rules: first spaces, extra spaces, unknown characters, user-defined pieces."""

from __future__ import annotations

from typing import Any

import pytest
from growing_texts import follow
from sentencepiece_models import random_texts

import impls
from impls.operations import incremental


@pytest.mark.parametrize("implementation", ["priority", "compiled"])
def test_ids_are_as_encoded_anew(trained: Any, implementation: str, fuzz: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental, "CHUNK", 12)
    tokenizer = impls.load(implementation, trained.model)
    stable = follow(tokenizer, 30 * fuzz, trained.name, random_texts(80, seed=11), allowed_special="all")
    assert (stable > 0.1) == (not trained.model.charsmap)
