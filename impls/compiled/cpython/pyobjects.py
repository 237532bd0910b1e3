"""Makes Python objects of ids by public C APIs: lists of the ints of `interpreter`, and arrays."""

from __future__ import annotations

import time

from impls.compiled.codegen.memory import (
    ask_for_huge_pages,
    call_pointer_2,
    call_pointer_4,
    copy_memory,
    external,
    inlined,
    kernel,
    peek,
    poke_64,
)
from impls.compiled.codegen.pointers import field_address, u32s
from impls.compiled.layout import INT_BYTES, ContextRecord
from impls.compiled.typed_memory import U32s

increment = external("Py_IncRef", 1)
"""Add a reference to an object."""
decrement = external("Py_DecRef", 1)
"""Drop a reference to an object."""
list_size = external("PyList_Size", 1)
list_get = external("PyList_GetItem", 2)
long_as_address = external("PyLong_AsVoidPtr", 1)
long_as_long = external("PyLong_AsLong", 1)
call_with_one = external("PyObject_CallOneArg", 2)
clear_error = external("PyErr_Clear", 0)
save_thread = external("PyEval_SaveThread", 0)
restore_thread = external("PyEval_RestoreThread", 1)
this_thread = external("PyThread_get_thread_ident", 0)

_read_clock = external("clock_gettime", 2)
_MONOTONIC: int = getattr(time, "CLOCK_MONOTONIC", 1)
LONG_WAIT_NANOSECONDS = 1_000_000


@kernel
def _nanoseconds(context: ContextRecord) -> int:
    _read_clock(_MONOTONIC, field_address(context, "clock"))
    return 1_000_000_000 * context.clock + context.clock_nanoseconds


@kernel
def restored_after_long_wait(context: ContextRecord, state: int) -> bool:
    """Call `restore_thread`; return whether it took long, as it does while other threads are busy running Python.

    The interpreter lets a thread run for 5 ms before it switches.
    """
    before = _nanoseconds(context)
    restore_thread(state)
    return _nanoseconds(context) - before > LONG_WAIT_NANOSECONDS


@kernel
def new_none(context: ContextRecord) -> int:
    """Return None as a new reference."""
    none = context.none_object
    increment(none)
    return none


MANY_ITEMS = 1 << 19
"""Length of a list from which on its untouched items take megabytes."""

list_new = external("PyList_New", 1)
list_set = external("PyList_SetItem", 3)
_list_set_slice = external("PyList_SetSlice", 4)
_track = external("PyObject_GC_Track", 1)
_untrack = external("PyObject_GC_UnTrack", 1)
long_from_long = external("PyLong_FromLong", 1)


@inlined
def _fill_items(context: ContextRecord, ids: U32s, count: int, items: int) -> None:
    """Store the ints of ids at `items`, as PyList_SET_ITEM of the public headers does; they count no references."""
    integers = context.integers
    for i in range(count):
        poke_64(items + 8 * i, integers + INT_BYTES * ids[i])


@kernel
def list_of_ids(context: ContextRecord, ids: int, count: int) -> int:
    """Return a new list of ints; 0 with an exception set if out of memory."""
    boxed = list_new(count)
    if boxed == 0:
        return 0
    items = peek(boxed + context.list_items)
    if count >= MANY_ITEMS:
        ask_for_huge_pages(items, 8 * count)
    _fill_items(context, u32s(ids), count, items)
    return boxed


@kernel
def list_with_room(context: ContextRecord, boxed: int, room: int) -> int:
    """Return a list for `room` ids that begins with what `boxed` holds, unless that is 0, and replaces it.

    The garbage collector does not track it until `complete_list`. Returns 0 with an exception set if out of memory.
    """
    larger = list_new(room)
    if larger != 0:
        _untrack(larger)
        items = peek(larger + context.list_items)
        if room >= MANY_ITEMS:
            ask_for_huge_pages(items, 8 * room)
        if boxed != 0:
            copy_memory(items, peek(boxed + context.list_items), 8 * list_size(boxed))
    decrement(boxed)
    return larger


@inlined
def store_in_list(context: ContextRecord, boxed: int, begin: int, ids: int, count: int) -> None:
    """Store ints in a list of `list_with_room` from index `begin` on; needs no interpreter lock."""
    _fill_items(context, u32s(ids), count, peek(boxed + context.list_items) + 8 * begin)


@kernel
def complete_list(context: ContextRecord, boxed: int, count: int) -> int:
    """Truncate a list of `list_with_room` to `count` items, let the garbage collector track it, and return it.

    If out of memory, returns 0 with an exception set, and the list is released.
    """
    none, items, room = context.none_object, peek(boxed + context.list_items), list_size(boxed)
    for i in range(count, room):
        increment(none)
        poke_64(items + 8 * i, none)
    # The C function returns an int: the upper half of the register is undefined.
    if count < room and _list_set_slice(boxed, count, room, 0) & 0xFFFFFFFF != 0:
        decrement(boxed)
        return 0
    _track(boxed)
    return boxed


@kernel
def _empty_array(context: ContextRecord, count: int) -> int:
    """Return a new uint32 array of shape (count,); 0 with an exception set if out of memory."""
    kind = context.array_kind
    # PyArray_Empty steals a reference to the dtype, and reads the shape from memory.
    increment(kind)
    context.size = count
    return call_pointer_4(context.new_array, 1, field_address(context, "size"), kind, 0)


@kernel
def array_of_ids(context: ContextRecord, ids: int, count: int) -> int:
    """Return a new array of these ids; 0 with an exception set if out of memory."""
    array = _empty_array(context, count)
    if array != 0 and count > 0:
        store_in_array(context, array, 0, ids, count)
    return array


@inlined
def store_in_array(context: ContextRecord, array: int, begin: int, ids: int, count: int) -> None:
    """Store ids in a non-empty array from index `begin` on; needs no interpreter lock."""
    first = call_pointer_2(context.array_data, array, field_address(context, "origin"))
    copy_memory(first + 4 * begin, ids, 4 * count)


@kernel
def array_with_room(context: ContextRecord, array: int, room: int) -> int:
    """Return an array that no other code refers to resized to `room` ids, or a new one if `array` is 0.

    If out of memory, returns 0 with an exception set, and the array is released.
    """
    if array == 0:
        return _empty_array(context, room)
    context.size = room
    none = call_pointer_4(context.resize, array, field_address(context, "shape"), 0, 0)
    decrement(none)
    if none == 0:
        decrement(array)
        return 0
    return array
