"""Bodies of the built-in functions that make an array of a text's ids, or count them; see `boundary`."""

from __future__ import annotations

from impls.compiled.codegen.memory import copy_memory, kernel, outlined
from impls.compiled.cpython.boundary import encoding_by
from impls.compiled.cpython.pyobjects import (
    array_of_ids,
    clear_error,
    decrement,
    empty_array,
    ids_of_array,
    long_from_long,
    new_none,
    resize_array,
    restore_thread,
    save_thread,
)
from impls.compiled.cpython.strings import length_of
from impls.compiled.cpython.texts import (
    count_in_parts,
    encode_part,
    encode_text,
    is_long,
    release_ids,
    splittable_characters,
)
from impls.compiled.layout import MAY_BE_SPECIAL, NO_MEMORY, NO_ROOM, RAISED, ContextRecord


@kernel
def _with_room(context: ContextRecord, array: int, room: int) -> int:
    """Return `array` resized to `room`, or a new one if it is 0; on failure release it, set an exception, return 0."""
    if array == 0:
        return empty_array(context, room)
    if resize_array(context, array, room):
        return array
    decrement(array)
    return 0


@outlined
def _array_in_parts(context: ContextRecord, text: int, check_special: int) -> int:
    """Return an array that is filled part by part, or None; 0 for a text that is not encoded in parts.

    This way the ids need no other memory. The array has room for the number of ids predicted from the text read so far,
    and a sixteenth more. The interpreter lock is held only while the array is created or grows.
    """
    kind, characters = splittable_characters(context, text)
    if kind < 0:
        return 0
    n, out, limit = length_of(text), context.out, context.out_limit
    array, ids, room, total, begin, count = 0, 0, 0, 0, 0, 0
    state = save_thread()
    while begin < n and count >= 0:
        count, begin = encode_part(context, kind, characters, begin, n, out, limit, 1, check_special)
        if count > 0 and total + count > room:
            restore_thread(state)
            room = (total + count) * n // begin
            room += room >> 4
            array = _with_room(context, array, room)
            if array == 0:
                count = NO_MEMORY
            else:
                ids = ids_of_array(context, array)
            state = save_thread()
        if count > 0:
            copy_memory(ids + 4 * total, out, 4 * count)
            total += count
    restore_thread(state)
    if array != 0:
        if count >= 0 and resize_array(context, array, total):
            return array
        decrement(array)
    clear_error()
    return new_none(context) if count == MAY_BE_SPECIAL else 0


_encoded = encoding_by(_array_in_parts, array_of_ids)


@kernel
def encode_to_array(context: ContextRecord, text: int) -> int:
    """Encode (str -> array of uint32), special tokens read as ordinary text."""
    return _encoded(context, text, 0)


@kernel
def encode_to_array_unless_special(context: ContextRecord, text: int) -> int:
    """Encode (str -> array of uint32); return None for a text that may hold a special token."""
    return _encoded(context, text, 1)


@kernel
def count_ids(context: ContextRecord, text: int) -> int:
    """Count the ids of a text (str -> int)."""
    if context.busy != 0:
        return new_none(context)
    context.busy = 1
    count, out = NO_ROOM, context.out
    if is_long(context, text):
        count = count_in_parts(context, text)
    if count < 0:
        count, out = encode_text(context, text, 0, 0)
    if count != RAISED:
        release_ids(context, out)
    context.busy = 0
    if count == RAISED:
        return 0
    return long_from_long(count) if count >= 0 else new_none(context)
