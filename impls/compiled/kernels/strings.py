"""UTF-8 of strings: written from their characters where `str_layout` knows these, else asked of the interpreter."""

from __future__ import annotations

from impls.compiled.kernels.memory import (
    allocate_large,
    declare_region,
    external,
    kernel,
    load_i64,
    peek,
    peek_u32,
    release_large,
    shift_right,
    store_64,
)
from impls.compiled.kernels.transcode import transcode
from impls.compiled.layout import (
    BUFFER_AT,
    LARGE_TEXT,
    PAD_BYTES,
    SIZE,
    STR_DATA,
    STR_SHIFT,
    STR_STATE,
    STR_TYPE,
    STR_UTF8,
    TEXT,
    TEXT_LIMIT,
    WORK,
)

TEXT_REGION = 0
TYPE_AT, LENGTH_AT = 8, 16
"""Where an object holds its type, and a str the number of its characters."""

utf8_and_size = external("PyUnicode_AsUTF8AndSize", 2)


@kernel
def _most_bytes(context: int, text: int) -> int:
    """Bytes the UTF-8 of a str may take that is to be written from its characters; 0 where that is not its way."""
    state_at = load_i64(context + STR_STATE)
    # Only a str itself is read here: what else may come, the interpreter judges.
    if state_at == 0 or peek(text + TYPE_AT) != load_i64(context + STR_TYPE):
        return 0
    state = shift_right(peek_u32(text + state_at), load_i64(context + STR_SHIFT))
    # Characters behind the header, not all of them ASCII, and no UTF-8 kept beside them.
    if (state >> 3) & 3 != 1 or peek(text + load_i64(context + STR_UTF8)) != 0:
        return 0
    return peek(text + LENGTH_AT) * (1 + min(state & 7, 3))


@kernel
def most_bytes(context: int, text: int) -> int:
    """Bytes the UTF-8 of a str may take that is to be written by `own_utf8`; 0 where that is not its way."""
    n_bytes = _most_bytes(context, text)
    return n_bytes if n_bytes <= load_i64(context + TEXT_LIMIT) else 0


@kernel
def own_utf8(context: int, text: int) -> int:
    """Address of the UTF-8 of a str for which `most_bytes` is not 0, its size left in SIZE; 0 for a surrogate.

    Needs no interpreter lock: a str does not change.
    """
    return _write_utf8(context, text, load_i64(context + TEXT))


@kernel
def _write_utf8(context: int, text: int, target: int) -> int:
    """`target`, where the UTF-8 of a str is now, its size left in SIZE; 0 for a surrogate."""
    kind = shift_right(peek_u32(text + load_i64(context + STR_STATE)), load_i64(context + STR_SHIFT)) & 7
    source = text + load_i64(context + STR_DATA)
    scratch = load_i64(context + WORK) + BUFFER_AT
    n_bytes = transcode(kind, source, peek(text + LENGTH_AT), target, scratch)
    if n_bytes < 0:
        return 0
    store_64(context + SIZE, n_bytes)
    return target


@kernel
def give_back_utf8(context: int) -> None:
    """Ends the use of what `utf8` wrote."""
    large = load_i64(context + LARGE_TEXT)
    if large != 0:
        release_large(large)
        store_64(context + LARGE_TEXT, 0)


@kernel
def utf8(context: int, text: int) -> int:
    """Address of the UTF-8 of a str, its size left in SIZE; 0 with an exception set where it has none.

    The caller ends its use by `give_back_utf8`.
    """
    n_bytes = _most_bytes(context, text)
    if n_bytes != 0:
        target = load_i64(context + TEXT)
        if n_bytes > load_i64(context + TEXT_LIMIT):
            target = allocate_large(TEXT_REGION, n_bytes + PAD_BYTES)
            store_64(context + LARGE_TEXT, target)
        address = _write_utf8(context, text, target) if target != 0 else 0
        if address != 0:
            return address
        give_back_utf8(context)
    address = utf8_and_size(text, context + SIZE)
    if address != 0:
        declare_region(TEXT_REGION, address, address + load_i64(context + SIZE))
    return address
