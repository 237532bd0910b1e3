"""quicktok: encodes by backtracking with SIMD splitters of its own; cl100k, o200k, llama3 and Qwen's, built in.

Its Qwen vocabulary normalises by NFC, so only models that do are run. Not exact with llama3's: inside a piece it uses
tokens that no tokens of lower rank make, which may only be whole pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.peers.conversion import as_lists, require_public
from impls.peers.peer import Peer, library

quicktok = library("quicktok", "quicktok-v1", "quicktok")

_NAMES = {"cl100k_base": "cl100k_base", "o200k_base": "o200k_base", "llama3": "llama3", "qwen": "qwen3"}


class Quicktok(Peer):
    """`quicktok.Tokenizer` of the model's name."""

    name: ClassVar[str] = "quicktok"
    summary: ClassVar[str] = "C++: backtracking, SIMD splitters; four vocabularies only"
    surrogate_errors = (TypeError,)

    def _load(self, model: Model) -> Any:
        found = require_public(self.name, model, tuple(_NAMES))
        if found == "qwen" and model.normalization != "nfc":
            raise Unsupported(self.name, "it normalises by NFC with Qwen's vocabulary, and this model does not")
        return quicktok.Tokenizer(_NAMES[found])

    def encode_normalized(self, text: str) -> list[int]:
        return self._library.encode_ordinary(text)

    def encode_normalized_array(self, text: str) -> np.ndarray:
        """Return the ids of `encode_normalized` as an array; the library returns arrays only for batches."""
        return self._library.encode_batch([text], 1)[0]

    def encode_normalized_batch(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """Return `encode_normalized` of each text; with several threads, from the library's arrays."""
        if threads == 1:
            return super().encode_normalized_batch(texts, threads)
        return as_lists(*self.encode_normalized_ragged(texts, threads))

    def encode_normalized_ragged(self, texts: Sequence[str], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of `encode_normalized_batch` as the library's arrays."""
        return self._library.encode_batch(list(texts), threads)

    def count(self, text: str, at_most: int | None = None) -> int:
        """Count the ids of `text`, by the library where nothing is recognised in it."""
        return self._counted(self._library.count, text, at_most)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids, by the library if each belongs to a token."""
        return self._bytes_if_known(self._library.decode_bytes, ids)
