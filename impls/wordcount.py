"""Byte pair encoding of words and their counts, as introduced in machine translation.

Idea    A corpus repeats its words, so training keeps each distinct word once and weights its pairs by its count.
        Encoding replays on a word what training did: the merges in the order they were learned, each once and
        everywhere, never going back. A word seen before is looked up in a cache.
Cost    Training O(merges * distinct words), encoding O(rounds * word) for a new word, O(1) for a known one.
Source  Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with Subword Units", algorithm 1.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from itertools import pairwise

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.model.derivations import why_not_replayed
from impls.core.training import Corpus, Pair
from impls.interface import Tokenizer

_CACHED_WORDS = 1 << 16
_LONGEST_CACHED = 64  # characters; longer pieces hardly ever repeat


class WordCount(Tokenizer):
    """Replays merges by rank; raises `Unsupported` for a model on which that is not the definition."""

    name = "wordcount"
    summary = "word counts in training, merges replayed in order with a cache per word"
    kind = "pure"
    time_exponent = 2.0

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        if why := why_not_replayed(model):
            raise Unsupported(self.name, f"replays merges rank by rank, which gives different ids here: {why}")
        self._known = lru_cache(_CACHED_WORDS)(self._replayed)

    @classmethod
    def learn(cls, corpus: Corpus) -> tuple[list[Pair], list[int]]:
        """Learn merges from words and counts:   a b: 2, a c: 1   ->   ab: 2, a c: 1."""
        words, tie = corpus.words, corpus.spec.tie_key(corpus.tokens)
        merges: list[Pair] = []
        counts: list[int] = []
        for _ in range(corpus.budget):
            count: defaultdict[Pair, int] = defaultdict(int)
            for word, weight in zip(words, corpus.weights, strict=True):
                for pair in pairwise(word):
                    count[pair] += weight
            frequent = {pair: n for pair, n in count.items() if n >= corpus.spec.min_count and corpus.may_join(pair)}
            if not frequent:
                break
            counts.append(max(frequent.values()))
            best = min((pair for pair, n in frequent.items() if n == counts[-1]), key=tie)
            merged = corpus.join(best)
            words = [joined(word, best, merged) if best[0] in word else word for word in words]
            merges.append(best)
        return merges, counts

    def encode_piece(self, piece: str) -> list[int]:
        """Return the ids of `piece`, from the cache if it was seen before."""
        return list(self._known(piece) if len(piece) <= _LONGEST_CACHED else self._replayed(piece))

    def _replayed(self, piece: str) -> list[int]:
        """Return what the symbols of `piece` merge to.

        merges b+a (rank 0), a+b (rank 1), ab+a (rank 2):   a b a b   ->   a ba b, in which no pair of rank 1 is left
        """
        ids, merge_of = self.model.symbols(piece), self.model.merge_of
        while possible := [merge for pair in pairwise(ids) if (merge := merge_of(*pair))]:
            lowest = min(possible)
            result = ids[:1]
            for i in ids[1:]:
                result[-1:] = [lowest[1]] if merge_of(result[-1], i) == lowest else [result[-1], i]
            ids = result
        return ids


def joined(word: list[int], pair: Pair, merged: int) -> list[int]:
    """Return `word` with `pair` joined from left to right: a a a -> aa a."""
    result: list[int] = []
    for i in word:  # what is joined is a new symbol, which is not joined again
        result[-1:] = [merged] if (*result[-1:], i) == pair else [*result[-1:], i]
    return result
