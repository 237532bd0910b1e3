"""splintr: encodes by a regular expression engine of its own, a linked list and a cache of pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

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
from impls.peers.peer import Calls, Peer, T, library, on_pool, views

splintr = library("splintr", "splintr-rs", "splintr")


class Splintr(Peer):
    """`splintr.Tokenizer` over the model's ranks, or what `splintr` makes of its tokenizer.json."""

    summary: ClassVar[str] = "Rust: own regular expressions, linked list, piece cache"
    reads_sentencepiece = True

    def _load(self, model: Model) -> Calls:
        tokenizer = self._over(model)

        def unless_marked(call: Callable[[list[str]], T]) -> Callable[[list[str], int], T | None]:
            """Leave texts alone of which it would put SentencePiece's mark before an empty one."""
            pool = on_pool(call, least=1)
            return lambda texts, threads: None if self.normalizes and not all(texts) else pool(texts, threads)

        return Calls(
            encode=lambda text: tokenizer.encode_ordinary(text) if text != "" else [],
            array=lambda text: np.frombuffer(tokenizer.encode_flat(text) if text != "" else b"", np.uint32),
            batch=unless_marked(tokenizer.encode_batch),
            ragged=unless_marked(lambda texts: views(*tokenizer.encode_batch_flat(texts))),
            decode_bytes=tokenizer.decode_bytes,
        )

    def _over(self, model: Model) -> Any:
        if has_plain_rules(model):
            return splintr.from_json_bytes(sentencepiece_json(model))
        if has_ranks(model):
            return splintr.Tokenizer.from_bytes(rank_file(model), one_pattern_of(model))
        return splintr.from_json_bytes(tokenizer_json(self.name, model))
