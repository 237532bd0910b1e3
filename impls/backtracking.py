"""Byte pair encoding in linear time without merging: try the longest token, backtrack where it does not fit.

Idea    Any two neighbours of an encoding are *compatible*: encoding the text of the two gives the two again. If every
        token has exactly one derivation, the converse holds: the sequence whose neighbours are all compatible is the
        encoding. So search for it: take the longest token that is compatible with the last one, else the next shorter,
        else remove the last one. A position from which the search failed is not tried again, which bounds the search.
Cost    O(n) steps per piece of n symbols, each at most as long as the longest token.
Source  van Antwerpen and Neubeck 2024, "So many tokens, so little time: Introducing a faster, more flexible byte-pair
        tokenizer".
"""

from __future__ import annotations

from math import inf

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.model.derivations import why_out_of_order
from impls.interface import Tokenizer
from impls.operations.growing_piece import ListedEnds

_NO_TOKEN = _SYMBOL = -1  # the latter is the rank of a symbol, which no merge makes


class Backtracking(Tokenizer):
    """`steps` counts the tokens that were tried. Text that grows within one piece costs time by what is new."""

    name = "backtracking"
    summary = "linear time: the longest token compatible with the one before it, else back"
    kind = "pure"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        if why := why_out_of_order(model):
            raise Unsupported(self.name, f"needs one derivation per token; {why}")
        self.steps = 0
        self._rank = dict.fromkeys(model.symbol_ids, _SYMBOL)  # of the merge that makes a token
        self._parts: dict[int, tuple[int, int]] = {}  # that this merge joins
        self._rank_of_pair: dict[tuple[int, int], int] = {}
        self._letter = {symbol: chr(k) for k, symbol in enumerate(self._rank)}  # so that pieces and tokens are strings
        spelling = dict(self._letter)
        pairs = model.merges if model.merge_rule == "pairs" else model.recovered_merges[0]
        merges = {(m[0], len(model.tokens[m[1]] or b""), m[1], pair) for pair in pairs if (m := model.merge_of(*pair))}
        for rank, _, token, pair in sorted(merges):  # of equal ranks the shorter first, so that parts come first
            if not (pair[0] in self._rank and pair[1] in self._rank and self._compatible(*pair)):
                continue  # its parts never meet: after b+c and a+b, ab+c finds no ab before a c
            if token in self._rank:
                raise Unsupported(self.name, f"needs one derivation per token; merge {rank} makes a symbol")
            self._rank[token], self._parts[token], self._rank_of_pair[pair] = rank, pair, rank
            spelling[token] = spelling[pair[0]] + spelling[pair[1]]
        self._length = {token: len(text) for token, text in spelling.items()}
        # A trie, as a dict of its paths: every prefix of a token -> the id of the token that ends there.
        self._trie = {text[:end]: _NO_TOKEN for text in spelling.values() for end in range(1, len(text))}
        self._trie.update({text: token for token, text in spelling.items()})

    def encode_piece(self, piece: str) -> list[int]:
        """Return the ids of `piece`.

        merges b+c (rank 0), a+b (rank 1):   ab       the longest; after it only c fits,
                                             ab|c     but b+c ranks before a+b: not compatible
                                             a        remove ab, try the next shorter
                                             a|bc     compatible: done
        """
        text = "".join([self._letter[symbol] for symbol in self.model.symbols(piece)])
        tokens: list[int] = []
        dead_ends: set[int] = set()
        at, token = 0, self._longest_token(text, 0, len(text))
        while at < len(text):
            self.steps += 1
            end = at + self._length[token]
            if end not in dead_ends and (not tokens or self._compatible(tokens[-1], token)):
                tokens.append(token)
                at, token = end, self._longest_token(text, end, len(text))
                continue
            token = self._longest_token(text, at, end - 1)
            if token == _NO_TOKEN:  # nothing shorter: remove the last token, its end is now a dead end
                dead_ends.add(at)
                token = tokens.pop()
                at -= self._length[token]
        return tokens

    def token_ends(self) -> ListedEnds | None:
        """Return what keeps the last tokens of the beginnings of a piece; see `operations.growing_piece`."""
        known = self.model.end_of_word is None and self.model.unknown_id is None
        return ListedEnds(self.model, self._letter, self._trie, self._compatible) if known else None

    def _longest_token(self, text: str, start: int, limit: int) -> int:
        """Return the longest token that begins at `start` and ends by `limit`, or `_NO_TOKEN`."""
        longest = _NO_TOKEN
        for end in range(start + 1, limit + 1):
            if (token := self._trie.get(text[start:end])) is None:
                break
            longest = longest if token == _NO_TOKEN else token
        return longest

    def _compatible(self, left: int, right: int) -> bool:
        """Return whether encoding the text of both gives just the two.

        Undo their merges, the latest first. The two symbols that then touch at the border were adjacent until the merge
        just undone; had their own merge ranked before that, it would have joined them. Of one rank the leftmost wins.

        ab, c:   a+b (rank 1) is undone, so b touches c; b+c (rank 0) ranks before it: not compatible
        a, bc:   b+c (rank 0) is undone, so a touches b; a+b (rank 1) comes after it: compatible
        """
        until: float = inf  # a pair at the border of a lower rank would have merged before
        while self._rank_of_pair.get((left, right), inf) >= until:
            if self._rank[left] > self._rank[right]:
                until, left = self._rank[left], self._parts[left][1]
            elif self._rank[right] != _SYMBOL:  # at equal rank the border is left of the undone merge, so it was first
                until, right = self._rank[right] + 1, self._parts[right][0]
            else:
                return True
        return False
