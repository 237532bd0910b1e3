"""Bodies of the built-in functions that encode: they take Python objects and return lists, through the public C API.

A built-in is bound to an int, the address of its context. It returns None if the plain path has to take over: the
context is in use by a thread that released the interpreter lock, the pattern leaves text out, or memory ran out.
Arrays, counts, and text encoded on both sides of a cut are in another object file.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import declare_region, kernel, outlined
from impls.compiled.codegen.pointers import u8s
from impls.compiled.cpython.pyobjects import (
    array_of_ids,
    array_with_room,
    clear_error,
    data_of_array,
    decrement,
    list_new,
    list_of_ids,
    list_set,
    long_from_long,
    new_none,
    restore_thread,
    save_thread,
    store_in_array,
    this_thread,
)
from impls.compiled.cpython.strings import length_of, release_utf8, utf8_of_part, utf8_size
from impls.compiled.cpython.texts import (
    encode,
    encode_part,
    encode_text,
    is_long,
    last_cut,
    release_ids,
    splittable_characters,
)
from impls.compiled.layout import (
    MAY_BE_SPECIAL,
    NO_MEMORY,
    RAISED,
    ContextRecord,
)
from impls.compiled.pretokenize.special_search import may_begin_special

LIST, ARRAY, COUNT = range(3)
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
    n, out, limit = length_of(text), context.out, context.out_limit
    array, room, total, begin, count = 0, 0, 0, 0, 0
    state = save_thread()
    while begin < n and count >= 0:
        count, begin = encode_part(context, kind, characters, begin, n, out, limit, check_special)
        if count >= 0 and wanted != COUNT:
            if array == 0 or total + count > room:
                room = total + count
                if begin < n:
                    room = room * n // begin * 17 // 16
                restore_thread(state)
                array = array_with_room(context, array, room)
                state = save_thread()
            if array == 0:
                count = NO_MEMORY
            else:
                store_in_array(array, total, out, count)
        total += max(count, 0)
    restore_thread(state)
    result = 0
    if count < 0:
        decrement(array)
    elif wanted == COUNT:
        result = long_from_long(total)
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
    if count < 0:
        result = new_none(context)
    elif wanted == LIST:
        result = list_of_ids(context, out, count)
    elif wanted == ARRAY:
        result = array_of_ids(context, out, count)
    else:
        result = long_from_long(count)
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
        context.busy = this_thread()
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


@kernel
def count_ids(context: ContextRecord, text: int) -> int:
    """Count the ids of a text (str -> int)."""
    return _encoded(context, text, COUNT, 0)


MOST_CUT_CHARACTERS = 1 << 12
"""Maximum length of a text that is encoded here; longer texts are encoded in another way."""


@kernel
def _ids_of_bytes(context: ContextRecord, text: int, n_bytes: int) -> int:
    """Return a list of the ids of UTF-8 text, or None; 0 with an exception set."""
    count = encode(context, text, n_bytes, context.out)
    return list_of_ids(context, context.out, count) if count >= 0 else new_none(context)


@kernel
def _both_sides(context: ContextRecord, place: int, text: int, at: int, n_bytes: int) -> int:
    """Return the list [place, ids of the first `at` bytes, ids of the others], or None; 0 with an exception set."""
    number, none = long_from_long(place), context.none_object
    before = _ids_of_bytes(context, text, at)
    after = _ids_of_bytes(context, text + at, n_bytes - at)
    succeeded = number != 0 and before != 0 and after != 0
    given_up = before == none or after == none
    result = 0
    if succeeded and not given_up:
        result = list_new(3)
    if result == 0:
        decrement(number)
        decrement(before)
        decrement(after)
        return new_none(context) if succeeded and given_up else 0
    list_set(result, 0, number)
    list_set(result, 1, before)
    list_set(result, 2, after)
    return result


@kernel
def encode_cut(context: ContextRecord, text: int) -> int:
    """Encode (str -> [its last certain cut or 0, the ids before it, the ids after it]).

    Returns None if the caller has to find the cut: in a text that may hold the first characters of a special token, and
    in a long one.
    """
    kind, characters = -1, 0
    if context.busy == 0 and context.n_specials >= 0:
        kind, characters = splittable_characters(context, text)
    if kind < 0 or length_of(text) > MOST_CUT_CHARACTERS:
        return new_none(context)
    context.busy = 1
    result, n = 0, length_of(text)
    address = utf8_of_part(context, kind, characters, n)
    n_bytes = context.size
    if address == 0 or n_bytes > context.out_limit or may_begin_special(context, u8s(address), n_bytes):
        result = new_none(context)
    else:
        place = last_cut(context, kind, characters, n)
        at = n_bytes - utf8_size(kind, characters, place, n)
        result = _both_sides(context, place, address, at, n_bytes)
    release_utf8(context)
    context.busy = 0
    return result
