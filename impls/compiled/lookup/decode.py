"""Decodes ids to bytes: token bytes come from one blob, copied 16 bytes at a time."""

from __future__ import annotations

from impls.compiled.codegen.memory import kernel
from impls.compiled.codegen.pointers import from_item, set_word, word_at
from impls.compiled.layout import ContextRecord
from impls.compiled.typed_memory import U8s, U32s

COPY_BYTES = 16
"""Bytes copied at once; a copy may run up to this far past the end of a token, in the blob and in `out`."""


@kernel
def token_start(context: ContextRecord, token: int) -> int:
    """Return the offset of a token's bytes in the blob; negative for an id that no token has."""
    if token < 0 or token >= context.n_ids:
        return -1
    return context.token_starts[token]


@kernel
def token_length(context: ContextRecord, token: int, start: int) -> int:
    """Return the number of bytes of the token that starts at `start`; the next id may be unknown."""
    end = context.token_starts[token + 1]
    if end < 0:
        end = -1 - end
    return end - start


@kernel
def copy_token(context: ContextRecord, start: int, length: int, out: U8s) -> None:
    """Write a token's bytes to `out`, and up to COPY_BYTES - 1 more bytes."""
    source = from_item(context.token_bytes, start)
    i = 0
    while i < length:
        set_word(out, i, word_at(source, i))
        set_word(out, i + 8, word_at(source, i + 8))
        i += COPY_BYTES


@kernel
def decoded_bytes(context: ContextRecord, ids: U32s, n_ids: int) -> int:
    """Return the number of bytes that n_ids ids decode to, or -1 - the index of the first unknown id."""
    total = 0
    for i in range(n_ids):
        token = ids[i]
        start = token_start(context, token)
        if start < 0:
            return -1 - i
        total += token_length(context, token, start)
    return total


@kernel
def decode(context: ContextRecord, ids: U32s, n_ids: int, out: U8s) -> int:
    """Write the bytes of known ids to `out`, which has COPY_BYTES to spare; return the number of bytes."""
    n_bytes = 0
    for i in range(n_ids):
        token = ids[i]
        start = token_start(context, token)
        length = token_length(context, token, start)
        copy_token(context, start, length, from_item(out, n_bytes))
        n_bytes += length
    return n_bytes
