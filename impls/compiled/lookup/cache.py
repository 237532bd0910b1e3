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
    prefetch,
    shift_left,
    shift_right,
    wrapping_add,
    wrapping_multiply,
)
from impls.compiled.codegen.pointers import address_of, from_item, i64s, record_at, rows_of, u32s, word_at
from impls.compiled.layout import COUNT_AT, NONE, ContextRecord, MediumEntry, ShortEntry, TableRecord
from impls.compiled.lookup.decode import token_length
from impls.compiled.lookup.hashing import K1, K2, K3, key_high, key_low, mix
from impls.compiled.typed_memory import I32s, U8s, U32s

SHORT_ENTRY, MEDIUM_ENTRY, CACHE_LINE = ShortEntry.dtype.itemsize, MediumEntry.dtype.itemsize, 64
ARENA_COUNT = 15
AHEAD = 16
"""Prefetch distance, in tokens, while the table is filled from the vocabulary."""
MOST_SHORT_IDS, MOST_MEDIUM_IDS = 4, 7
IDS_OF_PAIR = NONE | (NONE << 32)
"""Mask of the two ids in a word that also holds other fields."""

short_entries, medium_entries = rows_of(ShortEntry), rows_of(MediumEntry)
short_at, medium_at = record_at(ShortEntry), record_at(MediumEntry)


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


@inlined
def next_line(entry: int) -> int:
    """Return the address of the first entry of the next cache line."""
    return (entry | (CACHE_LINE - 1)) + 1


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
    at = next_line(at)
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
    """Remove every piece of up to 31 bytes except the vocabulary's own; return 0."""
    empty_table(context.pieces, SHORT_ENTRY)
    load_vocabulary(context)
    reset_medium(context)
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


@kernel
def reset_medium(context: ContextRecord) -> None:
    """Remove every piece of 16 to 31 bytes."""
    empty_table(context.medium, MEDIUM_ENTRY)
    context.medium.count = 0


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


@inlined
def last_words(context: ContextRecord, piece: U8s, n_bytes: int) -> tuple[int, int]:
    """Return the last two of the four words of a piece of 16 to 31 bytes; reads 32 bytes."""
    mask = context.key_masks[n_bytes - 16]
    return word_at(piece, 16) & mask.low, (word_at(piece, 24) & mask.high) | shift_left(n_bytes, 56)


@inlined
def medium_hash(context: ContextRecord, piece: U8s, n_bytes: int) -> int:
    """Return the hash of a piece of 16 to 31 bytes, or of an entry that holds it; its top bits are the slot.

    Reads 32 bytes.
    """
    third, fourth = last_words(context, piece, n_bytes)
    h = wrapping_multiply(word_at(piece, 0), K1)
    h ^= wrapping_multiply(wrapping_add(word_at(piece, 8), wrapping_multiply(third, K3)), K2)
    h ^= wrapping_multiply(fourth, K2 + 2)
    return wrapping_multiply(h ^ shift_right(h, 32), K3)


@inlined
def medium_slot(context: ContextRecord, piece: U8s, n_bytes: int) -> MediumEntry:
    """Return the first slot of a piece of 16 to 31 bytes; reads 32 bytes."""
    h = medium_hash(context, piece, n_bytes)
    return medium_entries(context.medium.entries)[shift_right(h, context.medium.shift)]
