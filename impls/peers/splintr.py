"""splintr: encodes by a regular expression engine of its own, a linked list and a cache of pieces."""

from __future__ import annotations

from typing import Any

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
from impls.peers.peer import Calls, Lists, Peer, library

splintr = library("splintr")


class Splintr(Peer):
    """`splintr.Tokenizer` over the model's ranks, or what `splintr` makes of its tokenizer.json."""

    def _load(self, model: Model) -> Calls:
        tokenizer = self._over(model)

        def batch(texts: list[str], threads: int) -> Lists | None:
            # It would put SentencePiece's mark before an empty text.
            fits = threads == rayon_threads() and (all(texts) or not self.normalizes)
            return tokenizer.encode_batch(texts) if fits else None

        return Calls(
            encode=lambda text: tokenizer.encode_ordinary(text) if text != "" else [],
            array=lambda text: np.frombuffer(tokenizer.encode_flat(text) if text != "" else b"", np.uint32),
            batch=batch,
            decode_bytes=tokenizer.decode_bytes,
        )

    def _over(self, model: Model) -> Any:
        if has_plain_rules(model):
            return splintr.from_json_bytes(sentencepiece_json(model))
        if has_ranks(model):
            return splintr.Tokenizer.from_bytes(rank_file(model), one_pattern_of(model))
        return splintr.from_json_bytes(tokenizer_json(self.name, model))
