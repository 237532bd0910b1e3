"""toktok: encodes by backtracking with splitters of its own; cl100k and o200k, built in. It also truncates.

Its documented functions count and truncate; the tokenizer behind them encodes. It silently skips unknown ids when it
decodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from impls.core.model import Model
from impls.peers.conversion import as_lists, require_public
from impls.peers.peer import Peer, library

toktok = library("toktok", "toktok-rs", "toktok")

_NAMES = ("cl100k_base", "o200k_base")


class Toktok(Peer):
    """The tokenizer of `toktok` with the model's name."""

    name: ClassVar[str] = "toktok"
    summary: ClassVar[str] = "Rust: backtracking, own splitters; cl100k and o200k only"

    def _load(self, model: Model) -> Any:
        return toktok._encoding(require_public(self.name, model, _NAMES))

    def encode_normalized(self, text: str) -> list[int]:
        return self._library.encode_ordinary(text)

    def encode_normalized_array(self, text: str) -> np.ndarray:
        """Return the ids of `encode_normalized` as a read-only view of the library's buffer."""
        return np.frombuffer(self._library.encode_to_buffer(text, disallowed_special=()), np.uint32)

    def encode_normalized_batch(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """Return `encode_normalized` of each text; with several threads, from the library's arrays."""
        if threads == 1:
            return super().encode_normalized_batch(texts, threads)
        return as_lists(*self.encode_normalized_ragged(texts, threads))

    def encode_normalized_ragged(self, texts: Sequence[str], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of `encode_normalized_batch` as the library's arrays."""
        return self._library.encode_batch_to_numpy(list(texts), threads)

    def count(self, text: str, at_most: int | None = None) -> int:
        """Count the ids of `text`, by the library where nothing is recognised in it."""
        return self._counted(self._library.count, text, at_most)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids, by the library if each belongs to a token."""
        return self._bytes_if_known(self._library.decode_bytes, ids)
