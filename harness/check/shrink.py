"""The smallest text, and the smallest list, that still show a difference.

Delta debugging (Zeller and Hildebrandt, 2002): ever smaller blocks are left out as long as the difference holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

MAX_TRIALS = 4000
MAX_SECONDS = 10.0
_PAIRS_UP_TO = 24
"""Elements: of a sequence no longer than this, any two are also left out together (an opening and its closing)."""

_REMEMBERED_UP_TO = 200
"""Elements: of candidates no longer than this it is remembered that they failed."""


class Budget:
    """How many trials, and how long, a search may take."""

    def __init__(self, max_trials: int = MAX_TRIALS, max_seconds: float = MAX_SECONDS) -> None:
        self._left = max_trials
        self._deadline = time.monotonic() + max_seconds

    @property
    def exhausted(self) -> bool:
        """Whether no trial is left."""
        return self._left <= 0 or time.monotonic() > self._deadline

    def spend(self) -> None:
        """Note a trial."""
        self._left -= 1


def smallest_text(
    text: str,
    differs: Callable[[str], bool],
    max_trials: int = MAX_TRIALS,
    max_seconds: float = MAX_SECONDS,
) -> str:
    """A text from which no character, and of a short one no two, can be left out without losing the difference.

    `differs(text)` must hold. What remains is made plainer (letters to `a`, digits to `0`, white space to a space)
    where the difference survives. Stops after `max_trials` calls of `differs` or `max_seconds`, with the smallest
    text found so far; with `max_seconds` infinite the result depends on nothing but the arguments.
    """
    budget = Budget(max_trials, max_seconds)

    def still(characters: Sequence[str]) -> bool:
        return bool(characters) and differs("".join(characters))

    characters = tuple(text)
    while True:
        shorter = smallest_sequence(characters, still, budget)
        characters = _plainer(shorter, still, budget)
        if characters == shorter or budget.exhausted:
            return "".join(characters)


def smallest_sequence(items: Sequence[T], holds: Callable[[Sequence[T]], bool], budget: Budget) -> tuple[T, ...]:
    """A part of `items`, in order, from which no element can be left out without losing what `holds` tells."""
    found = tuple(items)
    failed: set[tuple[T, ...]] = set()

    def still(candidate: tuple[T, ...]) -> bool:
        if candidate in failed or budget.exhausted:
            return False
        budget.spend()
        if holds(candidate):
            return True
        if len(candidate) <= _REMEMBERED_UP_TO:
            failed.add(candidate)
        return False

    size = max(1, len(found) // 2)
    while not budget.exhausted:
        before = len(found)
        start = 0
        while start < len(found):
            candidate = found[:start] + found[start + size :]
            if still(candidate):
                found = candidate
            else:
                start += size
        if len(found) < before:
            size = max(1, min(size, len(found) // 2))
        elif size > 1:
            size //= 2
        else:
            smaller = next(filter(still, _without_two(found)), None)
            if smaller is None:
                break
            found = smaller
    return found


def _without_two(items: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    if len(items) > _PAIRS_UP_TO:
        return
    for i, j in combinations(range(len(items)), 2):
        yield items[:i] + items[i + 1 : j] + items[j + 1 :]


def _plainer(characters: tuple[str, ...], still: Callable[[Sequence[str]], bool], budget: Budget) -> tuple[str, ...]:
    for index, character in enumerate(characters):
        for plain in _plain_for(character):
            if budget.exhausted:
                return characters
            candidate = (*characters[:index], plain, *characters[index + 1 :])
            budget.spend()
            if still(candidate):
                characters = candidate
                break
    return characters


def _plain_for(character: str) -> Iterable[str]:
    """What may stand for a character, the plainest first; nothing for what is plain already."""
    if character.isdigit():
        plain: tuple[str, ...] = ("0",)
    elif character.isalpha():
        plain = ("a", "A") if character.upper() == character else ("a",)
        plain += () if character.isascii() else ("é",)
    elif character.isspace():
        plain = (" ", "\n")
    elif "\ud800" <= character <= "\udfff":
        plain = ("a", ".", "\ufffd")
    else:
        plain = ("a", ".")
    return plain[: plain.index(character)] if character in plain else plain
