"""The cache of pieces of up to 255 bytes that are too long for the other two: their bytes and ids lie in a store.

An entry: hash, place in the store, bytes, ids; no bytes mark an empty slot. In the store the piece, padded to 8, comes
before its ids. Bounded: when the table or the store fills up, all of them are forgotten.
"""

from __future__ import annotations

from impls.compiled.kernels.hashing import hash_piece, same_bytes
from impls.compiled.kernels.memory import (
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
from impls.compiled.kernels.segments import unknown_ids
from impls.compiled.layout import (
    LONG,
    LONG_COUNT,
    LONG_LIMIT,
    LONG_SHIFT,
    LONG_STORE,
    LONG_STORE_LIMIT,
    LONG_USED,
)

ENTRY = 32
MOST_BYTES = 255


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


@kernel
def long_piece(context: int, piece: int, n_bytes: int, out: int, most_ids_elsewhere: int) -> int:
    """Ids of a piece of any length; returns how many, or NO_MEMORY.

    A piece of up to `most_ids_elsewhere` ids is not kept here: another table has room for it.
    """
    if n_bytes > MOST_BYTES:
        return unknown_ids(context, piece, n_bytes, out)
    h = hash_piece(piece, n_bytes)
    shift = load_i64(context + LONG_SHIFT)
    mask = shift_right(-1, shift)
    slot = shift_right(h, shift)
    table = load_i64(context + LONG)
    while True:
        entry = table + ENTRY * slot
        length = load_i64(entry + 16)
        if length == 0:
            break
        if load_i64(entry) == h and length == n_bytes:
            place = load_i64(entry + 8)
            if same_bytes(place, piece, n_bytes):
                count = load_i64(entry + 24)
                ids = place + ((n_bytes + 7) & ~7)
                for i in range(count):
                    store_32(out + 4 * i, load_i32(ids + 4 * i))
                return count
        slot = (slot + 1) & mask
    count = unknown_ids(context, piece, n_bytes, out)
    if count <= most_ids_elsewhere:
        return count
    room = n_bytes + 4 * count + 16
    if load_i64(context + LONG_COUNT) >= load_i64(context + LONG_LIMIT) or load_i64(
        context + LONG_USED
    ) + room > load_i64(context + LONG_STORE_LIMIT):
        _forget(context)
        entry = table + ENTRY * shift_right(h, shift)
    _keep(context, entry, h, piece, n_bytes, out, count)
    return count
