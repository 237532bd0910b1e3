"""Byte pair encoding as on the blackboard: the definition that every exact implementation must follow.

Idea    Training counts all neighbours in the corpus, merges the most frequent pair, and starts over.
        Encoding merges, of all neighbours in a piece, the pair learned earliest, the leftmost first, and starts over.
Cost    Training O(merges * corpus), encoding O(piece²): nothing is remembered from one round to the next.
Source  Gage 1994, "A New Algorithm for Data Compression"; over bytes, with a rank per merge: Radford et al. 2019,
        "Language Models are Unsupervised Multitask Learners"; dropout: Provilkov, Emelianenko and Voita 2020,
        "BPE-Dropout: Simple and Effective Subword Regularization".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, repeat

from impls.core.training import Corpus, Pair
from impls.interface import Tokenizer


class Naive(Tokenizer):
    """Looks at every pair in every round; the reference for every exact implementation."""

    name = "naive"
    summary = "the definition: looks at every pair in every round, merges one"
    kind = "pure"
    time_exponent = 2.0

    @classmethod
    def learn(cls, corpus: Corpus) -> tuple[list[Pair], list[int]]:
        """Learn merges, counting all pairs again before each of them.

        h u g   h u g   p u g      u+g occurs 3 times: merge it
        h ug    h ug    p ug       h+ug twice
        hug     hug     p ug
        """
        words, least, tie = corpus.words, corpus.spec.min_count, corpus.spec.tie_key(corpus.tokens)
        merges: list[Pair] = []
        counts: list[int] = []
        while len(merges) < corpus.budget:
            count: Counter[Pair] = Counter()  # in the order pairs first occur
            for ids, weight in zip(words, corpus.weights, strict=True):
                for pair in pairwise(ids):  # overlapping: a a a has a+a twice
                    count[pair] += weight
            possible = [pair for pair, n in count.items() if n >= least and corpus.may_join(pair)]
            if not possible:
                break
            best = min(possible, key=lambda pair: (-count[pair], tie(pair)))
            merged = corpus.join(best)
            words = [replaced(ids, best, merged) for ids in words]
            merges.append(best)
            counts.append(count[best])
        return merges, counts

    def encode_piece(self, piece: str, coins: Iterator[bool] = repeat(False)) -> list[int]:  # noqa: B008
        """Return the ids of `piece`; with dropout, a merge is passed over in a round if its coin says so.

        merges a+b (rank 0), ab+a (rank 1):   a b a b a
                                              ab a b a     the lowest rank, leftmost
                                              ab ab a      rank 0 again, before rank 1
                                              ab aba
        """
        ids = self.model.symbols(piece)
        merge_of = self.model.merge_of  # (left id, right id) -> (rank, id of both), or None
        while True:
            pairs = enumerate(pairwise(ids))
            possible = sorted((merge[0], at, merge[1]) for at, pair in pairs if (merge := merge_of(*pair)))
            chosen = next((merge for merge in possible if not next(coins)), None)
            if chosen is None:
                return ids
            _, at, merged = chosen
            ids[at : at + 2] = [merged]

    encode_piece_with_dropout = encode_piece


def replaced(ids: list[int], pair: Pair, merged: int) -> list[int]:
    """Return `ids` with `pair` replaced from left to right, without overlap: a a a -> aa a."""
    result: list[int] = []
    for i in ids:
        if result and (result[-1], i) == pair:
            result[-1] = merged  # a new symbol, so it is not replaced again
        else:
            result.append(i)
    return result
