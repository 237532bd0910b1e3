"""Encodes a piece that no cache holds: cuts it into segments that no token reaches across, and looks up or merges each.

Nothing merges across a place where no token holds both sides, so the segments' ids are the piece's. Few pairs of
three-byte characters are neighbours in some token: a bitmap over hashes says which may be. It errs only towards fewer
cuts. Most segments are one character, whose ids a table holds. Up to MOST_CHARACTERS characters at a time are read and
cut without a branch: one bit per character says whether a segment begins there. Slots of longer segments are prefetched
before the first is needed.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    inlined,
    kernel,
    leading_zeros,
    load_i32,
    load_i64,
    load_u8,
    lowest_bit,
    prefetch,
    shift_left,
    shift_right,
    store_32,
    store_64,
    wrapping_multiply,
)
from impls.compiled.layout import (
    ALONE_AT,
    JOINS_SHIFT,
    MOST_CHARACTERS,
    NONE,
    PLACES_AT,
    ROW_BYTES,
    ROWS_AT,
    SYMBOL_BITS,
    ContextRecord,
)
from impls.compiled.lookup.cache import find, short_entry, short_slot, write_short
from impls.compiled.lookup.hashing import K1, key_high, key_low
from impls.compiled.merge.piece import piece_ids
from impls.compiled.pretokenize.scan import code_point, width

LONGEST_SHORT = 15
WIDEST_READ = 16
"""Maximum number of bytes past the end of a segment that are read."""
LEAST = 6
"""Bytes of two three-byte characters."""


@kernel
def build_character_ids(context: ContextRecord, table: int, scratch: int) -> int:
    """Fill the first words of the 65536 rows of LONE; return 1, or 0 if the ids of a character do not fit in one."""
    for code in range(65536):
        entry = 0
        if code >= 0x800:
            store_32(scratch, 0x8080E0 | (code >> 12) | ((code >> 6 & 63) << 8) | ((code & 63) << 16))
            n_bytes = width(load_u8(scratch))  # 3; for a constant all kernels that merge would be compiled again
            count = piece_ids(context, scratch, n_bytes, scratch + 8)
            if count > n_bytes:
                return 0
            for i in range(3):
                one = load_i32(scratch + 8 + 4 * i) if i < count else NONE
                if one < 0 or one > NONE or (one == NONE and i < count):
                    return 0
                entry |= one << (SYMBOL_BITS * i)
        store_64(table + 16 * code, entry)
    return 1


@inlined
def _write_character(entry: int, out: int) -> int:
    """Write the ids of a single character; return how many. 12 bytes are written in any case."""
    second, third = shift_right(entry, SYMBOL_BITS) & NONE, shift_right(entry, 2 * SYMBOL_BITS)
    store_32(out, entry & NONE)
    store_32(out + 4, second)
    store_32(out + 8, third)
    return 1 + (second != NONE) + (third != NONE)


@inlined
def _may_join(joins: int, left: int, right: int, row: int) -> int:
    """Return 1 if a token may hold the end of `left` and the start of `right`, else 0; `row` is LONE's for `right`."""
    bit = shift_right(wrapping_multiply((left << 16) | right, K1), JOINS_SHIFT)
    return (shift_right(load_u8(joins + (bit >> 3)), bit & 7) | shift_right(load_i64(row + 8), left & 63)) & 1


@inlined
def _read_characters(context: ContextRecord, piece: int, n_bytes: int, begin: int) -> tuple[int, int]:
    """Read the next characters of a piece; return how many, and a bit for each before which the piece may be cut."""
    joins, lone, work = context.joins, context.lone, context.segments
    at, left, cuts, n = begin, 0, 0, 0
    while at < n_bytes and n < MOST_CHARACTERS:
        byte = load_u8(piece + at)
        store_32(work + PLACES_AT + 4 * n, at)
        right = 0
        if byte & 0xF0 == 0xE0:
            right = code_point(piece + at, byte)
            row = lone + 16 * right
            store_64(work + ALONE_AT + 8 * n, load_i64(row))
            cuts |= shift_left((left != 0) & ~_may_join(joins, left, right, row), n)
            at += 3
        else:
            at += width(byte)
        left = right
        n += 1
    store_32(work + PLACES_AT + 4 * n, at)
    return n, cuts


@inlined
def _list_segment(context: ContextRecord, row: int, piece: int, begin: int, end: int) -> None:
    """List a segment of a piece: write its address, size and key to `row`, and prefetch its slot."""
    length = end - begin
    low, high, slot = 0, 0, row
    if length <= LONGEST_SHORT:
        masks = context.key_masks
        low, high = key_low(masks, piece + begin, length), key_high(masks, piece + begin, length)
        slot = short_slot(context, low, high)
    prefetch(slot)
    store_64(row, piece + begin)
    store_64(row + 8, length)
    store_64(row + 16, low)
    store_64(row + 24, high)
    store_64(row + 32, slot)


@kernel
def _ids_of_listed(context: ContextRecord, row: int, out: int) -> int:
    """Write the ids of a listed segment; return how many, or NO_MEMORY."""
    segment, n_bytes = load_i64(row), load_i64(row + 8)
    if n_bytes > LONGEST_SHORT:
        return piece_ids(context, segment, n_bytes, out)
    low, high = load_i64(row + 16), load_i64(row + 24)
    entry = find(context, low, high, load_i64(row + 32))
    if load_i64(entry + 8) != 0:
        return write_short(context, entry, out)
    count = piece_ids(context, segment, n_bytes, out)
    has_room = context.pieces.count < context.pieces.limit
    if has_room and short_entry(context, entry, low, high, out, count):
        context.pieces.count = context.pieces.count + 1
    return count


@inlined
def _ids_of_segments(context: ContextRecord, piece: int, n: int, begins: int, out: int) -> int:
    """Write the ids of the segments of `n` characters; return how many, or NO_MEMORY.

    The bits of `begins` say at which characters a segment begins.
    """
    work = context.segments
    ends = shift_right(begins, 1) | shift_left(1, n - 1)
    row, rest = work + ROWS_AT, begins & ~ends
    while rest != 0:
        first = lowest_bit(rest)
        rest &= rest - 1
        last = lowest_bit(ends & -shift_left(1, first))
        begin, end = load_i32(work + PLACES_AT + 4 * first), load_i32(work + PLACES_AT + 4 * last + 4)
        _list_segment(context, row, piece, begin, end)
        row += ROW_BYTES
    row, rest, count = work + ROWS_AT, begins, 0
    while rest != 0:
        first = lowest_bit(rest)
        if shift_right(ends, first) & 1:
            count += _write_character(load_i64(work + ALONE_AT + 8 * first), out + 4 * count)
        else:
            n_ids = _ids_of_listed(context, row, out + 4 * count)
            if n_ids < 0:
                return n_ids
            count += n_ids
            row += ROW_BYTES
        rest &= rest - 1
    return count


@kernel
def _end_of_segment(joins: int, lone: int, piece: int, n_bytes: int, begin: int) -> int:
    """Return the end of the segment that starts at byte `begin` of a piece."""
    at, left = begin, 0
    while at < n_bytes:
        byte = load_u8(piece + at)
        size = width(byte)
        right = code_point(piece + at, byte) if size == 3 else 0
        if left != 0 and right != 0 and not _may_join(joins, left, right, lone + 16 * right):
            return at
        left = right
        at += size
    return n_bytes


@inlined
def is_cut(context: ContextRecord, piece: int, n_bytes: int) -> bool:
    """Return whether a piece may be cut into segments: it ends in a three-byte character and has room for another."""
    return context.joins != 0 and n_bytes >= LEAST and load_u8(piece + n_bytes - 3) >= 0xE0


@kernel
def unknown_ids(context: ContextRecord, piece: int, n_bytes: int, out: int) -> int:
    """Write the ids (int32) of a piece to `out`; return how many, or NO_MEMORY."""
    joins = context.joins
    # Making a segment's key, and its first round, read beyond the segment.
    if not is_cut(context, piece, n_bytes) or piece + n_bytes + WIDEST_READ > context.readable_end:
        return piece_ids(context, piece, n_bytes, out)
    places = context.segments + PLACES_AT
    count, begin = 0, 0
    while begin < n_bytes:
        n, cuts = _read_characters(context, piece, n_bytes, begin)
        end = load_i32(places + 4 * n)
        if end < n_bytes and cuts != 0:
            # The end of the last segment is not known yet: the next iteration starts with that segment.
            n = 63 - leading_zeros(cuts)
            end = load_i32(places + 4 * n)
            cuts ^= shift_left(1, n)
        elif end < n_bytes:
            end = _end_of_segment(joins, context.lone, piece, n_bytes, begin)
        if cuts == 0 and end - begin == n_bytes:
            return piece_ids(context, piece, n_bytes, out)
        if cuts == 0 and n == MOST_CHARACTERS:
            n_ids = piece_ids(context, piece + begin, end - begin, out + 4 * count)
        else:
            n_ids = _ids_of_segments(context, piece, n, cuts | 1, out + 4 * count)
        if n_ids < 0:
            return n_ids
        count += n_ids
        begin = end
    return count
