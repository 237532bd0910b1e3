"""The tail of a growing text whose long last piece continues: an append costs time by what is new.

    "…aaab" + "c"    the last token of "…aaabc" is "abc", after the last token of "…aa": the ids change from there

For every position of the piece, `TokenEnds` holds the last token of the encoding of the text before it. In a model
whose tokens have one derivation each that is the token which ends there and is compatible with the last token of what
is before it. So the ids of a beginning are read backwards, from token to token, and those of two beginnings are the
same before the first position that both reach. Nothing is kept of the text before a token boundary that all beginnings
share which can still grow.

Not followed, so that an append encodes the tail again: models some token of which has several derivations or none, as
Llama 3's (`token_ends` gives None); patterns that no automaton expresses; models that rewrite texts or have
SentencePiece's rules, as Mistral v1's (`growing_piece` gives None).

The proof: if each token has one derivation by merges of rising rank, a sequence of tokens is an encoding exactly if
each two neighbours are compatible, that is, encode to themselves (`backtracking`). So the encoding of x[:i] ends with
the one token t that ends at i and is compatible with the last token of x[:i-|t|]; this is kept for each i from a
token on after which all the last |longest token| beginnings begin a token too, so all longer ones do. Two beginnings
that reach the same i going back have the same ids before it. The automaton tells whether appended text continues the
piece: all its possible states are followed, and none may end a piece.

Source: van Antwerpen and Neubeck 2024, the appendable encoder of "So many tokens, so little time".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from impls.core.errors import UnknownSymbol
from impls.core.model import Model
from impls.core.pattern.runs import Runs
from impls.operations.certain_cuts import CertainCuts, runs_of
from impls.operations.changes import Change
from impls.operations.coder import Coder

_PIECE_BEGINS, _NOT_KNOWN = -1, -2
LEAST = 512
"""Least characters of a tail that is followed like this; a shorter one is encoded again in about as much time."""
_READ = 4096
"""Most characters that are read to find the last piece, and the tokens that all its beginnings share."""
_MOST, _SHARE = 256, 16
"""Appended text of more than so many characters, and more than this share of the tail, is encoded with the tail: that
takes a fraction of the time a character."""


class TokenEnds(Protocol):
    """The last token of the encoding of every beginning of a piece, after a place at which tokens of all begin.

    Positions are counted from that place, in letters: what the model's symbols stand for.
    """

    longest: int
    """The most letters of a token."""

    def spell(self, text: str) -> Any:
        """Return the letters of a text; raise `UnknownSymbol` or UnicodeEncodeError if there are none."""

    def text(self, letters: Any) -> str:
        """Return the text of letters; raise UnicodeDecodeError if it does not consist of characters."""

    def length(self, token: int) -> int:
        """Return the number of letters of a token."""

    def begin(self, before: int | None) -> None:
        """Forget everything; the place is after the token `before`, or where the piece begins."""

    def extend(self, n: int, letters: Any) -> bool:
        """Keep `n` letters and add others; return whether the last tokens are known from `longest` letters back on."""

    def letters(self, n: int) -> Any:
        """Return the first `n` letters."""

    def changed(self, old: int, new: int) -> tuple[int, list[int]]:
        """Return how many of the last tokens of the first `old` letters are not in the encoding of the first `new`,
        and the tokens that take their place."""


class ListedEnds:
    """`TokenEnds` in plain Python: a list of tokens, one by position; the letters are those of the symbols.

    merges b+c (rank 0), a+b (rank 1):    after a    ab     abc
                                          a          ab     bc, after a: c after ab is not compatible

    Exactly one token ends at a position and is compatible with the last token of the text before it, so any order of
    trying finds it.
    """

    def __init__(
        self, model: Model, letters: dict[int, str], tokens: dict[str, int], compatible: Callable[[int, int], bool]
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


def growing_piece(tokenizer: Coder, tail: str, ids: Sequence[int], cuts: CertainCuts) -> GrowingPiece | None:
    """Return a tail and its ids as a growing piece; None if it cannot be followed.

    An implementation gives `token_ends() -> TokenEnds | None`, or has no such method: None for a model some token of
    which has several derivations, or none.
    """
    token_ends: Callable[[], TokenEnds | None] = getattr(tokenizer, "token_ends", lambda: None)
    model = tokenizer.model
    is_followed = tokenizer.by_pieces and not model.rewrites_text and model.sentencepiece is None
    runs = runs_of(model.pattern) if is_followed else None
    if runs is None or (ends := token_ends()) is None:
        return None
    try:
        return GrowingPiece(ends, runs, cuts, tail, ids)
    except (ValueError, UnknownSymbol):
        return None


class GrowingPiece:
    """A tail and its ids; each step ends with the assignment of its state."""

    def __init__(self, ends: TokenEnds, runs: Runs, cuts: CertainCuts, tail: str, ids: Sequence[int]) -> None:
        """Raise ValueError if the last piece, or the tokens that its beginnings share, are not known."""
        self._ends, self._runs, self._cuts = ends, runs, cuts
        last = None if cuts.holds_token(tail[-_READ:]) else runs.last_of(tail, _READ)
        if last is None:
            raise ValueError("the last piece is not known")
        place, state = max(last[0], len(tail) - _READ), last[1]
        letters = ends.spell(tail[place:])
        n_letters, n_kept = self._begun(letters, ids, begins=place == 0)
        self._tail = tail[: len(tail) - len(ends.text(letters[len(letters) - n_letters :]))]
        self._ids = ids[:n_kept]
        self._most = max(_MOST, len(tail) // _SHARE)
        self._state = n_letters, state, len(ids), tail[-cuts.margin :]

    def _begun(self, letters: Any, ids: Sequence[int], *, begins: bool) -> tuple[int, int]:
        """Go back to a token that all beginnings share; return the number of letters after it, and of ids before."""
        ends, at, n_kept, wanted = self._ends, len(letters), len(ids), 3 * self._ends.longest
        while True:
            while at > 0 and (len(letters) - at < wanted or not self._is_text(letters[at:])):
                n_kept -= 1
                at -= ends.length(ids[n_kept])
            # A token that begins before the piece does, as far as it is known, may belong to another piece.
            if at < 0 or (at == 0 and not begins):
                raise ValueError("no token is known to be shared by all beginnings")
            ends.begin(ids[n_kept - 1] if at else None)
            if ends.extend(0, letters[at:]):
                return len(letters) - at, n_kept
            wanted *= 2

    def _is_text(self, letters: Any) -> bool:
        try:
            self._ends.text(letters)
        except UnicodeDecodeError:
            return False
        return True

    @property
    def n_ids(self) -> int:
        """Return the number of ids of the tail."""
        return self._state[2]

    def append(self, text: str, n_before: int) -> Change | None:
        """Add `text`; return the change, `n_before` ids being before the tail's. None, with nothing changed, if it does
        not merely continue the piece."""
        old, state, n_ids, ending = self._state
        after = self._runs.continued(state, text)
        ending += text
        if after is None or len(text) > self._most or self._cuts.holds_token(ending):
            return None
        ends = self._ends
        try:
            letters = ends.spell(text)
        except (UnknownSymbol, UnicodeEncodeError):
            return None
        ends.extend(old, letters)
        new = old + len(letters)
        n_removed, added = ends.changed(old, new)
        n_kept = n_ids - n_removed
        self._state = new, after, n_kept + len(added), ending[-self._cuts.margin :]
        return Change(n_before + n_kept, n_removed, added)

    def tail(self) -> tuple[str, list[int]]:
        """Return the text and its ids."""
        n = self._state[0]
        return self._tail + self._ends.text(self._ends.letters(n)), [*self._ids, *self._ends.changed(0, n)[1]]
