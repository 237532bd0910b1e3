"""Finds or inserts pieces that are not in their first slot: searches the caches further on, or inserts merged ids."""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    inlined,
    kernel,
    load_i32,
    load_i64,
    shift_left,
    shift_right,
    store_32,
    store_64,
)
from impls.compiled.layout import (
    SEEN_BITS,
    ContextRecord,
)
from impls.compiled.lookup.cache import (
    MEDIUM_ENTRY,
    MOST_MEDIUM_IDS,
    SHORT_ENTRY,
    find,
    medium_hash,
    medium_slot,
    reset_cache,
    reset_medium,
    short_entry,
    short_slot,
    write_short,
)
from impls.compiled.lookup.cache_long import keep_long, known_long, long_hash, long_slot
from impls.compiled.lookup.records import MEDIUM_KEY
from impls.compiled.merge.segments import is_cut

IN_LONG = 255
"""Stored instead of the number of ids if they do not fit the entry: the cache of long pieces holds them."""


@inlined
def _exchange(first: int, found: int) -> None:
    """Exchange the entry at `found` with the one in its first slot.

    Both are still found: entries are never removed, so every slot between the other entry's first slot and `found` is
    taken.
    """
    for k in range(0, SHORT_ENTRY, 8):
        word = load_i64(first + k)
        store_64(first + k, load_i64(found + k))
        store_64(found + k, word)


@kernel
def known_short(context: ContextRecord, low: int, high: int, entry: int, out: int) -> int:
    """Write the ids of a piece of up to 15 bytes that is not in its first slot, `entry`; return how many, 0 for a miss.

    A hit moves to the first slot: the vocabulary was inserted first, in an order that says nothing about the text.
    """
    found = find(context, low, high, entry)
    if load_i64(found + 8) == 0:
        return 0
    count = write_short(context, found, out)
    _exchange(entry, found)
    return count


@kernel
def keep_short(context: ContextRecord, low: int, high: int, ids: int, count: int) -> None:
    """Insert a short piece that was a miss, unless it has been inserted since: segments are inserted like pieces."""
    entry = find(context, low, high, short_slot(context, low, high))
    if load_i64(entry + 8) != 0:
        return
    if context.pieces.count >= context.pieces.limit:
        # Full: keep the entries for a while, so that repeated text still gets hits.
        refused = context.n_refused + 1
        context.n_refused = refused
        if refused < context.pieces.limit:
            return
        context.n_refused = 0
        reset_cache(context)
        entry = find(context, low, high, short_slot(context, low, high))
    if short_entry(context, entry, low, high, ids, count):
        context.pieces.count = context.pieces.count + 1
    elif context.pieces.count > context.n_cache_tokens + context.n_cache_rows:
        reset_cache(context)


@inlined
def _last_words(context: ContextRecord, piece: int, n_bytes: int) -> tuple[int, int]:
    """Return the last two of the four words of a piece of 16 to 31 bytes."""
    masks = context.key_masks + 16 * (n_bytes - 16)
    return (
        load_i64(piece + 16) & load_i64(masks),
        (load_i64(piece + 24) & load_i64(masks + 8)) | shift_left(n_bytes, 56),
    )


@kernel
def find_medium(context: ContextRecord, piece: int, n_bytes: int, entry: int) -> int:
    """Return the entry of a piece of 16 to 31 bytes, or the empty entry at which to insert it.

    Probes from `entry` on; reads 32 bytes.
    """
    w0, w1 = load_i64(piece), load_i64(piece + 8)
    w2, w3 = _last_words(context, piece, n_bytes)
    start = context.medium.entries
    end = start + shift_left(MEDIUM_ENTRY, 64 - context.medium.shift)
    while load_i64(entry + 24) != 0:
        differs = (load_i64(entry) ^ w0) | (load_i64(entry + 8) ^ w1)
        if (differs | (load_i64(entry + 16) ^ w2) | (load_i64(entry + 24) ^ w3)) == 0:
            return entry
        entry += MEDIUM_ENTRY
        if entry == end:
            entry = start
    return entry


@kernel
def known_medium(context: ContextRecord, piece: int, n_bytes: int, entry: int, out: int) -> int:
    """Write the ids of a piece of 16 to 31 bytes, probing from `entry` on; return how many, 0 for a miss."""
    entry = find_medium(context, piece, n_bytes, entry)
    if load_i64(entry + 24) == 0:
        return 0
    count = load_i32(entry + 60)
    if count == IN_LONG:
        h = long_hash(piece, n_bytes)
        return known_long(context, piece, n_bytes, h, long_slot(context, h), out)
    store_64(out, load_i64(entry + 32))
    store_64(out + 8, load_i64(entry + 40))
    store_64(out + 16, load_i64(entry + 48))
    store_32(out + 24, load_i32(entry + 56))
    return count


@kernel
def keep_medium(context: ContextRecord, piece: int, n_bytes: int, ids: int, count: int) -> None:
    """Insert a piece of 16 to 31 bytes that was a miss; if it has many ids, the cache of long pieces holds them."""
    entry = find_medium(context, piece, n_bytes, medium_slot(context, piece, n_bytes))
    if load_i64(entry + 24) == 0:
        if context.medium.count >= context.medium.limit:
            reset_medium(context)
            entry = medium_slot(context, piece, n_bytes)
        context.medium.count = context.medium.count + 1
        store_64(entry, load_i64(piece))
        store_64(entry + 8, load_i64(piece + 8))
        w2, w3 = _last_words(context, piece, n_bytes)
        store_64(entry + 16, w2)
        store_64(entry + 24, w3)
        store_32(entry + 60, IN_LONG)
    if count > MOST_MEDIUM_IDS:
        keep_long(context, piece, n_bytes, long_hash(piece, n_bytes), ids, count)
        return
    for i in range(count):
        store_32(entry + 32 + 4 * i, load_i32(ids + 4 * i))
    store_32(entry + 60, count)


@inlined
def _seen_before(context: ContextRecord, h: int) -> bool:
    """Return whether a piece with that hash was seen before, as far as one bit can tell, and set that bit.

    Pieces that occur once are not worth a place in a cache (Einziger, Friedman, Manes 2017, "TinyLFU"). When half of
    the bits are set, all of them are cleared.
    """
    bits, n_seen = context.seen, context.n_seen
    bit = shift_right(h, 64 - SEEN_BITS)
    place = bits + ((bit >> 6) << 3)
    word = load_i64(place)
    if shift_right(word, bit & 63) & 1:
        return True
    if n_seen >= 1 << (SEEN_BITS - 1):
        for i in range(1 << (SEEN_BITS - 6)):
            store_64(bits + 8 * i, 0)
        word, n_seen = 0, 0
    store_64(place, word | shift_left(1, bit & 63))
    context.n_seen = n_seen + 1
    return False


@kernel
def known_ids(context: ContextRecord, piece: int, n_bytes: int, low: int, high: int, entry: int, out: int) -> int:
    """Write the ids of a piece from the cache that holds it; return how many, 0 for a miss.

    (low, high, entry) is the piece's record.
    """
    if high != -1:
        return known_short(context, low, high, entry, out)
    if low == MEDIUM_KEY:
        return known_medium(context, piece, n_bytes, entry, out)
    return known_long(context, piece, n_bytes, low, entry, out) if entry != 0 else 0


@kernel
def keep_ids(
    context: ContextRecord, piece: int, n_bytes: int, low: int, high: int, entry: int, ids: int, count: int
) -> None:
    """Insert a piece that was a miss into the cache for its size; (low, high, entry) is its record.

    Longer pieces that are cut into segments are cheap to encode again: they are inserted the second time they occur.
    """
    if high != -1:
        keep_short(context, low, high, ids, count)
    elif is_cut(context, piece, n_bytes) and not _seen_before(
        context, medium_hash(context, piece, n_bytes) if low == MEDIUM_KEY else low
    ):
        return
    elif low == MEDIUM_KEY:
        keep_medium(context, piece, n_bytes, ids, count)
    elif entry != 0:
        keep_long(context, piece, n_bytes, low, ids, count)
