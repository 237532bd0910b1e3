"""Parser of the subset of regular expressions that GPT-like patterns are written in, to a small program.

Accepted: one-character classes (literals, escapes, `.`, `\\p{..}`, bracketed sets), groups `(?:..)`, `(?i:..)` and
`(?s:..)`, alternatives, greedy, lazy and possessive quantifiers, lookaheads of one character `(?!C)` and `(?=C|D)`, `$`
and `\\Z`. Everything else raises `NotExpressible` with the reason, and the caller keeps using `regex`.

A program is a list of instructions (Thompson 1968; Pike's ordered threads, as in Cox 2009 "Regular Expression Matching:
the Virtual Machine Approach"). Its places are relative, so that parts are joined and repeated as they are:

    a|b    FORK 1 3 | TAKE a | JUMP 2 | TAKE b | MATCH
    a*     FORK 1 3 | TAKE a | JUMP -2 | MATCH
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import regex


class NotExpressible(Exception):
    """Raised for a pattern outside what the automaton can express; the message says why."""


TAKE, ASSERT, FORK, JUMP, KEEP, MATCH = range(6)
"""Operations: TAKE source, 1; ASSERT source or -1 (end of text), wanted; FORK first, second; JUMP to; MATCH.

KEEP source does nothing: a possessive repetition of this class ends here.
"""
Code = list[tuple[int, int, int]]

MOST_INSTRUCTIONS = 4000
_MOST_COPIES = 64
_ESCAPE = (
    r"\\(?:[pP](?:[A-Z]|\{\^?[A-Za-z_]+(?:=[A-Za-z_]+)?\})|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}"
    r"|[sSdDwWnrtfv]|[^A-Za-z0-9])"
)
_SET = rf"\[\^?+\]?+(?:{_ESCAPE}|(?!\|\||&&|--|~~)[^\[\]\\])*+\]"
_CLASS = rf"(?:{_ESCAPE}|{_SET}|[^^$*+?{{}}\[\]\\|()])"
_CHARACTER = regex.compile(_CLASS)
"""A one-character class: an escape, a set without sets and operators in it, a dot, or a literal."""
_LOOKAHEAD = regex.compile(rf"\(\?([!=])({_CLASS}(?:\|{_CLASS})*+)\)")
_GROUP = regex.compile(r"\(\?([is]*):")
_QUANTIFIER = regex.compile(r"(?:([?*+])|\{(\d+)(,?)(\d*)\})([+?]?)")
_BOUNDS: dict[str, tuple[int, int | None]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}


class Program(NamedTuple):
    """The instructions of a pattern, and the one-character expressions they refer to by number.

    Begins at instruction 0. Every match of the pattern is a path through them; paths that a possessive repetition or
    the order of alternatives forbids are not excluded.
    """

    code: Code
    sources: list[str]


def parse(pattern: str) -> Program:
    """Return the program of `pattern`; raise `NotExpressible`, and `RecursionError`."""
    parser = _Parser(pattern)
    code = parser.alternatives()
    if parser.at != len(pattern):
        raise NotExpressible(f"unexpected {pattern[parser.at]!r}")
    _check_size(len(code))
    return Program([*code, (MATCH, 0, 0)], [*parser.sources])


def reached(code: Code, places: Iterable[int], of: list[bool] | None = None) -> list[int]:
    """Return the instructions that are reached without taking a character, in order of preference, up to the first
    match: those that wait for a character, assertions among them unless `of` tells which sources the next one is in."""
    waiting: list[int] = []
    seen: set[int] = set()
    stack = list(places)[::-1]
    while stack:
        place = stack.pop()
        if place in seen:
            continue
        seen.add(place)
        operation, a, b = code[place]
        if operation == JUMP:
            stack.append(place + a)
        elif operation == FORK:
            stack += (place + b, place + a)
        elif operation == KEEP or (operation == ASSERT and of is not None and of[a] == bool(b)):
            stack.append(place + 1)
        elif operation != ASSERT or of is None:
            waiting.append(place)
            if operation == MATCH:
                break
    return waiting


def can_be_empty(code: Code) -> bool:
    """Return whether instructions can be passed without taking a character, if assertions are true or false."""
    passed: Code = [(KEEP, 0, 0) if step[0] == ASSERT else step for step in code]
    return reached([*passed, (MATCH, 0, 0)], [0])[-1] == len(code)


def _check_size(n_instructions: int) -> None:
    if n_instructions >= MOST_INSTRUCTIONS:
        raise NotExpressible("a pattern this large")


class _Parser:
    """A cursor over the pattern; one method per grammar rule, which returns instructions."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0
        self.flags = ""
        self.sources: dict[str, int] = {}
        self.kept_until, self.kept = -1, ""
        """End of the last unbounded possessive repetition in the pattern, and its class."""

    def peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def take(self, text: str) -> bool:
        is_next = self.pattern.startswith(text, self.at)
        self.at += len(text) * is_next
        return is_next

    def number(self, expression: str) -> int:
        """Return the number of a one-character expression, under the flags of the groups around it."""
        source = f"(?{self.flags}:{expression})" if self.flags else expression
        return self.sources.setdefault(source, len(self.sources))

    def alternatives(self) -> Code:
        branches = [self.sequence()]
        while self.take("|"):
            branches.append(self.sequence())
        code = branches.pop()
        for branch in reversed(branches):
            code[:0] = [(FORK, 1, len(branch) + 2), *branch, (JUMP, len(code) + 1, 0)]
        return code

    def sequence(self) -> Code:
        code: Code = []
        while self.peek() not in ("", "|", ")"):
            code += self.repeated()
        return code

    def repeated(self) -> Code:
        body = self.atom()
        match = _QUANTIFIER.match(self.pattern, self.at)
        if match is None:
            return body
        mark, lowest, comma, highest, kind = match.groups()
        least, most = _BOUNDS.get(mark) or (int(lowest), int(highest or lowest) if highest or not comma else None)
        self.at = match.end()
        if _QUANTIFIER.match(self.pattern, self.at) or (most is not None and most < least):
            raise NotExpressible("a quantifier of a quantifier, or one whose maximum is below its minimum")
        if max(least, most or 0) > _MOST_COPIES:
            raise NotExpressible(f"a repetition of more than {_MOST_COPIES}")
        if can_be_empty(body):
            raise NotExpressible("a repetition of something that can be empty")
        _check_size(len(body) * max(least, most or 0))

        def optional(code: Code) -> Code:
            past = len(code) + 1
            return [(FORK, past, 1) if kind == "?" else (FORK, 1, past), *code]

        code = optional([*body, (JUMP, -len(body) - 1, 0)]) if most is None else []
        for _ in range(0 if most is None else most - least):
            code = optional(body + code)
        code = body * least + code
        if kind == "+":
            if len(body) > 1:
                raise NotExpressible("a possessive group")
            source = body[0][1]
            code.append((KEEP, source, 0))
            if most is None:
                self.kept_until, self.kept = self.at, [*self.sources][source]
        return code

    def atom(self) -> Code:
        if self.peek() == "(":
            return self.group()
        # "$" also matches before a last line break, unless all line breaks are taken and kept.
        if self.peek() == "$" and (self.at != self.kept_until or not regex.match(self.kept, "\n")):
            raise NotExpressible("'$', which also matches before a last line break")
        if self.take("$") or self.take(r"\Z"):
            return [(ASSERT, -1, 1)]
        match = _CHARACTER.match(self.pattern, self.at)
        if match is None:
            shown = self.pattern[self.at : self.at + 2]
            reasons = {"\\": f"the escape {shown!r}", "[": "a set inside a set, or an unclosed one"}
            raise NotExpressible(reasons.get(shown[:1], f"{shown[:1]!r} at {self.at}"))
        self.at = match.end()
        return [(TAKE, self.number(match[0]), 1)]

    def group(self) -> Code:
        if lookahead := _LOOKAHEAD.match(self.pattern, self.at):
            self.at = lookahead.end()
            return [(ASSERT, self.number(lookahead[2]), int(lookahead[1] == "="))]
        match = _GROUP.match(self.pattern, self.at)
        if match is None:
            raise NotExpressible(f"the group {self.pattern[self.at : self.at + 4]!r}")
        self.at, outer = match.end(), self.flags
        self.flags = "".join(sorted({*outer, *match[1]}))
        code = self.alternatives()
        if not self.take(")"):
            raise NotExpressible("an unclosed group")
        self.flags = outer
        return code
