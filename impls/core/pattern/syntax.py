"""Parser of the subset of regular expressions that GPT-like patterns are written in.

Accepted: one-character classes (literals, escapes, `.`, `\\p{..}`, bracketed sets), groups `(?:..)`, `(?i:..)` and
`(?s:..)`, alternatives, greedy, lazy and possessive quantifiers, lookaheads of one character `(?!C)` and `(?=C|D)`, `$`
and `\\Z`. Everything else raises `NotExpressible` with the reason, and the caller keeps using `regex`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import regex


class NotExpressible(Exception):
    """Raised for a pattern outside what the automaton can express; the message says why."""


@dataclass(frozen=True, slots=True)
class Class:
    """One character out of a set, given as the source of a one-character expression."""

    source: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """Items one after another."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Branches, the first that matches wins."""

    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`body` from `least` to `most` times (None: no upper bound)."""

    body: Node
    least: int
    most: int | None
    mode: str
    """'greedy', 'lazy' or 'possessive'."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """The next character is (`wanted`) or is not in the class; the end of the text is in no class."""

    of: Class
    wanted: bool


@dataclass(frozen=True, slots=True)
class End:
    """The end of the text; `or_before_newline` for `$`, which also matches before a final line break."""

    or_before_newline: bool


Node: TypeAlias = Class | Sequence | Alternatives | Repeat | Ahead | End

_SPECIAL = set(".^$*+?{}[]\\|()")
_CLASS_ESCAPES = set("sSdDwW")
_LITERAL_ESCAPES = {"n", "r", "t", "f", "v"}
_PROPERTY = regex.compile(r"\\[pP](?:[A-Z]|\{\^?[A-Za-z_]+(?:=[A-Za-z_]+)?\})")
_NUMBERED = regex.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})")
_GROUP = regex.compile(r"\(\?([is]*):")
_MOST_COPIES = 64


def parse(pattern: str) -> Node:
    """Parse `pattern`; raise `NotExpressible`."""
    parser = _Parser(pattern)
    tree = parser.alternatives()
    if parser.at != len(pattern):
        raise NotExpressible(f"unexpected {pattern[parser.at]!r}")
    return tree


class _Parser:
    """A cursor over the pattern; one method per grammar rule."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at, self.ignore_case, self.dot_is_all = pattern, 0, False, False

    def peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def take(self, text: str) -> bool:
        if self.pattern.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def need(self, text: str) -> None:
        if not self.take(text):
            raise NotExpressible(f"{text!r} expected at {self.at}")

    def alternatives(self) -> Node:
        branches = [self.sequence()]
        while self.take("|"):
            branches.append(self.sequence())
        return branches[0] if len(branches) == 1 else Alternatives(tuple(branches))

    def sequence(self) -> Node:
        items: list[Node] = []
        while self.peek() not in ("", "|", ")"):
            items.append(self.repeated())
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def repeated(self) -> Node:
        node = self.atom()
        bounds = self.quantifier()
        if bounds is None:
            return node
        least, most = bounds
        mode = "possessive" if self.take("+") else "lazy" if self.take("?") else "greedy"
        if self.quantifier() is not None:
            raise NotExpressible("a quantifier of a quantifier")
        if isinstance(node, Ahead | End):
            raise NotExpressible("a repeated assertion")
        if max(least, most or 0) > _MOST_COPIES:
            raise NotExpressible(f"a repetition of more than {_MOST_COPIES}")
        return Repeat(node, least, most, mode)

    def quantifier(self) -> tuple[int, int | None] | None:
        for mark, bounds in (("?", (0, 1)), ("*", (0, None)), ("+", (1, None))):
            if self.take(mark):
                return bounds
        found = regex.compile(r"\{(\d+)(,(\d*))?\}").match(self.pattern, self.at)
        if found is None:
            if self.peek() == "{":
                raise NotExpressible("a brace that is not a plain {m,n}")
            return None
        self.at = found.end()
        least = int(found[1])
        if found[2] is None:
            return least, least
        most = int(found[3]) if found[3] else None
        if most is not None and most < least:
            raise NotExpressible("a repetition whose maximum is below its minimum")
        return least, most

    def atom(self) -> Node:
        if self.peek() == "(":
            return self.group()
        if self.take("$"):
            return End(or_before_newline=True)
        if self.take(r"\Z"):
            return End(or_before_newline=False)
        return self.one_character()

    def group(self) -> Node:
        for opening, wanted in (("(?!", False), ("(?=", True)):
            if self.take(opening):
                sources = [self.one_character().source]
                while self.take("|"):
                    sources.append(self.one_character().source)
                self.need(")")
                return Ahead(Class("|".join(sources)), wanted)
        found = _GROUP.match(self.pattern, self.at)
        if found is None:
            raise NotExpressible(f"the group {self.pattern[self.at : self.at + 4]!r}")
        self.at = found.end()
        outer = self.ignore_case, self.dot_is_all
        self.ignore_case |= "i" in found[1]
        self.dot_is_all |= "s" in found[1]
        inside = self.alternatives()
        self.need(")")
        self.ignore_case, self.dot_is_all = outer
        return inside

    def one_character(self) -> Class:
        start = self.at
        first = self.peek()
        if self.take("."):
            return Class(r"[\s\S]" if self.dot_is_all else r"[^\n]")
        if first == "[":
            self._bracketed()
        elif first == "\\":
            self._escape()
        elif first in _SPECIAL or not first:
            raise NotExpressible(f"{first!r} at {self.at}")
        else:
            self.at += 1
        source = self.pattern[start : self.at]
        if source in _SPECIAL:
            source = "\\" + source
        return Class(f"(?i:{source})" if self.ignore_case else source)

    def _escape(self) -> None:
        following = self.pattern[self.at + 1 : self.at + 2]
        if following in ("p", "P"):
            found = _PROPERTY.match(self.pattern, self.at)
            if found is None:
                raise NotExpressible("a property that is not a plain \\p{Name}")
            self.at = found.end()
        elif found := _NUMBERED.match(self.pattern, self.at):
            self.at = found.end()
        elif following in _CLASS_ESCAPES | _LITERAL_ESCAPES or (following and not _is_ascii_alphanumeric(following)):
            self.at += 2
        else:
            raise NotExpressible(f"the escape {self.pattern[self.at : self.at + 2]!r}")

    def _bracketed(self) -> None:
        """Step over `[...]`; refuse nested sets and set operators. The content of the brackets is left to `regex`."""
        self.at += 1
        self.take("^")
        first = True
        while first or self.peek() != "]":
            first = False
            if self.peek() == "\\":
                self._escape()
            elif self.peek() in ("[", "") or self.pattern[self.at : self.at + 2] in ("||", "&&", "--", "~~"):
                raise NotExpressible("a set inside a set, or an unclosed one")
            else:
                self.at += 1
        self.at += 1


def _is_ascii_alphanumeric(character: str) -> bool:
    """Return whether an escape of `character` may have a meaning, which it has for ASCII letters and digits only."""
    return character.isascii() and character.isalnum()
