"""Ids of pieces that their first slot does not hold: found further on, or made and kept."""

from __future__ import annotations

from impls.compiled.kernels.cache import (
    MEDIUM_ENTRY,
    MOST_MEDIUM_IDS,
    SHORT_ENTRY,
    find,
    medium_slot,
    reset_cache,
    reset_medium,
    short_entry,
    short_slot,
    write_short,
)
from impls.compiled.kernels.cache_long import long_piece
from impls.compiled.kernels.memory import inlined, kernel, load_i32, load_i64, shift_left, store_32, store_64
from impls.compiled.kernels.segments import unknown_ids
from impls.compiled.layout import (
    CACHE_COUNT,
    CACHE_LIMIT,
    KEY_MASKS,
    MEDIUM,
    MEDIUM_COUNT,
    MEDIUM_LIMIT,
    MEDIUM_SHIFT,
    N_CACHE_ROWS,
    N_CACHE_TOKENS,
    N_REFUSED,
)


@inlined
def _exchange(first: int, found: int) -> None:
    """Puts the entry at `found` into its first slot, and what stands there at `found`.

    Both are still found: nothing is ever taken out, so every slot from where the other one belongs to `found` is full.
    """
    for k in range(0, SHORT_ENTRY, 8):
        word = load_i64(first + k)
        store_64(first + k, load_i64(found + k))
        store_64(found + k, word)


@kernel
def short_piece(context: int, piece: int, n_bytes: int, low: int, high: int, entry: int, out: int) -> int:
    """Ids of a piece of up to 15 bytes that its first slot, `entry`, does not hold.

    A piece that is found further on moves into its first slot: there the vocabulary came first, not what text is of.
    """
    found = find(context, low, high, entry)
    if load_i64(found + 8) != 0:
        count = write_short(context, found, out)
        _exchange(entry, found)
        return count
    entry = found
    count = unknown_ids(context, piece, n_bytes, out)
    entry = find(context, low, high, entry)  # which a segment may have taken
    if load_i64(context + CACHE_COUNT) >= load_i64(context + CACHE_LIMIT):
        # Full: what is there serves on for a while, so that text which comes again finds a part of itself.
        refused = load_i64(context + N_REFUSED) + 1
        store_64(context + N_REFUSED, refused)
        if refused < load_i64(context + CACHE_LIMIT):
            return count
        store_64(context + N_REFUSED, 0)
        reset_cache(context)
        entry = find(context, low, high, short_slot(context, low, high))
    if short_entry(context, entry, low, high, out, count):
        store_64(context + CACHE_COUNT, load_i64(context + CACHE_COUNT) + 1)
    elif load_i64(context + CACHE_COUNT) > load_i64(context + N_CACHE_TOKENS) + load_i64(context + N_CACHE_ROWS):
        reset_cache(context)
    return count


@kernel
def medium_piece(context: int, piece: int, n_bytes: int, entry: int, out: int) -> int:
    """Ids of a piece of 16 to 31 bytes, looked up from `entry` on; reads 32 bytes of it."""
    masks = load_i64(context + KEY_MASKS) + 16 * (n_bytes - 16)
    w0, w1 = load_i64(piece), load_i64(piece + 8)
    w2 = load_i64(piece + 16) & load_i64(masks)
    w3 = (load_i64(piece + 24) & load_i64(masks + 8)) | shift_left(n_bytes, 56)
    start = load_i64(context + MEDIUM)
    end = start + shift_left(MEDIUM_ENTRY, 64 - load_i64(context + MEDIUM_SHIFT))
    while load_i64(entry + 24) != 0:
        differs = (load_i64(entry) ^ w0) | (load_i64(entry + 8) ^ w1)
        if (differs | (load_i64(entry + 16) ^ w2) | (load_i64(entry + 24) ^ w3)) == 0:
            store_64(out, load_i64(entry + 32))
            store_64(out + 8, load_i64(entry + 40))
            store_64(out + 16, load_i64(entry + 48))
            store_32(out + 24, load_i32(entry + 56))
            return load_i32(entry + 60)
        entry += MEDIUM_ENTRY
        if entry == end:
            entry = start
    count = long_piece(context, piece, n_bytes, out, MOST_MEDIUM_IDS)
    if count > MOST_MEDIUM_IDS or count < 0:
        return count
    if load_i64(context + MEDIUM_COUNT) >= load_i64(context + MEDIUM_LIMIT):
        reset_medium(context)
        entry = medium_slot(context, piece, n_bytes)
    store_64(context + MEDIUM_COUNT, load_i64(context + MEDIUM_COUNT) + 1)
    store_64(entry, w0)
    store_64(entry + 8, w1)
    store_64(entry + 16, w2)
    store_64(entry + 24, w3)
    for i in range(count):
        store_32(entry + 32 + 4 * i, load_i32(out + 4 * i))
    store_32(entry + 60, count)
    return count
