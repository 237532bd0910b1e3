"""What a piece can hold: whether any match of a split pattern contains a text, whatever stands around it.

A pattern is relaxed to a nondeterministic automaton: lookaheads and ends hold everywhere, possessive and lazy
repetitions are ordinary ones, the order of alternatives does not count. It matches all that the pattern matches, and
more: a text that no match of it contains is in no piece. The reverse does not follow. A stage outside the automaton's
subset of regular expressions (`impls.core.pattern.syntax`) refuses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from impls.core.pattern.automaton import ASSERT, FORK, MATCH, TAKE, Program
from impls.core.pattern.classes import partition
from impls.core.pattern.syntax import NotExpressible, parse
from impls.core.text.patterns import DROPS_MATCHES


class Factors:
    """The texts that a piece of split stages can hold."""

    def __init__(self, stages: Sequence[str]) -> None:
        kept = [stage for stage in stages if not stage.startswith(DROPS_MATCHES)]
        self._automata = [found for stage in kept if (found := _automaton(stage)) is not None]
        self._last = _automaton(stages[-1]) if stages and kept and kept[-1] == stages[-1] else None

    def can_hold(self, text: str) -> bool:
        """Return False only where no piece of any text contains `text`, which has no surrogates, as no token has.

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
        return _Automaton(Program(parse(stage)))
    except (NotExpressible, OverflowError, RecursionError):
        return None


class _Automaton:
    """A nondeterministic automaton; a set of its instructions is the bits of an int."""

    def __init__(self, program: Program) -> None:
        code = program.code
        self._match = 1 << len(code) - 1
        self._class_of, member = partition(program.sources)
        closures = [_reached(code, place) for place in range(len(code))]
        takes = [(place, source) for place, (operation, source, _) in enumerate(code) if operation == TAKE]
        self._begin = closures[0]
        self._anywhere = sum(1 << place for place, _ in takes) | self._match
        self._after = [
            [(1 << place, closures[place + 1]) for place, source in takes if inside[source]] for inside in member
        ]
        """Character class -> the instructions that take it, each with those reached then."""

    def finds(self, text: str) -> bool:
        """Return whether a match contains `text`."""
        return bool(self._run(self._anywhere, text))

    def matches(self, text: str) -> bool:
        """Return whether a match is `text`."""
        return bool(self._run(self._begin, text) & self._match)

    def _run(self, places: int, text: str) -> int:
        for character in text:
            following = 0
            for place, reached in self._after[self._class_of[ord(character)]]:
                if places & place:
                    following |= reached
            places = following
            if not places:
                break
        return places


def _reached(code: Sequence[tuple[int, int, int]], place: int) -> int:
    """Return the instructions that take a character or match, reached from `place` without taking one."""
    seen, found, waiting = 0, 0, [place]
    while waiting:
        one = waiting.pop()
        if seen & 1 << one:
            continue
        seen |= 1 << one
        operation, a, b = code[one]
        if operation in (TAKE, MATCH):
            found |= 1 << one
        elif operation == ASSERT:
            waiting.append(one + 1)
        else:
            waiting += (a, b) if operation == FORK else (a,)
    return found
