"""rustbpe: trains byte-level vocabularies; an object encodes only with what it has trained itself, so it only trains.

Ties go to the smallest pair of ids, base ids are byte values. Its threads are Rayon's.
"""

from __future__ import annotations

from collections.abc import Iterable

from impls.core.model import Model
from impls.interface import TrainingSpec
from impls.peers.peer import Peer
from impls.production.training import base_and_budget, checked_texts, model_of_ranks, one_pattern


class Rustbpe(Peer):
    """`rustbpe.Tokenizer.train_from_iterator`."""

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges; raise `Unsupported` naming the field it cannot follow."""
        base, n_merges = base_and_budget(cls.name, spec, ties="smallest", base_order="raw", min_count=1)
        trainer = cls.library.Tokenizer()
        pattern = one_pattern(cls.name, spec)
        trainer.train_from_iterator(checked_texts(texts, spec), len(base) + n_merges, pattern=pattern)
        ranks = {bytes(token): rank for token, rank in trainer.get_mergeable_ranks()}
        return model_of_ranks(cls.name, spec, base, ranks)
