"""splintr: encodes by a regular expression engine of its own, a linked list and a cache of pieces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from impls.core.arguments import id_list
from impls.core.model import Model
from impls.core.text.patterns import WHOLE_TEXT
from impls.interface import Tokenizer
from impls.peers.conversion import (
    has_plain_rules,
    has_ranks,
    plain_pattern,
    rank_file,
    rayon_threads,
    sentencepiece_json,
    tokenizer_json,
)
from impls.peers.packages import library, loading

splintr = library("splintr", "splintr-rs", "splintr")


class Splintr(Tokenizer):
    """`splintr.Tokenizer` over the model's ranks, or what `splintr` makes of its tokenizer.json."""

    name: ClassVar[str] = "splintr"
    summary: ClassVar[str] = "Rust: own regular expressions, linked list, piece cache"
    kind: ClassVar[Literal["peer"]] = "peer"
    surrogate_errors = (UnicodeEncodeError,)

    def __init__(self, model: Model) -> None:
        self.normalizes = has_plain_rules(model)
        super().__init__(model)
        self._tokenizer = _tokenizer(model)

    def _encode_text(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens."""
        if text == "":
            return []
        ids: list[int] = self._tokenizer.encode_ordinary(text)
        return ids

    def _encode_text_to_array(self, text: str) -> np.ndarray:
        """As `_encode_text`, as a read-only view of the library's flat output."""
        return np.frombuffer(self._tokenizer.encode_flat(text) if text != "" else b"", np.uint32)

    def _encode_texts(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """As `_encode_text` for each text; on the library's pool if it has this many threads."""
        if threads != rayon_threads() or self._marks_empty_text(texts):
            return super()._encode_texts(texts, threads)
        found: list[list[int]] = self._tokenizer.encode_batch(texts)
        return found

    def _encode_texts_to_ragged(self, texts: Sequence[str], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """As `_encode_texts`; read-only views of the library's flat output."""
        if threads != rayon_threads() or self._marks_empty_text(texts):
            return super()._encode_texts_to_ragged(texts, threads)
        ids, offsets = self._tokenizer.encode_batch_flat(texts)
        return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.int64)

    def _marks_empty_text(self, texts: Sequence[str]) -> bool:
        """Return whether the library would prepend SentencePiece's mark to an empty text."""
        return self.normalizes and not all(texts)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids. The library raises for unknown ids, special ones included."""
        ids = id_list(ids)
        if self.normalizes:
            return super().decode_bytes(ids)
        try:
            data: bytes = self._tokenizer.decode_bytes(ids)
            return data
        except (ValueError, OverflowError, TypeError):
            return super().decode_bytes(ids)


def _tokenizer(model: Model) -> Any:
    name = Splintr.name
    with loading(name):
        if has_plain_rules(model):
            return splintr.from_json_bytes(sentencepiece_json(name, model))
        if has_ranks(model):
            pattern = plain_pattern(model)
            return splintr.Tokenizer.from_bytes(rank_file(model), pattern[0] if pattern else WHOLE_TEXT)
        return splintr.from_json_bytes(tokenizer_json(name, model))
