"""Derives the two parts of each token of a rank file, by byte pair encoding of the token's own bytes.

In a vocabulary where any two neighbours merge if their joined bytes are a token, the two parts that make a token in a
text are always those that make it when its own bytes are merged alone: merges inside a stretch of text happen in the
same order whatever is around it, until one crosses its boundary. So one pair per token is enough.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel, load_i32, load_i64, shift_right, store_32
from impls.compiled.layout import LONGEST_DERIVED, NONE
from impls.compiled.lookup.hashing import hash_piece, same_bytes


@inlined
def _length_of(starts: int, token: int) -> int:
    """Return the number of bytes of a token; `starts` holds the bitwise complement for an id that no token has."""
    end = load_i64(starts + 8 * token + 8)
    return max(end, ~end) - load_i64(starts + 8 * token)


@kernel
def index_tokens(blob: int, starts: int, tokens: int, n_tokens: int, table: int, shift: int) -> int:
    """Fill an open-addressing hash table of token ids (int32, -1 in an empty slot), keyed by their bytes; return 0.

    `tokens` (int32) are the ids to index; empty tokens are left out.
    """
    for i in range(n_tokens):
        _put_token(blob, starts, table, shift, load_i32(tokens + 4 * i))
    return 0


@kernel
def _put_token(blob: int, starts: int, table: int, shift: int, token: int) -> None:
    """Add a token to a table of `index_tokens`, which must have room, unless the token is empty."""
    mask = shift_right(-1, shift)
    length = _length_of(starts, token)
    if length > 0:
        slot = shift_right(hash_piece(blob + load_i64(starts + 8 * token), length), shift)
        while load_i32(table + 4 * slot) >= 0:
            slot = (slot + 1) & mask
        store_32(table + 4 * slot, token)


@kernel
def token_of(blob: int, starts: int, table: int, shift: int, piece: int, length: int) -> int:
    """Return the token whose bytes are those of the piece, by a table of `index_tokens`, or NONE."""
    mask = shift_right(-1, shift)
    slot = shift_right(hash_piece(piece, length), shift)
    while True:
        token = load_i32(table + 4 * slot)
        if token < 0:
            return NONE
        if _length_of(starts, token) == length and same_bytes(blob + load_i64(starts + 8 * token), piece, length):
            return token
        slot = (slot + 1) & mask


@kernel
def _last_cut(blob: int, starts: int, table: int, shift: int, piece: int, length: int, scratch: int) -> int:
    """Return the offset of the second of the last two parts of a token; 0 if merging does not end in two parts.

    `scratch` has room for length + 2 ends of parts and length + 1 ranks, int32.
    """
    ends, ranks = scratch, scratch + 4 * (length + 2)
    for i in range(length + 1):
        store_32(ends + 4 * i, i)
    n = length
    for i in range(n - 1):
        store_32(ranks + 4 * i, token_of(blob, starts, table, shift, piece + i, 2))
    while n > 2:
        best, where = NONE, -1
        for i in range(n - 1):
            rank = load_i32(ranks + 4 * i)
            if rank < best:
                best, where = rank, i
        if where < 0:
            return 0
        for i in range(where + 1, n):
            store_32(ends + 4 * i, load_i32(ends + 4 * i + 4))
        for i in range(where + 1, n - 2):
            store_32(ranks + 4 * i, load_i32(ranks + 4 * i + 4))
        n -= 1
        for i in range(max(0, where - 1), min(n - 1, where + 1)):
            begin = load_i32(ends + 4 * i)
            stretch = load_i32(ends + 4 * i + 8) - begin
            store_32(ranks + 4 * i, token_of(blob, starts, table, shift, piece + begin, stretch))
    return load_i32(ends + 4)


@kernel
def derive(blob: int, starts: int, n_tokens: int, table: int, shift: int, lefts: int, rights: int, scratch: int) -> int:
    """Write the two parts (int32) of each token, or -1; return 0.

    -1 stands for no parts: a byte, an id that no token has, a token that merging does not make, and one of more than
    LONGEST_DERIVED bytes.
    """
    for token in range(n_tokens):
        start = load_i64(starts + 8 * token)
        length = load_i64(starts + 8 * token + 8) - start
        left, right = -1, -1
        if 1 < length <= LONGEST_DERIVED:
            cut = _last_cut(blob, starts, table, shift, blob + start, length, scratch)
            if cut > 0:
                left = token_of(blob, starts, table, shift, blob + start, cut)
                right = token_of(blob, starts, table, shift, blob + start + cut, length - cut)
        store_32(lefts + 4 * token, left)
        store_32(rights + 4 * token, right)
    return 0
