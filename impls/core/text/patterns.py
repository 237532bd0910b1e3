"""Pre-tokenization patterns: the named ones, and the `Splitter` that cuts a text by one or several of them.

A pattern must not have capturing groups and must match all of the text: most libraries would drop unmatched text, so
that is an error naming the character, unless the stage is marked as dropping it (see `core.text.stages`). The
reference engine is the package `regex`, kept at Unicode 16 by `core.text.unicode_16`.

A file may hold a pattern made to backtrack without end. A pattern not named here is refused if its counted repetitions
expand to too many characters, and has a time limit for each text.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeVar

import regex
from regex import Pattern

from impls.core.arguments import wrong_type
from impls.core.errors import InvalidPattern, UnknownName, plural
from impls.core.text.stages import DROPS_MATCHES, DROPS_REST, drops_text, pattern_of
from impls.core.text.unicode_16 import as_unicode_16, stand_ins

T = TypeVar("T")

_STAGES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
NAMED: dict[str, tuple[str, ...]] = {name: tuple(map("|".join, stages)) for name, stages in _STAGES.items()}
"""Name -> split stages; what each is for stands in `patterns.toml`."""

IN_TIKTOKEN = {NAMED["gpt2"]: NAMED["gpt2-0.14"], NAMED["cl100k"]: NAMED["cl100k-0.14"]}
"""Split stages -> the faster form that tiktoken 0.14 ships with the vocabularies made for them."""

WHOLE_TEXT = r"(?s:.+)"
"""A pattern that makes each text one piece, for engines that need a pattern."""

MAX_CHARACTERS = 20_000
"""Longer patterns are refused: compiling takes time and memory, and the longest in use has a few hundred."""

MAX_EXPANDED = 100_000
"""Most characters of a pattern once its counted repetitions are expanded, as engines do."""

MAX_NESTED = 100
"""Nesting depth of groups; engines recurse once per level."""

LEAST_SECONDS = 2.0
LEAST_CHARACTERS_PER_SECOND = 100_000
"""Sets the time limit for a text under a pattern that is not named; those in use are at least 20 times as fast."""

_MAX_STAGES = 32
_WORD = regex.compile(r"[a-z][\w.-]+")
_TRUSTED = frozenset(stage for stages in NAMED.values() for stage in stages)
_PART = regex.compile(
    r"\\[pPN]\{[^{}]*+\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]|\{(\d*+),?(\d*+)\}|\((?:\?<?[\w-]*+[:=!>|])?|.", regex.DOTALL
)
"""An escape, a set, the bounds of a repetition, the beginning of a group, or a character."""


def resolve(pattern: str | Sequence[str]) -> tuple[str, ...]:
    """Return the split stages of a name in `NAMED`, of one expression, or of several; raise `InvalidPattern`.

    A word that is nearly a name is an `UnknownName`: as an expression it would only match itself.
    """
    if isinstance(pattern, str):
        if pattern not in NAMED and _WORD.fullmatch(pattern):
            from difflib import get_close_matches

            if get_close_matches(pattern, NAMED):
                raise UnknownName("pattern", pattern, list(NAMED))
        stages = NAMED.get(pattern, (pattern,))
    elif isinstance(pattern, Sequence):
        stages = tuple(pattern)
    else:
        raise wrong_type("pattern", "a name, an expression or several expressions", pattern)
    if len(stages) > _MAX_STAGES:
        raise InvalidPattern(f"{len(stages)} split stages; at most {_MAX_STAGES} are allowed")
    Splitter(stages)
    return stages


def name_of(stages: tuple[str, ...]) -> str | None:
    """Return the first name of `stages` in `NAMED`, or None."""
    return next((name for name, named in NAMED.items() if named == stages), None)


class Splitter:
    """Splits texts into pieces by one or several stages, each splitting the pieces of the stage before.

    Raises `InvalidPattern` for an expression that does not compile, is too large, or has a capturing group.
    """

    def __init__(self, stages: Sequence[str]) -> None:
        self.stages = tuple(stages)
        self._compiled = [(_compile(stage), stage in _TRUSTED) for stage in self.stages]
        self.drops = drops_text(self.stages)

    def split(self, text: str) -> list[str]:
        """Return the pieces of `text` in order, none of them empty; joined they are the text, unless a stage `drops`.

        Raise `InvalidPattern` for a text that the pattern does not cover, or takes too long on.
        """
        if not text:
            return []
        matched = as_unicode_16(text, *self.stages)
        pieces = [matched]
        for expression, trusted in self._compiled:
            deadline = None if trusted else time.monotonic() + seconds_for(text)
            pieces = [part for piece in pieces for part in _cover(expression, piece, deadline)]
        return pieces if matched is text else [text[start:end] for start, end in self.spans(text)]

    def offset(self, text: str, within: int) -> int:
        """Return the offset in `text` of the character at offset `within` of its joined pieces."""
        if not self.drops:
            return within
        for start, end in self.spans(text):
            if within < end - start:
                return start + within
            within -= end - start
        return len(text)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the start and end of each piece of `text`, none of them empty.

        Raise `InvalidPattern` for a text that the pattern takes too long on.
        """
        text = as_unicode_16(text, *self.stages)
        spans = [(0, len(text))]
        for expression, trusted in self._compiled:
            deadline = None if trusted else time.monotonic() + seconds_for(text)
            parts = ((at, *span) for at, end in spans for span in _spans(expression, text[at:end], deadline))
            spans = [(at + start, at + end) for at, start, end in parts if start < end]
        return spans


def seconds_for(text: str) -> float:
    """Return the time limit for `text` under a pattern that is not named."""
    return LEAST_SECONDS + len(text) / LEAST_CHARACTERS_PER_SECOND


def too_slow(expression: str, text: str) -> InvalidPattern:
    """Return the error for a pattern that took longer than `seconds_for(text)`."""
    limit = f"{seconds_for(text):.0f} s for a text of {len(text)} characters"
    return _invalid(expression, f"takes more than {limit}; write it so that no text can be matched in many ways")


def check_size(expression: str) -> None:
    """Raise `InvalidPattern` if counted repetitions expand to more than `MAX_EXPANDED` characters, or groups nest
    deeper than `MAX_NESTED`.

    >>> check_size("(?:(?:a{0,100}){0,100}){0,100}b")
    Traceback (most recent call last):
    impls.core.errors.InvalidPattern: the pattern '(?:(?:a{0,100}){0,100}){0,100}b' repeats up to 1000001 ...
    """
    sizes, last = [0], 0  # size of each open group without its last item; size of the last item
    for part in _PART.finditer(expression):
        text = part[0]
        if text == ")" and len(sizes) > 1:
            last += sizes.pop()
        elif part[1] is not None:
            last *= max(1, *(int(bound or 0) for bound in part.groups()))
        elif text not in ("*", "+", "?", "|"):
            sizes[-1] += last
            last = 1
            if text[0] == "(":
                sizes.append(0)
                last = 0
                if len(sizes) > MAX_NESTED + 1:
                    raise _invalid(expression, f"is nested more than {MAX_NESTED} deep")
    size = sum(sizes) + last
    if size > MAX_EXPANDED:
        raise _invalid(expression, f"repeats up to {size} characters; at most {MAX_EXPANDED} are allowed")


def _compile(expression: str) -> Pattern[str]:
    if not isinstance(expression, str) or not expression:
        raise InvalidPattern(f"a pattern must be a text that is not empty, not {expression!r}")
    if len(expression) > MAX_CHARACTERS:
        raise InvalidPattern(f"a pattern of {len(expression)} characters; at most {MAX_CHARACTERS} are allowed")
    check_size(expression)
    stand_ins(expression)
    try:
        compiled = regex.compile(expression)
    except Exception as error:  # its own error, and those from its bugs: AttributeError for `\S|\s`
        raise _invalid(expression, f"does not compile: {error}") from None
    if compiled.groups:
        groups = plural(compiled.groups, "capturing group")
        raise _invalid(expression, f"has {groups}, and capturing breaks splitting; write (?:...) in place of (...)")
    return compiled


def _matches(search: Callable[..., Iterable[T]], expression: Pattern[str], text: str, until: float | None) -> list[T]:
    """Return what a method of `expression` finds; raise `InvalidPattern` if it has not ended by a time."""
    try:
        return list(search(text, timeout=None if until is None else max(until - time.monotonic(), 0.001)))
    except TimeoutError:
        raise too_slow(pattern_of(expression.pattern), text) from None


def _spans(expression: Pattern[str], text: str, deadline: float | None) -> list[tuple[int, int]]:
    """Return the start and end of each piece of a stage."""
    spans = [match.span() for match in _matches(expression.finditer, expression, text, deadline)]
    if expression.pattern.startswith(DROPS_MATCHES):
        ends = [0, *chain.from_iterable(spans), len(text)]
        spans = list(zip(ends[::2], ends[1::2], strict=True))
    return spans


def _cover(expression: Pattern[str], text: str, deadline: float | None) -> list[str]:
    drops_matches = expression.pattern.startswith(DROPS_MATCHES)
    parts: list[str] = _matches(expression.split if drops_matches else expression.findall, expression, text, deadline)
    if not drops_matches and sum(map(len, parts)) != len(text) and not expression.pattern.startswith(DROPS_REST):
        ends = [0, *chain.from_iterable(_spans(expression, text, None))]
        position = next((end for end, start in zip(ends[::2], ends[1::2], strict=False) if end != start), ends[-1])
        gap = f"leaves out {text[position]!a} at character {position}, which would be dropped"
        remedy = f"add an alternative that matches it, or begin the pattern with {DROPS_REST}"
        raise _invalid(pattern_of(expression.pattern), f"{gap}; {remedy}")
    return parts if all(parts) else [part for part in parts if part]


def _invalid(expression: str, problem: str) -> InvalidPattern:
    shown = expression if len(expression) <= 60 else f"{expression[:57]}..."
    return InvalidPattern(f"the pattern {shown!r} {problem}")
