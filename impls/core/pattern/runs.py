"""Follows the last piece of a text by the automaton of its pattern: does more text continue it, or does a piece end?

    cl100k    "naaa" + "a"    no state after a letter cuts before another: the same piece
              "naaa" + " "    a piece ends

Only the end of the text is read if that is enough: all states that the automaton may be in before it are followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from impls.core.pattern.steps import CUT, FLAG_BITS, MATCH_BEFORE, RESUME
from impls.core.pattern.tables import SplitTables, split_tables
from impls.core.text.patterns import WHOLE_TEXT

_MOST_CHARACTERS = 1 << 16

States = frozenset[int]
_NO_STATES: States = frozenset()
State = tuple[States, ...]
"""For each stage, the states that its automaton may be in."""


class Runs:
    """Decides where the last piece of a text certainly continues."""

    def __init__(self, stages: Sequence[SplitTables]) -> None:
        self._stages = [_StageRuns(stage) for stage in stages or (split_tables(WHOLE_TEXT),)]

    def last_of(self, text: str, most: int) -> tuple[int, State] | None:
        """Return a place from which on all of `text` is in its last piece, and the state after it.

        At most `most` characters are read at first, then all. The place is 0 only if the text begins a piece. None if
        it is unknown, or more text always ends a piece.
        """
        return self._last_from(text, max(0, len(text) - most)) or self._last_from(text, 0)

    def _last_from(self, text: str, first: int) -> tuple[int, State] | None:
        """Return what `last_of` does, reading from character `first` on."""
        while True:
            lasts = [last for stage in self._stages if (last := stage.last_from(text, first)) is not None]
            if len(lasts) < len(self._stages):
                return None
            place = max(place for place, _ in lasts)
            if place == first or len(lasts) == 1:
                return place, tuple(state for _, state in lasts)
            first = place  # where one stage ends a piece, the next ones begin anew

    def continued(self, state: State, text: str) -> State | None:
        """Return the state after `text` if it continues the piece and the piece may end with it."""
        after = tuple(stage.continued(states, text) for stage, states in zip(self._stages, state, strict=True))
        return after if all(after) else None

    def matches_before(self, state: State, character: str) -> bool:
        """Return whether, in a text that continues with a character, the last piece reaches at least up to it."""
        return all(stage.matches_before(states, character) for stage, states in zip(self._stages, state, strict=True))


class _StageRuns:
    """What `Runs` does, for one stage."""

    def __init__(self, stage: SplitTables) -> None:
        self._stage, self._rows = stage, stage.rows.tolist()
        self._class_of = lru_cache(_MOST_CHARACTERS)(stage.class_of)
        self._next: dict[tuple[States, int], tuple[States, bool, bool]] = {}
        self._read: dict[tuple[tuple[States, States], int], tuple[tuple[States, States], int]] = {}

    def last_from(self, text: str, first: int) -> tuple[int, States] | None:
        """Return the place and the state, reading from character `first` on."""
        # Each of all states that are possible, and of those that are since a piece was last seen to end.
        start: States = frozenset(range(len(self._rows)) if first else (0,))
        place, states = first, (start, start)
        classes = self._stage.classes_of(text[first:])
        begins = np.flatnonzero(np.append(True, classes[1:] != classes[:-1])[: len(classes)])
        for of, (begin, end) in zip(classes[begins].tolist(), pairwise((*begins.tolist(), len(classes))), strict=True):
            for at in range(begin, end):
                following, ends = self._read.get((states, of)) or self._read_class(states, of)
                if ends:
                    place = first + at + ends - 1
                elif following == states:
                    break  # more characters of the class change nothing
                states = following
        return (place, states[1]) if self._may_end(states[1]) else None

    def _read_class(self, states: tuple[States, States], of: int) -> tuple[tuple[States, States], int]:
        """Return the states after a character of a class, and where a piece may end: 1 before it, 2 after it."""
        (wide, ends, _), (since, _, _) = self._follow(states[0], of), self._follow(states[1], of)
        # A scan that resumes at an earlier match passes a place again, from a state that follows the start's.
        again = wide | {0}
        if self._stage.has_gaps and self._rows[0][of] & RESUME:
            read = (again, again), 2  # it may be between two matches, and the next one begin a match
        else:
            read = (again, wide if ends else since), int(ends)
        self._read[states, of] = read
        return read

    def continued(self, states: States, text: str) -> States:
        """Return the states after `text` if it continues the piece and the piece may end with it, else none."""
        may_end = True
        for character in text:
            of = self._class_of(character)
            states, ends, may_end = self._next.get((states, of)) or self._follow(states, of)
            if ends:
                return _NO_STATES
        return states if may_end else _NO_STATES

    def matches_before(self, states: States, character: str) -> bool:
        """Return whether the last piece reaches at least up to a character that follows."""
        of = self._class_of(character)
        return all(self._rows[state][of] & (MATCH_BEFORE | CUT) for state in states)

    def _may_end(self, states: States) -> bool:
        """Return whether the piece may end with the text."""
        return bool(states) and all(self._rows[state][-1] & CUT for state in states)

    def _follow(self, states: States, of: int) -> tuple[States, bool, bool]:
        """Return the states after a character of a class, and whether a piece may end before it, and with the text."""
        entries = [self._rows[state][of] for state in states]
        after = frozenset((entry >> FLAG_BITS) // len(self._rows[0]) for entry in entries if not entry & RESUME)
        ends = any(entry & (CUT | RESUME) for entry in entries)
        following = self._next[states, of] = after, ends, self._may_end(after)
        return following
