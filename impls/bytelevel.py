"""Byte pair encoding as in GPT-2: bytes as printable characters, merges on strings, and BPE-dropout.

Idea
    Every byte is mapped to a printable character (a space becomes Ġ), so symbols, merges and vocabulary are readable
    strings. A piece is a list of strings; the pair of the lowest rank is joined wherever it occurs, until none is left.
    With dropout each possible join is dropped with probability p, so that a model in training sees several
    segmentations of one word: `Ġlower` -> Ġlow er, Ġl ower, Ġ low er.
    Training updates the pair counts after each merge, and scans all of them for the best.
Cost
    Encoding O(rounds * piece). Training O(corpus) once, then for each merge O(distinct pairs + changed words).
Source
    Radford et al. 2019, "Language Models are Unsupervised Multitask Learners"; dropout: Provilkov, Emelianenko and
    Voita 2020, "BPE-Dropout: Simple and Effective Subword Regularization".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import ClassVar, Literal

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.byte_alphabet import BYTE_TO_CHARACTER, from_printable, to_printable
from impls.core.training import (
    base_symbols,
    corpus_pieces,
    first_base_id,
    may_become_token,
    merge_budget,
    trained_model,
)
from impls.interface import Tokenizer, TrainingSpec

Pair = tuple[str, str]


class ByteLevel(Tokenizer):
    """Merges printable strings, for models over bytes."""

    name: ClassVar[str] = "bytelevel"
    summary: ClassVar[str] = "GPT-2's printable bytes as strings, with BPE-dropout"
    kind: ClassVar[Literal["pure"]] = "pure"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        if model.alphabet != "bytes":
            raise Unsupported(self.name, "works on bytes; this model's alphabet is 'chars'")
        if model.end_of_word is not None:
            raise Unsupported(self.name, f"it has no symbols that end in {model.end_of_word!r}")
        self._id_by_text = {to_printable(token): i for token, i in model.id_by_token.items()}
        text_of = {i: text for text, i in self._id_by_text.items()}
        # A pair that is listed twice keeps its later rank.
        self._rank_by_pair = {(text_of[left], text_of[right]): rank for rank, (left, right) in enumerate(model.merges)}

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges over bytes; raise `Unsupported` for the alphabet `chars`."""
        if spec.alphabet != "bytes":
            raise Unsupported(cls.name, "trains over bytes only; use alphabet='bytes'")
        count_by_piece = Counter(corpus_pieces(texts, spec))
        words = _Words(count_by_piece)
        base = base_symbols((), spec)
        ids = {to_printable(symbol): first_base_id(spec) + index for index, symbol in enumerate(base)}
        merges: list[tuple[int, int]] = []
        merge_counts: list[int] = []
        for _ in range(merge_budget(base, spec)):
            pair = words.best_pair(ids, spec)
            if pair is None:
                break
            merges.append((ids[pair[0]], ids[pair[1]]))
            merge_counts.append(words.counts[pair])
            ids["".join(pair)] = first_base_id(spec) + len(ids)
            words.join(pair)
        return trained_model(spec, base, merges, merge_counts, count_by_piece)

    def encode_piece(self, piece: str) -> list[int]:
        """Return the ids of one piece.

        Merges Ġ+t (rank 0), Ġt+o (rank 1):   " tot"  ->  Ġ t o t  ->  Ġt o t  ->  Ġto t
        """
        whole = self.model.whole_piece(piece)
        if whole is not None:
            return [whole]
        word = [BYTE_TO_CHARACTER[byte] for byte in piece.encode("utf-8", "surrogateescape")]
        while joins := self._possible_joins(word):
            lowest = min(joins.values())
            joined: list[str] = []
            at = 0
            while at < len(word):
                if joins.get(at) == lowest:
                    joined.append(word[at] + word[at + 1])
                    at += 2
                else:
                    joined.append(word[at])
                    at += 1
            word = joined
        return [self._id_by_text[symbol] for symbol in word]

    def _encode_piece_with_dropout(self, piece: str, coins: Iterator[bool]) -> list[int]:
        """Return the ids of one piece; each round tries the possible joins by rank, then from left to right, until one
        is not dropped.

        With the merges above and coins that drop the first join only:   Ġ t o t  ->  nothing left to join
        """
        word = [BYTE_TO_CHARACTER[byte] for byte in piece.encode("utf-8", "surrogateescape")]
        while True:
            joins = sorted((rank, at) for at, rank in self._possible_joins(word).items())
            at = next((at for _, at in joins if not next(coins)), None)
            if at is None:
                return [self._id_by_text[symbol] for symbol in word]
            word[at : at + 2] = [word[at] + word[at + 1]]

    def _possible_joins(self, word: list[str]) -> dict[int, int]:
        """Return position -> rank of every join that is in the model."""
        joins: dict[int, int] = {}
        for at, (left, right) in enumerate(pairwise(word)):
            if self.model.merge_rule == "pairs":
                rank = self._rank_by_pair.get((left, right))
            else:
                rank = self._id_by_text.get(left + right)
            if rank is not None:
                joins[at] = rank
        return joins


class _Words:
    """Distinct pieces in order of first occurrence, as lists of printable strings, and the counts of their pairs."""

    def __init__(self, count_by_piece: Counter[str]) -> None:
        self.words = [[BYTE_TO_CHARACTER[byte] for byte in piece.encode()] for piece in count_by_piece]
        self.weights = list(count_by_piece.values())
        self.counts: Counter[Pair] = Counter()
        self.words_with: defaultdict[Pair, set[int]] = defaultdict(set)
        for index in range(len(self.words)):
            self._add(index)

    def _add(self, index: int) -> None:
        for pair in pairwise(self.words[index]):
            self.counts[pair] += self.weights[index]
            self.words_with[pair].add(index)

    def _remove(self, index: int) -> None:
        for pair in pairwise(self.words[index]):
            self.counts[pair] -= self.weights[index]
            self.words_with[pair].discard(index)

    def join(self, pair: Pair) -> None:
        """Join `pair` in every word that contains it: remove the word's pairs, rewrite it, add its new pairs."""
        left, right = pair
        before: set[Pair] = set()
        for index in list(self.words_with[pair]):
            word = self.words[index]
            before.update(pairwise(word))
            self._remove(index)
            joined: list[str] = []
            for symbol in word:
                # A symbol just joined is longer than `left`, so it is not joined again: a a a -> aa a.
                if joined and joined[-1] == left and symbol == right:
                    joined[-1] = left + right
                else:
                    joined.append(symbol)
            self.words[index] = joined
            self._add(index)
        for old in before:  # pairs that no longer occur need not be scanned
            if self.counts[old] <= 0:
                del self.counts[old], self.words_with[old]

    def best_pair(self, ids: dict[str, int], spec: TrainingSpec) -> Pair | None:
        """Return the most frequent pair that may become a token, with ties broken by `spec.ties`, or None."""
        while self.counts:
            top = max(self.counts.values())
            if top < max(1, spec.min_count):
                return None
            tied = {pair for pair, count in self.counts.items() if count == top}
            best = self._preferred(tied, ids, spec)
            if may_become_token(from_printable("".join(best)), spec):
                return best
            del self.counts[best]  # a pair forbidden once is forbidden for good
        return None

    def _preferred(self, tied: set[Pair], ids: dict[str, int], spec: TrainingSpec) -> Pair:
        if spec.ties == "first":  # scan the corpus from its start until one of them occurs
            return next(pair for word in self.words for pair in pairwise(word) if pair in tied)
        if spec.ties == "smallest":
            return min(tied, key=lambda pair: (ids[pair[0]], ids[pair[1]]))
        if spec.ties == "largest":
            return max(tied, key=lambda pair: (from_printable(pair[0]), from_printable(pair[1])))

        def length_then_text(pair: Pair) -> tuple[int, bytes, int, int]:
            token = from_printable("".join(pair))
            return len(token), token, ids[pair[0]], ids[pair[1]]

        return min(tied, key=length_then_text)
