"""Derives the two parts of each token of a rank file, by byte pair encoding of the token's own bytes.

In a vocabulary where any two neighbours merge if their joined bytes are a token, the two parts that make a token in a
text are always those that make it when its own bytes are merged alone: merges inside a stretch of text happen in the
same order whatever is around it, until one crosses its boundary. So one pair per token is enough.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel, shift_right
from impls.compiled.codegen.pointers import from_item
from impls.compiled.layout import LONGEST_DERIVED, NONE
from impls.compiled.lookup.hashing import hash_piece, same_bytes
from impls.compiled.typed_memory import I32s, I64s, U8s


@inlined
def _length_of(starts: I64s, token: int) -> int:
    """Return the number of bytes of a token; `starts` holds the bitwise complement for an id that no token has."""
    end = starts[token + 1]
    return max(end, ~end) - starts[token]


@kernel
def index_tokens(blob: U8s, starts: I64s, tokens: I32s, n_tokens: int, table: I32s, shift: int) -> int:
    """Fill an open-addressing hash table of token ids (int32, -1 in an empty slot), keyed by their bytes; return 0.

    `tokens` (int32) are the ids to index; empty tokens are left out.
    """
    for i in range(n_tokens):
        _put_token(blob, starts, table, shift, tokens[i])
    return 0


@kernel
def _put_token(blob: U8s, starts: I64s, table: I32s, shift: int, token: int) -> None:
    """Add a token to a table of `index_tokens`, which must have room, unless the token is empty."""
    mask = shift_right(-1, shift)
    length = _length_of(starts, token)
    if length > 0:
        slot = shift_right(hash_piece(from_item(blob, starts[token]), length), shift)
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = token


@kernel
def token_of(blob: U8s, starts: I64s, table: I32s, shift: int, piece: U8s, length: int) -> int:
    """Return the token whose bytes are those of the piece, by a table of `index_tokens`, or NONE."""
    mask = shift_right(-1, shift)
    slot = shift_right(hash_piece(piece, length), shift)
    while True:
        token = table[slot]
        if token < 0:
            return NONE
        if _length_of(starts, token) == length and same_bytes(from_item(blob, starts[token]), piece, length):
            return token
        slot = (slot + 1) & mask


@kernel
def _last_cut(blob: U8s, starts: I64s, table: I32s, shift: int, piece: U8s, length: int, scratch: I32s) -> int:
    """Return the offset of the second of the last two parts of a token; 0 if merging does not end in two parts.

    `scratch` has room for length + 2 ends of parts and length + 1 ranks, int32.
    """
    ends, ranks = scratch, from_item(scratch, length + 2)
    for i in range(length + 1):
        ends[i] = i
    n = length
    for i in range(n - 1):
        ranks[i] = token_of(blob, starts, table, shift, from_item(piece, i), 2)
    while n > 2:
        best, where = NONE, -1
        for i in range(n - 1):
            rank = ranks[i]
            if rank < best:
                best, where = rank, i
        if where < 0:
            return 0
        for i in range(where + 1, n):
            ends[i] = ends[i + 1]
        for i in range(where + 1, n - 2):
            ranks[i] = ranks[i + 1]
        n -= 1
        for i in range(max(0, where - 1), min(n - 1, where + 1)):
            begin = ends[i]
            stretch = ends[i + 2] - begin
            ranks[i] = token_of(blob, starts, table, shift, from_item(piece, begin), stretch)
    return ends[1]


@kernel
def derive(
    blob: U8s, starts: I64s, n_tokens: int, table: I32s, shift: int, lefts: I32s, rights: I32s, scratch: I32s
) -> int:
    """Write the two parts (int32) of each token, or -1; return 0.

    -1 stands for no parts: a byte, an id that no token has, a token that merging does not make, and one of more than
    LONGEST_DERIVED bytes.
    """
    for token in range(n_tokens):
        start = starts[token]
        length = starts[token + 1] - start
        left, right = -1, -1
        if 1 < length <= LONGEST_DERIVED:
            cut = _last_cut(blob, starts, table, shift, from_item(blob, start), length, scratch)
            if cut > 0:
                left = token_of(blob, starts, table, shift, from_item(blob, start), cut)
                right = token_of(blob, starts, table, shift, from_item(blob, start + cut), length - cut)
        lefts[token] = left
        rights[token] = right
    return 0
