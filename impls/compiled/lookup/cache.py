"""The cache of pieces: a hash table with open addressing.

An entry has four 64-bit words. A piece of up to 15 bytes is its own key: two words, with the length in the top byte of
the second. The key of a longer one, up to 255 bytes, is its hash, and its length below 0; its bytes are in the arena,
after its ids, and are compared, so of two pieces with one key only the first is kept.

The other words are id0 | id1 << 32, and id2 | count << 21 | id3 << 32. A count of ARENA_COUNT means that the ids are in
the arena: the third word is their offset there, the upper half of the fourth their number. A table that has been full
for long, at its maximum size, and one whose arena is full, restarts from the vocabulary's own entries.

The table starts small and grows in place, in memory reserved for its maximum size, but only between blocks, because the
records of a block hold addresses of slots: it grows as soon as the pieces of another block might not fit. Its entries
are copied, and inserted again from the copy.
"""

from __future__ import annotations

from impls.compiled.language.memory import (
    allocate,
    choose,
    copy_memory,
    inlined,
    kernel,
    outlined,
    prefetch,
    release_memory,
    shift_left,
    shift_right,
)
from impls.compiled.language.pointers import address_of, from_item, i64s, record_at, rows_of, u8s, u32s
from impls.compiled.language.typed_memory import I32s, I64s, U8s
from impls.compiled.layout import BLOCK_BYTES, COUNT_AT, NONE, ContextRecord, Entry
from impls.compiled.lookup.hashing import key_of, mix, same_bytes

ENTRY_BYTES, CACHE_LINE = Entry.dtype.itemsize, 64
ARENA_COUNT = 15
AHEAD = 16
"""Prefetch distance, in tokens, while the table is filled from the vocabulary."""
MOST_IDS = 4
"""Maximum number of ids in an entry itself."""
LONGEST_SHORT, LONGEST = 15, 255
"""Maximum size of a piece that is its own key, and of a piece that is kept."""
IDS_OF_PAIR = NONE | (NONE << 32)
"""Mask of the two ids in a word that also holds other fields."""
GROWTH_REGION = 5

entries_at, entry_at = rows_of(Entry), record_at(Entry)


@inlined
def first_slot(context: ContextRecord, low: int, high: int) -> Entry:
    """Return the first slot of a key."""
    return context.entries[shift_right(mix(low, high), context.entries_shift)]


@inlined
def _ends_search(entry: Entry, low: int, high: int) -> bool:
    """Return whether an entry is empty or holds the key (low, high)."""
    stored = entry.high
    return stored == 0 or (stored == high and entry.low == low)


@kernel
def find(context: ContextRecord, low: int, high: int, entry: Entry) -> Entry:
    """Return the entry of a key whose first slot is `entry`, or the empty entry at which to insert it.

    The probe sequence is the first slot, the other slot of its cache line, then slot by slot from the next line on.
    """
    if _ends_search(entry, low, high):
        return entry
    at = address_of(entry) ^ ENTRY_BYTES
    if _ends_search(entry_at(at), low, high):
        return entry_at(at)
    at = (at | (CACHE_LINE - 1)) + 1
    start = address_of(context.entries)
    end = start + _n_bytes(context)
    while True:
        if at == end:
            at = start
        if _ends_search(entry_at(at), low, high):
            return entry_at(at)
        at += ENTRY_BYTES


@inlined
def _n_bytes(context: ContextRecord) -> int:
    """Return the size of the slots in use."""
    return shift_left(ENTRY_BYTES, 64 - context.entries_shift)


@kernel
def _empty(context: ContextRecord) -> None:
    words = i64s(address_of(context.entries))
    for i in range(_n_bytes(context) >> 3):
        words[i] = 0


@inlined
def token_length(starts: I64s, token: int) -> int:
    """Return the number of bytes of a token; `starts` holds the bitwise complement for an id that no token has."""
    end = starts[token + 1]
    return max(end, ~end) - starts[token]


@inlined
def _key_of_token(context: ContextRecord, token: int) -> tuple[int, int]:
    """Return the key of a token of up to 15 bytes; reads 16 bytes of the blob."""
    piece = from_item(context.token_bytes, context.token_starts[token])
    return key_of(context.key_masks, piece, token_length(context.token_starts, token))


@kernel
def load_vocabulary(context: ContextRecord) -> int:
    """Insert the vocabulary's own entries into an empty table; return 0."""
    tokens, n_tokens = context.cache_tokens, context.n_cache_tokens
    for i in range(n_tokens):
        if i + AHEAD < n_tokens:
            low, high = _key_of_token(context, tokens[i + AHEAD])
            prefetch(address_of(first_slot(context, low, high)))
        low, high = _key_of_token(context, tokens[i])
        _put(context, low, high, tokens[i], shift_left(1, COUNT_AT))
    rows, n_rows = context.cache_rows, context.n_cache_rows
    for i in range(n_rows):
        _put(context, rows[i].low, rows[i].high, rows[i].third, rows[i].fourth)
    context.n_entries = n_tokens + n_rows
    context.arena_used = 0
    return 0


@kernel
def _put(context: ContextRecord, low: int, high: int, third: int, fourth: int) -> None:
    _write(find(context, low, high, first_slot(context, low, high)), low, high, third, fourth)


@inlined
def _write(entry: Entry, low: int, high: int, third: int, fourth: int) -> None:
    entry.low = low
    entry.high = high
    entry.third = third
    entry.fourth = fourth


@inlined
def exchange(first: Entry, other: Entry) -> None:
    """Exchange an entry with the one in its first slot.

    Both are still found: entries are never removed, so every slot between the first slot of the latter and that of the
    former is taken.
    """
    low, high, third, fourth = first.low, first.high, first.third, first.fourth
    _write(first, other.low, other.high, other.third, other.fourth)
    _write(other, low, high, third, fourth)


@kernel
def write_entry(
    context: ContextRecord, entry: Entry, low: int, high: int, piece: U8s, n_bytes: int, ids: I32s, count: int
) -> bool:
    """Write an entry; return False, with nothing written, if the arena has no room for it."""
    unsigned, largest = u32s(address_of(ids)), 0
    for i in range(count):
        largest = max(largest, unsigned[i])
    if high < 0 or count > MOST_IDS or largest >= NONE:
        third, fourth = context.arena_used, shift_left(ARENA_COUNT, COUNT_AT) | shift_left(count, 32)
        end = third + count
        if high < 0:
            end += (n_bytes + 3) >> 2
        if end > context.arena_limit:
            return False
        for i in range(count):
            context.arena[third + i] = ids[i]
        if high < 0:
            copy_memory(address_of(context.arena) + 4 * (third + count), address_of(piece), n_bytes)
        context.arena_used = end
    else:
        third = unsigned[0] | shift_left(choose(count > 1, unsigned[1], 0), 32)
        fourth = choose(count > 2, unsigned[2], 0) | shift_left(choose(count > 3, unsigned[3], 0), 32)
        fourth |= shift_left(count, COUNT_AT)
    _write(entry, low, high, third, fourth)
    return True


@kernel
def holds(context: ContextRecord, entry: Entry, piece: U8s, n_bytes: int) -> bool:
    """Return whether an entry with the key of a piece of more than 15 bytes is that of the piece."""
    stored = from_item(context.arena, entry.third + shift_right(entry.fourth, 32))
    return same_bytes(u8s(address_of(stored)), piece, n_bytes)


@kernel
def _copy_from_arena(context: ContextRecord, entry: Entry, out: I32s) -> int:
    """Write the ids of an entry whose ids are in the arena; return how many."""
    count, arena = shift_right(entry.fourth, 32), from_item(context.arena, entry.third)
    for i in range(count):
        out[i] = arena[i]
    return count


@inlined
def write_ids(context: ContextRecord, entry: Entry, out: I32s) -> int:
    """Write the ids of an entry; return how many. At least 16 bytes are written."""
    fourth, pairs = entry.fourth, i64s(address_of(out))
    pairs[0] = entry.third
    pairs[1] = fourth & IDS_OF_PAIR
    count = shift_right(fourth, COUNT_AT) & 15
    if count > MOST_IDS:
        count = _copy_from_arena(context, entry, out)
    return count


@kernel
def keep(context: ContextRecord, low: int, high: int, piece: U8s, n_bytes: int, ids: I32s, count: int) -> None:
    """Insert a piece that was a miss, unless its key has been inserted since: segments are inserted like pieces."""
    entry = find(context, low, high, first_slot(context, low, high))
    if entry.high != 0:
        return
    if context.n_entries < context.most_entries:
        if write_entry(context, entry, low, high, piece, n_bytes, ids, count):
            context.n_entries = context.n_entries + 1
            return
        restarts = context.arena_used > 0
    else:
        # Full: keep the entries for a while, so that repeated text still gets hits.
        context.n_refused = context.n_refused + 1
        restarts = context.n_refused >= context.most_entries
    if restarts:
        context.n_refused = 0
        _empty(context)
        load_vocabulary(context)


@outlined
def _grow(context: ContextRecord) -> None:
    """Double the table, unless it has its maximum size or there is no memory."""
    n_bytes, copy = _n_bytes(context), 0
    if context.entries_shift > context.least_shift:
        copy = allocate(GROWTH_REGION, n_bytes)
    if copy == 0:
        return
    copy_memory(copy, address_of(context.entries), n_bytes)
    context.entries_shift = context.entries_shift - 1
    context.most_entries = 2 * context.most_entries
    _empty(context)
    entries = entries_at(copy)
    for i in range(n_bytes // ENTRY_BYTES):
        if entries[i].high != 0:
            _put(context, entries[i].low, entries[i].high, entries[i].third, entries[i].fourth)
    release_memory(copy)


@inlined
def make_room(context: ContextRecord) -> None:
    """Enlarge the table if it may lack room for the pieces of a block. Must not run while records are in use."""
    if context.n_entries + BLOCK_BYTES > context.most_entries:
        _grow(context)
