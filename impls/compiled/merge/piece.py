"""Encodes one piece that is not in the cache: by the table of whole pieces, else by merging it and mapping to ids."""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel
from impls.compiled.layout import MOST_SMALL, NONE, ContextRecord
from impls.compiled.merge.derive import token_of
from impls.compiled.merge.merge_long import merge_long
from impls.compiled.merge.merge_small import merge_small
from impls.compiled.typed_memory import I32s, U8s

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
