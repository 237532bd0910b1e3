"""Fills tables once per model: the tokens that do not encode to themselves, the vocabulary's own cache entries."""

from __future__ import annotations

from impls.compiled.codegen.memory import kernel, load_i32, load_i64, load_u8, shift_right, store_32
from impls.compiled.cpython.texts import buffer_for_ids, release_ids
from impls.compiled.layout import COUNT_AT, NO_MEMORY, ContextRecord
from impls.compiled.lookup.cache import ARENA_COUNT, short_entry
from impls.compiled.lookup.hashing import key_high, key_low
from impls.compiled.merge.piece import piece_ids


@kernel
def find_whole(context: ContextRecord, blob: int, starts: int, n_tokens: int, found: int) -> int:
    """Write the ids (int32) of the tokens whose bytes do not encode to themselves; return how many, or NO_MEMORY."""
    n_found = 0
    for token in range(n_tokens):
        start = load_i64(starts + 8 * token)
        length = load_i64(starts + 8 * token + 8) - start
        if length < 1:
            continue
        out = buffer_for_ids(context, length)
        if out == 0:
            return NO_MEMORY
        if piece_ids(context, blob + start, length, out) != 1 or load_i32(out) != token:
            store_32(found + 4 * n_found, token)
            n_found += 1
        release_ids(context, out)
    return n_found


@kernel
def _begins_and_ends_characters(token: int, n_bytes: int) -> bool:
    """Return whether a token may be a piece of UTF-8 text: it begins and ends with a whole character."""
    if load_u8(token) & 0xC0 == 0x80:
        return False
    i = n_bytes - 1
    while i > 0 and load_u8(token + i) & 0xC0 == 0x80:
        i -= 1
    byte = load_u8(token + i)
    width = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
    return i + width == n_bytes


@kernel
def fill_rows(context: ContextRecord, blob: int, starts: int, n_tokens: int, rows: int) -> int:
    """Write a cache entry for every token of up to 15 bytes that may be a piece; return how many.

    Tokens whose entry would need the arena are left out.
    """
    out = context.out
    row = rows
    for token in range(n_tokens):
        start = load_i64(starts + 8 * token)
        length = load_i64(starts + 8 * token + 8) - start
        piece = blob + start
        if length < 1 or length > 15 or not _begins_and_ends_characters(piece, length):
            continue
        low, high = key_low(context.key_masks, piece, length), key_high(context.key_masks, piece, length)
        count = piece_ids(context, piece, length, out)
        written = short_entry(context, row, low, high, out, count)
        if written and (shift_right(load_i64(row + 24), COUNT_AT) & 15) != ARENA_COUNT:
            row += 32
    return (row - rows) >> 5
