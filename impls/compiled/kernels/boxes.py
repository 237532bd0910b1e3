"""Ids as Python objects: lists of ready-made ints, and arrays made through NumPy's C API (`numpy_api`)."""

from __future__ import annotations

from impls.compiled.kernels.memory import (
    call_pointer_2,
    call_pointer_4,
    copy_memory,
    external,
    increment,
    inlined,
    kernel,
    load_i64,
    load_u32,
    peek,
    peek_u32,
    poke_32,
    poke_64,
    store_64,
)
from impls.compiled.layout import ARRAY_DATA, ARRAY_KIND, INTEGERS, LIST_ITEMS, NEW_ARRAY, ORIGIN, SIZE

MOST_REFERENCES = 1 << 31
"""Where the lower half of a reference count is left to the interpreter: it may be an immortal object's."""

list_new = external("PyList_New", 1)
list_set = external("PyList_SetItem", 3)


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
