"""snaptokens: encodes by hand-written splitters and word caches, a fork of fastokens; batches use Rayon's threads.

It requires a token for each id, and decodes by tokens' texts, so ids are decoded by `Tokenizer`. Code points newer than
Unicode 16 may get other ids than in other libraries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from impls.core.model import Model
from impls.peers.conversion import as_lists, rayon_threads, tokenizer_json
from impls.peers.peer import Peer, library

snaptokens = library("snaptokens", "snaptokens", "snaptokens")

_LONG = 1000
"""For texts of at least this many characters, a list is made faster from flat output than from the encoding object."""


class Snaptokens(Peer):
    """`snaptokens.Tokenizer` over the model's tokenizer.json."""

    name: ClassVar[str] = "snaptokens"
    summary: ClassVar[str] = "Rust: hand-written splitters, word caches, flat output"

    def _load(self, model: Model) -> Any:
        content = tokenizer_json(self.name, model, every_way=True, dense=True)
        return snaptokens.Tokenizer.from_json_str(content.decode())

    def encode_normalized(self, text: str) -> list[int]:
        if len(text) < _LONG:
            return self._library.encode(text).ids
        return self.encode_normalized_array(text).tolist()

    def encode_normalized_array(self, text: str) -> np.ndarray:
        """Return the ids of `encode_normalized` as a read-only view of the library's flat output."""
        return np.frombuffer(self._library.encode_batch_flat([text])[0], np.uint32)

    def encode_normalized_batch(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """Return `encode_normalized` of each text, from the library's flat output."""
        if threads != rayon_threads():
            return super().encode_normalized_batch(texts, threads)
        return as_lists(*self.encode_normalized_ragged(texts, threads))

    def encode_normalized_ragged(self, texts: Sequence[str], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of `encode_normalized_batch` as views, if the library's pool has this many threads."""
        if threads != rayon_threads():
            return super().encode_normalized_ragged(texts, threads)
        ids, offsets = self._library.encode_batch_flat(list(texts))
        return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.int64)
