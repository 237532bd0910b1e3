"""Text in, NumPy array out: the array is made through NumPy's C API, whose functions `numpy_api` looks up."""

from __future__ import annotations

from impls.compiled.kernels.border import encode_unlocked, give_back, nothing, room_for, utf8
from impls.compiled.kernels.memory import (
    call_pointer_2,
    call_pointer_4,
    copy_memory,
    increment,
    kernel,
    load_i64,
    store_64,
)
from impls.compiled.layout import ARRAY_DATA, ARRAY_KIND, BUSY, NEW_ARRAY, ORIGIN, SIZE


@kernel
def array_of_ids(context: int, ids: int, count: int) -> int:
    """A new uint32 array of shape (count,); 0 with an exception set where there is no memory."""
    kind = load_i64(context + ARRAY_KIND)
    # PyArray_Empty takes a reference to the dtype over, and reads the shape from memory.
    increment(kind)
    store_64(context + SIZE, count)
    array = call_pointer_4(load_i64(context + NEW_ARRAY), 1, context + SIZE, kind, 0)
    if array != 0 and count > 0:
        copy_memory(call_pointer_2(load_i64(context + ARRAY_DATA), array, context + ORIGIN), ids, 4 * count)
    return array


@kernel
def _to_array(context: int, text: int, look: int) -> int:
    if load_i64(context + BUSY) != 0 or load_i64(context + NEW_ARRAY) == 0:
        return nothing(context)
    address = utf8(context, text)
    if address == 0:
        return 0
    n_bytes = load_i64(context + SIZE)
    out = room_for(context, n_bytes)
    if out == 0:
        return nothing(context)
    count = encode_unlocked(context, address, n_bytes, out, 1, look)
    result = array_of_ids(context, out, count) if count >= 0 else nothing(context)
    give_back(context, out)
    return result


@kernel
def encode_to_array(context: int, text: int) -> int:
    """str -> array of uint32, special texts read as any others."""
    return _to_array(context, text, 0)


@kernel
def encode_to_array_unless_special(context: int, text: int) -> int:
    """str -> array of uint32; None for a text that may hold a special one."""
    return _to_array(context, text, 1)
