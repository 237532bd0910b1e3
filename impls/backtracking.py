"""Byte pair encoding in linear time without merging: try the longest token, backtrack where it does not fit.

Idea
    Byte pair encoding gives a sequence in which any two neighbours are *compatible*: encoding the text of the two gives
    the two again. If every token has exactly one derivation, the converse holds as well: the sequence whose
    neighbours are all compatible is the encoding, and it is unique. So search for it: take the longest token that is
    compatible with the last one, else the next shorter, else remove the last one. A position from which the search
    failed is marked and not tried again, which bounds the search.
Cost
    O(n) steps per piece of n symbols, each at most as long as the longest token. Preparing a vocabulary takes time
    proportional to its bytes.
Source
    Hendrik van Antwerpen and Alexander Neubeck 2024, "So many tokens, so little time: Introducing a faster, more
    flexible byte-pair tokenizer".
"""

from __future__ import annotations

from typing import ClassVar, Literal

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.interface import Tokenizer

_NO_TOKEN = -1
_SYMBOL = -1  # the rank of a symbol, which no merge makes
_NEVER = 1 << 62


class Backtracking(Tokenizer):
    """Longest compatible token with backtracking; `steps` counts the tokens that were tried.

    Raises `Unsupported` for a model with a merge that ranks before the merges of its own parts or makes a symbol, or
    (merge rule `concatenation`) with a token that has no derivation from lower ranks. Merges whose parts never meet are
    ignored, so every remaining token has exactly one derivation.
    """

    name: ClassVar[str] = "backtracking"
    summary: ClassVar[str] = "linear time: the longest token compatible with the one before it, else back"
    kind: ClassVar[Literal["pure"]] = "pure"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.steps = 0
        # For every token the rank of the merge that makes it and the two parts it joins; symbols have no parts.
        self._rank: dict[int, int] = dict.fromkeys(model.symbol_ids, _SYMBOL)
        self._parts: dict[int, tuple[int, int]] = {}
        self._rank_of_pair: dict[tuple[int, int], int] = {}
        if model.merge_rule == "pairs":
            self._take_merges()
        else:
            self._find_merges()
        # Every symbol gets a letter, so that pieces and tokens can be compared as strings.
        self._letter = {symbol: chr(k) for k, symbol in enumerate(self._rank) if self._rank[symbol] == _SYMBOL}
        spelling = dict(self._letter)
        for made, (left, right) in self._parts.items():  # in rank order: parts come first
            spelling[made] = spelling[left] + spelling[right]
        self._length = {i: len(text) for i, text in spelling.items()}
        # A trie, as a dict of its paths: every prefix of a token -> the id of the token that ends there.
        self._trie = {text[:end]: _NO_TOKEN for text in spelling.values() for end in range(1, len(text))}
        self._trie.update({text: i for i, text in spelling.items()})

    # --- encoding ------------------------------------------------------------------------------------------

    def encode_piece(self, piece: str) -> list[int]:
        """Return the ids of one piece.

        Merges b+c (rank 0), a+b (rank 1) on `abc`:    ab      the longest; after it only c fits,
                                                      ab|c     but b+c ranks before a+b: not compatible
                                                      a        remove ab, try the next shorter
                                                      a|bc     compatible: done
        """
        whole = self.model.whole_piece(piece)
        if whole is not None:
            return [whole]
        text = "".join([self._letter[symbol] for symbol in self.model.symbols(piece)])
        tokens: list[int] = []
        dead_ends: set[int] = set()
        at = steps = 0
        candidate = self._longest_token(text, 0, len(text))
        while at < len(text):
            steps += 1
            end = at + self._length[candidate]
            if end not in dead_ends and (not tokens or self._compatible(tokens[-1], candidate)):
                tokens.append(candidate)
                at = end
                candidate = self._longest_token(text, at, len(text))
                continue
            candidate = self._longest_token(text, at, end - 1)
            if candidate == _NO_TOKEN:  # nothing shorter: remove the last token, its end is now a dead end
                dead_ends.add(at)
                candidate = tokens.pop()
                at -= self._length[candidate]
        self.steps += steps
        return tokens

    def _longest_token(self, text: str, start: int, limit: int) -> int:
        """Return the longest token that begins at `start` and ends by `limit`, or `_NO_TOKEN`."""
        longest = _NO_TOKEN
        for end in range(start + 1, limit + 1):
            found = self._trie.get(text[start:end])
            if found is None:
                break
            if found != _NO_TOKEN:
                longest = found
        return longest

    def _compatible(self, left: int, right: int) -> bool:
        """Return whether encoding the text of both gives just the two.

        Undo their merges, the latest first, and watch the two symbols that touch at the border. These were adjacent
        until the merge just undone consumed one of them; had their own merge ranked before that, it would have joined
        them across the border. Among merges of one rank the leftmost comes first: a a a -> aa a.
        """
        until = _NEVER
        while True:
            if self._rank_of_pair.get((left, right), _NEVER) < until:
                return False
            if self._rank[left] > self._rank[right]:
                until = self._rank[left]
                left = self._parts[left][1]
            elif self._rank[right] != _SYMBOL:
                until = self._rank[right] + 1  # at equal rank the border is left of the undone merge, so it was first
                right = self._parts[right][0]
            else:
                return True

    # --- the merge of every token --------------------------------------------------------------------------

    def _take_merges(self) -> None:
        """Take the merges of the model that can apply; raise `Unsupported` where one is irregular."""
        tokens = self.model.tokens
        # A pair that is listed twice counts at its later rank.
        last_rank = {pair: rank for rank, pair in enumerate(self.model.merges)}
        merges = [
            (rank, pair, made)
            for rank, (pair, made) in enumerate(zip(self.model.merges, self.model.merge_results, strict=True))
            if last_rank[pair] == rank
        ]
        last_made = {made: rank for rank, _, made in merges}
        for rank, pair, made in merges:
            missing = [part for part in pair if part not in self._rank]
            if any(last_made.get(part, _SYMBOL) >= rank for part in missing):
                raise Unsupported(
                    self.name, f"needs monotone ranks; merge {rank} ({tokens[made]!r}) comes before its own parts"
                )
            if missing or not self._compatible(*pair):
                continue  # its parts never meet: after b+c and a+b, ab+c finds no ab before a c
            if made in self._rank:
                raise Unsupported(
                    self.name, f"needs one derivation per token; merge {rank} makes the symbol {tokens[made]!r}"
                )
            self._rank[made], self._parts[made], self._rank_of_pair[pair] = rank, pair, rank

    def _find_merges(self) -> None:
        """Find the merge of every token that has a rank: its two compatible parts of no higher rank.

        Raise `Unsupported` naming the first token without one.
        """
        id_by_token, ranks, merge_of = self.model.id_by_token, self.model.ranks, self.model.merge_of
        lengths = set(map(len, id_by_token))
        for token, i in sorted(id_by_token.items(), key=lambda entry: (ranks[entry[1]], len(entry[0]))):
            if i in self._rank or i in self.model.unmade_ids:
                continue
            for cut in range(1, len(token)):
                if cut not in lengths or len(token) - cut not in lengths:
                    continue  # a long token is not copied at every byte
                left, right = id_by_token.get(token[:cut]), id_by_token.get(token[cut:])
                if left not in self._rank or right not in self._rank or merge_of(left, right) is None:
                    continue
                if max(self._rank[left], self._rank[right]) <= ranks[i] and self._compatible(left, right):
                    self._rank[i], self._parts[i], self._rank_of_pair[left, right] = ranks[i], (left, right), ranks[i]
                    break
            else:
                raise Unsupported(
                    self.name, f"needs one derivation per token; lower ranks do not lead to {token!r} (id {i})"
                )
