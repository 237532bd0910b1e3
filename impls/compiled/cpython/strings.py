"""Gives the UTF-8 of strings: transcoded here from their characters (see `interpreter`), or the interpreter's own."""

from __future__ import annotations

from impls.compiled.cpython.transcode import transcode
from impls.compiled.language.memory import (
    allocate,
    declare_region,
    external,
    inlined,
    kernel,
    peek,
    peek_u8,
    peek_u16,
    peek_u32,
    release_memory,
    shift_right,
)
from impls.compiled.language.pointers import field_address
from impls.compiled.layout import (
    PAD_BYTES,
    ContextRecord,
)

TEXT_REGION = 0
TYPE_AT, LENGTH_AT = 8, 16
"""Offsets of the type of an object, and of the length of a str."""

utf8_and_size = external("PyUnicode_AsUTF8AndSize", 2)


@inlined
def type_of(item: int) -> int:
    """Return the address of the type of an object."""
    return peek(item + TYPE_AT)


@kernel
def state_of(context: ContextRecord, text: int) -> int:
    """Return the state word of a str (see `interpreter`); -1 for any other object, which the interpreter handles."""
    if type_of(text) != context.str_type:
        return -1
    return shift_right(peek_u32(text + context.str_state), context.str_shift)


@kernel
def kind_of(context: ContextRecord, text: int) -> int:
    """Return the bytes per character of a str that is to be transcoded here; 0 for one that is not."""
    state = state_of(context, text)
    # Compact, not all ASCII, and without cached UTF-8.
    if state < 0 or (state >> 3) & 3 != 1 or peek(text + context.str_utf8) != 0:
        return 0
    return state & 7


@inlined
def length_of(text: int) -> int:
    """Return the number of characters of a str."""
    return peek(text + LENGTH_AT)


@inlined
def most_utf8_bytes(kind: int) -> int:
    """Return the maximum number of UTF-8 bytes of a character of that kind."""
    return 1 + min(kind, 3)


@kernel
def character(kind: int, characters: int, i: int) -> int:
    """Return the character at index `i`."""
    if kind <= 1:
        return peek_u8(characters + i)
    return peek_u16(characters + 2 * i) if kind == 2 else peek_u32(characters + 4 * i)


@kernel
def most_bytes(context: ContextRecord, text: int) -> int:
    """Return the maximum number of UTF-8 bytes of a str that `own_utf8` can transcode; 0 for any other."""
    kind, n_bytes = kind_of(context, text), 0
    if kind != 0:
        n_bytes = length_of(text) * most_utf8_bytes(kind)
    return n_bytes if n_bytes <= context.text_limit else 0


@kernel
def own_utf8(context: ContextRecord, text: int) -> int:
    """Transcode a str for which `most_bytes` is not 0; return the address of its UTF-8, or 0 if it has a surrogate.

    The size is stored in SIZE. Needs no interpreter lock: a str does not change.
    """
    # Not `kind_of`: meanwhile other code may have made the interpreter cache the UTF-8.
    return utf8_of_part(context, state_of(context, text) & 7, text + context.str_data, length_of(text))


@kernel
def release_utf8(context: ContextRecord) -> None:
    """Free the memory of the last UTF-8 written here, unless it is the context's own."""
    large = context.large_text
    if large != 0:
        release_memory(large)
        context.large_text = 0


@kernel
def utf8_of_part(context: ContextRecord, kind: int, characters: int, n: int) -> int:
    """Return the address of the UTF-8 of n characters of a kind that is not -1; its size is stored in SIZE.

    Returns 0 if there is a surrogate or no memory. The caller releases the UTF-8 by `release_utf8`.
    """
    if kind == 0:
        context.size = n
        declare_region(TEXT_REGION, characters, characters + n)
        return characters
    most, target = most_utf8_bytes(kind) * n, context.text
    if most > context.text_limit:
        target = context.large_text = allocate(TEXT_REGION, most + PAD_BYTES)
        if target == 0:
            return 0
    context.size = transcode(kind, characters, n, target, context.tail)
    if context.size < 0:
        release_utf8(context)
        return 0
    return target


@kernel
def utf8(context: ContextRecord, text: int) -> int:
    """Return the address of the UTF-8 of a str, its size stored in SIZE; 0 with an exception set if it has none.

    The caller releases the UTF-8 by `release_utf8`.
    """
    kind = kind_of(context, text)
    if kind != 0:
        address = utf8_of_part(context, kind, text + context.str_data, length_of(text))
        if address != 0:
            return address
    address = utf8_and_size(text, field_address(context, "size"))
    if address != 0:
        declare_region(TEXT_REGION, address, address + context.size)
    return address
