"""tuetoken: encodes by merging in linear time with a cache of pieces; it refuses what it cannot reproduce.

It decodes only to text, and silently skips unknown ids, so ids are decoded by `Tokenizer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from impls.core.model import Model
from impls.peers.conversion import any_json, file_of
from impls.peers.peer import Peer, library

tuetoken = library("tuetoken", "tuetoken", "tuetoken")


class Tuetoken(Peer):
    """`tuetoken.Tokenizer` over the model's tokenizer.json."""

    name: ClassVar[str] = "tuetoken"
    summary: ClassVar[str] = "Rust: linear merging, buffers for arrays"
    reads_sentencepiece = True

    def _load(self, model: Model) -> Any:
        with file_of(any_json(self.name, model), "tokenizer.json") as path:
            return tuetoken.Tokenizer(path)

    def encode_normalized(self, text: str) -> list[int]:
        return self._library.encode_ordinary(text)

    def encode_normalized_array(self, text: str) -> np.ndarray:
        """Return the ids of `encode_normalized` as a read-only view of the library's buffer."""
        return np.frombuffer(self._library.encode_to_bytes(text), np.uint32)

    def encode_normalized_batch(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """Return `encode_normalized` of each text, by the library's own threads."""
        return self._library.encode_ordinary_batch(list(texts), threads)

    def encode_normalized_ragged(self, texts: Sequence[str], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of `encode_normalized_batch` as the library's arrays."""
        found = self._library.encode_ordinary_to_buffer(list(texts), threads)
        return found["data"], found["offsets"]

    def count(self, text: str, at_most: int | None = None) -> int:
        """Count the ids of `text`, by the library where nothing is recognised in it."""
        return self._counted(self._library.count_tokens, text, at_most)
