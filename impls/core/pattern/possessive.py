"""Checks that quantifiers and end anchors mean the same to an automaton as to a backtracking engine.

An automaton cannot rule out a shorter repetition. A possessive `C{m,n}+` over one class equals the greedy form if what
follows cannot succeed after the repetition gave characters back: either it cannot fail at all, or everything it can
begin with lies outside C. `$` also matches before a last line break, which takes two characters of lookahead; right
after an unbounded possessive repetition that takes line breaks it equals `\\Z`. Everything else is refused.
"""

from __future__ import annotations

from functools import lru_cache

from impls.core.pattern.classes import members
from impls.core.pattern.syntax import (
    Ahead,
    Alternatives,
    Class,
    End,
    Node,
    NotExpressible,
    Repeat,
    Sequence,
)

Rest = tuple[Node, ...]


def check(tree: Node) -> None:
    """Raise `NotExpressible` if an automaton would cut differently from a backtracking engine."""
    if nullable(tree):
        raise NotExpressible("the pattern matches the empty text")
    _check(tree, ())


def nullable(node: Node, *, assertions: bool = True) -> bool:
    """Return whether `node` can match without consuming a character, if assertions are true or false."""
    match node:
        case Class():
            return False
        case Sequence(items):
            return all(nullable(item, assertions=assertions) for item in items)
        case Alternatives(branches):
            return any(nullable(branch, assertions=assertions) for branch in branches)
        case Repeat(body, least, _, _):
            return least == 0 or nullable(body, assertions=assertions)
        case _:
            return assertions


def _check(node: Node, rest: Rest) -> None:
    """Check `node`, after which `rest` must match."""
    match node:
        case Sequence(items):
            for index, item in enumerate(items):
                before = items[index - 1] if index else None
                if isinstance(item, End) and item.or_before_newline:
                    _check_end(before)
                _check(item, (*items[index + 1 :], *rest))
        case Alternatives(branches):
            for branch in branches:
                _check(branch, rest)
        case Repeat(body, _, most, mode):
            if nullable(body):
                raise NotExpressible("a repetition of something that can be empty")
            if mode == "possessive":
                _check_possessive(body, rest)
            elif isinstance(body, Class):
                return
            _check(body, (node, *rest) if most is None or most > 1 else rest)
        case End(True):
            if not rest:
                return
        case _:
            return


def _check_end(before: Node | None) -> None:
    match before:
        case Repeat(Class(source), _, None, "possessive") if members(source)[10]:
            return
    raise NotExpressible("'$', which also matches before a last line break")


def _check_possessive(body: Node, rest: Rest) -> None:
    if not isinstance(body, Class):
        raise NotExpressible("a possessive group")
    cannot_fail = nullable(Sequence(rest), assertions=False)
    if not cannot_fail and _can_begin_inside(rest, body):
        raise NotExpressible("a possessive repetition that backtracking would shorten")


def _can_begin_inside(rest: Rest, of: Class) -> bool:
    """Return whether `rest` may succeed when the next character is in the class `of`."""
    for node in rest:
        if _first_meets(node, of):
            return True
        if not nullable(node):
            return False
        if isinstance(node, End) and not (node.or_before_newline and members(of.source)[10]):
            return False
    return False


def _first_meets(node: Node, of: Class) -> bool:
    """Return whether `node`, which may be an assertion, can succeed when the next character is in the class `of`."""
    match node:
        case Class(source):
            return _meet(source, of.source)
        case Sequence(items):
            return _can_begin_inside(items, of)
        case Alternatives(branches):
            return any(_first_meets(branch, of) for branch in branches)
        case Repeat(body, _, _, _):
            return _first_meets(body, of)
        case Ahead(Class(source), wanted):
            inside = members(source) if wanted else ~members(source)
            return bool((inside & members(of.source)).any())
        case _:
            return False


@lru_cache(maxsize=1 << 12)
def _meet(a: str, b: str) -> bool:
    """Return whether some character is in both classes."""
    return bool((members(a) & members(b)).any())
