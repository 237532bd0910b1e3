"""A side of a comparison: something that encodes and decodes, with whatever it exposes about itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from harness.explain.algorithms import Algorithm
from harness.explain.rules import Rules
from harness.explanations import PiecesFrom
from impls.core.model.model import Model


@dataclass(kw_only=True)
class Side:
    """A tokenizer to ask (`encode`, `decode`), and what is known about it; None for anything unknown."""

    name: str
    encode: Callable[[str], Sequence[int]]
    decode: Callable[[list[int]], str]
    about: str = "known only by its answers"
    model: Model | None = None
    """The model whose merges derive its ids."""
    algorithm: Algorithm | None = None
    """Assumed until the ids contradict it."""
    normalize: Callable[[str], str] | None = None
    """A segment without special tokens -> the text that is cut into pieces."""
    split: Callable[[str], list[str]] | None = None
    """A normalised segment -> the pieces as the merges see them."""
    split_by: PiecesFrom = "pattern"
    token_bytes: Callable[[int], bytes | None] | None = None
    whole_tokens: Mapping[str, int] = field(default_factory=dict)
    """Its special and added tokens."""

    @cached_property
    def rules(self) -> Rules | None:
        """Return the merges of its model, as the algorithms look them up; None if they are unknown or incomplete."""
        return None if self.model is None else Rules(self.model)

    def token(self, i: int) -> bytes | None:
        """Return the bytes of an id, or None if unknown."""
        if self.token_bytes is not None:
            return self.token_bytes(i)
        text = self.decode([i])
        return None if not text or "\ufffd" in text else text.encode("utf-8", "surrogatepass")
