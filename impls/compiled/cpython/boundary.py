"""Bodies of the built-in functions that encode: they take Python objects and return lists, through the public C API.

A built-in is bound to an int, the address of its context. It returns None if the plain path has to take over: the
context is in use by a thread that released the interpreter lock, the pattern leaves text out, or memory ran out. Arrays
and counts (`boundary_arrays`), and text encoded on both sides of a cut (`boundary_cut`), are in another object file.
"""

from __future__ import annotations

from collections.abc import Callable

from impls.compiled.codegen.memory import kernel, outlined
from impls.compiled.cpython.pyobjects import (
    clear_error,
    decrement,
    finish_list,
    list_of_ids,
    new_none,
    restore_thread,
    save_thread,
    store_ids,
    this_thread,
    untracked_list,
)
from impls.compiled.cpython.strings import length_of
from impls.compiled.cpython.texts import encode_part, encode_text, is_long, release_ids, splittable_characters
from impls.compiled.layout import (
    MAY_BE_SPECIAL,
    NO_MEMORY,
    RAISED,
    ContextRecord,
)

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
