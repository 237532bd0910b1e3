"""A hash table of pairs of neighbours, with their counts and the lists of the cells in which they begin.

A key combines the left and the right symbol, plus 1, so that no key is 0 and keys are in the order of pairs.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    inlined,
    kernel,
    load_i64,
    shift_left,
    shift_right,
    store_64,
    wrapping_multiply,
)
from impls.compiled.lookup.hashing import K1
from impls.compiled.training.layout import SUM_BITS, LearningRecord

ENTRY = 32
COUNT, LIST_END, LIST_LENGTH = 8, 16, 24


@inlined
def key_of(left: int, right: int) -> int:
    """Return the key of a pair."""
    return (shift_left(left, 32) | right) + 1


@inlined
def left_of(key: int) -> int:
    """Return the left symbol of a key."""
    return shift_right(key - 1, 32)


@inlined
def right_of(key: int) -> int:
    """Return the right symbol of a key."""
    return (key - 1) & 0xFFFFFFFF


@inlined
def sum_place(sums: int, key: int) -> int:
    """Return the address of the sum to which the pair's count is added."""
    return sums + 8 * shift_right(wrapping_multiply(key, K1), 64 - SUM_BITS)


@kernel
def entry_of(learning: LearningRecord, key: int) -> int:
    """Return the entry of a pair, or the empty entry at which to insert it."""
    table, shift = learning.pair_table, learning.pair_table_shift
    end = table + shift_left(ENTRY, 64 - shift)
    entry = table + ENTRY * shift_right(wrapping_multiply(key, K1), shift)
    while True:
        stored = load_i64(entry)
        if stored == key or stored == 0:
            return entry
        entry += ENTRY
        if entry == end:
            entry = table


@inlined
def add_pair(learning: LearningRecord, entry: int, key: int) -> None:
    """Turn an empty entry into that of a pair."""
    store_64(entry, key)
    learning.n_pairs = learning.n_pairs + 1


@kernel
def spread_pairs(learning: LearningRecord, table: int, shift: int, least: int) -> int:
    """Move the entries with a count of `least` or more to an empty table, which replaces the current one; return 0."""
    before, before_shift = learning.pair_table, learning.pair_table_shift
    learning.pair_table = table
    learning.pair_table_shift = shift
    learning.most_pairs = shift_left(1, 63 - shift)
    learning.n_pairs = 0
    for at in range(before, before + shift_left(ENTRY, 64 - before_shift), ENTRY):
        key = load_i64(at)
        if key != 0 and load_i64(at + COUNT) >= least:
            entry = entry_of(learning, key)
            add_pair(learning, entry, key)
            store_64(entry + COUNT, load_i64(at + COUNT))
            store_64(entry + LIST_END, load_i64(at + LIST_END))
            store_64(entry + LIST_LENGTH, load_i64(at + LIST_LENGTH))
    return 0
