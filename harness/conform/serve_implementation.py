"""One of our implementations over a model, as the server serves it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import impls
from harness.conform.served import Served
from harness.data import load_model


class _Saving:
    """A tokenizer of the suite with `save` and `load`, and its model's facts where the server looks for them."""

    def __init__(self, tokenizer: impls.Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.special_tokens = dict(tokenizer.model.special_tokens)
        self.n_vocab = tokenizer.model.vocab_size

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    @property
    def encode(self) -> Callable[..., list[int]]:
        """The tokenizer's own method."""
        return self._tokenizer.encode

    def save(self, path: str) -> None:
        """Write the model in the suite's own format."""
        self._tokenizer.model.save(path)

    def load(self, path: str) -> _Saving:
        """The same implementation over the model in `path`."""
        return _Saving(type(self._tokenizer)(impls.Model.load(path)))


def served_implementation(kind: str, implementation: str, model: str) -> Served:
    """The implementation over the model, by its name (`entry-point`) or file (`file`)."""
    found = load_model(model if kind == "entry-point" else Path(model))
    return Served(_Saving(impls.load(implementation, found)))
