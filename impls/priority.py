"""The fastest exact algorithm in plain Python: a linked list and a heap.

Idea
    Encoding keeps the piece as a doubly linked list of symbols and a heap of candidate merges ordered by (rank,
    position). A merge joins two cells and touches only their neighbours; candidates it made obsolete stay in the heap
    and are recognised when they are popped. Training is its counterpart: `impls/learner.py`.
Cost
    Encoding O(n log n) per piece of n symbols, whatever the piece.
Source
    Kudo and Richardson 2018, "SentencePiece: A simple and language independent subword tokenizer and detokenizer for
    Neural Text Processing".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import ClassVar, Literal

from impls.core.extension import Extension
from impls.core.model import Model
from impls.core.training import (
    base_symbols,
    corpus_pieces,
    first_base_id,
    merge_budget,
    piece_symbols,
    trained_model,
)
from impls.interface import Tokenizer, TrainingSpec
from impls.learner import Learner

_GONE = -1


class Priority(Tokenizer):
    """Lowest rank first, of equal ranks the leftmost, from a heap. `heap_operations` counts its pushes and pops."""

    name: ClassVar[str] = "priority"
    summary: ClassVar[str] = "linked list and heap, O(n log n); trains incrementally with a lazy heap"
    kind: ClassVar[Literal["pure"]] = "pure"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.heap_operations = 0
        self._merge_of = model.merge_of

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges with incremental counts; exact under every tie rule."""
        count_by_piece = Counter(corpus_pieces(texts, spec))  # in order of first appearance
        base = base_symbols(count_by_piece, spec)
        first = first_base_id(spec)
        id_of = {symbol: first + index for index, symbol in enumerate(base)}
        words = [[id_of[symbol] for symbol in piece_symbols(piece, spec)] for piece in count_by_piece]
        learner = Learner(words, list(count_by_piece.values()), [b""] * first + base, spec)
        merges, counts = learner.learn(merge_budget(base, spec))
        return trained_model(spec, base, merges, counts, count_by_piece)

    def encode_piece(self, piece: str) -> list[int]:
        """Return the ids of one piece, always merging the lowest rank, leftmost first.

        Merges a+b (rank 0), ab+a (rank 1):    a b a b      heap: (0, at 0) (0, at 2)
                                         ->    ab . a b     popped (0, 0), pushed (1, at 0)
                                         ->    ab . ab .    popped (0, 2)
                                         ->    popped (1, 0): the right neighbour is no longer a, dropped
        """
        whole = self.model.whole_piece(piece)
        if whole is not None:
            return [whole]
        ids = self.model.symbols(piece)
        n = len(ids)
        before = list(range(-1, n - 1))
        after = list(range(1, n + 1))  # n marks the end
        merge_of = self._merge_of
        # One number per candidate, rank * n + position: the heap compares rank first, then position.
        heap = [merge[0] * n + at for at, pair in enumerate(pairwise(ids)) if (merge := merge_of(*pair)) is not None]
        heapify(heap)
        operations = len(heap)
        while heap:
            rank, at = divmod(heappop(heap), n)
            operations += 1
            right = after[at]
            if ids[at] == _GONE or right == n:
                continue
            merge = merge_of(ids[at], ids[right])
            if merge is None or merge[0] != rank:
                continue  # one of its two symbols has been merged in the meantime
            ids[at], ids[right] = merge[1], _GONE
            follower = after[at] = after[right]
            if follower < n:
                before[follower] = at
                if (merge := merge_of(ids[at], ids[follower])) is not None:
                    heappush(heap, merge[0] * n + at)
                    operations += 1
            leader = before[at]
            if leader >= 0 and (merge := merge_of(ids[leader], ids[at])) is not None:
                heappush(heap, merge[0] * n + leader)
                operations += 1
        self.heap_operations += operations
        return [i for i in ids if i != _GONE]

    @classmethod
    def extend_model(cls, model: Model, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn more merges in the same way, from distinct pieces as `model` encodes them."""
        start = Extension(cls.name, model, spec)
        count_by_piece = Counter(corpus_pieces(texts, spec))
        start.check(count_by_piece)
        known = cls(start.model)
        words: list[list[int]] = []
        weights: list[int] = []
        for piece, count in count_by_piece.items():
            runs = start.runs(known.encode_piece(piece))
            words += runs
            weights += [count] * len(runs)
        tokens = [token or b"" for token in start.model.tokens]
        tokens += [b""] * (start.first_new_id - len(tokens))
        merges, counts = Learner(words, weights, tokens, start.spec).learn(start.budget)
        return start.result(merges, counts, count_by_piece)
