"""Bodies of the built-in functions that decode: they take a list of ids and return str or bytes, by the public C API.

The bytes of all tokens lie in one blob, from which they are copied 16 at a time. The functions return None if the plain
path has to take over: an id is unknown or not an int, or memory ran out.
"""

from __future__ import annotations

from impls.compiled.cpython.pyobjects import clear_error, list_get, list_size, long_as_long, new_none
from impls.compiled.cpython.strings import type_of
from impls.compiled.cpython.texts import OUT_REGION
from impls.compiled.language.memory import allocate, external, kernel, reallocate, release_memory
from impls.compiled.language.pointers import from_item, set_word, u8s, word_at
from impls.compiled.layout import ContextRecord
from impls.compiled.lookup.cache import token_length

COPY_BYTES = 16
"""Bytes copied at once; a copy may run up to this far past the end of a token, in the blob and in the copy."""
decode_utf8 = external("PyUnicode_DecodeUTF8", 3)
bytes_from_memory = external("PyBytes_FromStringAndSize", 2)


@kernel
def _gather(context: ContextRecord, ids: int, n_ids: int) -> tuple[int, int]:
    """Return the address of the decoded bytes, in new memory, and their number; 0, 0 if the plain path has to decode.

    Nothing is written to the context, which another thread may be using. Only exact ints are read: converting anything
    else would run Python code, which could change the list.
    """
    room = 8 * n_ids + 4096
    out = allocate(OUT_REGION, room)
    if out == 0:
        return 0, 0
    used, ints, starts = 0, context.int_type, context.token_starts
    for i in range(n_ids):
        item = list_get(ids, i)
        token = -1
        if type_of(item) == ints:
            token = long_as_long(item)
        if token < 0 or token >= context.n_ids or starts[token] < 0:
            clear_error()
            release_memory(out)
            return 0, 0
        length = token_length(starts, token)
        if used + length + COPY_BYTES > room:
            room = 2 * room + length
            grown = reallocate(OUT_REGION, out, room)
            if grown == 0:
                release_memory(out)
                return 0, 0
            out = grown
        source, target = from_item(context.token_bytes, starts[token]), u8s(out + used)
        for at in range(0, length, COPY_BYTES):
            set_word(target, at, word_at(source, at))
            set_word(target, at + 8, word_at(source, at + 8))
        used += length
    return out, used


@kernel
def decode_to_str(context: ContextRecord, ids: int) -> int:
    """Decode (list of int -> str), invalid UTF-8 replaced."""
    out, n_bytes = _gather(context, ids, list_size(ids))
    if out == 0:
        return new_none(context)
    text = decode_utf8(out, n_bytes, context.replace)
    release_memory(out)
    return text


@kernel
def decode_to_bytes(context: ContextRecord, ids: int) -> int:
    """Decode (list of int -> bytes)."""
    out, n_bytes = _gather(context, ids, list_size(ids))
    if out == 0:
        return new_none(context)
    result = bytes_from_memory(out, n_bytes)
    release_memory(out)
    return result
