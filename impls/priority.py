"""The fastest exact algorithm in plain Python: a linked list and a heap, for encoding and for training.

Idea
    Encoding keeps the piece as a doubly linked list of symbols and a heap of candidate merges ordered by (rank,
    position). A merge joins two cells and touches only their neighbours; candidates it made obsolete stay in the heap
    and are recognised when they are popped.
    Training keeps each distinct piece once, with its count, and for each pair its count and the pieces that contain
    it. A merge revisits only those pieces. The best pair comes from a heap whose entries may be stale: a pair gains
    occurrences only while its newer symbol is being made, so afterwards its count can only fall and its first
    occurrence only move right. A stale entry is therefore popped too early, never too late, and is pushed again.
Cost
    Encoding O(n log n) per piece of n symbols, whatever the piece. Training O(corpus) once, then in proportion to the
    pieces that change.
Source
    The heap for encoding: Kudo and Richardson 2018, "SentencePiece: A simple and language independent subword
    tokenizer and detokenizer for Neural Text Processing". Distinct words with incrementally updated counts: the
    program released with Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush
from itertools import groupby, pairwise
from typing import Any, ClassVar, Literal

from impls.core.events import Events
from impls.core.extension import Extension
from impls.core.model import Model
from impls.core.text.joined_pieces import may_be_joined
from impls.core.training import (
    base_symbols,
    corpus_pieces,
    first_base_id,
    may_become_token,
    merge_budget,
    piece_symbols,
    trained_model,
)
from impls.interface import Tokenizer, TrainingSpec

Pair = tuple[int, int]
_GONE = -1


class Priority(Tokenizer):
    """Lowest rank first, of equal ranks the leftmost, from a heap. `heap_operations` counts its pushes and pops."""

    name: ClassVar[str] = "priority"
    summary: ClassVar[str] = "linked list and heap, O(n log n); trains incrementally with a lazy heap"
    kind: ClassVar[Literal["pure"]] = "pure"
    replays_events = joins_pieces = True

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.heap_operations = 0
        self._events = Events(model.events)
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
        return self._replayed(piece) if self.model.events else self._merged(self.model.symbols(piece))

    def _encode_joining(self, pieces: list[str]) -> list[int]:
        """Return the ids of the pieces of a text, joining whole pieces only after all merges inside them.

        A merge ranks after those that make its parts, so nothing inside a piece waits: a b | _ a b -> ab | _ab -> ab_ab
        """
        assert self.model.joined_pieces is not None
        joins = may_be_joined(self.model.joined_pieces)
        ids: list[int] = []
        for may_join, its_pieces in groupby(pieces, joins):
            rows = map(self.encode_piece, its_pieces)
            for is_whole, its_rows in groupby(rows, lambda row: len(row) == 1):
                row = [i for one in its_rows for i in one]
                ids += self._merged(row) if may_join and is_whole else row
        return ids

    def _merged(self, ids: list[int]) -> list[int]:
        """Return what a row of symbols is merged to; changes the row."""
        n = len(ids)
        before = list(range(-1, n - 1))
        after = list(range(1, n + 1))  # n is the end
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
                continue  # one of its two symbols has been merged since
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

    def _replayed(self, piece: str) -> list[int]:
        """Return the ids of one piece by merges and removals in turn (PickyBPE), from a heap of events by byte offset.

        What an event leaves is next changed by a later one, so none is popped too late.
        """
        symbols, said = list(piece.encode("utf-8", "surrogateescape")), self._events
        n = len(symbols)
        before, after = list(range(-1, n - 1)), list(range(1, n + 1))  # n is the end
        due = [_GONE] * n
        heap: list[tuple[int, int, tuple[int, ...]]] = []
        changed, now = list(range(n)), -1
        while changed:
            for at in changed:
                pair = (symbols[at], symbols[after[at]]) if after[at] < n else None
                changes = [said.next_removal(symbols[at], now), None if pair is None else said.next_merge(pair, now)]
                due[at], instead = min(filter(None, changes), default=(_GONE, ()))
                if instead:
                    heappush(heap, (due[at], at, instead))
            changed = []
            while heap and not changed:
                now, at, instead = heappop(heap)
                if due[at] != now:
                    continue  # another event has changed it since
                leader = before[at]
                if len(instead) == 1:
                    due[after[at]] = _GONE  # a merge; a removal leaves two symbols or more
                changed = [leader] if leader >= 0 else []
                for symbol in instead:
                    symbols[at], before[at], after[at] = symbol, leader, at + len(said.tokens[symbol])
                    changed.append(at)
                    leader, at = at, after[at]
                if at < n:
                    before[at] = leader
        row, at = [], 0
        while at < n:
            row.append(self.model.id_by_token[said.tokens[symbols[at]]])
            at = after[at]
        return row

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


class Learner:
    """The corpus as distinct words in order of first occurrence, how often each occurs, the tokens by id, the pair
    counts, and the lazy heap."""

    def __init__(self, words: list[list[int]], weights: list[int], tokens: list[bytes], spec: TrainingSpec) -> None:
        self.words, self.weights, self.tokens, self.spec = words, weights, tokens, spec
        self.counts: defaultdict[Pair, int] = defaultdict(int)
        self.words_with: defaultdict[Pair, list[int]] = defaultdict(list)  # ascending; may include words that lost it
        for index, (word, weight) in enumerate(zip(self.words, self.weights, strict=True)):
            for pair in pairwise(word):
                self._gain(pair, index, weight)
        self._tie_key = self._tie_keys()[spec.ties]
        self.heap: list[tuple[Any, ...]] = []
        self._offer(self.counts)

    def learn(self, budget: int) -> tuple[list[Pair], list[int]]:
        """Return up to `budget` merges, and the count of each."""
        merges: list[Pair] = []
        merge_counts: list[int] = []
        while len(merges) < budget and (best := self.pop_best()) is not None:
            pair, count = best
            self.merge(pair)
            merges.append(pair)
            merge_counts.append(count)
        return merges, merge_counts

    def pop_best(self) -> tuple[Pair, int] | None:
        """Return the most frequent pair, with ties broken by `spec.ties`, and its count, or None."""
        while self.heap:
            negative_count, *_, pair = heappop(self.heap)
            count = self.counts.get(pair, 0)
            if count == -negative_count:
                return pair, count
            self._offer([pair])  # it has lost occurrences since: push it again with its present count
        return None

    def merge(self, pair: Pair, new: int | None = None) -> int:
        """Replace `pair` by a new symbol in every word, or by that of `new`, left to right, and update the counts;
        return how many symbols fewer the corpus has."""
        left, right = pair
        new = len(self.tokens) if new is None else new
        if new == len(self.tokens):
            self.tokens.append(self.tokens[left] + self.tokens[right])
        counts = self.counts
        made: set[Pair] = set()
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
                    made.add((merged[-1], new))
                merged.append(new)
                at += 2
                if at < end:
                    counts[right, word[at]] -= weight
                    self._gain((new, word[at]), index, weight)
                    made.add((new, word[at]))
            n_fewer += weight * (len(word) - len(merged))
            self.words[index] = merged
        counts.pop(pair, None)
        self._offer(made)
        return n_fewer

    def _gain(self, pair: Pair, index: int, weight: int) -> None:
        self.counts[pair] += weight
        holders = self.words_with[pair]
        if not holders or holders[-1] != index:
            holders.append(index)

    def _offer(self, pairs: Iterable[Pair]) -> None:
        """Push the pairs that can still become a token, with their present counts."""
        for pair in pairs:
            count = self.counts[pair]
            if count < max(1, self.spec.min_count):
                continue
            if may_become_token(self.tokens[pair[0]] + self.tokens[pair[1]], self.spec):
                heappush(self.heap, (-count, *self._tie_key(pair), pair))

    # --- ties: smaller keys win ----------------------------------------------------------------------------

    def _tie_keys(self) -> dict[str, Callable[[Pair], tuple[Any, ...]]]:
        return {
            "smallest": lambda pair: (),  # the pair itself is the last item of every entry
            "first": self._first_occurrence,
            "largest": lambda pair: (_descending(self.tokens[pair[0]]), _descending(self.tokens[pair[1]])),
            "shortest": self._length_and_text,
        }

    def _first_occurrence(self, pair: Pair) -> tuple[int, int]:
        """Return (word, byte offset) of the leftmost occurrence; merges before it do not change a byte offset."""
        holders = self.words_with[pair]
        for skipped, index in enumerate(holders):
            offset = 0
            for here in pairwise(self.words[index]):
                if here == pair:
                    del holders[:skipped]  # a word that lost the pair never regains it
                    return index, offset
                offset += len(self.tokens[here[0]])
        raise AssertionError("a pair with a count occurs somewhere")

    def _length_and_text(self, pair: Pair) -> tuple[int, bytes]:
        token = self.tokens[pair[0]] + self.tokens[pair[1]]
        return len(token) if self.spec.alphabet == "bytes" else len(token.decode()), token


def _descending(token: bytes) -> str:
    """Return a key that sorts byte strings in descending order; the end mark sorts `ab` before its prefix `a`."""
    return "".join([chr(255 - byte) for byte in token]) + "\u0100"
