"""Looks up the symbol two neighbours merge into: one row per left symbol, a small perfect hash of its right symbols.

Common symbols have low numbers, so what most text needs is close together: buckets and entries are in the order of left
symbols, rows of many buckets before those of fewer, and a symbol that is the left of no pair has no row (in one hash
table of all pairs each lookup would touch a cache line of its own).

A row has 1, 2, 4 ... buckets of few pairs each. The word of a bucket holds the index of its first slot, its number of
slots, and the multiplier that makes the hash of its entries perfect (Fredman, Komlós, Szemerédi 1984, "Storing a sparse
table with O(1) worst case access time"); 16 bits are a filter of the symbols it may hold (Bloom 1970, "Space/time
trade-offs in hash coding"), and a lookup that the filter rejects reads entry 0, which is empty. A symbol is accompanied
by its handle, which identifies its row: twice the index of the row's first bucket (a multiple of the number of
buckets), plus the number of buckets. An entry holds the handle of the symbol it makes, so that merging that symbol
needs no further table.
"""

from __future__ import annotations

from impls.compiled.language.memory import (
    choose,
    inlined,
    kernel,
    lowest_bit,
    shift_left,
    shift_right,
    wrapping_multiply,
)
from impls.compiled.language.pointers import from_item
from impls.compiled.language.typed_memory import I64s
from impls.compiled.layout import (
    FILTER_AT,
    HANDLE_BITS,
    MOST_SLOTS,
    MULTIPLIER_AT,
    NONE,
    SYMBOL_BITS,
    ContextRecord,
)
from impls.compiled.lookup.hashing import K1

NO_PAIR = (NONE << HANDLE_BITS) | ((1 << HANDLE_BITS) - 1)
"""The result of `joined` for two symbols that do not merge: no symbol, and no handle."""
_LOW_HALF = (1 << 32) - 1
_MOST_MULTIPLIER = 1 << 22


@inlined
def _hash(right: int) -> int:
    return wrapping_multiply(right, K1)


@inlined
def _slot_of(word: int, h: int) -> int:
    """Return the slot, within its bucket, of a right symbol that the bucket holds."""
    product = wrapping_multiply(shift_right(h, 20), shift_right(word, MULTIPLIER_AT)) & _LOW_HALF
    return shift_right(product * (shift_right(word, SYMBOL_BITS) & MOST_SLOTS), 32)


@inlined
def _filter_bit(h: int) -> int:
    return FILTER_AT + (shift_right(h, 24) & 15)


@inlined
def joined(buckets: I64s, pairs: I64s, handle: int, right: int) -> int:
    """Return `symbol << HANDLE_BITS | its handle` for what the symbol of `handle` and `right` merge into, or NO_PAIR.

    The symbol is also the rank of the merge, so the lowest of several results is the first to merge.
    """
    h = _hash(right)
    bucket = shift_right(handle & (handle - 1), 1) + shift_right(shift_right(h, 1), 63 - lowest_bit(handle))
    word = buckets[bucket]
    known = shift_right(word, _filter_bit(h)) & 1
    entry = pairs[choose(known != 0, (word & NONE) + _slot_of(word, h), 0)]
    return choose(entry & NONE == right, shift_right(entry, SYMBOL_BITS), NO_PAIR)


@inlined
def merged(context: ContextRecord, left: int, right: int) -> int:
    """Return the symbol that `left` and `right` merge into (also the merge's rank), or NONE. `right` may be NONE."""
    handle = context.handles[left]
    return shift_right(joined(context.buckets, context.pairs, handle, right), HANDLE_BITS)


@kernel
def _is_perfect(entries: I64s, n: int, word: int) -> bool:
    """Return whether the n entries of a bucket have slots of their own by its word."""
    taken = 0
    for i in range(n):
        slot = shift_left(1, _slot_of(word, _hash(entries[i] & NONE)))
        if taken & slot:
            return False
        taken |= slot
    return True


@kernel
def build_pairs(entries: I64s, ends: I64s, n_buckets: int, buckets: I64s, pairs: I64s, n_slots: int) -> int:
    """Fill buckets and slots; return the number of slots in use, or -1 if there are too few.

    `entries`: int64 `symbol << 43 | handle << 21 | right`, grouped by bucket; `ends`: int64, the end of each bucket's
    entries. `pairs` must hold -1 in every slot. A bucket of more than MOST_SLOTS gives -1 too.
    """
    begin, used = 0, 1
    for bucket in range(n_buckets):
        n = ends[bucket] - begin
        first = from_item(entries, begin)
        bits = 0
        for i in range(n):
            bits |= shift_left(1, _filter_bit(_hash(first[i] & NONE)))
        word, size, multiplier, perfect = 0, n, 1, n == 0
        while not perfect:
            if multiplier > _MOST_MULTIPLIER:
                size, multiplier = size + 1, 1
            if size > MOST_SLOTS or used + size > n_slots:
                return -1
            word = used | (size << SYMBOL_BITS) | bits | shift_left(multiplier, MULTIPLIER_AT)
            perfect = _is_perfect(first, n, word)
            multiplier += 2
        for i in range(n):
            pairs[used + _slot_of(word, _hash(first[i] & NONE))] = first[i]
        buckets[bucket] = word
        used += size
        begin += n
    return used
