"""fastokens: encodes by SIMD splitting and a word cache. A long text is encoded on several threads unless limited.

FASTOKENS_BPE_THREADS limits its threads, and is read when they first start; if RAYON_NUM_THREADS limits the other
libraries' threads, the same number is used. Its decoder silently skips unknown ids, so ids are decoded by `Tokenizer`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from impls.core.model import Model
from impls.peers.conversion import (
    any_json,
    file_of,
    has_ranks,
    one_pattern_of,
    rank_file,
    rayon_threads,
    underived_reason,
)
from impls.peers.peer import Peer, library

fastokens = library("fastokens", "fastokens", "fastokens")

_THREADS = "FASTOKENS_BPE_THREADS"


class Fastokens(Peer):
    """`fastokens.Tokenizer` over the model's ranks, or over its tokenizer.json."""

    name: ClassVar[str] = "fastokens"
    summary: ClassVar[str] = "Rust: SIMD splitting, word cache, flat output"
    reads_sentencepiece = True

    def _load(self, model: Model) -> Any:
        if "RAYON_NUM_THREADS" in os.environ:
            os.environ.setdefault(_THREADS, str(rayon_threads()))
        is_dense = len(model.id_by_token) > max(model.id_by_token.values(), default=-1)
        if has_ranks(model) and is_dense and not underived_reason(model):
            with file_of(rank_file(model), "model.tiktoken") as path:
                return fastokens.Tokenizer.from_tiktoken(path, pattern=one_pattern_of(model), special_tokens={})
        return fastokens.Tokenizer.from_json_str(any_json(self.name, model).decode())

    def encode_normalized(self, text: str) -> list[int]:
        return self._library.encode_ordinary(text).ids

    def encode_normalized_array(self, text: str) -> np.ndarray:
        """Return the ids of `encode_normalized` as a read-only view of the library's flat output."""
        return np.frombuffer(self._library.encode_batch_flat([text])[0], np.uint32)

    def encode_normalized_batch(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """Return `encode_normalized` of each text; on the library's threads if it has this many."""
        if threads != _library_threads():
            return super().encode_normalized_batch(texts, threads)
        return [found.ids for found in self._library.encode_batch(list(texts))]

    def encode_normalized_ragged(self, texts: Sequence[str], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of `encode_normalized_batch` as read-only views of the library's flat output."""
        if threads != _library_threads():
            return super().encode_normalized_ragged(texts, threads)
        ids, offsets = self._library.encode_batch_flat(list(texts))
        return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.int64)


def _library_threads() -> int:
    return int(os.environ.get(_THREADS) or rayon_threads())
