"""Finds or inserts pieces that are not in their first slot: searches the caches further on, or inserts merged ids."""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel, shift_left, shift_right
from impls.compiled.layout import SEEN_BITS, ContextRecord, ShortEntry
from impls.compiled.lookup.cache import (
    find,
    keep_long,
    known_long,
    long_at,
    reset_cache,
    short_at,
    short_entry,
    short_slot,
    write_short,
)
from impls.compiled.merge.segments import is_cut
from impls.compiled.typed_memory import I32s, U8s


@inlined
def _exchange(first: ShortEntry, found: ShortEntry) -> None:
    """Exchange the entry `found` with the one in its first slot.

    Both are still found: entries are never removed, so every slot between the other entry's first slot and `found` is
    taken.
    """
    low, high, third, fourth = first.low, first.high, first.third, first.fourth
    first.low = found.low
    first.high = found.high
    first.third = found.third
    first.fourth = found.fourth
    found.low = low
    found.high = high
    found.third = third
    found.fourth = fourth


@kernel
def known_short(context: ContextRecord, low: int, high: int, entry: ShortEntry, out: I32s) -> int:
    """Write the ids of a piece of up to 15 bytes that is not in its first slot, `entry`; return how many, 0 for a miss.

    A hit moves to the first slot: the vocabulary was inserted first, in an order that says nothing about the text.
    """
    found = find(context, low, high, entry)
    if found.high == 0:
        return 0
    count = write_short(context, found, out)
    _exchange(entry, found)
    return count


@kernel
def keep_short(context: ContextRecord, low: int, high: int, ids: I32s, count: int) -> None:
    """Insert a short piece that was a miss, unless it has been inserted since: segments are inserted like pieces."""
    entry, table = find(context, low, high, short_slot(context, low, high)), context.pieces
    if entry.high != 0:
        return
    if table.count >= table.limit:
        # Full: keep the entries for a while, so that repeated text still gets hits.
        context.n_refused = context.n_refused + 1
        if context.n_refused < table.limit:
            return
        context.n_refused = 0
        reset_cache(context)
        entry = find(context, low, high, short_slot(context, low, high))
    if short_entry(context, entry, low, high, ids, count):
        table.count = table.count + 1
    elif table.count > context.n_cache_tokens + context.n_cache_rows:
        reset_cache(context)


@inlined
def _seen_before(context: ContextRecord, h: int) -> bool:
    """Return whether a piece with that hash was seen before, as far as one bit can tell, and set that bit.

    Pieces that occur once are not worth a place in a cache (Einziger, Friedman, Manes 2017, "TinyLFU"). When half of
    the bits are set, all of them are cleared.
    """
    bits = context.seen
    bit = shift_right(h, 64 - SEEN_BITS)
    if shift_right(bits[bit >> 6], bit & 63) & 1:
        return True
    if context.n_seen >= 1 << (SEEN_BITS - 1):
        for i in range(1 << (SEEN_BITS - 6)):
            bits[i] = 0
        context.n_seen = 0
    bits[bit >> 6] = bits[bit >> 6] | shift_left(1, bit & 63)
    context.n_seen = context.n_seen + 1
    return False


@kernel
def known_ids(context: ContextRecord, piece: U8s, n_bytes: int, low: int, high: int, slot: int, out: I32s) -> int:
    """Write the ids of a piece from the cache that holds it; return how many, 0 for a miss.

    (low, high, slot) is the piece's record.
    """
    if high != -1:
        return known_short(context, low, high, short_at(slot), out)
    return known_long(context, piece, n_bytes, low, long_at(slot), out) if slot != 0 else 0


@kernel
def keep_ids(
    context: ContextRecord, piece: U8s, n_bytes: int, low: int, high: int, slot: int, ids: I32s, count: int
) -> None:
    """Insert a piece that was a miss into the cache for its size; (low, high, slot) is its record.

    Longer pieces that are cut into segments are cheap to encode again: they are inserted the second time they occur.
    """
    if high != -1:
        keep_short(context, low, high, ids, count)
    elif slot != 0 and (not is_cut(context, piece, n_bytes) or _seen_before(context, low)):
        keep_long(context, piece, n_bytes, low, ids, count)
