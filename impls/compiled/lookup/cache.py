"""The caches of pieces: hash tables with open addressing, one for short pieces and one for longer ones.

A short entry (up to 15 bytes of text) has four 64-bit words: two of key, with the length in the top byte of the second,
id0 | id1 << 32, and id2 | count << 21 | id3 << 32. A count of ARENA_COUNT means that the ids are in the arena: the
third word is their offset there, the upper half of the fourth their number. A table that has been full for long, at its
maximum size, restarts from the vocabulary's own entries.

A long entry (16 to 255 bytes) has a hash, an offset in the store, the number of bytes and the number of ids; 0 bytes
mark an empty slot. In the store a piece, padded to a multiple of 8, precedes its ids. When the store is full, or the
table is full and may not grow, all long entries are removed.

The tables start small and grow in place, in memory reserved for their maximum size, but only between blocks, because
the records of a block hold addresses of slots: a table grows as soon as the pieces of another block might not fit. Its
entries are copied, and inserted again from the copy.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    allocate,
    copy_memory,
    inlined,
    kernel,
    outlined,
    prefetch,
    release_memory,
    shift_left,
    shift_right,
)
from impls.compiled.codegen.pointers import address_of, from_item, i32s, i64s, record_at, rows_of, u32s
from impls.compiled.layout import (
    BLOCK_BYTES,
    COUNT_AT,
    NONE,
    ContextRecord,
    LongEntry,
    ShortEntry,
    TableRecord,
)
from impls.compiled.lookup.decode import token_length
from impls.compiled.lookup.hashing import key_high, key_low, mix, same_bytes
from impls.compiled.typed_memory import I32s, U8s, U32s

SHORT_ENTRY, LONG_ENTRY, CACHE_LINE = ShortEntry.dtype.itemsize, LongEntry.dtype.itemsize, 64
ARENA_COUNT = 15
AHEAD = 16
"""Prefetch distance, in tokens, while the table is filled from the vocabulary."""
MOST_SHORT_IDS = 4
LONGEST_LONG = 255
IDS_OF_PAIR = NONE | (NONE << 32)
"""Mask of the two ids in a word that also holds other fields."""

short_entries, long_entries = rows_of(ShortEntry), rows_of(LongEntry)
short_at, long_at = record_at(ShortEntry), record_at(LongEntry)


@inlined
def short_slot(context: ContextRecord, low: int, high: int) -> ShortEntry:
    """Return the first slot of a short key."""
    table = context.pieces
    return short_entries(table.entries)[shift_right(mix(low, high), table.shift)]


@inlined
def end_of(table: TableRecord, entry_bytes: int) -> int:
    """Return the address after a table's last slot."""
    return table.entries + shift_left(entry_bytes, 64 - table.shift)


@inlined
def _ends_search(entry: ShortEntry, low: int, high: int) -> bool:
    """Return whether an entry is empty or holds the key (low, high)."""
    stored = entry.high
    return stored == 0 or (stored == high and entry.low == low)


@kernel
def find(context: ContextRecord, low: int, high: int, entry: ShortEntry) -> ShortEntry:
    """Return the entry of a key whose first slot is `entry`, or the empty entry at which to insert it.

    The probe sequence is the first slot, the other slot of its cache line, then slot by slot from the next line on.
    """
    if _ends_search(entry, low, high):
        return entry
    at = address_of(entry) ^ SHORT_ENTRY
    if _ends_search(short_at(at), low, high):
        return short_at(at)
    at = (at | (CACHE_LINE - 1)) + 1
    start, end = context.pieces.entries, end_of(context.pieces, SHORT_ENTRY)
    while True:
        if at == end:
            at = start
        if _ends_search(short_at(at), low, high):
            return short_at(at)
        at += SHORT_ENTRY


@kernel
def empty_table(table: TableRecord, entry_bytes: int) -> None:
    """Fill the slots of a table with zeros."""
    words = i64s(table.entries)
    for i in range(shift_left(entry_bytes >> 3, 64 - table.shift)):
        words[i] = 0


@kernel
def reset_cache(context: ContextRecord) -> int:
    """Remove every short piece except the vocabulary's own; return 0."""
    empty_table(context.pieces, SHORT_ENTRY)
    load_vocabulary(context)
    return 0


@inlined
def _key_of_token(context: ContextRecord, token: int) -> tuple[int, int]:
    """Return the key of a token of up to 15 bytes; reads 16 bytes of the blob."""
    masks, start = context.key_masks, context.token_starts[token]
    piece, length = from_item(context.token_bytes, start), token_length(context, token, start)
    return key_low(masks, piece, length), key_high(masks, piece, length)


@kernel
def load_vocabulary(context: ContextRecord) -> int:
    """Insert the vocabulary's own entries into an empty table; return 0."""
    tokens, n_tokens = context.cache_tokens, context.n_cache_tokens
    for i in range(n_tokens):
        if i + AHEAD < n_tokens:
            low, high = _key_of_token(context, tokens[i + AHEAD])
            prefetch(address_of(short_slot(context, low, high)))
        low, high = _key_of_token(context, tokens[i])
        _put(context, low, high, tokens[i], shift_left(1, COUNT_AT))
    rows, n_rows = context.cache_rows, context.n_cache_rows
    for i in range(n_rows):
        _put(context, rows[i].low, rows[i].high, rows[i].third, rows[i].fourth)
    context.pieces.count = n_tokens + n_rows
    context.arena_used = 0
    return 0


@kernel
def _put(context: ContextRecord, low: int, high: int, third: int, fourth: int) -> None:
    _write_entry(find(context, low, high, short_slot(context, low, high)), low, high, third, fourth)


@inlined
def _write_entry(entry: ShortEntry, low: int, high: int, third: int, fourth: int) -> None:
    entry.low = low
    entry.high = high
    entry.third = third
    entry.fourth = fourth


@inlined
def _two_ids(ids: U32s, first: int, count: int) -> int:
    """Return the ids `first` and, if there are `count` or more than one from there on, the next one in one word."""
    word = ids[first]
    if count > 1:
        word |= shift_left(ids[first + 1], 32)
    return word


@kernel
def _needs_arena(ids: U32s, count: int) -> bool:
    if count > MOST_SHORT_IDS:
        return True
    largest = 0
    for i in range(count):
        largest = max(largest, ids[i])
    return largest >= NONE


@kernel
def short_entry(context: ContextRecord, entry: ShortEntry, low: int, high: int, ids: I32s, count: int) -> bool:
    """Write a short entry; return False, with nothing written, if its ids do not fit in the arena."""
    unsigned = u32s(address_of(ids))
    third, fourth = 0, shift_left(count, COUNT_AT)
    if _needs_arena(unsigned, count):
        used = context.arena_used
        if used + count > context.arena_limit:
            return False
        for i in range(count):
            context.arena[used + i] = ids[i]
        context.arena_used = used + count
        third, fourth = used, shift_left(ARENA_COUNT, COUNT_AT) | shift_left(count, 32)
    else:
        third = _two_ids(unsigned, 0, count)
        if count > 2:
            fourth |= _two_ids(unsigned, 2, count - 2)
    _write_entry(entry, low, high, third, fourth)
    return True


@kernel
def copy_from_arena(context: ContextRecord, entry: ShortEntry, out: I32s) -> int:
    """Write the ids of an entry whose ids are in the arena; return how many."""
    count, arena = shift_right(entry.fourth, 32), from_item(context.arena, entry.third)
    for i in range(count):
        out[i] = arena[i]
    return count


@inlined
def write_short(context: ContextRecord, entry: ShortEntry, out: I32s) -> int:
    """Write the ids of a short entry; return how many. At least 16 bytes are written."""
    fourth, pairs = entry.fourth, i64s(address_of(out))
    pairs[0] = entry.third
    pairs[1] = fourth & IDS_OF_PAIR
    count = shift_right(fourth, COUNT_AT) & 15
    if count > MOST_SHORT_IDS:
        count = copy_from_arena(context, entry, out)
    return count


@kernel
def _forget(context: ContextRecord) -> None:
    empty_table(context.long, LONG_ENTRY)
    context.long.count = 0
    context.long_used = 0


@inlined
def _ids_at(context: ContextRecord, place: int, n_bytes: int) -> I32s:
    """Return the ids of the piece of n_bytes at an offset of the store."""
    return i32s(address_of(context.long_store) + place + ((n_bytes + 7) & ~7))


@inlined
def _write_long(entry: LongEntry, h: int, place: int, n_bytes: int, count: int) -> None:
    entry.hash = h
    entry.place = place
    entry.n_bytes = n_bytes
    entry.count = count


@kernel
def _keep(context: ContextRecord, entry: LongEntry, h: int, piece: U8s, n_bytes: int, ids: I32s, count: int) -> None:
    place = context.long_used
    stored, stored_ids = from_item(context.long_store, place), _ids_at(context, place, n_bytes)
    for i in range(n_bytes):
        stored[i] = piece[i]
    for i in range(count):
        stored_ids[i] = ids[i]
    _write_long(entry, h, place, n_bytes, count)
    context.long_used = (place + ((n_bytes + 7) & ~7) + 4 * count + 7) & ~7
    context.long.count = context.long.count + 1


@inlined
def long_slot(context: ContextRecord, h: int) -> LongEntry:
    """Return the first slot of a piece with the hash `h`."""
    return long_entries(context.long.entries)[shift_right(h, context.long.shift)]


@kernel
def _find_long(context: ContextRecord, piece: U8s, n_bytes: int, h: int, entry: LongEntry) -> LongEntry:
    """Return the entry of a long piece, probing from `entry` on, or the empty entry at which to insert it."""
    start, end, at = context.long.entries, end_of(context.long, LONG_ENTRY), address_of(entry)
    while True:
        stored = long_at(at)
        length = stored.n_bytes
        if length == 0:
            return stored
        is_alike = stored.hash == h and length == n_bytes
        if is_alike and same_bytes(from_item(context.long_store, stored.place), piece, n_bytes):
            return stored
        at += LONG_ENTRY
        if at == end:
            at = start


@kernel
def known_long(context: ContextRecord, piece: U8s, n_bytes: int, h: int, entry: LongEntry, out: I32s) -> int:
    """Write the ids of a piece of up to LONGEST_LONG bytes; return how many, or 0 if the table does not hold it."""
    stored = _find_long(context, piece, n_bytes, h, entry)
    if stored.n_bytes == 0:
        return 0
    ids = _ids_at(context, stored.place, n_bytes)
    for i in range(stored.count):
        out[i] = ids[i]
    return stored.count


@kernel
def keep_long(context: ContextRecord, piece: U8s, n_bytes: int, h: int, ids: I32s, count: int) -> None:
    """Insert a piece of up to LONGEST_LONG bytes that the table does not hold."""
    room = n_bytes + 4 * count + 16
    if context.long.count >= context.long.limit or context.long_used + room > context.long_store_limit:
        _forget(context)
    _keep(context, _find_long(context, piece, n_bytes, h, long_slot(context, h)), h, piece, n_bytes, ids, count)


GROWTH_REGION = 5


@kernel
def _doubled(table: TableRecord, entry_bytes: int) -> int:
    """Double and empty a table; return the address of a copy of its entries.

    Returns 0, with nothing changed, if the table has its maximum size or there is no memory.
    """
    n_bytes, copy = shift_left(entry_bytes, 64 - table.shift), 0
    if table.shift > table.least_shift:
        copy = allocate(GROWTH_REGION, n_bytes)
    if copy != 0:
        copy_memory(copy, table.entries, n_bytes)
        table.shift = table.shift - 1
        table.limit = 2 * table.limit
        empty_table(table, entry_bytes)
    return copy


@outlined
def _grow_short(context: ContextRecord) -> None:
    n_slots = shift_left(1, 64 - context.pieces.shift)
    copy = _doubled(context.pieces, SHORT_ENTRY)
    if copy != 0:
        entries = short_entries(copy)
        for i in range(n_slots):
            if entries[i].high != 0:
                _put(context, entries[i].low, entries[i].high, entries[i].third, entries[i].fourth)
        release_memory(copy)


@outlined
def _grow_long(context: ContextRecord) -> None:
    n_slots = shift_left(1, 64 - context.long.shift)
    copy = _doubled(context.long, LONG_ENTRY)
    if copy != 0:
        entries = long_entries(copy)
        for i in range(n_slots):
            h, place, n_bytes = entries[i].hash, entries[i].place, entries[i].n_bytes
            if n_bytes != 0:
                slot = _find_long(context, from_item(context.long_store, place), n_bytes, h, long_slot(context, h))
                _write_long(slot, h, place, n_bytes, entries[i].count)
        release_memory(copy)


@inlined
def make_room(context: ContextRecord) -> None:
    """Enlarge every table that may lack room for the pieces of a block. Must not run while records are in use."""
    if context.pieces.count + BLOCK_BYTES > context.pieces.limit:
        _grow_short(context)
    if context.long.count + BLOCK_BYTES > context.long.limit:
        _grow_long(context)
