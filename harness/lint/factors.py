"""What a piece can hold: whether any match of a split pattern contains a text, whatever stands around it.

A pattern is relaxed to a finite automaton: lookarounds and anchors hold everywhere, possessive and lazy repetitions are
ordinary ones, the order of alternatives does not count. It matches all that the pattern matches, and more: a text that
no match of it contains is in no piece. The reverse does not follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import regex

from impls.core.text.patterns import DROPS_MATCHES

_MOST_COPIES = 50
"""A counted repetition of more copies is relaxed to any number."""
_ATOM = regex.compile(
    r"\\[pP]\{[^{}]*+\}|\\[pP]\w|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}|\\[^\p{L}\d]|\\[sSdDwWnrtfva]"
    r"|\[\^?\]?(?:\\.|[^\]\\])*+\]|[^\\\[\]()|*+?^$]",
    regex.DOTALL,
)
"""What matches one character."""
_EMPTY = regex.compile(r"[\^$]|\\[bBAZz]|\(\?#[^)]*+\)")
"""What matches no character."""
_GROUP = regex.compile(r"\((?:\?(?:[imsx]*+:|>|<?[=!]))?")
_REPEAT = regex.compile(r"(?:([*+?])|\{(\d*+)(?:(,)(\d*+))?\})[+?]?")


class _Unread(Exception):
    """The expression has something that is not understood here."""


class Factors:
    """The texts that a piece of split stages can hold."""

    def __init__(self, stages: Sequence[str]) -> None:
        kept = [stage for stage in stages if not stage.startswith(DROPS_MATCHES)]
        self._automata = [found for stage in kept if (found := _automaton(stage)) is not None]
        self._last = _automaton(stages[-1]) if stages and kept and kept[-1] == stages[-1] else None

    def can_hold(self, text: str) -> bool:
        """Return False only where no piece of any text contains `text`.

        >>> Factors([r" ?\\p{L}+|\\p{N}{1,3}|\\s+"]).can_hold("12a")
        False
        """
        return all(automaton.finds(text) for automaton in self._automata)

    def can_be(self, text: str) -> bool:
        """Return False only where no piece of any text is `text`."""
        return self.can_hold(text) and (self._last is None or self._last.matches(text))


@cache
def _automaton(stage: str) -> _Automaton | None:
    try:
        return _Automaton(stage)
    except _Unread:
        return None


class _Automaton:
    """A nondeterministic automaton; a set of states is the bits of an int."""

    def __init__(self, expression: str) -> None:
        self._expression, self._at = expression, 0
        self._free: list[list[int]] = []
        """State -> states reached without a character."""
        self._step: list[tuple[regex.Pattern[str], int] | None] = []
        """State -> what matches a character there, and the state after it."""
        self._begin, self._end = self._alternatives(0)
        if self._at != len(expression):
            raise _Unread
        self._closure = [self._reached(state) for state in range(len(self._free))]
        self._after: dict[str, list[tuple[int, int]]] = {}

    def finds(self, text: str) -> bool:
        """Return whether a match contains `text`."""
        return bool(self._run((1 << len(self._free)) - 1, text))

    def matches(self, text: str) -> bool:
        """Return whether a match is `text`."""
        return bool(self._run(self._closure[self._begin], text) & 1 << self._end)

    def _run(self, states: int, text: str) -> int:
        for character in text:
            after = self._after.get(character)
            if after is None:
                found = [(1 << state, *step) for state, step in enumerate(self._step) if step is not None]
                after = [(bit, self._closure[to]) for bit, atom, to in found if atom.fullmatch(character)]
                self._after[character] = after
            following = 0
            for bit, closure in after:
                if states & bit:
                    following |= closure
            states = following
            if not states:
                break
        return states

    def _reached(self, state: int) -> int:
        seen, waiting = 0, [state]
        while waiting:
            one = waiting.pop()
            if not seen & 1 << one:
                seen |= 1 << one
                waiting += self._free[one]
        return seen

    # --- reading the expression: each part returns the state before it and the state after it ------------------

    def _new(self) -> int:
        self._free.append([])
        self._step.append(None)
        return len(self._free) - 1

    def _alternatives(self, flags: int) -> tuple[int, int]:
        begin, end = self._new(), self._new()
        while True:
            first, last = self._sequence(flags)
            self._free[begin].append(first)
            self._free[last].append(end)
            if not self._expression.startswith("|", self._at):
                return begin, end
            self._at += 1

    def _sequence(self, flags: int) -> tuple[int, int]:
        begin = end = self._new()
        while self._at < len(self._expression) and self._expression[self._at] not in "|)":
            start = self._at
            first, last = self._item(flags)
            if found := _REPEAT.match(self._expression, self._at):
                after = found.end()
                first, last = self._repeated(first, last, found, start, flags)
                self._at = after
            self._free[end].append(first)
            end = last
        return begin, end

    def _item(self, flags: int) -> tuple[int, int]:
        if found := _EMPTY.match(self._expression, self._at):
            self._at = found.end()
            state = self._new()
            return state, state
        if self._expression[self._at] == "(":
            return self._group(flags)
        found = _ATOM.match(self._expression, self._at)
        if found is None:
            raise _Unread
        self._at = found.end()
        begin, end = self._new(), self._new()
        self._step[begin] = regex.compile(found[0] if found[0] != "{" else r"\{", flags), end
        return begin, end

    def _group(self, flags: int) -> tuple[int, int]:
        opening = _GROUP.match(self._expression, self._at)
        assert opening is not None, "called at a bracket"
        if self._expression.startswith("?", opening.end()):
            raise _Unread
        self._at = opening.end()
        for letter, flag in (("i", regex.IGNORECASE), ("s", regex.DOTALL), ("m", regex.MULTILINE)):
            flags |= flag if letter in opening[0] else 0
        if "x" in opening[0]:
            raise _Unread
        found = self._alternatives(flags)
        if not self._expression.startswith(")", self._at):
            raise _Unread
        self._at += 1
        if opening[0][-1] in "=!":
            state = self._new()
            return state, state
        return found

    def _repeated(self, first: int, last: int, found: regex.Match[str], start: int, flags: int) -> tuple[int, int]:
        if found[1]:
            least, most = (1 if found[1] == "+" else 0), (1 if found[1] == "?" else None)
        else:
            least = int(found[2] or 0)
            most = least if found[3] is None else int(found[4]) if found[4] else None
        if max(least, most or 0) > _MOST_COPIES:
            least, most = min(least, 1), None
        begin, end = self._new(), self._new()
        if most is None:
            self._free[last].append(first)
        parts = [(first, last)]
        for _ in range(max(least, most or 1) - 1):
            self._at = start
            parts.append(self._item(flags))
        self._free[begin].append(parts[0][0])
        for number, (_, after) in enumerate(parts, 1):
            if number < len(parts):
                self._free[after].append(parts[number][0])
            if number >= least:
                self._free[after].append(end)
        if least == 0:
            self._free[begin].append(end)
        return begin, end
