"""The last tokens of the encodings of a piece's beginnings, in plain Python: `operations.growing_piece.TokenEnds`.

merges b+c (rank 0), a+b (rank 1):    after a    ab     abc
                                      a          ab     bc, after a: c after ab is not compatible

Exactly one token ends at a position and is compatible with the last token of the text before it, so any order of trying
finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from impls.core.model import Model

_PIECE_BEGINS, _NOT_KNOWN = -1, -2


class ListedEnds:
    """A list of tokens, one by position; the letters are those of the symbols."""

    def __init__(
        self,
        model: Model,
        letters: Mapping[int, str],
        tokens: Mapping[str, int],
        compatible: Callable[[int, int], bool],
    ) -> None:
        """Prepare the letter of each symbol, and tokens by their letters; other strings may give a negative number."""
        self._symbols, self._letter_of, self._tokens, self._compatible = model.symbols, letters, tokens, compatible
        self._bytes_of = {letter: model.tokens[symbol] or b"" for symbol, letter in letters.items()}
        self._length = {token: len(text) for text, token in tokens.items() if token >= 0}
        self.longest = max(self._length.values())
        self._last: list[int] = []
        self._letters: list[str] = []

    def spell(self, text: str) -> str:
        """Return the letters of a text."""
        return "".join([self._letter_of[symbol] for symbol in self._symbols(text)])

    def text(self, letters: str) -> str:
        """Return the text of letters."""
        return b"".join([self._bytes_of[letter] for letter in letters]).decode()

    def length(self, token: int) -> int:
        """Return the number of letters of a token."""
        return self._length[token]

    def letters(self, n: int) -> str:
        """Return the first `n` letters."""
        return "".join(self._letters[:n])

    def begin(self, before: int | None) -> None:
        """Forget everything; begin after the token `before`, or where the piece begins."""
        self._last, self._letters = [_PIECE_BEGINS if before is None else before], []

    def extend(self, n: int, letters: str) -> bool:
        """Keep `n` letters and add others; return whether all last tokens are known that further letters may follow."""
        del self._letters[n:], self._last[n + 1 :]
        for letter in letters:
            self._letters.append(letter)
            self._last.append(self._last_token())
        return _NOT_KNOWN not in self._last[-self.longest :]

    def _last_token(self) -> int:
        """Return the last token of the encoding of all letters."""
        end, suffix = len(self._letters), ""
        for start in range(end - 1, max(-1, end - 1 - self.longest), -1):
            suffix = self._letters[start] + suffix
            token, before = self._tokens.get(suffix, -1), self._last[start]
            if token >= 0 and before != _NOT_KNOWN and (before < 0 or self._compatible(before, token)):
                return token
        return _NOT_KNOWN

    def changed(self, old: int, new: int) -> tuple[int, list[int]]:
        """Return how many last tokens of the first `old` letters become which ones, in the first `new`."""
        n_removed, added = 0, []
        while old != new:
            if new > old:
                added.append(self._last[new])
                new -= self._length[self._last[new]]
            else:
                n_removed += 1
                old -= self._length[self._last[old]]
        return n_removed, added[::-1]
