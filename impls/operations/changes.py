"""The effect of a step on the ids of a text."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple


class Change(NamedTuple):
    """The effect of a step: `ids[start:start + n_removed]` became these ids, all others are unchanged."""

    start: int
    n_removed: int
    ids: list[int]


changed = partial(tuple.__new__, Change)
"""Makes a `Change` in half the time of `Change(…)`."""


def change_of(start: int, old: list[int], new: list[int]) -> Change:
    """Return the change from `old` to `new` at `start`, without the ids that both begin and end with."""
    n_old = len(old)
    if n_old == 1 and new:  # same result as below, in half the time
        (one,) = old
        if one == new[0]:
            return changed((start + 1, 0, new[1:]))
        return changed((start, 1, new[:]) if one != new[-1] else (start, 0, new[:-1]))
    if new[:n_old] == old:
        return changed((start + n_old, 0, new[n_old:]))
    same, shorter = 0, min(n_old, len(new))
    while same < shorter and old[same] == new[same]:
        same += 1
    ending = 0
    while ending < shorter - same and old[-1 - ending] == new[-1 - ending]:
        ending += 1
    return changed((start + same, n_old - same - ending, new[same : len(new) - ending]))
