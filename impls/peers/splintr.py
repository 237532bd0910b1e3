"""splintr: encodes by a regular expression engine of its own, a linked list and a cache of pieces."""

from __future__ import annotations

import numpy as np

from impls.core.model import Model
from impls.peers.conversion import (
    has_plain_rules,
    has_ranks,
    one_pattern_of,
    rank_file,
    sentencepiece_json,
    tokenizer_json,
)
from impls.peers.peer import Calls, Lists, Peer, on_pool


class Splintr(Peer):
    """`splintr.Tokenizer` over the model's ranks, or what `splintr` makes of its tokenizer.json."""

    def _load(self, model: Model) -> Calls:
        if has_plain_rules(model):
            tokenizer = self.library.from_json_bytes(sentencepiece_json(model))
        elif has_ranks(model):
            tokenizer = self.library.Tokenizer.from_bytes(rank_file(model), one_pattern_of(model))
        else:
            tokenizer = self.library.from_json_bytes(tokenizer_json(self.name, model))

        def batch(texts: list[str]) -> Lists | None:
            # It would put SentencePiece's mark before an empty text.
            return tokenizer.encode_batch(texts) if all(texts) or not self.normalizes else None

        return self._calls_of(
            tokenizer,
            encode=lambda text: tokenizer.encode_ordinary(text) if text != "" else [],
            array=lambda text: np.frombuffer(tokenizer.encode_flat(text) if text != "" else b"", np.uint32),
            batch=on_pool(batch, least=1),
        )
