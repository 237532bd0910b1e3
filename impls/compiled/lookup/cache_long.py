"""The cache of pieces of 32 to 255 bytes; their bytes and ids are in a separate store.

An entry holds a hash, an address in the store, the number of bytes and the number of ids; 0 bytes mark an empty slot.
In the store a piece, padded to a multiple of 8, precedes its ids. The cache is bounded: when the store is full, or the
table is full and may not grow (see `growth`), all entries are removed.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    inlined,
    kernel,
    load_i32,
    load_i64,
    load_u8,
    shift_left,
    shift_right,
    store_8,
    store_32,
    store_64,
)
from impls.compiled.layout import (
    ContextRecord,
)
from impls.compiled.lookup.hashing import hash_piece, same_bytes

ENTRY = 32
LONGEST_LONG = 255


@kernel
def _forget(context: ContextRecord) -> None:
    at = context.long.entries
    end = at + shift_left(ENTRY, 64 - context.long.shift)
    while at < end:
        store_64(at, 0)
        at += 8
    context.long.count = 0
    context.long_used = 0


@kernel
def _keep(context: ContextRecord, entry: int, h: int, piece: int, n_bytes: int, ids: int, count: int) -> None:
    used = context.long_used
    padded = (n_bytes + 7) & ~7
    place = context.long_store + used
    for i in range(n_bytes):
        store_8(place + i, load_u8(piece + i))
    for i in range(count):
        store_32(place + padded + 4 * i, load_i32(ids + 4 * i))
    store_64(entry, h)
    store_64(entry + 8, place)
    store_64(entry + 16, n_bytes)
    store_64(entry + 24, count)
    context.long_used = (used + padded + 4 * count + 7) & ~7
    context.long.count = context.long.count + 1


@inlined
def long_hash(piece: int, n_bytes: int) -> int:
    """Return the hash of a piece, which is even; reads no byte after the piece."""
    return hash_piece(piece, n_bytes) & -2


@inlined
def long_slot(context: ContextRecord, h: int) -> int:
    """Return the address of the first slot of a piece with the hash `h`."""
    return context.long.entries + ENTRY * shift_right(h, context.long.shift)


@kernel
def _find(context: ContextRecord, piece: int, n_bytes: int, h: int, entry: int) -> int:
    """Return the entry of a piece, probing from `entry` on, or the empty entry at which to insert it."""
    start = context.long.entries
    end = start + shift_left(ENTRY, 64 - context.long.shift)
    while True:
        length = load_i64(entry + 16)
        if length == 0:
            return entry
        if load_i64(entry) == h and length == n_bytes and same_bytes(load_i64(entry + 8), piece, n_bytes):
            return entry
        entry += ENTRY
        if entry == end:
            entry = start


@kernel
def known_long(context: ContextRecord, piece: int, n_bytes: int, h: int, entry: int, out: int) -> int:
    """Write the ids of a piece of up to LONGEST_LONG bytes; return how many, or 0 if the table does not hold it."""
    entry = _find(context, piece, n_bytes, h, entry)
    if load_i64(entry + 16) == 0:
        return 0
    count = load_i64(entry + 24)
    ids = load_i64(entry + 8) + ((n_bytes + 7) & ~7)
    for i in range(count):
        store_32(out + 4 * i, load_i32(ids + 4 * i))
    return count


@kernel
def keep_long(context: ContextRecord, piece: int, n_bytes: int, h: int, ids: int, count: int) -> None:
    """Insert a piece of up to LONGEST_LONG bytes that the table does not hold."""
    room = n_bytes + 4 * count + 16
    if context.long.count >= context.long.limit or context.long_used + room > context.long_store_limit:
        _forget(context)
    _keep(context, _find(context, piece, n_bytes, h, long_slot(context, h)), h, piece, n_bytes, ids, count)
