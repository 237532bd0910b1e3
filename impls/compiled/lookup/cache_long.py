"""The cache of pieces of 32 to 255 bytes; their bytes and ids are in a separate store.

An entry holds a hash, an offset in the store, the number of bytes and the number of ids; 0 bytes mark an empty slot.
In the store a piece, padded to a multiple of 8, precedes its ids. The cache is bounded: when the store is full, or the
table is full and may not grow (see `growth`), all entries are removed.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel, shift_right
from impls.compiled.codegen.pointers import address_of, from_item, i32s, record_at, rows_of
from impls.compiled.layout import ContextRecord, LongEntry
from impls.compiled.lookup.cache import empty_table, end_of
from impls.compiled.lookup.hashing import hash_piece, same_bytes
from impls.compiled.typed_memory import I32s, U8s

LONG_ENTRY = LongEntry.dtype.itemsize
LONGEST_LONG = 255

long_entries, long_at = rows_of(LongEntry), record_at(LongEntry)


@kernel
def _forget(context: ContextRecord) -> None:
    empty_table(context.long, LONG_ENTRY)
    context.long.count = 0
    context.long_used = 0


@inlined
def _ids_at(context: ContextRecord, place: int, n_bytes: int) -> I32s:
    """Return the ids of the piece of n_bytes at an offset of the store."""
    return i32s(address_of(context.long_store) + place + ((n_bytes + 7) & ~7))


@kernel
def _keep(context: ContextRecord, entry: LongEntry, h: int, piece: U8s, n_bytes: int, ids: I32s, count: int) -> None:
    place = context.long_used
    stored, stored_ids = from_item(context.long_store, place), _ids_at(context, place, n_bytes)
    for i in range(n_bytes):
        stored[i] = piece[i]
    for i in range(count):
        stored_ids[i] = ids[i]
    entry.hash = h
    entry.place = place
    entry.n_bytes = n_bytes
    entry.count = count
    context.long_used = (place + ((n_bytes + 7) & ~7) + 4 * count + 7) & ~7
    context.long.count = context.long.count + 1


@inlined
def long_hash(piece: U8s, n_bytes: int) -> int:
    """Return the hash of a piece, which is even; reads no byte after the piece."""
    return hash_piece(piece, n_bytes) & -2


@inlined
def long_slot(context: ContextRecord, h: int) -> LongEntry:
    """Return the first slot of a piece with the hash `h`."""
    return long_entries(context.long.entries)[shift_right(h, context.long.shift)]


@kernel
def _find(context: ContextRecord, piece: U8s, n_bytes: int, h: int, entry: LongEntry) -> LongEntry:
    """Return the entry of a piece, probing from `entry` on, or the empty entry at which to insert it."""
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
    stored = _find(context, piece, n_bytes, h, entry)
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
    _keep(context, _find(context, piece, n_bytes, h, long_slot(context, h)), h, piece, n_bytes, ids, count)
