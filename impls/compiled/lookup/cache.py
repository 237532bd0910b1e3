"""The caches of pieces of up to 31 bytes: hash tables with open addressing, one for short and one for medium pieces.

A short entry (up to 15 bytes of text) has four 64-bit words: two of key, with the length in the top byte of the second,
id0 | id1 << 32, and id2 | count << 21 | id3 << 32. A count of ARENA_COUNT means that the ids are in the arena: the
third word is their offset there, the upper half of the fourth their number. A medium entry (16 to 31 bytes of text) has
64 bytes: four words of the piece, with the length in the top byte, seven ids, and their number. The cache is bounded: a
table that has been full for long, at its maximum size (see `growth`), restarts from the vocabulary's own entries.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    inlined,
    kernel,
    load_i32,
    load_i64,
    load_u32,
    prefetch,
    shift_left,
    shift_right,
    store_32,
    store_64,
    wrapping_add,
    wrapping_multiply,
)
from impls.compiled.layout import (
    COUNT_AT,
    NONE,
    ContextRecord,
)
from impls.compiled.lookup.decode import token_length
from impls.compiled.lookup.hashing import K1, K2, K3, key_high, key_low, mix

SHORT_ENTRY, MEDIUM_ENTRY, CACHE_LINE = 32, 64, 64
ARENA_COUNT = 15
AHEAD = 16
"""Prefetch distance, in tokens, while the table is filled from the vocabulary."""
MOST_SHORT_IDS, MOST_MEDIUM_IDS = 4, 7
IDS_OF_PAIR = NONE | (NONE << 32)
"""Mask of the two ids in a word that also holds other fields."""


@inlined
def short_slot(context: ContextRecord, low: int, high: int) -> int:
    """Return the address of the first slot of a short key."""
    return context.pieces.entries + SHORT_ENTRY * shift_right(mix(low, high), context.pieces.shift)


@inlined
def _ends_search(entry: int, low: int, high: int) -> bool:
    """Return whether an entry is empty or holds the key (low, high)."""
    stored = load_i64(entry + 8)
    return stored == 0 or (stored == high and load_i64(entry) == low)


@inlined
def next_line(entry: int) -> int:
    """Return the address of the first entry of the next cache line."""
    return (entry | (CACHE_LINE - 1)) + 1


@kernel
def find(context: ContextRecord, low: int, high: int, entry: int) -> int:
    """Return the entry of a key whose first slot is `entry`, or the empty entry at which to insert it.

    The probe sequence is the first slot, the other slot of its cache line, then slot by slot from the next line on.
    """
    if _ends_search(entry, low, high):
        return entry
    entry ^= SHORT_ENTRY
    if _ends_search(entry, low, high):
        return entry
    entry = next_line(entry)
    start = context.pieces.entries
    end = start + shift_left(SHORT_ENTRY, 64 - context.pieces.shift)
    while True:
        if entry == end:
            entry = start
        if _ends_search(entry, low, high):
            return entry
        entry += SHORT_ENTRY


@kernel
def _fill_memory(start: int, end: int) -> None:
    at = start
    while at < end:
        store_64(at, 0)
        at += 8


@kernel
def reset_cache(context: ContextRecord) -> int:
    """Remove every piece of up to 31 bytes except the vocabulary's own; return 0."""
    start = context.pieces.entries
    _fill_memory(start, start + shift_left(SHORT_ENTRY, 64 - context.pieces.shift))
    load_vocabulary(context)
    reset_medium(context)
    return 0


@inlined
def _key_of_token(context: ContextRecord, token: int) -> tuple[int, int]:
    """Return the key of a token of up to 15 bytes; reads 16 bytes of the blob."""
    masks = context.key_masks
    start = load_i64(context.token_starts + 8 * token)
    piece, length = context.token_bytes + start, token_length(context, token, start)
    return key_low(masks, piece, length), key_high(masks, piece, length)


@kernel
def load_vocabulary(context: ContextRecord) -> int:
    """Insert the vocabulary's own entries into an empty table; return 0."""
    tokens = context.cache_tokens
    n_tokens = context.n_cache_tokens
    for i in range(n_tokens):
        if i + AHEAD < n_tokens:
            low, high = _key_of_token(context, load_i32(tokens + 4 * (i + AHEAD)))
            prefetch(short_slot(context, low, high))
        token = load_i32(tokens + 4 * i)
        low, high = _key_of_token(context, token)
        _put(context, low, high, token, shift_left(1, COUNT_AT))
    row = context.cache_rows
    n_rows = context.n_cache_rows
    for _ in range(n_rows):
        _put(context, load_i64(row), load_i64(row + 8), load_i64(row + 16), load_i64(row + 24))
        row += SHORT_ENTRY
    context.pieces.count = n_tokens + n_rows
    context.arena_used = 0
    return 0


@kernel
def _put(context: ContextRecord, low: int, high: int, third: int, fourth: int) -> None:
    entry = find(context, low, high, short_slot(context, low, high))
    store_64(entry, low)
    store_64(entry + 8, high)
    store_64(entry + 16, third)
    store_64(entry + 24, fourth)


@kernel
def reset_medium(context: ContextRecord) -> None:
    """Remove every piece of 16 to 31 bytes."""
    start = context.medium.entries
    _fill_memory(start, start + shift_left(MEDIUM_ENTRY, 64 - context.medium.shift))
    context.medium.count = 0


@inlined
def _two_ids(ids: int, count: int) -> int:
    word = load_u32(ids)
    if count > 1:
        word |= shift_left(load_u32(ids + 4), 32)
    return word


@kernel
def _needs_arena(ids: int, count: int) -> bool:
    if count > MOST_SHORT_IDS:
        return True
    largest = 0
    for i in range(count):
        largest = max(largest, load_u32(ids + 4 * i))
    return largest >= NONE


@kernel
def short_entry(context: ContextRecord, entry: int, low: int, high: int, ids: int, count: int) -> bool:
    """Write a short entry; return False, with nothing written, if its ids do not fit in the arena."""
    third, fourth = 0, shift_left(count, COUNT_AT)
    if _needs_arena(ids, count):
        used = context.arena_used
        if used + count > context.arena_limit:
            return False
        arena = context.arena + 4 * used
        for i in range(count):
            store_32(arena + 4 * i, load_i32(ids + 4 * i))
        context.arena_used = used + count
        third, fourth = used, shift_left(ARENA_COUNT, COUNT_AT) | shift_left(count, 32)
    else:
        third = _two_ids(ids, count)
        if count > 2:
            fourth |= _two_ids(ids + 8, count - 2)
    store_64(entry, low)
    store_64(entry + 8, high)
    store_64(entry + 16, third)
    store_64(entry + 24, fourth)
    return True


@kernel
def copy_from_arena(context: ContextRecord, entry: int, out: int) -> int:
    """Write the ids of an entry whose ids are in the arena; return how many."""
    count = shift_right(load_i64(entry + 24), 32)
    arena = context.arena + 4 * load_i64(entry + 16)
    for i in range(count):
        store_32(out + 4 * i, load_i32(arena + 4 * i))
    return count


@inlined
def write_short(context: ContextRecord, entry: int, out: int) -> int:
    """Write the ids of a short entry; return how many. At least 16 bytes are written."""
    fourth = load_i64(entry + 24)
    store_64(out, load_i64(entry + 16))
    store_64(out + 8, fourth & IDS_OF_PAIR)
    count = shift_right(fourth, COUNT_AT) & 15
    if count > MOST_SHORT_IDS:
        count = copy_from_arena(context, entry, out)
    return count


@inlined
def medium_hash(context: ContextRecord, piece: int, n_bytes: int) -> int:
    """Return the hash of a piece of 16 to 31 bytes, or of an entry that holds it; its top bits are the slot.

    Reads 32 bytes.
    """
    masks = context.key_masks + 16 * (n_bytes - 16)
    h = wrapping_multiply(load_i64(piece), K1)
    h ^= wrapping_multiply(
        wrapping_add(load_i64(piece + 8), wrapping_multiply(load_i64(piece + 16) & load_i64(masks), K3)), K2
    )
    h ^= wrapping_multiply((load_i64(piece + 24) & load_i64(masks + 8)) | shift_left(n_bytes, 56), K2 + 2)
    return wrapping_multiply(h ^ shift_right(h, 32), K3)


@inlined
def medium_slot(context: ContextRecord, piece: int, n_bytes: int) -> int:
    """Return the address of the first slot of a piece of 16 to 31 bytes; reads 32 bytes."""
    h = medium_hash(context, piece, n_bytes)
    return context.medium.entries + MEDIUM_ENTRY * shift_right(h, context.medium.shift)
