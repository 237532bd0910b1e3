"""Python objects in, Python objects out, through the public C API: bodies of built-in functions.

A built-in is bound to an int, the address of its context. It returns None where the plain path has to take over:
the context is in use by a thread that released the lock, an id is unknown, text is not covered, memory ran out.
"""

from __future__ import annotations

from impls.compiled.kernels.decode import COPY_BYTES, copy_token, token_length, token_start
from impls.compiled.kernels.memory import (
    allocate,
    declare_region,
    external,
    external_void,
    increment,
    inlined,
    kernel,
    load_i64,
    load_u32,
    peek,
    peek_u32,
    poke_32,
    poke_64,
    reallocate,
    release_memory,
    shift_right,
    store_64,
)
from impls.compiled.kernels.needle import may_hold_special
from impls.compiled.kernels.transcode import transcode
from impls.compiled.layout import (
    BUFFER_AT,
    BUSY,
    INTEGERS,
    LIST_ITEMS,
    MAY_BE_SPECIAL,
    NOTHING,
    OUT,
    OUT_LIMIT,
    PAD_BYTES,
    REPLACE,
    SIZE,
    STR_DATA,
    STR_SHIFT,
    STR_STATE,
    STR_UTF8,
    TEXT,
    TEXT_LIMIT,
    WORK,
)

TEXT_REGION, OUT_REGION, BATCH_REGION, COUNTS_REGION = 0, 2, 3, 4
RELEASE_FROM_BYTES = 1024
"""Shorter texts are encoded while the interpreter lock is held."""
LENGTH_AT = 16
"""Where a str holds the number of its characters."""
MOST_REFERENCES = 1 << 31
"""Where the lower half of a reference count is left to the interpreter: it may be an immortal object's."""

list_new = external("PyList_New", 1)
list_size = external("PyList_Size", 1)
list_get = external("PyList_GetItem", 2)
list_set = external("PyList_SetItem", 3)
long_as_address = external("PyLong_AsVoidPtr", 1)
long_as_long = external("PyLong_AsLong", 1)
long_from_long = external("PyLong_FromLong", 1)
utf8_and_size = external("PyUnicode_AsUTF8AndSize", 2)
decode_utf8 = external("PyUnicode_DecodeUTF8", 3)
bytes_from_memory = external("PyBytes_FromStringAndSize", 2)
bytearray_from_memory = external("PyByteArray_FromStringAndSize", 2)
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


@kernel
def room_for(context: int, n_bytes: int) -> int:
    """A buffer for the ids of n_bytes of text: the context's own, or new memory; 0 where there is none."""
    if n_bytes <= load_i64(context + OUT_LIMIT):
        return load_i64(context + OUT)
    return allocate(OUT_REGION, 4 * n_bytes + PAD_BYTES)


@kernel
def give_back(context: int, out: int) -> None:
    """Ends the use of a buffer of `room_for`."""
    if out != load_i64(context + OUT):
        release_memory(out)


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


@inlined
def _fill_items(integers: int, ids: int, count: int, items: int) -> None:
    """Puts ready-made ints at `items`, each with a new reference.

    What Py_INCREF and PyList_SET_ITEM of the public headers come to; an immortal int has the top bit of the count's
    lower half set, and is left to the function.
    """
    for i in range(count):
        integer = load_i64(integers + 8 * load_u32(ids + 4 * i))
        references = peek_u32(integer)
        if references < MOST_REFERENCES:
            poke_32(integer, references + 1)
        else:
            increment(integer)
        poke_64(items + 8 * i, integer)


@kernel
def list_of_ids(context: int, ids: int, count: int) -> int:
    """A list of ready-made ints; 0 with an exception set where there is no memory."""
    boxed = list_new(count)
    if boxed == 0:
        return 0
    integers = load_i64(context + INTEGERS)
    items_at = load_i64(context + LIST_ITEMS)
    if items_at != 0:
        _fill_items(integers, ids, count, peek(boxed + items_at))
        return boxed
    for i in range(count):
        integer = load_i64(integers + 8 * load_u32(ids + 4 * i))
        increment(integer)
        list_set(boxed, i, integer)
    return boxed


@kernel
def _to_list(context: int, text: int, look: int) -> int:
    if load_i64(context + BUSY) != 0:
        return nothing(context)
    address = utf8(context, text)
    if address == 0:
        return 0
    n_bytes = load_i64(context + SIZE)
    out = room_for(context, n_bytes)
    if out == 0:
        return nothing(context)
    count = encode_unlocked(context, address, n_bytes, out, 1, look)
    result = list_of_ids(context, out, count) if count >= 0 else nothing(context)
    give_back(context, out)
    return result


@kernel
def encode_to_list(context: int, text: int) -> int:
    """str -> list of int, special texts read as any others."""
    return _to_list(context, text, 0)


@kernel
def encode_to_list_unless_special(context: int, text: int) -> int:
    """str -> list of int; None for a text that may hold a special one."""
    return _to_list(context, text, 1)


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
        return nothing(context)
    count = encode_unlocked(context, address, n_bytes, out, 0, 0)
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
