"""A deterministic automaton with leftmost-first priorities, as backtracking engines choose.

A pattern becomes a small program (Thompson 1968; Pike's ordered threads, as in Cox 2009 "Regular Expression Matching:
the Virtual Machine Approach"); a state of the automaton is an ordered list of its instructions. An assertion waits in
the state and is decided by the class of the next character, so a match ends one character late.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from impls.core.pattern.classes import partition
from impls.core.pattern.possessive import check
from impls.core.pattern.syntax import (
    Ahead,
    Alternatives,
    Class,
    End,
    Node,
    NotExpressible,
    Repeat,
    Sequence,
    parse,
)

MOST_STATES = 1000
MOST_INSTRUCTIONS = 4000
MOST_VISITS = 1_000_000
"""Limit of instructions visited while states are made: about a second; the patterns in use take at most 20,000."""

TAKE, ASSERT, FORK, JUMP, MATCH = range(5)
"""Operations: TAKE source; ASSERT source or -1 (end of text), wanted; FORK first, second; JUMP to; MATCH."""


@dataclass(frozen=True, slots=True)
class Automaton:
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
        tree = parse(pattern)
        program = Program(tree)
        class_of, member = partition(program.sources)
        check(tree)
    except OverflowError as error:
        raise NotExpressible(str(error)) from None
    except RecursionError:
        raise NotExpressible("a pattern nested this deeply") from None
    return Automaton(class_of, len(member), _Subsets(program.code, member).steps())


class Program:
    """The instructions of a parsed pattern, (operation, a, b) each, and the class sources they refer to.

    Begins at instruction 0. Every match of the pattern is a path through them; paths that a possessive repetition or
    the order of alternatives forbids are not excluded. Raises `NotExpressible` if there are too many, and
    `RecursionError`.
    """

    def __init__(self, tree: Node) -> None:
        self.code: list[tuple[int, int, int]] = []
        self.sources: list[str] = []
        self._add(tree)
        self._emit(MATCH)

    def _emit(self, operation: int, a: int = 0, b: int = 0) -> int:
        if len(self.code) >= MOST_INSTRUCTIONS:
            raise NotExpressible("a pattern this large")
        self.code.append((operation, a, b))
        return len(self.code) - 1

    def _source(self, node: Class) -> int:
        if node.source not in self.sources:
            self.sources.append(node.source)
        return self.sources.index(node.source)

    def _add(self, node: Node) -> None:
        match node:
            case Class():
                self._emit(TAKE, self._source(node))
            case Ahead(of, wanted):
                self._emit(ASSERT, self._source(of), int(wanted))
            case End():
                self._emit(ASSERT, -1)
            case Sequence(items):
                for item in items:
                    self._add(item)
            case Alternatives(branches):
                self._alternatives(branches)
            case Repeat():
                self._repeat(node)

    def _alternatives(self, branches: tuple[Node, ...]) -> None:
        exits = []
        for branch in branches[:-1]:
            fork = self._emit(FORK)
            self._add(branch)
            exits.append(self._emit(JUMP))
            self.code[fork] = (FORK, fork + 1, len(self.code))
        self._add(branches[-1])
        for jump in exits:
            self.code[jump] = (JUMP, len(self.code), 0)

    def _repeat(self, node: Repeat) -> None:
        for _ in range(node.least):
            self._add(node.body)
        forks = []
        for _ in range(1 if node.most is None else node.most - node.least):
            forks.append(self._emit(FORK))
            self._add(node.body)
        if node.most is None:
            self._emit(JUMP, forks[0])
        for fork in forks:
            into, past = fork + 1, len(self.code)
            self.code[fork] = (FORK, past, into) if node.mode == "lazy" else (FORK, into, past)


State = tuple[int, ...]


class _Subsets:
    """Subset construction over ordered states; raises `NotExpressible` if there are too many, or it takes too long."""

    def __init__(self, code: list[tuple[int, int, int]], member: np.ndarray) -> None:
        self._code = code
        self._inside: list[list[bool]] = member.tolist()
        self._visits = 0

    def steps(self) -> list[list[tuple[int, bool]]]:
        """Return the value of `Automaton.steps`."""
        numbers: dict[State, int] = {self._closure((0,)): 0}
        waiting = list(numbers)
        steps: list[list[tuple[int, bool]]] = []
        while len(steps) < len(waiting):
            state = waiting[len(steps)]
            row: list[tuple[int, bool]] = []
            for of in [*self._inside, None]:
                following, matched = self._step(state, of)
                if following and following not in numbers:
                    if len(numbers) >= MOST_STATES:
                        raise NotExpressible(f"an automaton of more than {MOST_STATES} states")
                    numbers[following] = len(numbers)
                    waiting.append(following)
                row.append((numbers[following] if following else -1, matched))
            steps.append(row)
        return steps

    def _count(self, visits: int) -> None:
        self._visits += visits
        if self._visits > MOST_VISITS:
            raise NotExpressible("an automaton that takes long to make")

    def _closure(self, places: State) -> State:
        """Return every instruction that waits for a character, in order of preference, up to the first match."""
        waiting: list[int] = []
        seen: set[int] = set()
        stack = list(reversed(places))
        while stack:
            place = stack.pop()
            if place in seen:
                continue
            seen.add(place)
            operation, a, b = self._code[place]
            if operation == JUMP:
                stack.append(a)
            elif operation == FORK:
                stack += (b, a)
            else:
                waiting.append(place)
                if operation == MATCH:
                    break
        self._count(len(seen))
        return tuple(waiting)

    def _step(self, state: State, of: list[bool] | None) -> tuple[State, bool]:
        """Return the state after a character of classes `of` (None: the end), and whether a match ends before it."""
        taken: list[int] = []
        seen: set[int] = set()
        stack = list(reversed(state))
        matched = False
        while stack:
            place = stack.pop()
            if place in seen:
                continue
            seen.add(place)
            operation, a, b = self._code[place]
            if operation == JUMP:
                stack.append(a)
            elif operation == FORK:
                stack += (b, a)
            elif operation == MATCH:
                matched = True
                break
            elif operation == TAKE:
                if of is not None and of[a]:
                    taken.append(place + 1)
            elif (of is None) if a < 0 else ((of is not None and of[a]) == bool(b)):
                stack.append(place + 1)
        self._count(len(seen))
        return self._closure(tuple(taken)), matched
