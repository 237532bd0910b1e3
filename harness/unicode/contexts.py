"""Code points in the contexts that matter to a pattern, and a vocabulary whose token borders show every cut.

A code point is put beside letters, digits, a space, a contraction, upper and lower case. The vocabulary joins any byte
that may begin or end a character with its neighbours there, and nothing within a character: a token continues wherever
there is no cut, so the token borders show every cut.

How a piece is merged depends only on its shape, since the vocabulary treats all bytes that begin a character alike, and
all that end one. So each shape is merged once, by `priority`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import ClassVar

import numpy as np

import impls
from impls import Model, Tokenizer
from impls.interface import SpecialSet

CONTEXTS = ("a{0}b", "1{0}2", " {0}", "{0}'s", "A{0}a", "a{0}A", "{0}Aa")
"""The contexts of a code point; each is followed by a line end."""
FEW_CONTEXTS = ("a{0}1{0}'s",)
"""Contexts for planes without characters, and for private ones."""
LOST = np.uint64(2**64 - 1)
"""Replaces token borders when the tokens do not spell the text."""

_SURROGATES = range(0xD800, 0xE000)
_EMPTY_PLANES = (*range(4, 14), 15, 16)


def code_points() -> list[int]:
    """Return all code points except surrogates."""
    return [code for code in range(0x110000) if code not in _SURROGATES]


def contexts_of(code: int) -> tuple[str, ...]:
    """Return the contexts that a code point is put into."""
    return FEW_CONTEXTS if code >> 16 in _EMPTY_PLANES else CONTEXTS


def text_of(code: int, contexts: Sequence[str] | None = None) -> str:
    """Return a code point in its contexts, at most 64 bytes."""
    character = chr(code)
    return "".join(context.format(character) + "\n" for context in contexts or contexts_of(code))


@cache
def sweep_model(pattern: tuple[str, ...]) -> Model:
    """Return a model of 256 bytes and tokens across every border of `CONTEXTS` for a code point of any length."""
    firsts = [bytes([byte]) for byte in (*range(0x80), *range(0xC2, 0xF5))]
    lasts = [bytes([byte]) for byte in range(0xC0)]
    tokens: dict[bytes, None] = dict.fromkeys(bytes([byte]) for byte in range(256))
    for before, after in sorted(_neighbours()):
        tokens.update(dict.fromkeys(last + after for last in lasts))
        if before:
            tokens.update(dict.fromkeys(before + first for first in firsts))
            # A code point of one byte touches both sides.
            tokens.update(dict.fromkeys(before + bytes([byte]) + after for byte in range(0x80)))
    tokens[b"'s"] = None
    # Shorter tokens come first, so that every token has a derivation; of equal ones, those with bytes beyond ASCII.
    in_order = sorted(tokens, key=lambda token: (len(token), token.isascii(), token))
    return Model(tokens=tuple(in_order), pattern=pattern, merge_rule="concatenation")


def _neighbours() -> set[tuple[bytes, bytes]]:
    """Return the neighbours right before and after the code point, in all contexts."""
    found: set[tuple[bytes, bytes]] = set()
    for context in (*CONTEXTS, *FEW_CONTEXTS):
        parts = f"{context}\n".encode().split(b"{0}")
        found |= {(before[-1:], after[:1]) for before, after in pairwise(parts)}
    return found


def borders(tokenizer: Tokenizer, codes: Iterable[int], contexts: Sequence[str] | None = None) -> np.ndarray:
    """Return for each code point, as the bits of a uint64, the bytes of its text at which a token begins.

    All texts are encoded as one. If the tokens do not spell it, each text is encoded separately; `LOST` marks a text
    whose tokens do not spell it even then, or on which the tokenizer fails.
    """
    codes = list(codes)
    texts = [text_of(code, contexts) for code in codes]
    sizes = np.array([len(text.encode()) for text in texts], dtype=np.int64)
    found = _borders(tokenizer, "".join(texts), sizes)
    if found is not None:
        return found
    if len(codes) == 1:
        return np.array([LOST], dtype=np.uint64)
    half = len(codes) // 2
    return np.concatenate([borders(tokenizer, part, contexts) for part in (codes[:half], codes[half:])])


def _borders(tokenizer: Tokenizer, text: str, sizes: np.ndarray) -> np.ndarray | None:
    try:
        ids = np.asarray(tokenizer.encode_array(text, disallowed_special=()), dtype=np.int64)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None
    tokens = tokenizer.model.tokens
    if len(ids) == 0 or ids.min() < 0 or ids.max() >= len(tokens):
        return None
    spelt = [tokens[i] or b"" for i in ids.tolist()]
    shape = getattr(tokenizer, "shape", None)
    if b"".join(spelt).translate(shape) != text.encode().translate(shape):
        return None
    lengths = np.fromiter(map(len, spelt), dtype=np.int64, count=len(spelt))
    begins = np.cumsum(lengths) - lengths
    starts = np.cumsum(sizes) - sizes
    text_index = np.searchsorted(starts, begins, side="right") - 1
    bits = np.left_shift(np.uint64(1), (begins - starts[text_index]).astype(np.uint64))
    found = np.zeros(len(sizes), dtype=np.uint64)
    np.bitwise_or.at(found, text_index, bits)
    return found


_SHAPE = bytes([*range(0x80), *[0x80] * 64, 0xC0, 0xC1, *[0xC2] * 51, *range(0xF5, 0x100)])
"""Byte -> itself, or a representative of all that begin or all that continue a character."""


class RegexEngine(Tokenizer):
    """Returns ids whose tokens have the right lengths, which is all a sweep needs; the ids themselves are arbitrary."""

    name: ClassVar[str] = "regex"
    shape: ClassVar[bytes] = _SHAPE
    """Table for `bytes.translate`; the tokens spell the text only up to this translation."""

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
