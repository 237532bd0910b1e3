"""Ids of a piece that no cache holds: cut into segments where no token reaches across, each of them known or merged.

Nothing merges across a place that no token holds both sides of, so the segments' ids are the piece's. Few pairs of
three-byte neighbours stand in one token: a bitmap over hashes says which may. It may err that way, never the other.
"""

from __future__ import annotations

from impls.compiled.kernels.cache import find, short_entry, short_slot, write_short
from impls.compiled.kernels.hashing import K1, key_high, key_high_by_byte, key_low, key_low_by_byte
from impls.compiled.kernels.memory import (
    inlined,
    kernel,
    load_i64,
    load_u8,
    prefetch,
    shift_right,
    store_64,
    wrapping_multiply,
)
from impls.compiled.kernels.piece import piece_ids
from impls.compiled.kernels.scan import code_point, width
from impls.compiled.layout import CACHE_COUNT, CACHE_LIMIT, JOIN_ENDS, JOINS, JOINS_SHIFT, KEY_MASKS, SMALL_SCRATCH

LONGEST_SHORT = 15
SEGMENTS_AT, ROW_BYTES, MOST_SEGMENTS = 1216, 40, 20
"""Where in the small scratch segments are listed: address, bytes, key, slot."""
LEAST = 6
"""Bytes of two characters of three bytes."""


@kernel
def _holds(joins: int, key: int) -> int:
    bit = shift_right(wrapping_multiply(key, K1), JOINS_SHIFT)
    return shift_right(load_u8(joins + (bit >> 3)), bit & 7) & 1


@kernel
def _may_join(joins: int, left: int, right: int) -> bool:
    """Whether a token may hold the end of the one character and the beginning of the other."""
    return (_holds(joins, (left << 16) | right) | _holds(joins, JOIN_ENDS | ((left & 63) << 16) | right)) != 0


@inlined
def _list_segment(context: int, row: int, segment: int, n_bytes: int, readable: int) -> None:
    """Writes where a segment is and its key; prefetches its slot. `readable` bytes of it and behind it may be read."""
    low, high, slot = 0, 0, row
    if n_bytes <= LONGEST_SHORT:
        if readable >= 16:
            masks = load_i64(context + KEY_MASKS)
            low, high = key_low(masks, segment, n_bytes), key_high(masks, segment, n_bytes)
        else:
            low, high = key_low_by_byte(segment, n_bytes), key_high_by_byte(segment, n_bytes)
        slot = short_slot(context, low, high)
    prefetch(slot)
    store_64(row, segment)
    store_64(row + 8, n_bytes)
    store_64(row + 16, low)
    store_64(row + 24, high)
    store_64(row + 32, slot)


@kernel
def _ids_of_listed(context: int, row: int, out: int) -> int:
    """Writes the ids of a listed segment; returns how many, or NO_MEMORY."""
    segment, n_bytes = load_i64(row), load_i64(row + 8)
    if n_bytes > LONGEST_SHORT:
        return piece_ids(context, segment, n_bytes, out)
    low, high = load_i64(row + 16), load_i64(row + 24)
    entry = find(context, low, high, load_i64(row + 32))
    if load_i64(entry + 8) != 0:
        return write_short(context, entry, out)
    count = piece_ids(context, segment, n_bytes, out)
    has_room = load_i64(context + CACHE_COUNT) < load_i64(context + CACHE_LIMIT)
    if has_room and short_entry(context, entry, low, high, out, count):
        store_64(context + CACHE_COUNT, load_i64(context + CACHE_COUNT) + 1)
    return count


@kernel
def _next_cut(joins: int, piece: int, n_bytes: int, begin: int) -> int:
    """Where the segment ends that begins at byte `begin` of a piece."""
    at, left = begin, 0
    while at < n_bytes:
        byte = load_u8(piece + at)
        size = width(byte)
        right = code_point(piece + at, byte) if size == 3 else 0
        if left != 0 and right != 0 and not _may_join(joins, left, right):
            return at
        left = right
        at += size
    return n_bytes


@kernel
def unknown_ids(context: int, piece: int, n_bytes: int, out: int) -> int:
    """Writes the ids (int32) of a piece to `out`; returns how many, or NO_MEMORY."""
    joins = load_i64(context + JOINS)
    if joins == 0 or n_bytes < LEAST or load_u8(piece + n_bytes - 3) < 0xE0:
        return piece_ids(context, piece, n_bytes, out)
    rows = load_i64(context + SMALL_SCRATCH) + SEGMENTS_AT
    count, begin = 0, 0
    while begin < n_bytes:
        n_listed = 0
        while begin < n_bytes and n_listed < MOST_SEGMENTS:
            cut = _next_cut(joins, piece, n_bytes, begin)
            if cut - begin == n_bytes:
                return piece_ids(context, piece, n_bytes, out)
            _list_segment(context, rows + ROW_BYTES * n_listed, piece + begin, cut - begin, n_bytes - begin)
            n_listed += 1
            begin = cut
        for i in range(n_listed):
            n_ids = _ids_of_listed(context, rows + ROW_BYTES * i, out + 4 * count)
            if n_ids < 0:
                return n_ids
            count += n_ids
    return count
