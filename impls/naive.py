"""Byte pair encoding as on the blackboard: count every pair, merge one, count again.

Idea
    Training counts all neighbouring symbols of the corpus, merges the most frequent pair, and starts over.
    Encoding looks at all neighbours of a piece, merges the pair learned earliest wherever it occurs, and starts over.
Cost
    Training O(n_merges * corpus), encoding O(rounds * piece): nothing is remembered from one round to the next.
Source
    Philip Gage 1994, "A New Algorithm for Data Compression"; over bytes, with a rank per merge: Radford et al. 2019,
    "Language Models are Unsupervised Multitask Learners".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, ClassVar, Literal

from impls.core.extension import Extension
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

Pair = tuple[int, int]


class Naive(Tokenizer):
    """Recounts every pair in every round; the reference for every exact implementation."""

    name: ClassVar[str] = "naive"
    summary: ClassVar[str] = "recounts every pair in every round, merges the lowest rank everywhere"
    kind: ClassVar[Literal["pure"]] = "pure"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._merge_of = model.merge_of
        # Of equal ranks the leftmost merges first, which may create another pair of that rank right there.
        self._one_at_a_time = bool(model.equal_ranks)

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges by recounting the whole corpus before each of them."""
        pieces = list(corpus_pieces(texts, spec))
        base = base_symbols(pieces, spec)
        first = first_base_id(spec)
        tokens = {first + index: symbol for index, symbol in enumerate(base)}
        id_of = {symbol: i for i, symbol in tokens.items()}
        # The corpus as one stream; no pair spans two pieces, because None separates them.
        stream: list[int | None] = []
        for piece in pieces:
            stream += [*(id_of[symbol] for symbol in piece_symbols(piece, spec)), None]
        end = first + len(base)
        merges, counts = _learn(stream, tokens, range(end, end + merge_budget(base, spec)), spec)
        return trained_model(spec, base, merges, counts, pieces)

    def encode_piece(self, piece: str) -> list[int]:
        """Return the ids of one piece, merging the lowest rank everywhere, round by round.

        Merges a+b (rank 0), ab+a (rank 1):    a b a b c a b
                                         ->    ab  ab  c ab      round 1: all of rank 0
                                         ->    no neighbours of rank 1: done
        """
        whole = self.model.whole_piece(piece)
        if whole is not None:
            return [whole]
        ids = self.model.symbols(piece)
        while True:
            merges = [self._merge_of(left, right) for left, right in pairwise(ids)]
            lowest = min((merge for merge in merges if merge is not None), default=None)
            if lowest is None:
                return ids
            if self._one_at_a_time:
                at, made = next((at, merge[1]) for at, merge in enumerate(merges) if merge and merge[0] == lowest[0])
                ids[at : at + 2] = [made]
            else:
                ids = _merge(ids, merges, lowest)

    # --- variants ----------------------------------------------------------------------------------------------

    def _encode_piece_with_dropout(self, piece: str, coins: Iterator[bool]) -> list[int]:
        """Return the ids of one piece; each round tries the possible merges by rank, then from left to right, until one
        is not dropped.

        Provilkov, Emelianenko and Voita 2020, "BPE-Dropout: Simple and Effective Subword Regularization".

        Merges a+b (rank 0), ab+a (rank 1):    a b a b      coins: drop the first a+b, not the second
                                         ->    a b ab       coin: drop a+b, and nothing else is possible: done
        """
        ids = self.model.symbols(piece)
        while True:
            merges = [(self._merge_of(left, right), at) for at, (left, right) in enumerate(pairwise(ids))]
            possible = sorted((merge[0], at, merge[1]) for merge, at in merges if merge is not None)
            chosen = next((one for one in possible if not next(coins)), None)
            if chosen is None:
                return ids
            _, at, made = chosen
            ids[at : at + 2] = [made]

    @classmethod
    def extend_model(cls, model: Model, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn more merges in the same way, from the corpus as `model` encodes it."""
        start = Extension(cls.name, model, spec)
        pieces = list(corpus_pieces(texts, spec))
        start.check(pieces)
        known = cls(start.model)
        tokens = {i: token for i, token in enumerate(start.model.tokens) if token is not None}
        stream: list[int | None] = []
        for piece in pieces:
            for run in start.runs(known.encode_piece(piece)):
                stream += [*run, None]
        new_ids = range(start.first_new_id, start.first_new_id + start.budget)
        merges, counts = _learn(stream, tokens, new_ids, start.spec)
        return start.result(merges, counts, pieces)


def _learn(
    stream: list[int | None], tokens: dict[int, bytes], new_ids: Iterable[int], spec: TrainingSpec
) -> tuple[list[Pair], list[int]]:
    """Return the merges learned, one for each new id while there is a pair, and the count of each; add the tokens."""
    merges: list[Pair] = []
    merge_counts: list[int] = []
    for new in new_ids:
        counts = count_pairs(stream)
        best = _best(counts, tokens, spec)
        if best is None:
            break
        stream = _replace(stream, best, new)
        tokens[new] = tokens[best[0]] + tokens[best[1]]
        merges.append(best)
        merge_counts.append(counts[best])
    return merges, merge_counts


def count_pairs(stream: list[int | None]) -> dict[Pair, int]:
    """Count each pair, overlapping (a a a has a+a twice); pairs are in the order they first occur."""
    counts = Counter(pairwise(stream))
    return {(l, r): n for (l, r), n in counts.items() if l is not None and r is not None}  # noqa: E741


def _best(counts: dict[Pair, int], tokens: dict[int, bytes], spec: TrainingSpec) -> Pair | None:
    """Return the most frequent pair that may become a token, with ties broken by `spec.ties`, or None."""

    def key(pair: Pair) -> Any:
        left, right = tokens[pair[0]], tokens[pair[1]]
        if spec.ties == "smallest":
            return pair
        if spec.ties == "largest":
            return left, right
        token = left + right
        return len(token) if spec.alphabet == "bytes" else len(token.decode()), token, pair

    for count in sorted(set(counts.values()), reverse=True):
        if count < spec.min_count:
            return None
        tied = [pair for pair, its_count in counts.items() if its_count == count]  # in the order they first occur
        if spec.ties != "first":
            tied.sort(key=key, reverse=spec.ties == "largest")
        for left, right in tied:
            if may_become_token(tokens[left] + tokens[right], spec):
                return left, right
    return None


def _replace(stream: list[int | None], pair: Pair, new: int) -> list[int | None]:
    """Return `stream` with every occurrence of `pair` replaced by `new`, from left to right without overlap."""
    left, right = pair
    replaced: list[int | None] = []
    at = 0
    while at < len(stream):
        if stream[at] == left and stream[at + 1] == right:  # a piece ends in None, so at + 1 is there
            replaced.append(new)
            at += 2
        else:
            replaced.append(stream[at])
            at += 1
    return replaced


def _merge(ids: list[int], merges: list[Pair | None], lowest: Pair) -> list[int]:
    """Return `ids` with each adjacent pair whose merge is `lowest` merged: a a a -> aa a."""
    merged: list[int] = []
    at = 0
    while at < len(ids):
        is_lowest = at < len(merges) and merges[at] == lowest
        merged.append(lowest[1] if is_lowest else ids[at])
        at += 2 if is_lowest else 1
    return merged
