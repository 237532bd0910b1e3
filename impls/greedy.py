"""Longest match: at each position the longest token that fits, whatever the merges.

Idea
    A trie holds the vocabulary. From each position walk down it as far as the text leads, take the last token met on
    the way, and continue after it. Ranks play no part, so the ids sometimes differ from byte pair encoding: with the
    merges a+b, a+a the text `aab` is `a ab` by rank, but `aa b` by length.
    Such tokenizers train like any other: merge the most frequent pair, of equals the one that occurs first.
Cost
    Encoding O(n * longest token), training O(n_merges * corpus).
Source
    Known as longest-match-first or maximum matching; with a trie: Song et al. 2021, "Fast WordPiece Tokenization".
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import ClassVar, Literal

from impls.core.errors import UnknownSymbol, Unsupported
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


class _Node:
    """A node of the trie: its children by symbol, and the id of the token that ends here, or None."""

    __slots__ = ("following", "id")

    def __init__(self) -> None:
        self.following: dict[str, _Node] = {}
        self.id: int | None = None


class Greedy(Tokenizer):
    """Takes the longest token at each position within each piece. Runs any vocabulary, merges or not."""

    name: ClassVar[str] = "greedy"
    summary: ClassVar[str] = "longest match with a trie; expected to differ from byte pair encoding"
    kind: ClassVar[Literal["pure"]] = "pure"
    exact: ClassVar[bool] = False

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._root = _Node()
        for token, i in model.id_by_token.items():
            node = self._root
            for symbol in self._symbols(token):
                node = node.following.setdefault(symbol, _Node())
            node.id = i

    def _symbols(self, token: bytes) -> list[str]:
        """Return the symbols of the trie's edges: bytes (as characters 0-255), or characters, the last one with
        `end_of_word`.

        b"er</w>"  ->  e, r</w>
        """
        end = self.model.end_of_word
        text = token.decode("latin-1" if self.model.alphabet == "bytes" else "utf-8", "surrogateescape")
        if end is None or not text.endswith(end) or text == end:
            return list(text)
        stem = text.removesuffix(end)
        return [*stem[:-1], stem[-1] + end]

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges as the greedy tokenizers of the sources do; raise `Unsupported` for ties other than `first`.

        "aa aa bb aabb", one piece, `min_count=2`:  aa, aa+space, bb; then every pair occurs once.
        """
        if spec.ties != "first":
            raise Unsupported(cls.name, "trains with ties='first' only")
        pieces = list(corpus_pieces(texts, spec))
        base = base_symbols(pieces, spec)
        ids = {symbol: first_base_id(spec) + index for index, symbol in enumerate(base)}
        corpus = [piece_symbols(piece, spec) for piece in pieces]
        merges: list[tuple[int, int]] = []
        merge_counts: list[int] = []
        for _ in range(merge_budget(base, spec)):
            counts = _count_pairs(corpus)
            allowed = [pair for pair in counts if may_become_token(b"".join(pair), spec)]
            # Pairs are in the order they first occur, and among equal counts `max` keeps the first.
            best = max(allowed, key=counts.__getitem__, default=None)
            if best is None or counts[best] < spec.min_count:
                break
            corpus = [_merge(symbols, *best) for symbols in corpus]
            merges.append((ids[best[0]], ids[best[1]]))
            merge_counts.append(counts[best])
            ids[b"".join(best)] = first_base_id(spec) + len(ids)
        return trained_model(spec, base, merges, merge_counts)

    def encode_piece(self, piece: str) -> list[int]:
        """Return the ids of one piece, taking the longest token at every position.

        Where no token fits, the character becomes its bytes or the unknown token, or raises `UnknownSymbol`.
        """
        symbols = self._symbols((piece + (self.model.end_of_word or "")).encode("utf-8", "surrogateescape"))
        ids: list[int] = []
        at = 0
        while at < len(symbols):
            found, length = self._longest_match(symbols, at)
            ids += self._fallback(piece, at, ids[-1:]) if found is None else [found]
            at += length
        return ids

    def _fallback(self, piece: str, at: int, before: list[int]) -> list[int]:
        """Return the ids of the character at `at`, where no token begins; `before` is the last id so far."""
        rules, unknown_id = self.model.sentencepiece, self.model.unknown_id
        if rules is not None and (spelled := rules.spelled(piece[at])):
            return spelled
        if unknown_id is None:
            raise UnknownSymbol(piece[at], at)
        return [] if rules is not None and rules.fuse_unknown and before == [unknown_id] else [unknown_id]

    def _longest_match(self, symbols: list[str], start: int) -> tuple[int | None, int]:
        """Return (id, length) of the longest token at `start`, or (None, 1)."""
        node = self._root
        found, length = None, 1
        for end in range(start, len(symbols)):
            if symbols[end] not in node.following:
                break
            node = node.following[symbols[end]]
            if node.id is not None:
                found, length = node.id, end + 1 - start
        return found, length


def _count_pairs(corpus: list[list[bytes]]) -> dict[tuple[bytes, bytes], int]:
    counts: dict[tuple[bytes, bytes], int] = {}
    for symbols in corpus:
        for pair in pairwise(symbols):
            counts[pair] = counts.get(pair, 0) + 1
    return counts


def _merge(symbols: list[bytes], left: bytes, right: bytes) -> list[bytes]:
    """Merge the pair left+right from left to right: [a, a, a] -> [aa, a] for a+a."""
    merged: list[bytes] = []
    for symbol in symbols:
        if merged and merged[-1] == left and symbol == right:
            merged[-1] = left + right  # longer than `left`, so it is not merged again
        else:
            merged.append(symbol)
    return merged
