"""Makes Python objects of ids by public C APIs: lists of the ints of `interpreter`, and arrays."""

from __future__ import annotations

from impls.compiled.language.memory import (
    call_pointer_4,
    copy_memory,
    external,
    inlined,
    kernel,
    peek,
    poke_64,
)
from impls.compiled.language.pointers import field_address, u32s
from impls.compiled.layout import ARRAY_DATA_AT, INT_BYTES, ContextRecord

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


@kernel
def release_lock(context: ContextRecord) -> int:
    """Release the interpreter lock, as the thread that uses the context; return what takes the lock again."""
    context.busy = this_thread()
    return save_thread()


@kernel
def new_none(context: ContextRecord) -> int:
    """Return None as a new reference."""
    none = context.none_object
    increment(none)
    return none


list_new = external("PyList_New", 1)
list_set = external("PyList_SetItem", 3)
long_from_long = external("PyLong_FromLong", 1)


@kernel
def list_of_ids(context: ContextRecord, ids: int, count: int) -> int:
    """Return a new list of ints; 0 with an exception set if out of memory.

    Items are stored as PyList_SET_ITEM of the public headers does; the ints count no references.
    """
    boxed = list_new(count)
    if boxed == 0:
        return 0
    items, integers, numbers = peek(boxed + context.list_items), context.integers, u32s(ids)
    for i in range(count):
        poke_64(items + 8 * i, integers + INT_BYTES * numbers[i])
    return boxed


@inlined
def data_of_array(array: int) -> int:
    """Return the address of an array's ids, as PyArray_DATA of the public headers does."""
    return peek(array + ARRAY_DATA_AT)


@inlined
def store_in_array(array: int, begin: int, ids: int, count: int) -> None:
    """Store ids in an array from index `begin` on; needs no interpreter lock."""
    copy_memory(data_of_array(array) + 4 * begin, ids, 4 * count)


@kernel
def array_with_room(context: ContextRecord, array: int, room: int) -> int:
    """Return an array that no other code refers to resized to `room` ids, or a new one if `array` is 0.

    If out of memory, returns 0 with an exception set, and the array is released.
    """
    context.size = room
    if array == 0:
        # PyArray_Empty steals a reference to the dtype, and reads the shape from memory.
        increment(context.array_kind)
        return call_pointer_4(context.new_array, 1, field_address(context, "size"), context.array_kind, 0)
    none = call_pointer_4(context.resize, array, field_address(context, "shape"), 0, 0)
    decrement(none)
    if none == 0:
        decrement(array)
        return 0
    return array


@kernel
def array_of_ids(context: ContextRecord, ids: int, count: int) -> int:
    """Return a new array of these ids; 0 with an exception set if out of memory."""
    array = array_with_room(context, 0, count)
    if array != 0:
        store_in_array(array, 0, ids, count)
    return array


@kernel
def object_of_ids(context: ContextRecord, ids: int, count: int, as_array: int) -> int:
    """Return a new array, or else a new list, of these ids; 0 with an exception set if out of memory."""
    return array_of_ids(context, ids, count) if as_array else list_of_ids(context, ids, count)
