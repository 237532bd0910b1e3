"""The cache of pieces of 32 to 255 bytes; their bytes and ids are in a separate store.

An entry: hash, address in the store, number of bytes, number of ids; 0 bytes mark an empty slot. In the store the
piece, padded to a multiple of 8, precedes its ids. The cache is bounded: when the store is full, or the table is and
may not grow (see `growth`), all of it is forgotten.
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
    LONG,
    LONG_COUNT,
    LONG_LIMIT,
    LONG_SHIFT,
    LONG_STORE,
    LONG_STORE_LIMIT,
    LONG_USED,
)
from impls.compiled.lookup.hashing import hash_piece, same_bytes

ENTRY = 32
LONGEST_LONG = 255


@kernel
def _forget(context: int) -> None:
    at = load_i64(context + LONG)
    end = at + shift_left(ENTRY, 64 - load_i64(context + LONG_SHIFT))
    while at < end:
        store_64(at, 0)
        at += 8
    store_64(context + LONG_COUNT, 0)
    store_64(context + LONG_USED, 0)


@kernel
def _keep(context: int, entry: int, h: int, piece: int, n_bytes: int, ids: int, count: int) -> None:
    used = load_i64(context + LONG_USED)
    padded = (n_bytes + 7) & ~7
    place = load_i64(context + LONG_STORE) + used
    for i in range(n_bytes):
        store_8(place + i, load_u8(piece + i))
    for i in range(count):
        store_32(place + padded + 4 * i, load_i32(ids + 4 * i))
    store_64(entry, h)
    store_64(entry + 8, place)
    store_64(entry + 16, n_bytes)
    store_64(entry + 24, count)
    store_64(context + LONG_USED, (used + padded + 4 * count + 7) & ~7)
    store_64(context + LONG_COUNT, load_i64(context + LONG_COUNT) + 1)


@inlined
def long_hash(piece: int, n_bytes: int) -> int:
    """Return the hash of a piece, which is even; reads no byte after the piece."""
    return hash_piece(piece, n_bytes) & -2


@inlined
def long_slot(context: int, h: int) -> int:
    """Return the address of the first slot of a piece with that hash."""
    return load_i64(context + LONG) + ENTRY * shift_right(h, load_i64(context + LONG_SHIFT))


@kernel
def _find(context: int, piece: int, n_bytes: int, h: int, entry: int) -> int:
    """Return the entry of a piece, probing from `entry` on, or the empty entry where it belongs."""
    start = load_i64(context + LONG)
    end = start + shift_left(ENTRY, 64 - load_i64(context + LONG_SHIFT))
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
def known_long(context: int, piece: int, n_bytes: int, h: int, entry: int, out: int) -> int:
    """Write the ids of a piece of up to LONGEST_LONG bytes that the table holds; return how many, or 0."""
    entry = _find(context, piece, n_bytes, h, entry)
    if load_i64(entry + 16) == 0:
        return 0
    count = load_i64(entry + 24)
    ids = load_i64(entry + 8) + ((n_bytes + 7) & ~7)
    for i in range(count):
        store_32(out + 4 * i, load_i32(ids + 4 * i))
    return count


@kernel
def keep_long(context: int, piece: int, n_bytes: int, h: int, ids: int, count: int) -> None:
    """Insert a piece of up to LONGEST_LONG bytes that the table does not hold."""
    room = n_bytes + 4 * count + 16
    if load_i64(context + LONG_COUNT) >= load_i64(context + LONG_LIMIT) or load_i64(
        context + LONG_USED
    ) + room > load_i64(context + LONG_STORE_LIMIT):
        _forget(context)
    _keep(context, _find(context, piece, n_bytes, h, long_slot(context, h)), h, piece, n_bytes, ids, count)
