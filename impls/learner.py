"""Training with counts that are updated incrementally, used by `priority` and parity-aware training.

Idea
    Each distinct piece is kept once, with its count, and for each pair its count and the pieces that contain it. A
    merge revisits only those pieces. The best pair comes from a heap whose entries may be stale: a pair gains
    occurrences only while its newer symbol is being made, so afterwards its count can only fall and its first
    occurrence only move right. A stale entry is therefore popped too early, never too late, and is pushed again.
Cost
    O(corpus) once, then in proportion to the pieces that change.
Source
    The program released with Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any

from impls.core.training import Corpus, Pair, may_become_token


class Learner:
    """The corpus as distinct words in order of first occurrence with their counts, the tokens by id, the pair counts,
    and the lazy heap."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus, self.words, self.weights, spec = corpus, corpus.words, corpus.weights, corpus.spec
        self.counts: defaultdict[Pair, int] = defaultdict(int)
        self.words_with: defaultdict[Pair, list[int]] = defaultdict(list)  # ascending; may include words that lost it
        for index, (word, weight) in enumerate(zip(self.words, self.weights, strict=True)):
            for pair in pairwise(word):
                self._gain(pair, index, weight)
        self._tie_key = self._first_occurrence if spec.ties == "first" else spec.tie_key(corpus.tokens)
        self.heap: list[tuple[Any, ...]] = []
        self._offer(self.counts)

    def learn(self, budget: int) -> tuple[list[Pair], list[int]]:
        """Return up to `budget` merges, and the count of each."""
        learned: dict[Pair, int] = {}
        while len(learned) < budget and (best := self.pop_best()) is not None:
            self.merge(best[0])
            learned[best[0]] = best[1]
        return [*learned], [*learned.values()]

    def pop_best(self) -> tuple[Pair, int] | None:
        """Return the most frequent pair, with ties broken by `spec.ties`, and its count, or None."""
        while self.heap:
            negative_count, _, pair = heappop(self.heap)
            count = self.counts.get(pair, 0)
            if count == -negative_count:
                return pair, count
            self._offer([pair])  # it has lost occurrences since, so push it again with its current count
        return None

    def merge(self, pair: Pair) -> int:
        """Replace `pair` in every word, left to right, by a new symbol, and update the counts; return the number of
        symbols saved in the corpus."""
        left, right = pair
        new = self.corpus.join(pair)
        counts = self.counts
        new_pairs: set[Pair] = set()
        n_fewer = 0
        for index in self.words_with.pop(pair, ()):
            word, weight = self.words[index], self.weights[index]
            merged: list[int] = []
            at, end = 0, len(word)
            while at < end:
                if word[at] != left or at + 1 == end or word[at + 1] != right:
                    merged.append(word[at])
                    at += 1
                    continue
                # x left right y -> x new y: only the pairs with x and y change.
                if merged:
                    counts[merged[-1], left] -= weight
                    self._gain((merged[-1], new), index, weight)
                    new_pairs.add((merged[-1], new))
                merged.append(new)
                at += 2
                if at < end:
                    counts[right, word[at]] -= weight
                    self._gain((new, word[at]), index, weight)
                    new_pairs.add((new, word[at]))
            n_fewer += weight * (len(word) - len(merged))
            self.words[index] = merged
        counts.pop(pair, None)
        self._offer(new_pairs)
        return n_fewer

    def _gain(self, pair: Pair, index: int, weight: int) -> None:
        self.counts[pair] += weight
        holders = self.words_with[pair]
        if not holders or holders[-1] != index:
            holders.append(index)

    def _offer(self, pairs: Iterable[Pair]) -> None:
        """Push the pairs that can still become a token, with their current counts."""
        counts, tokens, spec = self.counts, self.corpus.tokens, self.corpus.spec
        for pair in pairs:
            count = counts[pair]
            if count >= spec.min_count and may_become_token(tokens[pair[0]] + tokens[pair[1]], spec):
                heappush(self.heap, (-count, self._tie_key(pair), pair))

    def _first_occurrence(self, pair: Pair) -> tuple[int, int]:
        """Return (word, byte offset) of the leftmost occurrence; merges before it do not change a byte offset."""
        holders = self.words_with[pair]
        for skipped, index in enumerate(holders):
            offset = 0
            for here in pairwise(self.words[index]):
                if here == pair:
                    del holders[:skipped]  # a word that lost the pair never regains it
                    return index, offset
                offset += len(self.corpus.tokens[here[0]])
        raise AssertionError("a pair with a count occurs somewhere")
