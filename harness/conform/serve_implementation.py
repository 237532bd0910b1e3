"""Adapters for our own implementations over a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import impls
from harness.conform.adapter import ObjectAdapter
from harness.data import load_model


class _Saving:
    """A tokenizer of the suite with `save`, `load` and the attributes the adapter looks for."""

    def __init__(self, tokenizer: impls.Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.special_tokens = dict(tokenizer.model.special_tokens)
        self.n_vocab = tokenizer.model.vocab_size

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    @property
    def encode(self) -> Callable[..., list[int]]:
        """The tokenizer's own method, whose signature the adapter inspects."""
        return self._tokenizer.encode

    def save(self, path: str) -> None:
        """Write the model in the suite's own format."""
        self._tokenizer.model.save(path)

    def load(self, path: str) -> _Saving:
        """Return the same implementation over the model in `path`."""
        return _Saving(type(self._tokenizer)(impls.Model.load(path)))


def implementation_adapter(kind: str, implementation: str, model: str) -> ObjectAdapter:
    """Return an adapter for the implementation over the model, given by name (`entry-point`) or file (`file`)."""
    found = load_model(model if kind == "entry-point" else Path(model))
    return ObjectAdapter(_Saving(impls.load(implementation, found)))
