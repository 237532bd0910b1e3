"""Merge by the definition, lowest rank first: symbols of any kind, or the bytes of one token."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import islice, pairwise
from typing import TypeVar

Symbol = TypeVar("Symbol")

_SHORT = 64  # base symbols
"""Up to this many symbols, scanning all of them for the lowest rank is faster than a heap."""


def merging(symbols: list[Symbol], merge_of: Callable[[Symbol, Symbol], tuple[int, Symbol] | None]) -> Iterator[int]:
    """Merge `symbols` in place, lowest rank first and of equal ranks the leftmost, and yield the rank of each merge.

    `merge_of` returns (rank, result) for two neighbours, or None. O(n log n).
    """
    n = len(symbols)
    after, before = list(range(1, n + 1)), list(range(-1, n - 1))
    heap = [(merge[0], at) for at, pair in enumerate(pairwise(symbols)) if (merge := merge_of(*pair)) is not None]
    heapify(heap)
    gone: set[int] = set()
    while heap:
        rank, at = heappop(heap)
        right = after[at]
        if at in gone or right == n or (merge := merge_of(symbols[at], symbols[right])) is None or merge[0] != rank:
            continue
        symbols[at] = merge[1]
        gone.add(right)
        after[at] = after[right]
        if after[at] < n:
            before[after[at]] = at
        for left in (before[at], at):
            if left >= 0 and after[left] < n and (merge := merge_of(symbols[left], symbols[after[left]])) is not None:
                heappush(heap, (merge[0], left))
        yield rank
    symbols[:] = [symbol for at, symbol in enumerate(symbols) if at not in gone]


def merged(symbols: Sequence[int], merge_of: Callable[[int, int], tuple[int, int] | None]) -> tuple[list[int], int]:
    """Return the ids that `symbols` merge to, and the rank of the last merge (-1 if nothing merges)."""
    ids = list(symbols)
    last = -1
    for rank in merging(ids, merge_of):
        last = rank
    return ids, last


def middle_of(token: bytes, ends: Sequence[int], limit: int, ranks: Mapping[bytes, int]) -> int:
    """Return the offset between the two parts that remain after merging `token` by ranks below `limit`.

    If more than two parts remain, return the token's length. `ends` are the offsets at which its base symbols end, two
    or more. O(n log n).
    """
    if len(ends) > _SHORT:
        return _middle_of_long(token, ends, limit, ranks)
    bounds = [0, *ends]
    joined = [ranks.get(token[start:end], limit) for start, end in zip(bounds, bounds[2:], strict=False)]
    while len(joined) > 1:
        lowest = min(joined)
        if lowest >= limit:
            return len(token)
        at = joined.index(lowest)
        del bounds[at + 1], joined[at]
        if at:
            joined[at - 1] = ranks.get(token[bounds[at - 1] : bounds[at + 1]], limit)
        if at < len(joined):
            joined[at] = ranks.get(token[bounds[at] : bounds[at + 2]], limit)
    return bounds[1]


def _middle_of_long(token: bytes, ends: Sequence[int], limit: int, ranks: Mapping[bytes, int]) -> int:
    parts = [token[start:end] for start, end in zip((0, *ends), ends, strict=False)]

    def merge_of(left: bytes, right: bytes) -> tuple[int, bytes] | None:
        joined = left + right
        rank = ranks.get(joined, limit)
        return (rank, joined) if rank < limit else None

    n_wanted = len(parts) - 2
    n_merges = sum(1 for _ in islice(merging(parts, merge_of), n_wanted))
    return len(parts[0]) if n_merges == n_wanted else len(token)


def character_ends(token: bytes) -> list[int]:
    """Return the byte offsets at which the characters of a UTF-8 token end."""
    return [k for k in range(1, len(token) + 1) if k == len(token) or token[k] & 0xC0 != 0x80]
