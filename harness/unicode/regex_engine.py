"""The package regex as an engine of its own: its pieces, merged as the vocabulary of `contexts` merges them.

How a piece is merged depends only on its shape, since that vocabulary treats all bytes that begin a character alike,
and all that end one. So each shape is merged once, by `priority`.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

import impls
from impls import Model, Tokenizer
from impls.interface import SpecialSet

_SHAPE = bytes([*range(0x80), *[0x80] * 64, 0xC0, 0xC1, *[0xC2] * 51, *range(0xF5, 0x100)])
"""Byte -> itself, or a representative of all that begin or all that continue a character."""


class RegexEngine(Tokenizer):
    """Gives tokens of the right lengths, which is all a sweep needs; the ids themselves are arbitrary."""

    name: ClassVar[str] = "regex"
    shape: ClassVar[bytes] = _SHAPE
    """A table for `bytes.translate`: its tokens spell the text up to this translation."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._priority = impls.load("priority", model)
        self._by_shape: dict[bytes, list[int]] = {}

    def encode_array(
        self, text: str, *, allowed_special: SpecialSet = (), disallowed_special: SpecialSet = "all"
    ) -> np.ndarray:
        """Return, for every token, an id of the same length, as a uint32 array of shape (n_tokens,)."""
        ids: list[int] = []
        by_shape = self._by_shape
        for piece in self._splitter.split(text):
            shape = piece.encode().translate(_SHAPE)
            found = by_shape.get(shape)
            if found is None:
                found = by_shape[shape] = self._priority.encode_piece(piece)
            ids += found
        return np.array(ids, dtype=np.uint32)
