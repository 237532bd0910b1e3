"""The ids of one piece that is not in the cache: the table of whole pieces, then merging, then symbols to ids."""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    kernel,
    load_i32,
    load_i64,
    shift_right,
    store_32,
    store_64,
)
from impls.compiled.layout import MOST_SMALL, ContextRecord
from impls.compiled.lookup.hashing import hash_piece, same_bytes
from impls.compiled.merge.merge_long import merge_long
from impls.compiled.merge.merge_small import merge_small

MOST_FOR_SMALL = 3 * MOST_SMALL
"""Maximum size of a piece that may start with few enough symbols, three bytes each."""

WHOLE_ENTRY_BYTES = 32
"""An entry: hash, address of the bytes, number of bytes, id; 0 bytes mark an empty slot."""


@kernel
def whole_id(context: ContextRecord, piece: int, n_bytes: int) -> int:
    """Return the id of a piece that is one token although merging does not make it, or -1."""
    table, shift = context.whole, context.whole_shift
    h = hash_piece(piece, n_bytes)
    mask = shift_right(-1, shift)
    slot = shift_right(h, shift)
    while True:
        entry = table + WHOLE_ENTRY_BYTES * slot
        if load_i64(entry + 16) == 0:
            return -1
        if load_i64(entry) == h and load_i64(entry + 16) == n_bytes and same_bytes(load_i64(entry + 8), piece, n_bytes):
            return load_i64(entry + 24)
        slot = (slot + 1) & mask


@kernel
def put_whole(table: int, shift: int, piece: int, n_bytes: int, token: int) -> int:
    """Add a piece to a hash table of whole pieces, which must have room; return 0."""
    h = hash_piece(piece, n_bytes)
    mask = shift_right(-1, shift)
    slot = shift_right(h, shift)
    while load_i64(table + WHOLE_ENTRY_BYTES * slot + 16) != 0:
        slot = (slot + 1) & mask
    entry = table + WHOLE_ENTRY_BYTES * slot
    store_64(entry, h)
    store_64(entry + 8, piece)
    store_64(entry + 16, n_bytes)
    store_64(entry + 24, token)
    return 0


@kernel
def piece_ids(context: ContextRecord, piece: int, n_bytes: int, out: int) -> int:
    """Write the ids (int32) of a piece to `out`; return how many, or NO_MEMORY."""
    if context.whole != 0:
        token = whole_id(context, piece, n_bytes)
        if token >= 0:
            store_32(out, token)
            return 1
    count = -1
    if n_bytes <= MOST_FOR_SMALL:
        count = merge_small(context, piece, n_bytes, out)
    if count < 0:
        count = merge_long(context, piece, n_bytes, out)
    ids = context.ids
    if ids != 0:
        for i in range(count):
            store_32(out + 4 * i, load_i32(ids + 4 * load_i32(out + 4 * i)))
    return count
