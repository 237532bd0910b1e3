"""Shrink a text or a list to the smallest that still shows a difference.

Delta debugging (Zeller and Hildebrandt 2002): ever smaller blocks are removed as long as the difference remains.
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
"""In sequences of up to this many elements any two are also removed together (a bracket and its partner)."""

_REMEMBERED_UP_TO = 200
"""Failed candidates of up to this many elements are remembered."""


class Budget:
    """The number of trials and the time a search may take."""

    def __init__(self, max_trials: int = MAX_TRIALS, max_seconds: float = MAX_SECONDS) -> None:
        self._left = max_trials
        self._deadline = time.monotonic() + max_seconds

    @property
    def exhausted(self) -> bool:
        """Whether no trial is left."""
        return self._left <= 0 or time.monotonic() > self._deadline

    def spend(self) -> None:
        """Count a trial."""
        self._left -= 1


def smallest_text(
    text: str,
    differs: Callable[[str], bool],
    max_trials: int = MAX_TRIALS,
    max_seconds: float = MAX_SECONDS,
) -> str:
    """Return a text from which no character, and if short no two, can be removed without losing the difference.

    `differs(text)` must hold. What remains is simplified (letters to `a`, digits to `0`, white space to a space)
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
    """Return a subsequence of `items` from which no element can be removed without `holds` becoming false."""
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
    """Return replacements for a character, the simplest first; none for one that is simple already."""
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
