"""Fills tables once per model: the tokens that do not encode to themselves, the vocabulary's own cache entries."""

from __future__ import annotations

from impls.compiled.codegen.memory import kernel, shift_right
from impls.compiled.codegen.pointers import from_item, i32s
from impls.compiled.cpython.texts import buffer_for_ids, release_ids
from impls.compiled.layout import COUNT_AT, NO_MEMORY, ContextRecord, ShortEntry
from impls.compiled.lookup.cache import ARENA_COUNT, short_entry
from impls.compiled.lookup.hashing import key_high, key_low
from impls.compiled.merge.piece import piece_ids
from impls.compiled.typed_memory import I32s, I64s, Rows, U8s


@kernel
def find_whole(context: ContextRecord, blob: U8s, starts: I64s, n_tokens: int, found: I32s) -> int:
    """Write the ids (int32) of the tokens whose bytes do not encode to themselves; return how many, or NO_MEMORY."""
    n_found = 0
    for token in range(n_tokens):
        start = starts[token]
        length = starts[token + 1] - start
        if length < 1:
            continue
        out = buffer_for_ids(context, length)
        if out == 0:
            return NO_MEMORY
        ids = i32s(out)
        if piece_ids(context, from_item(blob, start), length, ids) != 1 or ids[0] != token:
            found[n_found] = token
            n_found += 1
        release_ids(context, out)
    return n_found


@kernel
def _begins_and_ends_characters(token: U8s, n_bytes: int) -> bool:
    """Return whether a token may be a piece of UTF-8 text: it begins and ends with a whole character."""
    if token[0] & 0xC0 == 0x80:
        return False
    i = n_bytes - 1
    while i > 0 and token[i] & 0xC0 == 0x80:
        i -= 1
    byte = token[i]
    width = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
    return i + width == n_bytes


@kernel
def fill_rows(context: ContextRecord, blob: U8s, starts: I64s, n_tokens: int, rows: Rows[ShortEntry]) -> int:
    """Write a cache entry for every token of up to 15 bytes that may be a piece; return how many.

    Tokens whose entry would need the arena are left out.
    """
    out, n = i32s(context.out), 0
    for token in range(n_tokens):
        start = starts[token]
        length = starts[token + 1] - start
        piece = from_item(blob, start)
        if length < 1 or length > 15 or not _begins_and_ends_characters(piece, length):
            continue
        low, high = key_low(context.key_masks, piece, length), key_high(context.key_masks, piece, length)
        count = piece_ids(context, piece, length, out)
        written = short_entry(context, rows[n], low, high, out, count)
        if written and (shift_right(rows[n].fourth, COUNT_AT) & 15) != ARENA_COUNT:
            n += 1
    return n
