"""Bodies of the built-in functions that encode: they take Python objects and return lists, through the public C API.

A built-in is bound to an int, the address of its context. It returns None if the plain path has to take over: the
context is in use by a thread that released the interpreter lock, the pattern leaves text out, or memory ran out.
Arrays, counts, and text encoded on both sides of a cut are in another object file.
"""

from __future__ import annotations

from collections.abc import Callable

from impls.compiled.codegen.memory import copy_memory, kernel, outlined
from impls.compiled.codegen.pointers import u8s
from impls.compiled.cpython.pyobjects import (
    array_of_ids,
    clear_error,
    decrement,
    empty_array,
    finish_list,
    ids_of_array,
    list_new,
    list_of_ids,
    list_set,
    long_from_long,
    new_none,
    resize_array,
    restore_thread,
    save_thread,
    store_ids,
    this_thread,
    untracked_list,
)
from impls.compiled.cpython.strings import length_of, release_utf8, utf8_of_part, utf8_size
from impls.compiled.cpython.texts import (
    count_in_parts,
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
    NO_ROOM,
    RAISED,
    ContextRecord,
)
from impls.compiled.pretokenize.special_search import may_begin_special

IDS_AT_ONCE = 1 << 18
"""Number of ids converted at a time: a megabyte, which fits the second-level cache beside the encoder's tables."""


def encoding_by(in_parts: Callable[..., int], object_of: Callable[..., int]) -> Callable[..., int]:
    """Return a kernel that returns a text's ids as a Python object, or None if the plain path has to take over.

    `in_parts(context, text, check_special)` makes the object of a long text, or returns 0;
    `object_of(context, ids, count)` makes that of any other text.
    """

    @outlined
    def at_once(context: ContextRecord, text: int, check_special: int) -> int:
        count, out = encode_text(context, text, 1, check_special)
        if count == RAISED:
            return 0
        result = new_none(context) if count < 0 else object_of(context, out, count)
        release_ids(context, out)
        return result

    @kernel
    def encoded(context: ContextRecord, text: int, check_special: int) -> int:
        """Claim the context until the object is complete.

        Other Python code may run before that: on other threads while the interpreter lock is released, and on Python
        3.11 whenever an object is created, since that may run the garbage collector, and so any finalizer.
        """
        if context.busy != 0 or (check_special != 0 and context.n_specials < 0):
            return new_none(context)
        context.busy = 1
        result = 0
        if is_long(context, text):
            context.busy = this_thread()
            result = in_parts(context, text, check_special)
        if result == 0:
            result = at_once(context, text, check_special)
        context.busy = 0
        return result

    return encoded


@outlined
def _list_in_parts(context: ContextRecord, text: int, check_special: int) -> int:
    """Return a list, filled in steps of about IDS_AT_ONCE ids, or None; 0 for a text that is not encoded in parts.

    With smaller steps the ints and the encoder's tables would evict each other from the processor's cache. No other
    code may find the list before it is full.
    """
    kind, characters = splittable_characters(context, text)
    if kind < 0:
        return 0
    n, out, limit = length_of(text), context.out, context.out_limit
    boxed, room, total, begin, count, waiting = 0, 0, 0, 0, 0, 0
    state = save_thread()
    while begin < n and count >= 0:
        count, begin = encode_part(
            context, kind, characters, begin, n, out + 4 * waiting, limit - waiting, 1, check_special
        )
        if count >= 0:
            waiting += count
        if count >= 0 and (waiting >= IDS_AT_ONCE or begin >= n):
            restore_thread(state)
            if boxed == 0:
                room = waiting if begin >= n else waiting * n // begin * 17 // 16
                boxed = untracked_list(context, room)
            if boxed == 0 or not store_ids(context, boxed, total, room, out, waiting):
                count = NO_MEMORY
            total += waiting
            room = max(room, total)
            waiting = 0
            state = save_thread()
    restore_thread(state)
    if boxed != 0:
        if count >= 0 and finish_list(context, boxed, total, room):
            return boxed
        decrement(boxed)
    clear_error()
    return new_none(context) if count == MAY_BE_SPECIAL else 0


_encoded = encoding_by(_list_in_parts, list_of_ids)


@kernel
def encode_to_list(context: ContextRecord, text: int) -> int:
    """Encode (str -> list of int), special tokens read as ordinary text."""
    return _encoded(context, text, 0)


@kernel
def encode_to_list_unless_special(context: ContextRecord, text: int) -> int:
    """Encode (str -> list of int); return None for a text that may hold a special token."""
    return _encoded(context, text, 1)


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


_encoded_array = encoding_by(_array_in_parts, array_of_ids)


@kernel
def encode_to_array(context: ContextRecord, text: int) -> int:
    """Encode (str -> array of uint32), special tokens read as ordinary text."""
    return _encoded_array(context, text, 0)


@kernel
def encode_to_array_unless_special(context: ContextRecord, text: int) -> int:
    """Encode (str -> array of uint32); return None for a text that may hold a special token."""
    return _encoded_array(context, text, 1)


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


MOST_CUT_CHARACTERS = 1 << 12
"""Maximum length of a text that is encoded here; longer texts are encoded in another way."""


@kernel
def _ids_of_bytes(context: ContextRecord, text: int, n_bytes: int) -> int:
    """Return a list of the ids of UTF-8 text, or None; 0 with an exception set."""
    count = encode(context, text, n_bytes, context.out, 1)
    return list_of_ids(context, context.out, count) if count >= 0 else new_none(context)


@kernel
def _both_sides(context: ContextRecord, place: int, text: int, at: int, n_bytes: int) -> int:
    """Return the list [place, ids of the first `at` bytes, ids of the others], or None; 0 with an exception set."""
    number, none = long_from_long(place), context.none_object
    before = _ids_of_bytes(context, text, at)
    after = _ids_of_bytes(context, text + at, n_bytes - at)
    made = number != 0 and before != 0 and after != 0
    given_up = before == none or after == none
    result = 0
    if made and not given_up:
        result = list_new(3)
    if result == 0:
        decrement(number)
        decrement(before)
        decrement(after)
        return new_none(context) if made and given_up else 0
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
