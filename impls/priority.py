"""The fastest exact algorithm in plain Python: a linked list and a heap.

Idea    The piece is a doubly linked list of symbols, and a heap holds the possible merges by rank, then position.
        A merge joins two cells and touches only their neighbours. Candidates that it makes obsolete stay in the heap
        and are recognised when they are popped. Training is its counterpart: `impls/learner.py`.
Cost    Encoding O(n log n) per piece of n symbols, whatever the piece.
Source  Kudo and Richardson 2018, "SentencePiece: A simple and language independent subword tokenizer and detokenizer
        for Neural Text Processing".
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import pairwise

from impls.core.model import Model
from impls.core.training import Corpus, Pair
from impls.interface import Tokenizer
from impls.learner import Learner

_GONE = -1  # in the place of a symbol that was merged into the one before it


class Priority(Tokenizer):
    """Lowest rank first, of equal ranks the leftmost, from a heap. `heap_operations` counts its pushes and pops."""

    name = "priority"
    summary = "linked list and heap, O(n log n); trains incrementally with a lazy heap"
    kind = "pure"
    follows_text = True

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.heap_operations = 0
        self._merge_of = model.merge_of

    @classmethod
    def learn(cls, corpus: Corpus) -> tuple[list[Pair], list[int]]:
        """Learn merges with incremental counts; exact under every rule for ties."""
        return Learner(corpus).learn(corpus.budget)

    def encode_piece(self, piece: str) -> list[int]:
        """Return the ids of `piece`.

        merges a+b (rank 0), ab+a (rank 1):   a b a b      heap: (0, at 0) (0, at 2)
                                              ab . a b     popped (0, 0), pushed (1, at 0)
                                              ab . ab .    popped (0, 2)
                                                           popped (1, 0): its right neighbour is no longer a
        """
        ids = self.model.symbols(piece)
        n = len(ids)
        before, after = list(range(-1, n - 1)), list(range(1, n + 1))  # n marks the end
        merge_of = self._merge_of
        # One number per candidate, rank * n + position: the heap compares rank first, then position.
        heap = [merge[0] * n + at for at, pair in enumerate(pairwise(ids)) if (merge := merge_of(*pair))]
        heapify(heap)
        operations = len(heap)
        while heap:
            rank, left = divmod(heappop(heap), n)
            operations += 1
            right = after[left]
            if ids[left] == _GONE or right == n:
                continue
            merge = merge_of(ids[left], ids[right])
            if merge is None or merge[0] != rank:
                continue  # another pair is there by now; one of the same rank would be due here all the same
            ids[left], ids[right] = merge[1], _GONE
            following = after[left] = after[right]
            if following < n:
                before[following] = left
                if merge := merge_of(ids[left], ids[following]):
                    heappush(heap, merge[0] * n + left)
                    operations += 1
            leading = before[left]
            if leading >= 0 and (merge := merge_of(ids[leading], ids[left])):
                heappush(heap, merge[0] * n + leading)
                operations += 1
        self.heap_operations += operations
        return [i for i in ids if i != _GONE]
