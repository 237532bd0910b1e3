"""Encodes text to ids, block by block: split a block, compute and prefetch every piece's key and slot, look them up.

`out` must have room for one int32 per byte of text, and for PAD_BYTES more: ids are written four at a time.
"""

from __future__ import annotations

from impls.compiled.codegen.allocation import copy_memory
from impls.compiled.codegen.memory import (
    address_of,
    call_pointer_8,
    kernel,
    load_i32,
    load_i64,
    outlined,
    store_32,
    store_64,
)
from impls.compiled.layout import (
    BLOCK_BYTES,
    BOUNDS_AT,
    BUFFER_AT,
    CL100K,
    MASKS_AT,
    MOST_TEXT_BYTES,
    NO_MEMORY,
    PAD_BYTES,
    RECORDS_AT,
    SLOTS_AT,
    TAIL_BYTES,
    UNCOVERED,
    WHOLE_TEXT,
    ContextRecord,
)
from impls.compiled.lookup.cache import write_short
from impls.compiled.lookup.growth import make_room
from impls.compiled.lookup.look_up import keep_ids, known_ids
from impls.compiled.lookup.records import prefetch_listed, record_pieces
from impls.compiled.merge.segments import unknown_ids
from impls.compiled.pretokenize.bitparallel_patterns import windows_block
from impls.compiled.pretokenize.scan import scan_block


@kernel
def _ends_of_block(context: ContextRecord, text: int, n_bytes: int, readable: int, start: int, limit: int) -> int:
    """Split a block as `split_block` does, by a splitter other than windows over an automaton."""
    work = context.work
    ends, state = work + BOUNDS_AT, work + MASKS_AT
    if context.splitter == WHOLE_TEXT:
        store_32(ends, n_bytes)
        store_64(state, n_bytes)
        return 1
    otherwise = context.split_otherwise
    if otherwise != 0:
        return call_pointer_8(otherwise, address_of(context), text, n_bytes, readable, start, limit, ends, state)
    return scan_block(context, text, n_bytes, start, limit, ends, state)


@kernel
def split_block(
    context: ContextRecord, text: int, n_bytes: int, readable: int, start: int, limit: int, record: int
) -> int:
    """Write the ends of the pieces from `start` on to the working space; return how many, or UNCOVERED.

    `readable` bytes from `text` on may be read: at least TAIL_BYTES from `start` on, or PAD_BYTES past the text. The
    end of the last piece is stored at MASKS_AT and, if `record` is 1, the pieces' records from RECORDS_AT on.
    """
    work = context.work
    splitter = context.splitter
    if splitter >= CL100K:
        ends, state = work + BOUNDS_AT, work + MASKS_AT
        n_pieces = windows_block(context, text, n_bytes, readable, start, limit, ends, state, splitter)
    else:
        n_pieces = _ends_of_block(context, text, n_bytes, readable, start, limit)
    if record != 0 and n_pieces > 0:
        record_pieces(context, text, start, work + BOUNDS_AT, n_pieces)
    return n_pieces


@outlined
def _other_piece(context: ContextRecord, piece: int, length: int, low: int, high: int, entry: int, out: int) -> int:
    """Write the ids of a piece that is not in its first slot; return how many, or NO_MEMORY."""
    count = known_ids(context, piece, length, low, high, entry, out)
    if count != 0:
        return count
    count = unknown_ids(context, piece, length, out)
    if count < 0:
        return NO_MEMORY
    keep_ids(context, piece, length, low, high, entry, out, count)
    return count


@kernel
def look_up_block(context: ContextRecord, text: int, start: int, ends: int, n_pieces: int, out: int) -> int:
    """Write the ids of a block's recorded pieces, the first from `start` on; return the end of `out`, or NO_MEMORY."""
    key, slot = context.work + RECORDS_AT, context.work + SLOTS_AT
    prefetch_listed(context)
    for i in range(n_pieces):
        low, high, entry = load_i64(key), load_i64(key + 8), load_i64(slot)
        if high != -1 and load_i64(entry + 8) == high and load_i64(entry) == low:
            out += 4 * write_short(context, entry, out)
        else:
            begin = start
            if i > 0:
                begin = load_i32(ends + 4 * i - 4)
            piece, length = text + begin, load_i32(ends + 4 * i) - begin
            count = _other_piece(context, piece, length, low, high, entry, out)
            if count < 0:
                return NO_MEMORY
            out += 4 * count
        key += 16
        slot += 8
    return out


@kernel
def _padded_tail(context: ContextRecord, text: int, n_bytes: int, position: int) -> int:
    """Copy a text from `position` on to the working space, followed by PAD_BYTES zeros.

    Returns the address at which the whole text would begin, so that offsets into the text remain valid.
    """
    buffer, n_left = context.work + BUFFER_AT, n_bytes - position
    copy_memory(buffer, text + position, n_left)
    for i in range(0, PAD_BYTES, 8):
        store_64(buffer + n_left + i, 0)
    return buffer - position


@kernel
def encode(context: ContextRecord, text: int, n_bytes: int, out: int, keep: int) -> int:
    """Write the ids of a text to `out`; return how many, UNCOVERED if the pattern leaves text out, or NO_MEMORY.

    With `keep` 0 ids are only counted: every block overwrites the one before it. A text of more than MOST_TEXT_BYTES
    gives NO_MEMORY.
    """
    if n_bytes == 0:
        return 0
    if n_bytes > MOST_TEXT_BYTES:
        return NO_MEMORY
    work, readable = context.work, n_bytes
    at, total, position = out, 0, 0
    while position < n_bytes:
        make_room(context)
        if readable == n_bytes and n_bytes - position <= TAIL_BYTES:
            text, readable = _padded_tail(context, text, n_bytes, position), n_bytes + PAD_BYTES
        context.readable_end = text + readable
        limit = min(n_bytes, position + BLOCK_BYTES)
        n_pieces = split_block(context, text, n_bytes, readable, position, limit, 1)
        if n_pieces < 0:
            return UNCOVERED
        after = look_up_block(context, text, position, work + BOUNDS_AT, n_pieces, at)
        if after == NO_MEMORY:
            return NO_MEMORY
        total += (after - at) >> 2
        if keep != 0:
            at = after
        position = load_i64(work + MASKS_AT)
    return total


@kernel
def encode_pieces(context: ContextRecord, text: int, n_bytes: int, ends: int, n_pieces: int, out: int) -> int:
    """Write the ids of a text that is split already, as `encode` does.

    `ends`: the ends of the n_pieces pieces, int32. PAD_BYTES follow the text.
    """
    if n_bytes > MOST_TEXT_BYTES:
        return NO_MEMORY
    context.readable_end = text + n_bytes + PAD_BYTES
    at, begin, done = out, 0, 0
    while done < n_pieces:
        block = min(n_pieces - done, BLOCK_BYTES)
        make_room(context)
        record_pieces(context, text, begin, ends + 4 * done, block)
        at = look_up_block(context, text, begin, ends + 4 * done, block, at)
        if at == NO_MEMORY:
            return NO_MEMORY
        done += block
        begin = load_i32(ends + 4 * done - 4)
    return (at - out) >> 2


@kernel
def split(context: ContextRecord, text: int, n_bytes: int, out: int) -> int:
    """Write the ends (int32) of all pieces of a text; return how many, or UNCOVERED or NO_MEMORY as `encode` does.

    PAD_BYTES follow the text.
    """
    if n_bytes == 0:
        return 0
    if n_bytes > MOST_TEXT_BYTES:
        return NO_MEMORY
    readable = n_bytes + PAD_BYTES
    ends = context.work + BOUNDS_AT
    total, position = 0, 0
    while position < n_bytes:
        count = split_block(context, text, n_bytes, readable, position, min(n_bytes, position + BLOCK_BYTES), 0)
        if count < 0:
            return UNCOVERED
        for i in range(count):
            store_32(out + 4 * (total + i), load_i32(ends + 4 * i))
        total += count
        position = load_i64(context.work + MASKS_AT)
    return total
