"""Body of the built-in function that encodes a text on both sides of its last certain cut; see `boundary`."""

from __future__ import annotations

from impls.compiled.codegen.allocation import decrement
from impls.compiled.codegen.memory import kernel
from impls.compiled.codegen.pointers import u8s
from impls.compiled.cpython.interpreter import new_none
from impls.compiled.cpython.pyobjects import list_new, list_of_ids, list_set, long_from_long
from impls.compiled.cpython.strings import length_of, release_utf8, utf8_of_part, utf8_size
from impls.compiled.cpython.texts import encode, last_cut, splittable_characters
from impls.compiled.layout import ContextRecord
from impls.compiled.pretokenize.special_search import may_begin_special

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
