"""A heap of pairs: the most frequent comes first, ties by the training rule.

A node has four children. Counts and ties may be stale, so the first entry is checked before use. A stale count is never
too low, and a stale tie never sorts a pair too late.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel, load_i64, outlined, store_64
from impls.compiled.training.layout import LARGEST, SHORTEST, LearningRecord
from impls.compiled.training.pair_table import left_of, right_of
from impls.compiled.training.tokens import compare, compare_joined

ENTRY = 24


@outlined
def _is_preferred(learning: LearningRecord, key: int, other: int) -> bool:
    """Return whether the first of two pairs with the same count and tie is merged before the second."""
    rule = learning.rule
    order = 0
    if rule == SHORTEST:
        order = compare_joined(learning, left_of(key), right_of(key), left_of(other), right_of(other))
    elif rule == LARGEST:
        order = compare(learning, left_of(other), left_of(key))
        if order == 0:
            order = compare(learning, right_of(other), right_of(key))
    return order < 0 or (order == 0 and key < other)


@inlined
def _comes_before(learning: LearningRecord, count: int, tie: int, key: int, entry: int) -> bool:
    other = load_i64(entry)
    if count != other:
        return count > other
    other_tie = load_i64(entry + 8)
    if tie != other_tie:
        return tie < other_tie
    return _is_preferred(learning, key, load_i64(entry + 16))


@inlined
def _set(entry: int, count: int, tie: int, key: int) -> None:
    store_64(entry, count)
    store_64(entry + 8, tie)
    store_64(entry + 16, key)


@inlined
def _copy(entry: int, to: int) -> None:
    _set(to, load_i64(entry), load_i64(entry + 8), load_i64(entry + 16))


@kernel
def _sink(learning: LearningRecord, n: int, i: int, count: int, tie: int, key: int) -> None:
    """Put an entry at index `i`, whose content is no longer needed, or further down, where the heap order holds."""
    heap = learning.heap
    while 4 * i + 1 < n:
        best = 4 * i + 1
        for other in range(best + 1, min(4 * i + 5, n)):
            entry = heap + ENTRY * other
            if _comes_before(learning, load_i64(entry), load_i64(entry + 8), load_i64(entry + 16), heap + ENTRY * best):
                best = other
        if _comes_before(learning, count, tie, key, heap + ENTRY * best):
            break
        _copy(heap + ENTRY * best, heap + ENTRY * i)
        i = best
    _set(heap + ENTRY * i, count, tie, key)


@kernel
def push(learning: LearningRecord, count: int, tie: int, key: int) -> None:
    """Add an entry; there must be room."""
    heap, i = learning.heap, learning.n_heap
    learning.n_heap = i + 1
    while i > 0:
        parent = (i - 1) >> 2
        if not _comes_before(learning, count, tie, key, heap + ENTRY * parent):
            break
        _copy(heap + ENTRY * parent, heap + ENTRY * i)
        i = parent
    _set(heap + ENTRY * i, count, tie, key)


@kernel
def append(learning: LearningRecord, count: int, tie: int, key: int) -> None:
    """Add an entry at the end; `heapify` must follow."""
    n = learning.n_heap
    _set(learning.heap + ENTRY * n, count, tie, key)
    learning.n_heap = n + 1


@kernel
def heapify(learning: LearningRecord) -> None:
    """Establish the heap order of all entries."""
    heap, n = learning.heap, learning.n_heap
    i = (n - 2) >> 2
    while i >= 0:
        entry = heap + ENTRY * i
        _sink(learning, n, i, load_i64(entry), load_i64(entry + 8), load_i64(entry + 16))
        i -= 1


@kernel
def replace_first(learning: LearningRecord, count: int, tie: int, key: int) -> None:
    """Replace the first entry."""
    _sink(learning, learning.n_heap, 0, count, tie, key)


@kernel
def drop_first(learning: LearningRecord) -> None:
    """Remove the first entry."""
    n = learning.n_heap - 1
    learning.n_heap = n
    if n > 0:
        entry = learning.heap + ENTRY * n
        _sink(learning, n, 0, load_i64(entry), load_i64(entry + 8), load_i64(entry + 16))
