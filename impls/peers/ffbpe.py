"""ffbpe: trains byte-level vocabularies by several tie rules, and encodes, a long piece in parts.

It splits by one pattern of any kind, and knows only listed merges.
"""

from __future__ import annotations

from collections.abc import Iterable

from impls.core.model import Model
from impls.interface import TrainingSpec
from impls.peers.conversion import listed_merges, one_pattern_of
from impls.peers.peer import Calls, Peer
from impls.production.training import base_and_budget, checked_texts, model_of_ranks, one_pattern

_ORDER = {"raw": "raw", "gpt2": "byte_level"}
_TIES = {"smallest": "smallest_pair_id", "largest": "largest_content"}


class Ffbpe(Peer):
    """`ffbpe.BpeEncoder` over the model's merges, and `ffbpe.BpeTrainer`."""

    def _load(self, model: Model) -> Calls:
        merges = [(model.tokens[left], model.tokens[right]) for left, right in listed_merges(self.name, model)]
        pattern, vocabulary = one_pattern_of(model), dict(model.id_by_token)
        return self._calls_of(self.library.BpeEncoder("byte", merges=merges, vocab=vocabulary, pat_str=pattern))

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges; raise `Unsupported` naming the field it cannot follow."""
        base, n_merges = base_and_budget(cls.name, spec, ties=tuple(_TIES))
        counter = cls.library.PreTokenizer([], pat_str=one_pattern(cls.name, spec)).word_counter()
        counter.add_source(checked_texts(texts, spec))
        rules = {"initial_alphabet": _ORDER[spec.base_order], "tie_break": _TIES[spec.ties]}
        trainer = cls.library.BpeTrainer([], bigram_cutoff_freq=spec.min_count, **rules)
        trainer.add_word_counter(counter)
        trainer.train(len(base) + n_merges)
        return model_of_ranks(cls.name, spec, base, trainer.vocab)
