"""The effect of a step on the ids of a text."""

from __future__ import annotations

from typing import NamedTuple


class Change(NamedTuple):
    """The effect of a step: `ids[start:start + n_removed]` became these ids, all others are unchanged."""

    start: int
    n_removed: int
    ids: list[int]


def change_of(start: int, old: list[int], new: list[int]) -> Change:
    """Return the change from `old` to `new` at `start`, without the ids that both begin and end with."""
    same, shorter = 0, min(len(old), len(new))
    while same < shorter and old[same] == new[same]:
        same += 1
    ending = 0
    while ending < shorter - same and old[-1 - ending] == new[-1 - ending]:
        ending += 1
    return Change(start + same, len(old) - same - ending, new[same : len(new) - ending])
