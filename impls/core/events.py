"""Merges and removals of tokens in the order in which they happened, which make up a vocabulary of PickyBPE.

An event is a pair of symbols that merge, or (symbol, REMOVED). Symbols are the 256 bytes, then every token in the order
in which it was first made; a removed token may be made again. When a symbol is removed, its occurrences are replaced by
the parts of its latest merge, and any of these that has been removed before by its own parts, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from impls.core.errors import InvalidModel

Event = tuple[int, int]
Change = tuple[int, tuple[int, ...]]
"""The number of an event, and the symbols that replace the pair or the removed symbol."""
REMOVED = -1
N_BYTES = 256


class Events:
    """The meaning of a sequence of events. Raises `InvalidModel` naming an event with a missing symbol."""

    def __init__(self, events: Sequence[Event] = ()) -> None:
        self.tokens = [bytes([byte]) for byte in range(N_BYTES)]
        """The bytes of each symbol."""
        self.present = set(range(N_BYTES))
        self._changes: dict[Event, list[Change]] = {}
        self._symbol_of = {token: symbol for symbol, token in enumerate(self.tokens)}
        self._parts: dict[int, Event] = {}
        self._n_events = 0
        for left, right in events:
            needed = (left,) if right == REMOVED else (left, right)
            if not self.present.issuperset(needed) or (right == REMOVED and left < N_BYTES):
                raise InvalidModel(f"event {self._n_events}: {(left, right)} is not possible there")
            if right == REMOVED:
                self.remove(left)
            else:
                self.merge((left, right))

    def following(self, event: Event, now: int) -> Change | None:
        """Return the number and result of the next occurrence of `event` after number `now`, or None."""
        return next((change for change in self._changes.get(event, ()) if change[0] > now), None)

    def merge(self, pair: Event) -> int:
        """Add a merge; return the symbol it makes."""
        token = self.tokens[pair[0]] + self.tokens[pair[1]]
        made = self._symbol_of.setdefault(token, len(self.tokens))
        if made == len(self.tokens):
            self.tokens.append(token)
        self._parts[made] = pair
        self.present.add(made)
        self._note(pair, (made,))
        return made

    def remove(self, symbol: int) -> tuple[int, ...]:
        """Add a removal; return the symbols that replace it."""
        self.present.discard(symbol)
        instead: list[int] = []
        waiting = [symbol]
        while waiting:
            first = waiting.pop()
            if first in self.present:
                instead.append(first)
            else:
                waiting += reversed(self._parts[first])
        self._note((symbol, REMOVED), tuple(instead))
        return tuple(instead)

    def _note(self, event: Event, instead: tuple[int, ...]) -> None:
        self._changes.setdefault(event, []).append((self._n_events, instead))
        self._n_events += 1


def replayed(piece: bytes, events: Events) -> list[bytes]:
    """Return the tokens of a piece, applying the next event that affects it until there is none.

    Events a+b (0), ab+c (1), ab is removed (2):    a b a b c
                                              ->    ab ab c       event 0, wherever it applies
                                              ->    ab abc        event 1
                                              ->    a b abc       event 2; event 0 is in the past
    """
    symbols, now = list(piece), -1
    while True:
        merges = [events.following(pair, now) for pair in pairwise(symbols)]
        removals = [events.following((symbol, REMOVED), now) for symbol in symbols]
        following = min((event for event in (*merges, *removals) if event is not None), default=None)
        if following is None:
            return [events.tokens[symbol] for symbol in symbols]
        now, instead = following
        replaced: list[int] = []
        at = 0
        while at < len(symbols):
            is_merged = at < len(merges) and merges[at] == following
            replaced += instead if is_merged or removals[at] == following else symbols[at : at + 1]
            at += 2 if is_merged else 1
        symbols = replaced
