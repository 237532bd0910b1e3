"""Bodies of the built-in functions that encode: they take Python objects and return lists, through the public C API.

A built-in is bound to an int, the address of its context. It returns None if the plain path has to take over: the
context is in use by a thread that released the interpreter lock, the pattern leaves text out, or memory ran out.
Arrays are in another object file.
"""

from __future__ import annotations

from impls.compiled.cpython.pyobjects import (
    array_with_room,
    clear_error,
    data_of_array,
    decrement,
    list_of_ids,
    new_none,
    object_of_ids,
    release_lock,
    restore_thread,
    save_thread,
    store_in_array,
)
from impls.compiled.cpython.strings import length_of
from impls.compiled.cpython.texts import (
    encode_part,
    encode_text,
    is_long,
    release_ids,
    splittable_characters,
)
from impls.compiled.language.memory import declare_region, kernel, outlined
from impls.compiled.layout import (
    MAY_BE_SPECIAL,
    NO_MEMORY,
    RAISED,
    ContextRecord,
)

LIST, ARRAY = range(2)
"""The object that a built-in makes of a text's ids."""
ARRAY_REGION = 6


@outlined
def _in_parts(context: ContextRecord, text: int, wanted: int, check_special: int) -> int:
    """Return the object of a long text, or None; 0 for a text that is not encoded in parts.

    The ids are put in an array, with room for the number predicted from the text read so far, and a sixteenth more.
    """
    kind, characters = splittable_characters(context, text)
    if kind < 0:
        return 0
    n, array, room, total, begin, count = length_of(text), 0, 0, 0, 0, 0
    state = release_lock(context)
    while begin < n and count >= 0:
        count, begin = encode_part(context, kind, characters, begin, n, check_special)
        if count >= 0 and (array == 0 or total + count > room):
            room = total + count
            if begin < n:
                room = room * n // begin * 17 // 16
            restore_thread(state)
            array = array_with_room(context, array, room)
            state = save_thread()
            if array == 0:
                count = NO_MEMORY
        if count >= 0:
            store_in_array(array, total, context.out, count)
            total += count
    restore_thread(state)
    result = 0
    if count < 0:
        decrement(array)
    elif wanted == ARRAY:
        result = array_with_room(context, array, total)
    else:
        ids = data_of_array(array)
        declare_region(ARRAY_REGION, ids, ids + 4 * total)
        result = list_of_ids(context, ids, total)
        decrement(array)
    if result != 0:
        return result
    clear_error()
    return new_none(context) if count == MAY_BE_SPECIAL else 0


@outlined
def _at_once(context: ContextRecord, text: int, wanted: int, check_special: int) -> int:
    count, out = encode_text(context, text, check_special)
    if count == RAISED:
        return 0
    result = object_of_ids(context, out, count, wanted) if count >= 0 else new_none(context)
    release_ids(context, out)
    return result


@kernel
def _encoded(context: ContextRecord, text: int, wanted: int, check_special: int) -> int:
    """Return the object of a text's ids, or None if the plain path has to take over; 0 with an exception set.

    The context is claimed until the object is complete. Other Python code may run before that: on other threads while
    the interpreter lock is released, and on Python 3.11 whenever an object is created, since that may run the garbage
    collector, and so any finalizer.
    """
    if context.busy != 0 or (check_special != 0 and context.n_specials < 0):
        return new_none(context)
    context.busy = 1
    result = 0
    if is_long(context, text):
        result = _in_parts(context, text, wanted, check_special)
    if result == 0:
        result = _at_once(context, text, wanted, check_special)
    context.busy = 0
    return result


@kernel
def encode_to_list(context: ContextRecord, text: int) -> int:
    """Encode (str -> list of int), special tokens read as ordinary text."""
    return _encoded(context, text, LIST, 0)


@kernel
def encode_to_list_unless_special(context: ContextRecord, text: int) -> int:
    """Encode (str -> list of int); return None for a text that may hold a special token."""
    return _encoded(context, text, LIST, 1)


@kernel
def encode_to_array(context: ContextRecord, text: int) -> int:
    """Encode (str -> array of uint32), special tokens read as ordinary text."""
    return _encoded(context, text, ARRAY, 0)


@kernel
def encode_to_array_unless_special(context: ContextRecord, text: int) -> int:
    """Encode (str -> array of uint32); return None for a text that may hold a special token."""
    return _encoded(context, text, ARRAY, 1)
