"""Byte pair encoding of words and their counts, as introduced in machine translation.

Idea
    A corpus repeats its words, so training keeps each distinct word once with its count and weights every pair by it.
    Encoding replays on a word what training did: the merges in the order they were learned, each once and everywhere,
    never going back. A word seen before is looked up in a cache.
Cost
    Training O(n_merges * distinct words), encoding O(rounds * word) for a new word, O(1) for a known one.
Source
    Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with Subword Units", algorithm 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import ClassVar, Literal

from impls.core.model import Model
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

Word = tuple[bytes, ...]
Pair = tuple[bytes, bytes]

_CACHED_WORDS = 1 << 16
_LONGEST_CACHED = 64  # characters; longer pieces hardly ever repeat


class WordCount(Tokenizer):
    """Replays merges in training order, word by word, and caches the words."""

    name: ClassVar[str] = "wordcount"
    summary: ClassVar[str] = "word counts in training, merges replayed in order with a cache per word"
    kind: ClassVar[Literal["pure"]] = "pure"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._merge_of = model.merge_of
        # Of equal ranks the leftmost merges first, which may create another pair of that rank right there.
        self._one_at_a_time = bool(model.equal_ranks)
        self._cache: dict[str, tuple[int, ...]] = {}

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges from words and their counts.

        "ab ab ac"  ->  a b: 2, a c: 1  ->  merge a+b (count 2)  ->  ab: 2, a c: 1
        """
        # In order of first occurrence: the first word with a pair has its first occurrence in the corpus.
        count_by_piece = Counter(corpus_pieces(texts, spec))
        words: dict[Word, int] = {tuple(piece_symbols(piece, spec)): count for piece, count in count_by_piece.items()}
        base = base_symbols(count_by_piece, spec)
        id_by_symbol = {symbol: first_base_id(spec) + index for index, symbol in enumerate(base)}
        merges: list[tuple[int, int]] = []
        merge_counts: list[int] = []
        for _ in range(merge_budget(base, spec)):
            pair_counts = _count_pairs(words)
            pair = _choose(pair_counts, id_by_symbol, spec)
            if pair is None:
                break
            words = {_merge(word, pair): count for word, count in words.items()}
            merges.append((id_by_symbol[pair[0]], id_by_symbol[pair[1]]))
            merge_counts.append(pair_counts[pair])
            id_by_symbol[pair[0] + pair[1]] = first_base_id(spec) + len(id_by_symbol)
        return trained_model(spec, base, merges, merge_counts, count_by_piece)

    def encode_piece(self, piece: str) -> list[int]:
        """Return the ids of one piece, from the cache if it was seen before."""
        known = self._cache.get(piece)
        if known is not None:
            return list(known)
        whole = self.model.whole_piece(piece)
        ids = self._replay(self.model.symbols(piece)) if whole is None else [whole]
        if len(piece) <= _LONGEST_CACHED:
            if len(self._cache) >= _CACHED_WORDS:
                self._cache.clear()
            self._cache[piece] = tuple(ids)
        return ids

    def _replay(self, ids: list[int]) -> list[int]:
        """Replay the merges in training order, skipping those that do not apply.

        Merges b+a (rank 0), a+b (rank 1), ab+a (rank 2):    a b a b
                                                       ->    a ba b      rank 0; rank 1 no longer finds a b

        Where joined text is looked up, a merge may enable one of lower rank (llama3 has 678 tokens that are not made of
        lower ranks) or of equal rank (14 tokens of Mistral's share one); only there the replay goes back.
        """
        goes_back = self.model.merge_rule == "concatenation"
        done = -1
        while True:
            merges = [self._merge_of(left, right) for left, right in pairwise(ids)]
            upcoming = min((merge[0] for merge in merges if merge is not None and merge[0] > done), default=None)
            if upcoming is None:
                return ids
            merged: list[int] = []
            joined = False  # whether this symbol was merged into the previous one
            n_left = 1 if self._one_at_a_time else len(ids)  # how many merges this round may make
            for symbol, merge in zip(ids, [*merges, None], strict=True):
                if joined:
                    joined = False
                elif merge is not None and merge[0] == upcoming and n_left:
                    merged.append(merge[1])
                    joined = True
                    n_left -= 1
                else:
                    merged.append(symbol)
            ids, done = merged, -1 if goes_back else upcoming


def _count_pairs(words: dict[Word, int]) -> dict[Pair, int]:
    """Count each pair in all words; pairs are in the order they first occur."""
    pair_counts: dict[Pair, int] = {}
    for word, count in words.items():
        for pair in pairwise(word):
            pair_counts[pair] = pair_counts.get(pair, 0) + count
    return pair_counts


def _choose(pair_counts: dict[Pair, int], ids: dict[bytes, int], spec: TrainingSpec) -> Pair | None:
    """Return the most frequent pair that may become a token, with ties broken by `spec.ties`, or None."""
    for count in sorted(set(pair_counts.values()), reverse=True):
        if count < max(1, spec.min_count):
            return None
        tied = [
            (left, right)
            for (left, right), its_count in pair_counts.items()
            if its_count == count and may_become_token(left + right, spec)
        ]
        if not tied:
            continue
        if spec.ties == "first":
            return tied[0]  # pairs are in the order they first occur
        if spec.ties == "largest":
            return max(tied)
        by_ids = sorted(tied, key=lambda pair: (ids[pair[0]], ids[pair[1]]))
        if spec.ties == "smallest":
            return by_ids[0]
        return min(by_ids, key=lambda pair: _length_and_text(pair[0] + pair[1], spec))
    return None


def _length_and_text(symbol: bytes, spec: TrainingSpec) -> tuple[int, bytes]:
    """Return the key of `shortest`: characters (including `end_of_word`) or bytes, then the UTF-8."""
    return len(symbol if spec.alphabet == "bytes" else symbol.decode()), symbol


def _merge(word: Word, pair: Pair) -> Word:
    """Return `word` with every occurrence of `pair` joined, left to right: (a, a, a) -> (aa, a).

    Whole symbols are compared. Replacing "a b" by "ab" in the spaced-out text "ba b" would cut the symbol ba.
    """
    left, right = pair
    if left not in word:
        return word
    merged: list[bytes] = []
    at = 0
    while at < len(word):
        if word[at : at + 2] == pair:
            merged.append(left + right)
            at += 2
        else:
            merged.append(word[at])
            at += 1
    return tuple(merged)
