"""Decodes ids to bytes: token bytes come from one blob, copied 16 bytes at a time."""

from __future__ import annotations

from impls.compiled.codegen.memory import kernel, load_i64, load_u32, store_64
from impls.compiled.layout import ContextRecord

COPY_BYTES = 16
"""Bytes copied at once; a copy may run up to this far past the end of a token, in the blob and in `out`."""


@kernel
def token_start(context: ContextRecord, token: int) -> int:
    """Return the offset of a token's bytes in the blob; negative for an id that no token has."""
    if token < 0 or token >= context.n_ids:
        return -1
    return load_i64(context.token_starts + 8 * token)


@kernel
def token_length(context: ContextRecord, token: int, start: int) -> int:
    """Return the number of bytes of the token that starts at `start`; the next id may be unknown."""
    end = load_i64(context.token_starts + 8 * token + 8)
    if end < 0:
        end = -1 - end
    return end - start


@kernel
def copy_token(context: ContextRecord, start: int, length: int, out: int) -> None:
    """Write a token's bytes to `out`, and up to COPY_BYTES - 1 more bytes."""
    source = context.token_bytes + start
    i = 0
    while i < length:
        store_64(out + i, load_i64(source + i))
        store_64(out + i + 8, load_i64(source + i + 8))
        i += COPY_BYTES


@kernel
def decoded_bytes(context: ContextRecord, ids: int, n_ids: int) -> int:
    """Return the number of bytes that n_ids ids (uint32) decode to, or -1 - the index of the first unknown id."""
    total = 0
    for i in range(n_ids):
        token = load_u32(ids + 4 * i)
        start = token_start(context, token)
        if start < 0:
            return -1 - i
        total += token_length(context, token, start)
    return total


@kernel
def decode(context: ContextRecord, ids: int, n_ids: int, out: int) -> int:
    """Write the bytes of known ids to `out`, which has COPY_BYTES to spare; return the number of bytes."""
    at = out
    for i in range(n_ids):
        token = load_u32(ids + 4 * i)
        start = token_start(context, token)
        length = token_length(context, token, start)
        copy_token(context, start, length, at)
        at += length
    return at - out
