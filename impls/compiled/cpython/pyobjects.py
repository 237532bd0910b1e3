"""Makes Python objects of ids: lists of ints, each int created once, and arrays through NumPy's C API (`numpy_api`).

An int is created when a list first needs it. So the ints of frequent ids are close together in memory, in the order of
their first occurrence, and ids that occur in no text cost nothing.
"""

from __future__ import annotations

from impls.compiled.codegen.allocation import ask_for_huge_pages, copy_memory, decrement, increment
from impls.compiled.codegen.memory import (
    call_pointer_2,
    call_pointer_4,
    external,
    external_void,
    inlined,
    kernel,
    outlined,
    peek,
    peek_u32,
    poke_32,
    poke_64,
)
from impls.compiled.codegen.pointers import field_address, u32s
from impls.compiled.layout import (
    ContextRecord,
)
from impls.compiled.typed_memory import I64s, U32s

MANY_ITEMS = 1 << 19
"""Length of a list from which on its untouched items take megabytes."""
MOST_REFERENCES = 1 << 31
"""If the lower half of a reference count is this or more, the interpreter counts: the object may be immortal."""

list_new = external("PyList_New", 1)
list_set = external("PyList_SetItem", 3)
_list_set_slice = external("PyList_SetSlice", 4)
_track = external_void("PyObject_GC_Track", 1)
_untrack = external_void("PyObject_GC_UnTrack", 1)
long_from_long = external("PyLong_FromLong", 1)


@outlined
def _make_integer(integers: I64s, token: int) -> int:
    """Create the int of an id, store it in the table and return it; 0 with an exception set if out of memory."""
    integers[token] = long_from_long(token)
    return integers[token]


@inlined
def _integer(integers: I64s, token: int) -> int:
    """Return the int of an id, a reference borrowed from the table; 0 with an exception set if out of memory."""
    integer = integers[token]
    if integer == 0:
        integer = _make_integer(integers, token)
    return integer


@inlined
def _fill_items(integers: I64s, ids: U32s, count: int, items: int) -> bool:
    """Store the ints of ids at `items`, each with a new reference; return False with an exception set if out of memory.

    This is what Py_INCREF and PyList_SET_ITEM of the public headers do; an immortal int has the top bit of the count's
    lower half set, and is left to the function `Py_IncRef`.
    """
    for i in range(count):
        integer = _integer(integers, ids[i])
        if integer == 0:
            return False
        references = peek_u32(integer)
        if references < MOST_REFERENCES:
            poke_32(integer, references + 1)
        else:
            increment(integer)
        poke_64(items + 8 * i, integer)
    return True


@kernel
def list_of_ids(context: ContextRecord, ids: int, count: int) -> int:
    """Return a new list of ints; 0 with an exception set if out of memory."""
    boxed = list_new(count)
    if boxed == 0:
        return 0
    items = peek(boxed + context.list_items)
    if count >= MANY_ITEMS:
        ask_for_huge_pages(items, 8 * count)
    if not _fill_items(context.integers, u32s(ids), count, items):
        decrement(boxed)
        return 0
    return boxed


@inlined
def _set_slice(boxed: int, begin: int, end: int, items: int) -> bool:
    """Replace items of a list by those of another (0: by none); return False with an exception set if out of memory."""
    # The C function returns an int: the upper half of the register is undefined.
    return _list_set_slice(boxed, begin, end, items) & 0xFFFFFFFF == 0


@kernel
def untracked_list(context: ContextRecord, room: int) -> int:
    """Return a list for `room` ids, untracked by the garbage collector until `finish_list`; 0 with an exception set."""
    boxed = list_new(room)
    if boxed != 0:
        _untrack(boxed)
        if room >= MANY_ITEMS:
            ask_for_huge_pages(peek(boxed + context.list_items), 8 * room)
    return boxed


@kernel
def store_ids(context: ContextRecord, boxed: int, at: int, room: int, ids: int, count: int) -> bool:
    """Store ints in a list of `untracked_list` from index `at` on; append those beyond its `room`.

    Returns False with an exception set if out of memory.
    """
    n_within = min(count, room - at)
    items = peek(boxed + context.list_items) + 8 * at
    if not _fill_items(context.integers, u32s(ids), n_within, items):
        return False
    if n_within == count:
        return True
    more = list_of_ids(context, ids + 4 * n_within, count - n_within)
    if more == 0:
        return False
    done = _set_slice(boxed, room, room, more)
    decrement(more)
    return done


@kernel
def finish_list(context: ContextRecord, boxed: int, count: int, room: int) -> bool:
    """Truncate a list of `untracked_list` to `count` items and let the garbage collector track it.

    Returns False with an exception set if out of memory.
    """
    none, items = context.none_object, peek(boxed + context.list_items)
    for i in range(count, room):
        increment(none)
        poke_64(items + 8 * i, none)
    if count < room and not _set_slice(boxed, count, room, 0):
        return False
    _track(boxed)
    return True


@kernel
def empty_array(context: ContextRecord, count: int) -> int:
    """Return a new uint32 array of shape (count,); 0 with an exception set if out of memory."""
    kind = context.array_kind
    # PyArray_Empty steals a reference to the dtype, and reads the shape from memory.
    increment(kind)
    context.size = count
    return call_pointer_4(context.new_array, 1, field_address(context, "size"), kind, 0)


@kernel
def ids_of_array(context: ContextRecord, array: int) -> int:
    """Return the address of the ids in a non-empty array."""
    return call_pointer_2(context.array_data, array, field_address(context, "origin"))


@kernel
def array_of_ids(context: ContextRecord, ids: int, count: int) -> int:
    """Return a new array of these ids; 0 with an exception set if out of memory."""
    array = empty_array(context, count)
    if array != 0 and count > 0:
        copy_memory(ids_of_array(context, array), ids, 4 * count)
    return array


@kernel
def resize_array(context: ContextRecord, array: int, count: int) -> bool:
    """Resize an array that no other code refers to; return False with an exception set if out of memory."""
    context.size = count
    none = call_pointer_4(context.resize, array, field_address(context, "shape"), 0, 0)
    if none == 0:
        return False
    decrement(none)
    return True
