"""Encodes one piece that is not in the cache: by the table of whole pieces, else by merging it and mapping to ids.

Fills tables once per model: the tokens that do not encode to themselves, the vocabulary's own cache entries.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel, shift_right
from impls.compiled.codegen.pointers import from_item, i32s
from impls.compiled.cpython.texts import buffer_for_ids, release_ids
from impls.compiled.layout import COUNT_AT, MOST_SMALL, NO_MEMORY, NONE, ContextRecord, ShortEntry
from impls.compiled.lookup.cache import ARENA_COUNT, short_entry
from impls.compiled.lookup.hashing import key_high, key_low
from impls.compiled.merge.derive import token_of
from impls.compiled.merge.merge_long import merge_long
from impls.compiled.merge.merge_small import merge_small
from impls.compiled.typed_memory import I32s, I64s, Rows, U8s

MOST_FOR_SMALL = 3 * MOST_SMALL
"""Maximum size, in bytes, of a piece that may start with few enough symbols, of three bytes each."""


@kernel
def piece_ids(context: ContextRecord, piece: U8s, n_bytes: int, out: I32s) -> int:
    """Write the ids (int32) of a piece to `out`; return how many, or NO_MEMORY."""
    if context.whole != 0:
        token = token_of(context.token_bytes, context.token_starts, context.whole, context.whole_shift, piece, n_bytes)
        if token != NONE:
            out[0] = token
            return 1
    count = -1
    if n_bytes <= MOST_FOR_SMALL:
        count = merge_small(context, piece, n_bytes, out)
    if count < 0:
        count = merge_long(context, piece, n_bytes, out)
    _replace_by_ids(context, out, count)
    return count


@kernel
def byte_piece_ids(context: ContextRecord, piece: U8s, n_bytes: int, out: I32s) -> int:
    """Write the ids of a piece that need not be UTF-8 as `piece_ids` does: `merge_small` may read characters."""
    count = merge_long(context, piece, n_bytes, out)
    _replace_by_ids(context, out, count)
    return count


@inlined
def _replace_by_ids(context: ContextRecord, out: I32s, count: int) -> None:
    """Replace `count` symbols (int32) by their ids."""
    ids = context.ids
    if ids != 0:
        for i in range(count):
            out[i] = ids[out[i]]


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
