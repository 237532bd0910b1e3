"""Python objects in, Python objects out, through the public C API: bodies of built-in functions.

A built-in is bound to an int, the address of its context. It returns None where the plain path has to take over:
the context is in use by a thread that released the lock, an id is unknown, text is not covered, memory ran out.
"""

from __future__ import annotations

from impls.compiled.kernels.boxes import (
    array_of_ids,
    decrement,
    empty_array,
    ids_of_array,
    list_of_ids,
    long_from_long,
    shorten_array,
)
from impls.compiled.kernels.decode import COPY_BYTES, copy_token, token_length, token_start
from impls.compiled.kernels.interpreter import clear_error, list_get, list_size, long_as_long, nothing
from impls.compiled.kernels.memory import (
    allocate,
    declare_region,
    external,
    kernel,
    load_i64,
    reallocate,
    release_memory,
    store_64,
)
from impls.compiled.kernels.strings import length_of
from impls.compiled.kernels.texts import IDS_BEHIND, OUT_REGION, encode_text, give_back, is_longest, most_ids
from impls.compiled.layout import BUSY, NEW_ARRAY, OUT_LIMIT, RAISED, REPLACE, SIZE

decode_utf8 = external("PyUnicode_DecodeUTF8", 3)
bytes_from_memory = external("PyBytes_FromStringAndSize", 2)


@kernel
def _encoded(context: int, text: int, look: int, as_array: bool) -> int:
    if load_i64(context + BUSY) != 0 or (as_array and load_i64(context + NEW_ARRAY) == 0):
        return nothing(context)
    longest = is_longest(context, text)
    if as_array and longest and length_of(text) > load_i64(context + OUT_LIMIT) and most_ids(context, text) > 0:
        return _new_array(context, text, look)
    count, out = encode_text(context, text, 0, longest, 1, look)
    if count == RAISED:
        return 0
    if count < 0:
        result = nothing(context)
    elif as_array:
        result = array_of_ids(context, out, count)
    else:
        result = list_of_ids(context, out, count)
    give_back(context, out)
    return result


@kernel
def _new_array(context: int, text: int, look: int) -> int:
    """An array the ids are written to at once, or None, or 0 with an exception set.

    Later, when a buffer has been touched, it costs less to copy them to an array of just their number.
    """
    most = most_ids(context, text)
    array = empty_array(context, most + IDS_BEHIND)
    if array == 0:
        clear_error()
        return nothing(context)
    out = ids_of_array(context, array)
    declare_region(OUT_REGION, out, out + 4 * (most + IDS_BEHIND))
    count, _ = encode_text(context, text, out, True, 1, look)
    if count >= 0 and shorten_array(context, array, count):
        return array
    decrement(array)
    return 0 if count == RAISED or count >= 0 else nothing(context)


@kernel
def encode_to_list(context: int, text: int) -> int:
    """str -> list of int, special texts read as any others."""
    return _encoded(context, text, 0, False)


@kernel
def encode_to_list_unless_special(context: int, text: int) -> int:
    """str -> list of int; None for a text that may hold a special one."""
    return _encoded(context, text, 1, False)


@kernel
def encode_to_array(context: int, text: int) -> int:
    """str -> array of uint32, special texts read as any others."""
    return _encoded(context, text, 0, True)


@kernel
def encode_to_array_unless_special(context: int, text: int) -> int:
    """str -> array of uint32; None for a text that may hold a special one."""
    return _encoded(context, text, 1, True)


@kernel
def count_ids(context: int, text: int) -> int:
    """str -> int, the number of ids."""
    if load_i64(context + BUSY) != 0:
        return nothing(context)
    count, out = encode_text(context, text, 0, is_longest(context, text), 0, 0)
    if count == RAISED:
        return 0
    give_back(context, out)
    return long_from_long(count) if count >= 0 else nothing(context)


@kernel
def _gather(context: int, ids: int, n_ids: int) -> int:
    """The bytes of a list of ids in new memory, their number left in SIZE; 0 where the plain path has to decode."""
    room = 8 * n_ids + 4096
    out = allocate(OUT_REGION, room)
    if out == 0:
        return 0
    used = 0
    for i in range(n_ids):
        token = long_as_long(list_get(ids, i))
        start = token_start(context, token)
        if start < 0:
            clear_error()
            release_memory(out)
            return 0
        length = token_length(context, token, start)
        if used + length + COPY_BYTES > room:
            room = 2 * room + length
            grown = reallocate(OUT_REGION, out, room)
            if grown == 0:
                release_memory(out)
                return 0
            out = grown
        copy_token(context, start, length, out + used)
        used += length
    store_64(context + SIZE, used)
    return out


@kernel
def decode_to_str(context: int, ids: int) -> int:
    """list of int -> str, bad UTF-8 replaced."""
    out = _gather(context, ids, list_size(ids))
    if out == 0:
        return nothing(context)
    text = decode_utf8(out, load_i64(context + SIZE), load_i64(context + REPLACE))
    release_memory(out)
    return text


@kernel
def decode_to_bytes(context: int, ids: int) -> int:
    """list of int -> bytes."""
    out = _gather(context, ids, list_size(ids))
    if out == 0:
        return nothing(context)
    result = bytes_from_memory(out, load_i64(context + SIZE))
    release_memory(out)
    return result
