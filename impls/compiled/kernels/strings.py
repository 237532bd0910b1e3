"""UTF-8 of strings: written from their characters where `str_layout` knows these, else asked of the interpreter."""

from __future__ import annotations

from impls.compiled.kernels.memory import (
    declare_region,
    external,
    kernel,
    load_i64,
    peek,
    peek_u32,
    shift_right,
    store_64,
)
from impls.compiled.kernels.transcode import transcode
from impls.compiled.layout import (
    BUFFER_AT,
    SIZE,
    STR_DATA,
    STR_SHIFT,
    STR_STATE,
    STR_UTF8,
    TEXT,
    TEXT_LIMIT,
    WORK,
)

TEXT_REGION = 0
LENGTH_AT = 16
"""Where a str holds the number of its characters."""

utf8_and_size = external("PyUnicode_AsUTF8AndSize", 2)


@kernel
def most_bytes(context: int, text: int) -> int:
    """Bytes the UTF-8 of a str may take that is to be written by `own_utf8`; 0 where that is not its way."""
    state_at = load_i64(context + STR_STATE)
    if state_at == 0:
        return 0
    state = shift_right(peek_u32(text + state_at), load_i64(context + STR_SHIFT))
    # Characters behind the header, not all of them ASCII, and no UTF-8 kept beside them.
    if (state >> 3) & 3 != 1 or peek(text + load_i64(context + STR_UTF8)) != 0:
        return 0
    n_bytes = peek(text + LENGTH_AT) * (1 + min(state & 7, 3))
    return n_bytes if n_bytes <= load_i64(context + TEXT_LIMIT) else 0


@kernel
def own_utf8(context: int, text: int) -> int:
    """Address of the UTF-8 of a str for which `most_bytes` is not 0, its size left in SIZE; 0 for a surrogate.

    Needs no interpreter lock: a str does not change.
    """
    kind = shift_right(peek_u32(text + load_i64(context + STR_STATE)), load_i64(context + STR_SHIFT)) & 7
    source, target = text + load_i64(context + STR_DATA), load_i64(context + TEXT)
    scratch = load_i64(context + WORK) + BUFFER_AT
    n_bytes = transcode(kind, source, peek(text + LENGTH_AT), target, scratch)
    if n_bytes < 0:
        return 0
    store_64(context + SIZE, n_bytes)
    return target


@kernel
def utf8(context: int, text: int) -> int:
    """Address of the UTF-8 of a str, its size left in SIZE; 0 with an exception set where it has none."""
    if most_bytes(context, text) != 0:
        address = own_utf8(context, text)
        if address != 0:
            return address
    address = utf8_and_size(text, context + SIZE)
    if address != 0:
        declare_region(TEXT_REGION, address, address + load_i64(context + SIZE))
    return address
