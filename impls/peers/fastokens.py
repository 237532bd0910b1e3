"""fastokens: encodes by SIMD splitting and a word cache. A long text is encoded on several threads unless limited.

FASTOKENS_BPE_THREADS limits its threads, and is read when they first start; if RAYON_NUM_THREADS limits the other
libraries' threads, the same number is used. Its decoder silently skips unknown ids, so ids are decoded by `Tokenizer`.
"""

from __future__ import annotations

import os

import numpy as np

from impls.core.model import Model
from impls.peers.conversion import (
    any_json,
    file_of,
    has_dense_ranks,
    one_pattern_of,
    rank_file,
    rayon_threads,
)
from impls.peers.peer import Calls, Lists, Peer

_THREADS = "FASTOKENS_BPE_THREADS"


class Fastokens(Peer):
    """`fastokens.Tokenizer` over the model's ranks, or over its tokenizer.json."""

    def _load(self, model: Model) -> Calls:
        if "RAYON_NUM_THREADS" in os.environ:
            os.environ.setdefault(_THREADS, str(rayon_threads()))
        if has_dense_ranks(model):
            with file_of(rank_file(model), "model.tiktoken") as path:
                tokenizer = self.library.Tokenizer.from_tiktoken(path, pattern=one_pattern_of(model), special_tokens={})
        else:
            tokenizer = self.library.Tokenizer.from_json_str(any_json(self.name, model).decode())

        n_threads = int(os.environ.get(_THREADS) or rayon_threads())

        def batch(texts: list[str], threads: int) -> Lists | None:
            return [encoding.ids for encoding in tokenizer.encode_batch(texts)] if threads == n_threads else None

        return Calls(
            encode=lambda text: tokenizer.encode_ordinary(text).ids,
            array=lambda text: np.frombuffer(tokenizer.encode_batch_flat([text])[0], np.uint32),
            batch=batch,
        )
