"""Encodes one str to ids: at once, or part by part if it is long.

The first touch of memory is what a call may wait for longest, and memory for a whole long text is returned to the
system after each call. A part's UTF-8 and ids need little memory, always the same, and the ids are moved to their
destination. A text is cut between two characters where its pattern ends a piece whatever the context: the classes of
the two characters decide that (`pattern.tables.certain_cuts`).
"""

from __future__ import annotations

from impls.compiled.cpython.pyobjects import release_lock, restore_thread
from impls.compiled.cpython.strings import (
    character,
    kind_of,
    length_of,
    most_utf8_bytes,
    release_utf8,
    state_of,
    utf8,
    utf8_and_size,
    utf8_of_part,
)
from impls.compiled.language.memory import (
    allocate,
    external,
    inlined,
    kernel,
    outlined,
    release_memory,
    shift_right,
)
from impls.compiled.language.pointers import address_of, field_address, u8s
from impls.compiled.layout import (
    MAY_BE_SPECIAL,
    MOST_TEXT_BYTES,
    NO_MEMORY,
    NO_ROOM,
    NOT_UTF8,
    PAD_BYTES,
    PART_CHARACTERS,
    RAISED,
    ContextRecord,
)
from impls.compiled.pretokenize.layout import Automaton
from impls.compiled.pretokenize.scan import of_code_point
from impls.compiled.pretokenize.special_search import may_hold_special

OUT_REGION = 2
RELEASE_FROM_BYTES = 1024
"""The interpreter lock is released for texts of this size or more, and held for shorter ones."""

_exported_encode = external("bpebench_encode", 4)


@inlined
def encode(context: ContextRecord, text: int, n_bytes: int, out: int) -> int:
    """Call the exported `encode` (see `lookup/encode`), so that it is compiled once for all its callers."""
    return _exported_encode(address_of(context), text, n_bytes, out)


@kernel
def buffer_for_ids(context: ContextRecord, n_bytes: int) -> int:
    """Return a buffer for the ids of n_bytes of text: the context's own, or new memory; 0 if out of memory."""
    if n_bytes <= context.out_limit:
        return context.out
    return allocate(OUT_REGION, 4 * n_bytes + PAD_BYTES)


@kernel
def release_ids(context: ContextRecord, out: int) -> None:
    """Release a buffer of `buffer_for_ids`."""
    if out != context.out:
        release_memory(out)


@outlined
def _encode(context: ContextRecord, text: int, n_bytes: int, out: int, check_special: int) -> int:
    """Call `encode`; if `check_special` is 1, return MAY_BE_SPECIAL for a text that may hold a special token."""
    if check_special != 0 and may_hold_special(context, u8s(text), n_bytes):
        return MAY_BE_SPECIAL
    return encode(context, text, n_bytes, out)


@inlined
def _class_of(automaton: Automaton, code: int) -> int:
    return of_code_point(automaton.pages, automaton.page_classes, code)


@kernel
def _cut_within(context: ContextRecord, kind: int, characters: int, begin: int, end: int) -> int:
    """Return the last index after `begin`, and before `end`, at which a text may be cut; `begin` if none."""
    cuts, automaton, at = context.cuts, context.stages[0], end - 1
    after = _class_of(automaton, character(kind, characters, max(at, begin)))
    while at > begin:
        before = _class_of(automaton, character(kind, characters, at - 1))
        if shift_right(cuts[before], after) & 1:
            return at
        after = before
        at -= 1
    return begin


@kernel
def _end_of_part(context: ContextRecord, kind: int, characters: int, begin: int, n: int) -> int:
    """Return the end of the part that begins at character `begin` of n.

    A part ends at the last certain cut within PART_CHARACTERS, or at a later one if there is none within them.
    """
    searched, size = begin, PART_CHARACTERS
    while begin + size < n:
        end = _cut_within(context, kind, characters, searched, begin + size + 1)
        if end > searched:
            return end
        searched = begin + size
        size += size
    return n


@kernel
def splittable_characters(context: ContextRecord, text: int) -> tuple[int, int]:
    """Return the kind of the characters (0 for ASCII) of a str that `is_long`, and their address; -1 and 0 if it is not
    to be encoded part by part.

    A text that may be too large to be encoded at once is not cut up either: a later call could refuse it.
    """
    kind, characters = kind_of(context, text), text + context.str_data
    is_ascii = (state_of(context, text) >> 3) & 3 == 3
    if context.cuts == 0 or (kind == 0 and not is_ascii) or length_of(text) * most_utf8_bytes(kind) > MOST_TEXT_BYTES:
        return -1, 0
    if is_ascii:
        characters = utf8_and_size(text, field_address(context, "size"))
    return kind, characters


@kernel
def is_long(context: ContextRecord, text: int) -> bool:
    """Return whether an object is a str longer than a part."""
    return state_of(context, text) >= 0 and length_of(text) > PART_CHARACTERS


@outlined
def encode_part(
    context: ContextRecord, kind: int, characters: int, begin: int, n: int, check_special: int
) -> tuple[int, int]:
    """Write the ids of the part that begins at character `begin` of n to OUT; return their number and the part's end.

    Instead of the number it may return NO_ROOM (the ids might not fit), NOT_UTF8, or an error code of `encode_text`.
    Needs no interpreter lock.
    """
    end = _end_of_part(context, kind, characters, begin, n)
    address = utf8_of_part(context, kind, characters + max(kind, 1) * begin, end - begin)
    if address == 0:
        return NOT_UTF8, end
    count = NO_ROOM
    if context.size <= context.out_limit:
        count = _encode(context, address, context.size, context.out, check_special)
    release_utf8(context)
    return count, end


@outlined
def encode_text(context: ContextRecord, text: int, check_special: int) -> tuple[int, int]:
    """Encode a str at once; return its number of ids, or an error code, and their address, for `release_ids`.

    With `check_special` 1, a text that may hold a special token gives MAY_BE_SPECIAL. The code RAISED means that an
    exception is set. The caller has claimed the context; for a long text the interpreter lock is released meanwhile.
    """
    address = utf8(context, text)
    if address == 0:
        return RAISED, context.out
    n_bytes = context.size
    out = buffer_for_ids(context, n_bytes)
    if out == 0:
        release_utf8(context)
        return NO_MEMORY, context.out
    state = 0
    if n_bytes >= RELEASE_FROM_BYTES:
        state = release_lock(context)
    count = _encode(context, address, n_bytes, out, check_special)
    if state != 0:
        restore_thread(state)
    release_utf8(context)
    return count, out
