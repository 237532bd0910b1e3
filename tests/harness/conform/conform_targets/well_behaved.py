"""Python objects that do what a target should, each with something of its own."""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np


class Right:
    """Every byte is a token."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: list[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")

    @classmethod
    def factory(cls) -> Right:
        return cls()


factory = Right.factory
instance = Right()


class CodePoints:
    """Every code point is a token."""

    def encode(self, text: str) -> list[int]:
        return [ord(character) for character in text]

    def decode(self, ids: list[int]) -> str:
        return "".join(map(chr, ids))


class Everything(Right):
    """All that is optional."""

    n_vocab = 256
    special_tokens: ClassVar[dict[str, int]] = {"<s>": 1}

    def encode(self, text: str, *, allowed_special: set[str] = frozenset()) -> Any:  # type: ignore[assignment]
        assert isinstance(allowed_special, set | frozenset)
        return np.frombuffer(text.encode(), dtype=np.uint8).astype(np.uint32)

    def pieces(self, text: str) -> list[str]:
        first, *others = text.split(" ")
        return [first, *(" " + other for other in others)]

    def decode_single_token_bytes(self, number: int) -> bytes:
        return bytes([number])

    def decode_bytes(self, ids: list[int]) -> bytes:
        return bytes(ids)


class HashSeed(Right):
    """Answers by the hash of the text."""

    def encode(self, text: str) -> list[int]:
        return [hash(text) & 0xFFFF]


class Slow(Right):
    """Takes a while, and counts."""

    n_calls = -1

    def encode(self, text: str) -> list[int]:
        time.sleep(0.2)
        self.n_calls += 1
        return [self.n_calls]


class OfModel(Right):
    """Made of a model, as a plug-in is."""

    def __init__(self, model: Any) -> None:
        self.n_vocab = model.vocab_size
