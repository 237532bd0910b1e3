"""Follows the last piece of a text by the automaton of its pattern: does more text continue it, or does a piece end?

    cl100k    "naaa" + "a"    no state after a letter cuts before another: the same piece
              "naaa" + " "    a piece ends

Only the end of the text is read if that is enough: all states that the automaton may be in before it are followed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from impls.core.pattern.steps import CUT, FLAG_BITS, MATCH_BEFORE, RESUME
from impls.core.pattern.tables import SplitTables

_MOST_CHARACTERS = 1 << 16


class Runs:
    """Decides where the last piece of a text certainly goes on; `possible` only for patterns of one stage or none.

    A state is a number that stands for a set of the automaton's.
    """

    def __init__(self, stages: Sequence[SplitTables]) -> None:
        self.possible = not stages or (len(stages) == 1 and not stages[0].has_gaps)
        self._stage = stages[0] if stages else None
        self._rows = [[MATCH_BEFORE, CUT]] if self._stage is None else self._stage.rows.tolist()
        self._stride = len(self._rows[0])
        self._class_of: dict[str, int] = {}
        self._sets: list[frozenset[int]] = []
        self._number: dict[frozenset[int], int] = {}
        self._may_end: list[bool] = []
        self._next: dict[int, int] = {}
        self._read: dict[tuple[tuple[int, int], int], tuple[tuple[int, int], bool]] = {}

    def last_of(self, text: str, most: int) -> tuple[int, int] | None:
        """Return a place from which on all of `text` is in its last piece, and the state after it.

        At most `most` characters are read at first, then all. The place is 0 only if the text begins a piece. None if
        it cannot be told, or more text always ends a piece.
        """
        return self._last_from(text, max(0, len(text) - most)) or self._last_from(text, 0)

    def _last_from(self, text: str, first: int) -> tuple[int, int] | None:
        # Each of all states that are possible, and of those that are since a piece was last seen to end.
        start = self._number_of(frozenset(range(len(self._rows))) if first else frozenset((0,)))
        at = place = first
        states = start, start
        while at < len(text):
            character = text[at]
            of = self._class_of.get(character)
            if of is None:
                of = self._class(character)
            following, ends = self._read.get((states, of)) or self._read_class(states, of)
            if ends:
                place = at
            at += 1
            if following == states and not ends:  # equal characters change nothing more
                run = re.compile(f"[{re.escape(character)}]*").match(text, at)
                at = at if run is None else run.end()
            states = following
        return (place, states[1]) if self._may_end[states[1]] else None

    def _read_class(self, states: tuple[int, int], of: int) -> tuple[tuple[int, int], bool]:
        """Return the states after a character of a class, and whether a piece may end before it."""
        wide, since = self._follow(states[0], of), self._follow(states[1], of)
        ends = bool(wide & 1)
        # A scan that resumes at an earlier match passes a place again, from a state that follows the start's.
        again = self._number_of(self._sets[wide >> 1] | {0})
        read = self._read[states, of] = (again, wide >> 1 if ends else since >> 1), ends
        return read

    def continued(self, state: int, text: str) -> int:
        """Return the state after `text` if it continues the piece and the piece may end with it, else -1."""
        for character in text:
            following = self._follow(state, self._class(character))
            if following & 1:
                return -1
            state = following >> 1
        return state if self._may_end[state] else -1

    def _class(self, character: str) -> int:
        found = self._class_of.get(character)
        if found is None:
            if len(self._class_of) >= _MOST_CHARACTERS:
                self._class_of.clear()
            found = self._class_of[character] = 0 if self._stage is None else self._stage.class_of(character)
        return found

    def _number_of(self, states: frozenset[int]) -> int:
        number = self._number.setdefault(states, len(self._sets))
        if number == len(self._sets):
            self._sets.append(states)
            self._may_end.append(bool(states) and all(self._rows[state][-1] & CUT for state in states))
        return number

    def _follow(self, state: int, of: int) -> int:
        """Return the state after a character of a class, << 1, and 1 if a piece may end before the character."""
        key = state * self._stride + of
        found = self._next.get(key)
        if found is None:
            entries = [self._rows[one][of] for one in self._sets[state]]
            after = frozenset((entry >> FLAG_BITS) // self._stride for entry in entries if not entry & RESUME)
            ends = any(entry & (CUT | RESUME) for entry in entries)
            found = self._next[key] = self._number_of(after) << 1 | ends
        return found
