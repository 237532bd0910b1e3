"""Encodes a piece that no cache holds: cuts it into segments that no token reaches across, and looks up or merges each.

Nothing merges across a place where no token holds both sides, so the segments' ids are the piece's. Few pairs of
three-byte characters are neighbours in some token: a bitmap over hashes says which may be. It errs only towards fewer
cuts. Most segments are one character, whose ids a table holds. Up to MOST_CHARACTERS characters at a time are read and
cut without a branch: one bit per character says whether a segment begins there.
"""

from __future__ import annotations

from impls.compiled.language.memory import (
    choose,
    inlined,
    kernel,
    leading_zeros,
    lowest_bit,
    shift_left,
    shift_right,
    wrapping_multiply,
)
from impls.compiled.language.pointers import address_of, from_item, set_word, u8s
from impls.compiled.language.typed_memory import I32s, Rows, U8s
from impls.compiled.layout import (
    JOINS_SHIFT,
    MOST_CHARACTERS,
    NONE,
    SYMBOL_BITS,
    ContextRecord,
    LoneCharacter,
)
from impls.compiled.lookup.cache import LONGEST_SHORT, find, first_slot, keep, write_ids
from impls.compiled.lookup.hashing import K1, key_of
from impls.compiled.merge.piece import piece_ids
from impls.compiled.pretokenize.scan import code_point, width

WIDEST_READ = 16
"""Maximum number of bytes past the end of a segment that are read."""
LEAST = 6
"""Bytes of two three-byte characters."""


@kernel
def build_character_ids(context: ContextRecord, table: Rows[LoneCharacter], scratch: I32s) -> int:
    """Fill in the ids of the 65536 characters of LONE; return 1, or 0 if those of a character do not fit."""
    piece, ids = u8s(address_of(scratch)), from_item(scratch, 2)
    for code in range(0x800, 65536):
        set_word(piece, 0, 0x8080E0 | (code >> 12) | ((code >> 6 & 63) << 8) | ((code & 63) << 16))
        n_bytes = width(piece[0])  # 3; for a constant all kernels that merge would be compiled again
        count, packed = piece_ids(context, piece, n_bytes, ids), 0
        if count > n_bytes:
            return 0
        for i in range(3):
            number = choose(i < count, ids[i], NONE)
            if i < count and not 0 <= number < NONE:
                return 0
            packed |= number << (SYMBOL_BITS * i)
        table[code].ids = packed
    return 1


@inlined
def _write_character(packed: int, out: I32s) -> int:
    """Write the ids of a single character; return how many. 12 bytes are written in any case."""
    second, third = shift_right(packed, SYMBOL_BITS) & NONE, shift_right(packed, 2 * SYMBOL_BITS)
    out[0] = packed & NONE
    out[1] = second
    out[2] = third
    return 1 + (second != NONE) + (third != NONE)


@inlined
def _may_join(joins: U8s, left: int, right: int, befores: int) -> int:
    """Return 1 if a token may hold the end of `left` and the start of `right`, which has `befores`, else 0."""
    bit = shift_right(wrapping_multiply((left << 16) | right, K1), JOINS_SHIFT)
    return (shift_right(joins[bit >> 3], bit & 7) | shift_right(befores, left & 63)) & 1


@inlined
def _read_characters(context: ContextRecord, piece: U8s, n_bytes: int, begin: int) -> tuple[int, int]:
    """Read the next characters of a piece; return how many, and a bit for each before which the piece may be cut."""
    joins, lone, characters = context.joins, context.lone, context.segments
    at, left, cuts, n = begin, 0, 0, 0
    while at < n_bytes and n < MOST_CHARACTERS:
        byte = piece[at]
        characters[n].offset = at
        right = 0
        if byte & 0xF0 == 0xE0:
            right = code_point(from_item(piece, at), byte)
            characters[n].ids = lone[right].ids
            cuts |= shift_left((left != 0) & ~_may_join(joins, left, right, lone[right].befores), n)
            at += 3
        else:
            at += width(byte)
        left = right
        n += 1
    characters[n].offset = at
    return n, cuts


@kernel
def _ids_of_segment(context: ContextRecord, piece: U8s, n_bytes: int, out: I32s) -> int:
    """Write the ids of a segment of two characters or more; return how many, or NO_MEMORY."""
    if n_bytes > LONGEST_SHORT:
        return piece_ids(context, piece, n_bytes, out)
    low, high = key_of(context.key_masks, piece, n_bytes)
    entry = find(context, low, high, first_slot(context, low, high))
    if entry.high != 0:
        return write_ids(context, entry, out)
    count = piece_ids(context, piece, n_bytes, out)
    keep(context, low, high, piece, n_bytes, out, count)
    return count


@inlined
def _ids_of_segments(context: ContextRecord, piece: U8s, n: int, begins: int, out: I32s) -> int:
    """Write the ids of the segments of `n` characters; return how many, or NO_MEMORY.

    The bits of `begins` say at which characters a segment begins.
    """
    characters = context.segments
    ends, rest, count = shift_right(begins, 1) | shift_left(1, n - 1), begins, 0
    while rest != 0:
        first = lowest_bit(rest)
        if shift_right(ends, first) & 1:
            count += _write_character(characters[first].ids, from_item(out, count))
        else:
            begin, after = characters[first].offset, lowest_bit(ends & -shift_left(1, first)) + 1
            n_bytes = characters[after].offset - begin
            n_ids = _ids_of_segment(context, from_item(piece, begin), n_bytes, from_item(out, count))
            if n_ids < 0:
                return n_ids
            count += n_ids
        rest &= rest - 1
    return count


@inlined
def is_cut(context: ContextRecord, piece: U8s, n_bytes: int) -> bool:
    """Return whether a piece may be cut into segments: it ends in a three-byte character and has room for another."""
    return context.joins != 0 and n_bytes >= LEAST and piece[n_bytes - 3] >= 0xE0


@kernel
def unknown_ids(context: ContextRecord, piece: U8s, n_bytes: int, out: I32s) -> int:
    """Write the ids of a piece to `out`; return how many, or NO_MEMORY."""
    # Making a segment's key, and its first round, read beyond the segment.
    is_near_end = address_of(piece) + n_bytes + WIDEST_READ > context.readable_end
    if is_near_end or not is_cut(context, piece, n_bytes):
        return piece_ids(context, piece, n_bytes, out)
    characters = context.segments
    count, begin = 0, 0
    while begin < n_bytes:
        n, cuts = _read_characters(context, piece, n_bytes, begin)
        end = characters[n].offset
        if end < n_bytes and cuts != 0:
            # The end of the last segment is not known yet: the next iteration starts with that segment.
            n = 63 - leading_zeros(cuts)
            end = characters[n].offset
            cuts ^= shift_left(1, n)
        elif end < n_bytes:
            end = n_bytes  # no cut is near: all that is left is one segment
        if cuts == 0 and (n == MOST_CHARACTERS or end - begin == n_bytes):
            n_ids = piece_ids(context, from_item(piece, begin), end - begin, from_item(out, count))
        else:
            n_ids = _ids_of_segments(context, piece, n, cuts | 1, from_item(out, count))
        if n_ids < 0:
            return n_ids
        count += n_ids
        begin = end
    return count
