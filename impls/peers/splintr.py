"""splintr: encodes by a regular expression engine of its own, a linked list and a cache of pieces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from impls.core.model import Model
from impls.peers.conversion import (
    has_plain_rules,
    has_ranks,
    one_pattern_of,
    rank_file,
    rayon_threads,
    sentencepiece_json,
    tokenizer_json,
)
from impls.peers.peer import Peer, library

splintr = library("splintr", "splintr-rs", "splintr")


class Splintr(Peer):
    """`splintr.Tokenizer` over the model's ranks, or what `splintr` makes of its tokenizer.json."""

    name: ClassVar[str] = "splintr"
    summary: ClassVar[str] = "Rust: own regular expressions, linked list, piece cache"
    reads_sentencepiece = True

    def _load(self, model: Model) -> Any:
        if has_plain_rules(model):
            return splintr.from_json_bytes(sentencepiece_json(self.name, model))
        if has_ranks(model):
            return splintr.Tokenizer.from_bytes(rank_file(model), one_pattern_of(model))
        return splintr.from_json_bytes(tokenizer_json(self.name, model))

    def encode_normalized(self, text: str) -> list[int]:
        return self._library.encode_ordinary(text) if text != "" else []

    def encode_normalized_array(self, text: str) -> np.ndarray:
        """Return the ids of `encode_normalized` as a read-only view of the library's flat output."""
        return np.frombuffer(self._library.encode_flat(text) if text != "" else b"", np.uint32)

    def encode_normalized_batch(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """Return `encode_normalized` of each text; on the library's pool if it has this many threads."""
        if threads != rayon_threads() or self._marks_empty_text(texts):
            return super().encode_normalized_batch(texts, threads)
        return self._library.encode_batch(texts)

    def encode_normalized_ragged(self, texts: Sequence[str], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of `encode_normalized_batch` as read-only views of the library's flat output."""
        if threads != rayon_threads() or self._marks_empty_text(texts):
            return super().encode_normalized_ragged(texts, threads)
        ids, offsets = self._library.encode_batch_flat(texts)
        return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.int64)

    def _marks_empty_text(self, texts: Sequence[str]) -> bool:
        """Return whether the library would prepend SentencePiece's mark to an empty text."""
        return self.normalizes and not all(texts)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids. The library raises for unknown ids, special ones included."""
        return self._bytes_unless_refused(self._library.decode_bytes, ids)
