"""Python objects in, Python objects out, through the public C API: bodies of built-in functions.

A built-in is bound to an int, the address of its context. It returns None where the plain path has to take over:
the context is in use by a thread that released the lock, an id is unknown, text is not covered, memory ran out.
"""

from __future__ import annotations

from impls.compiled.kernels.boxes import array_of_ids, list_of_ids, long_from_long
from impls.compiled.kernels.decode import COPY_BYTES, copy_token, token_length, token_start
from impls.compiled.kernels.memory import (
    allocate,
    allocate_large,
    external,
    external_void,
    increment,
    kernel,
    load_i64,
    reallocate,
    release_large,
    release_memory,
    store_64,
)
from impls.compiled.kernels.needle import may_hold_special
from impls.compiled.kernels.strings import give_back_utf8, utf8
from impls.compiled.layout import BUSY, MAY_BE_SPECIAL, NEW_ARRAY, NOTHING, OUT, OUT_LIMIT, PAD_BYTES, REPLACE, SIZE

OUT_REGION = 2
RELEASE_FROM_BYTES = 1024
"""Shorter texts are encoded while the interpreter lock is held."""

list_size = external("PyList_Size", 1)
list_get = external("PyList_GetItem", 2)
long_as_address = external("PyLong_AsVoidPtr", 1)
long_as_long = external("PyLong_AsLong", 1)
decode_utf8 = external("PyUnicode_DecodeUTF8", 3)
bytes_from_memory = external("PyBytes_FromStringAndSize", 2)
clear_error = external_void("PyErr_Clear", 0)
encode = external("bpebench_encode", 5)
"""`kernels.encode.encode`, linked by its exported name so that it is compiled once."""
save_thread = external("PyEval_SaveThread", 0)
restore_thread = external_void("PyEval_RestoreThread", 1)


@kernel
def nothing(context: int) -> int:
    """None, as a new reference."""
    none = load_i64(context + NOTHING)
    increment(none)
    return none


@kernel
def room_for(context: int, n_bytes: int) -> int:
    """A buffer for the ids of n_bytes of text: the context's own, or new memory; 0 where there is none."""
    if n_bytes <= load_i64(context + OUT_LIMIT):
        return load_i64(context + OUT)
    return allocate_large(OUT_REGION, 4 * n_bytes + PAD_BYTES)


@kernel
def give_back(context: int, out: int) -> None:
    """Ends the use of a buffer of `room_for`."""
    if out != load_i64(context + OUT):
        release_large(out)


@kernel
def _encode(context: int, text: int, n_bytes: int, out: int, keep: int, look: int) -> int:
    if look != 0 and may_hold_special(context, text, n_bytes):
        return MAY_BE_SPECIAL
    return encode(context, text, n_bytes, out, keep)


@kernel
def encode_unlocked(context: int, text: int, n_bytes: int, out: int, keep: int, look: int) -> int:
    """`encode`, with the interpreter lock released for a long text and the context marked as in use.

    With `look` 1 a text that may hold a special token gives MAY_BE_SPECIAL.
    """
    if n_bytes < RELEASE_FROM_BYTES:
        return _encode(context, text, n_bytes, out, keep, look)
    store_64(context + BUSY, 1)
    state = save_thread()
    count = _encode(context, text, n_bytes, out, keep, look)
    restore_thread(state)
    store_64(context + BUSY, 0)
    return count


@kernel
def _encoded(context: int, text: int, look: int, as_array: bool) -> int:
    if load_i64(context + BUSY) != 0 or (as_array and load_i64(context + NEW_ARRAY) == 0):
        return nothing(context)
    address = utf8(context, text)
    if address == 0:
        return 0
    n_bytes = load_i64(context + SIZE)
    out = room_for(context, n_bytes)
    if out == 0:
        give_back_utf8(context)
        return nothing(context)
    count = encode_unlocked(context, address, n_bytes, out, 1, look)
    give_back_utf8(context)
    if count < 0:
        result = nothing(context)
    elif as_array:
        result = array_of_ids(context, out, count)
    else:
        result = list_of_ids(context, out, count)
    give_back(context, out)
    return result


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
    address = utf8(context, text)
    if address == 0:
        return 0
    n_bytes = load_i64(context + SIZE)
    out = room_for(context, n_bytes)
    if out == 0:
        give_back_utf8(context)
        return nothing(context)
    count = encode_unlocked(context, address, n_bytes, out, 0, 0)
    give_back_utf8(context)
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
