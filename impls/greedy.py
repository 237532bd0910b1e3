"""Longest match: at each position the longest token that fits, whatever the merges.

Idea    A trie holds the vocabulary. From each position walk down it as far as the text leads, take the last token met
        on the way, and continue after it. Ranks play no part, so the ids sometimes differ from byte pair encoding:
        with the merges a+b, a+a the text `aab` is `a ab` by rank, but `aa b` by length.
Cost    O(n * longest token) per piece of n symbols.
Source  Known as longest-match-first or maximum matching; with a trie: Song et al. 2021, "Fast WordPiece Tokenization".
"""

from __future__ import annotations

from typing import Any

from impls.core.errors import UnknownSymbol
from impls.core.model import Model
from impls.interface import Tokenizer

_Node = dict[str, Any]
"""A node of the trie: its children by symbol, and as "" the id of the token that ends here, if one does."""


class Greedy(Tokenizer):
    """Takes the longest token at each position within each piece. Runs any vocabulary, merges or not."""

    name = "greedy"
    summary = "longest match with a trie; expected to differ from byte pair encoding"
    kind = "pure"
    exact = False

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._root: _Node = {}
        for token, i in model.id_by_token.items():
            node = self._root
            for symbol in self._symbols(token):
                node = node.setdefault(symbol, {})
            node[""] = i

    def _symbols(self, token: bytes) -> list[str]:
        """Return bytes (as characters 0-255) or characters, the last one with `end_of_word`: b"er</w>" -> e, r</w>."""
        end = self.model.end_of_word or ""
        text = token.decode("latin-1" if self.model.alphabet == "bytes" else "utf-8", "surrogateescape")
        stem = text.removesuffix(end) or text
        return list(stem) if stem == text else [*stem[:-1], stem[-1] + end]

    def encode_piece(self, piece: str) -> list[int]:
        """Return the ids of `piece`; where no token fits, the character becomes its bytes or the unknown token.

        tokens a, ab, abc, b, c:   a b c a b b   ->   abc ab b
        """
        symbols = self._symbols((piece + (self.model.end_of_word or "")).encode("utf-8", "surrogateescape"))
        rules, unknown_id = self.model.sentencepiece, self.model.unknown_id
        ids: list[int] = []
        start = 0
        while start < len(symbols):
            node, token, end = self._root, None, start + 1
            for at in range(start, len(symbols)):
                if (following := node.get(symbols[at])) is None:
                    break
                node = following
                if "" in node:
                    token, end = node[""], at + 1
            if token is not None:
                ids.append(token)
            elif rules is not None and (spelled := rules.spelled(piece[start])):
                ids += spelled
            elif unknown_id is None:
                raise UnknownSymbol(piece[start], start)
            elif rules is None or not rules.fuse_unknown or ids[-1:] != [unknown_id]:
                ids.append(unknown_id)
            start = end
        return ids
