"""bpeasy: trains byte-level vocabularies; it encodes with tiktoken, so it only trains here.

Ties go to the smallest pair of ids, base ids are byte values. Its longest token has one byte less than its limit, from
three bytes on. Its threads are Rayon's.
"""

from __future__ import annotations

from collections.abc import Iterable

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.interface import TrainingSpec
from impls.peers.peer import Peer
from impls.production.training import base_and_budget, checked_texts, model_of_ranks, one_pattern


class Bpeasy(Peer):
    """`bpeasy.train_bpe`."""

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges; raise `Unsupported` naming the field it cannot follow."""
        followed = {"ties": "smallest", "base_order": "raw", "min_count": 1, "max_token_bytes": spec.max_token_bytes}
        base, n_merges = base_and_budget(cls.name, spec, **followed)
        if spec.max_token_bytes == 1:
            raise Unsupported(cls.name, "TrainingSpec.max_token_bytes: it trains with at least 2, not with 1")
        limit = 2**31 if spec.max_token_bytes is None else spec.max_token_bytes + 1
        given = list(checked_texts(texts, spec))  # of an iterator it would treat an exception as the end
        ranks = cls.library.train_bpe(iter(given), one_pattern(cls.name, spec), limit, len(base) + n_merges)
        return model_of_ranks(cls.name, spec, base, ranks)
