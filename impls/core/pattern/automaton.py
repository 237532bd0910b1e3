"""A deterministic automaton with leftmost-first priorities, as backtracking engines choose.

A state of the automaton is an ordered list of a program's instructions (`pattern.syntax`). An assertion waits in the
state and is decided by the class of the next character, so a match ends one character late.

An automaton cannot rule out a shorter repetition. A possessive `C{m,n}+` over one class equals the greedy form if what
follows cannot succeed after the repetition gave characters back: either it cannot fail at all, or everything it can
begin with lies outside C. All others are refused.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from impls.core.pattern.classes import partition
from impls.core.pattern.syntax import KEEP, MATCH, TAKE, Code, NotExpressible, can_be_empty, parse, reached

MOST_STATES = 1000
MOST_REACHED = 500_000
"""Limit of instructions reached while states are made: about a second; the patterns in use take at most 20,000."""


class Automaton(NamedTuple):
    """`steps[state][class]` is (next state or -1, whether a match ends before this character); state 0 starts.

    The last class, `end`, is the end of the text.
    """

    class_of: np.ndarray
    """uint8 of shape (0x110000,): the class of each code point."""
    end: int
    steps: list[list[tuple[int, bool]]]


def compile_pattern(pattern: str) -> Automaton:
    """Compile one split stage to an automaton; raise `NotExpressible`, also if that would take too long."""
    try:
        code, sources = parse(pattern)
        class_of, member = partition(sources)
    except OverflowError as error:
        raise NotExpressible(str(error)) from None
    except RecursionError:
        raise NotExpressible("a pattern nested this deeply") from None
    # Which sources each class is in; the last source, -1 in the instructions, is the end of the text.
    inside = [[*row, False] for row in member.tolist()] + [[*[False] * len(sources), True]]
    _check(code, inside)
    return Automaton(class_of, len(member), _steps(code, inside))


def _check(code: Code, inside: list[list[bool]]) -> None:
    """Raise `NotExpressible` if an automaton would cut differently from a backtracking engine."""
    if can_be_empty(code[:-1]):
        raise NotExpressible("the pattern matches the empty text")
    for place, (operation, kept, _) in enumerate(code):
        if operation == KEEP:
            following = [code[at] for at in reached(code, [place + 1])]
            cannot_fail = following[-1][0] == MATCH
            first = {(source, bool(wanted)) for _, source, wanted in following}
            if not cannot_fail and any(of[kept] and of[source] == wanted for of in inside for source, wanted in first):
                raise NotExpressible("a possessive repetition that backtracking would shorten")


def _steps(code: Code, inside: list[list[bool]]) -> list[list[tuple[int, bool]]]:
    """Return `Automaton.steps` by subset construction over ordered states."""
    states = [tuple(reached(code, [0]))]
    numbers = {states[0]: 0}
    steps: list[list[tuple[int, bool]]] = []
    n_reached = 0
    for state in states:  # more are appended
        row: list[tuple[int, bool]] = []
        for of in inside:
            waiting = reached(code, state, of)
            following = tuple(reached(code, [at + 1 for at in waiting if code[at][0] == TAKE and of[code[at][1]]]))
            n_reached += len(waiting) + len(following)
            if following and following not in numbers:
                numbers[following] = len(states)
                states.append(following)
            row.append((numbers.get(following, -1), bool(waiting) and code[waiting[-1]][0] == MATCH))
        if len(states) > MOST_STATES or n_reached > MOST_REACHED:
            raise NotExpressible(f"an automaton of more than {MOST_STATES} states, or that takes long to make")
        steps.append(row)
    return steps
