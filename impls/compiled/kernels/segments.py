"""Ids of a piece that no cache holds: cut into segments where no token reaches across, each of them known or merged.

Nothing merges across a place that no token holds both sides of, so the segments' ids are the piece's. Few pairs of
three-byte neighbours stand in one token: a bitmap over hashes says which may. It may err that way, never the other.
"""

from __future__ import annotations

from impls.compiled.kernels.cache import find, short_entry, short_slot, write_short
from impls.compiled.kernels.hashing import K1, key_high_by_byte, key_low_by_byte
from impls.compiled.kernels.memory import kernel, load_i64, load_u8, shift_right, store_64, wrapping_multiply
from impls.compiled.kernels.piece import piece_ids
from impls.compiled.kernels.scan import code_point, width
from impls.compiled.layout import CACHE_COUNT, CACHE_LIMIT, JOIN_ENDS, JOINS, JOINS_SHIFT

LONGEST_SHORT = 15
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


@kernel
def _segment_ids(context: int, segment: int, n_bytes: int, out: int) -> int:
    if n_bytes > LONGEST_SHORT:
        return piece_ids(context, segment, n_bytes, out)
    low, high = key_low_by_byte(segment, n_bytes), key_high_by_byte(segment, n_bytes)
    entry = find(context, low, high, short_slot(context, low, high))
    if load_i64(entry + 8) != 0:
        return write_short(context, entry, out)
    count = piece_ids(context, segment, n_bytes, out)
    has_room = load_i64(context + CACHE_COUNT) < load_i64(context + CACHE_LIMIT)
    if has_room and short_entry(context, entry, low, high, out, count):
        store_64(context + CACHE_COUNT, load_i64(context + CACHE_COUNT) + 1)
    return count


@kernel
def unknown_ids(context: int, piece: int, n_bytes: int, out: int) -> int:
    """Writes the ids (int32) of a piece to `out`; returns how many, or NO_MEMORY."""
    joins = load_i64(context + JOINS)
    if joins == 0 or n_bytes < LEAST or load_u8(piece + n_bytes - 3) < 0xE0:
        return piece_ids(context, piece, n_bytes, out)
    count, begin, at, left = 0, 0, 0, 0
    while at < n_bytes:
        byte = load_u8(piece + at)
        size = width(byte)
        right = code_point(piece + at, byte) if size == 3 else 0
        if left != 0 and right != 0 and not _may_join(joins, left, right):
            n_ids = _segment_ids(context, piece + begin, at - begin, out + 4 * count)
            if n_ids < 0:
                return n_ids
            count += n_ids
            begin = at
        left = right
        at += size
    if begin == 0:
        return piece_ids(context, piece, n_bytes, out)
    n_ids = _segment_ids(context, piece + begin, n_bytes - begin, out + 4 * count)
    return n_ids if n_ids < 0 else count + n_ids
