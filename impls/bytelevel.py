"""Byte pair encoding as in GPT-2: bytes as printable characters, merges on strings, and BPE-dropout.

Idea    Every byte is a printable character (a space is Ġ), so symbols, merges and vocabulary are readable strings. With
        dropout a merge may be passed over, so that a word is split in several ways: `Ġlower` -> Ġlow er, Ġl ower.
Cost    Encoding O(piece²). Training keeps the counts of pairs: each merge O(distinct pairs + changed words).
Source  Radford et al. 2019, "Language Models are Unsupervised Multitask Learners"; dropout: Provilkov, Emelianenko and
        Voita 2020, "BPE-Dropout: Simple and Effective Subword Regularization".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise, repeat

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.byte_alphabet import BYTE_TO_CHARACTER, to_printable
from impls.core.training import Corpus, Pair
from impls.interface import Tokenizer


class ByteLevel(Tokenizer):
    """Merges printable strings, for models over bytes."""

    name = "bytelevel"
    summary = "GPT-2's printable bytes as strings, with BPE-dropout"
    kind = "pure"
    time_exponent = 2.0

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        if model.alphabet != "bytes" or model.end_of_word is not None:
            raise Unsupported(self.name, f"works on bytes, without ends; this model's alphabet is {model.alphabet!r}")
        self._id_of = {to_printable(token): i for token, i in model.id_by_token.items()}
        text_of = {i: text for text, i in self._id_of.items()}
        # Of a pair that is listed twice the later rank counts; without a list, the id of the joined text is its rank.
        self._rank_of = {(text_of[left], text_of[right]): rank for rank, (left, right) in enumerate(model.merges)}
        self._by_pairs = model.merge_rule == "pairs"

    def encode_piece(self, piece: str, coins: Iterator[bool] = repeat(False)) -> list[int]:  # noqa: B008
        """Return the ids of `piece`; with dropout, a merge is passed over in a round if its coin says so.

        merges Ġ+t (rank 0), Ġt+o (rank 1):   Ġ t o t   ->   Ġt o t   ->   Ġto t
        if a coin drops the first of them:    Ġ t o t
        """
        word = [BYTE_TO_CHARACTER[byte] for byte in piece.encode("utf-8", "surrogateescape")]
        while True:
            pairs = pairwise(word)
            ranks = map(self._rank_of.get, pairs) if self._by_pairs else map(self._id_of.get, map("".join, pairs))
            joins = sorted((rank, at) for at, rank in enumerate(ranks) if rank is not None)
            at = next((at for _, at in joins if not next(coins)), None)
            if at is None:
                return [self._id_of[text] for text in word]
            word[at : at + 2] = [word[at] + word[at + 1]]

    encode_piece_with_dropout = encode_piece

    @classmethod
    def learn(cls, corpus: Corpus) -> tuple[list[Pair], list[int]]:
        """Learn merges, counting again only the words that a merge changes."""
        if corpus.spec.alphabet != "bytes":
            raise Unsupported(cls.name, "trains over bytes only; use alphabet='bytes'")
        words, least, tie = corpus.words, corpus.spec.min_count, corpus.spec.tie_key(corpus.tokens)
        count: Counter[Pair] = Counter()
        holders: defaultdict[Pair, set[int]] = defaultdict(set)  # the words that a pair is in

        def add(word: int, weight: int) -> None:
            for pair in pairwise(words[word]):
                count[pair] += weight
                (holders[pair].add if weight > 0 else holders[pair].discard)(word)

        for word, weight in enumerate(corpus.weights):
            add(word, weight)
        learned: dict[Pair, int] = {}
        while len(learned) < corpus.budget and (most := max(count.values(), default=0)) >= least:
            tied = {pair for pair, n in count.items() if n == most and corpus.may_join(pair)}
            if not tied:  # what may not be joined now, may never be
                count = Counter({pair: n for pair, n in count.items() if n != most})
                continue
            if corpus.spec.ties == "first":  # scan the corpus from its start until one of them occurs
                tied = {next(pair for word in words for pair in pairwise(word) if pair in tied)}
            best = min(tied, key=tie)
            merged = corpus.join(best)
            for word in sorted(holders[best]):
                add(word, -corpus.weights[word])
                joined: list[int] = []
                for i in words[word]:  # what was just joined is a new symbol: a a a -> aa a
                    joined[-1:] = [merged] if (*joined[-1:], i) == best else [*joined[-1:], i]
                words[word] = joined
                add(word, corpus.weights[word])
            count = +count  # without the pairs that are gone
            learned[best] = most
        return [*learned], [*learned.values()]
