"""One text to ids: at once, or part by part where it is longer than any before.

Memory nobody has touched yet is what a first call may wait for longest. A part's UTF-8 needs little of it, and its ids
may go where they are to stay. From the next time on memory has been touched, and at once is up to a tenth faster. A
text is cut between two characters where its pattern cuts whatever stands around, which their classes tell
(`pattern.tables.certain_cuts`).
"""

from __future__ import annotations

from impls.compiled.kernels.interpreter import restore_thread, save_thread
from impls.compiled.kernels.memory import (
    allocate_large,
    choose,
    copy_memory,
    external,
    inlined,
    kernel,
    load_i64,
    load_u8,
    load_u16,
    release_large,
    shift_right,
    store_64,
)
from impls.compiled.kernels.needle import may_hold_special
from impls.compiled.kernels.strings import (
    character,
    give_back_utf8,
    is_ascii,
    kind_of,
    length_of,
    most_utf8_bytes,
    state_of,
    utf8,
    utf8_of_part,
)
from impls.compiled.layout import (
    ASCII_CLASSES,
    BUSY,
    CUTS,
    LONGEST,
    MAY_BE_SPECIAL,
    NO_MEMORY,
    NOT_UTF8,
    OUT,
    OUT_LIMIT,
    PAD_BYTES,
    PAGE_CLASSES,
    PAGES,
    PART_CHARACTERS,
    RAISED,
    SIZE,
)

OUT_REGION = 2
RELEASE_FROM_BYTES = 1024
"""Shorter texts are encoded while the interpreter lock is held."""
IDS_BEHIND = PAD_BYTES >> 2

encode = external("bpebench_encode", 5)
"""`kernels.encode.encode`, linked by its exported name so that it is compiled once."""


@kernel
def room_for(context: int, n_bytes: int) -> int:
    """A buffer for the ids of n_bytes of text: the context's own, or new memory; 0 where there is none."""
    if n_bytes <= load_i64(context + OUT_LIMIT):
        return load_i64(context + OUT)
    return allocate_large(OUT_REGION, 4 * n_bytes + PAD_BYTES)


@kernel
def give_back(context: int, out: int) -> None:
    """Ends the use of a buffer of `room_for`."""
    if out != load_i64(context + OUT):
        release_large(out)


@kernel
def _encode(context: int, text: int, n_bytes: int, out: int, keep: int, look: int) -> int:
    """`encode`; with `look` 1 a text that may hold a special token gives MAY_BE_SPECIAL."""
    if look != 0 and may_hold_special(context, text, n_bytes):
        return MAY_BE_SPECIAL
    return encode(context, text, n_bytes, out, keep)


@inlined
def _class_of(context: int, code: int) -> int:
    if code < 128:
        return load_u8(load_i64(context + ASCII_CLASSES) + code)
    page = load_u16(load_i64(context + PAGES) + 2 * (code >> 6))
    return load_u8(load_i64(context + PAGE_CLASSES) + (page << 6) + (code & 63))


@kernel
def _end_of_part(context: int, kind: int, text: int, begin: int, n: int) -> int:
    """Where the part ends that begins at character `begin` of n: cut as far back as it takes, or else longer."""
    cuts, size, least = load_i64(context + CUTS), PART_CHARACTERS, begin
    while begin + size < n:
        at = begin + size
        behind = _class_of(context, character(context, kind, text, at))
        while at > least + 1:
            at -= 1
            before = _class_of(context, character(context, kind, text, at))
            if shift_right(load_i64(cuts + 8 * before), behind) & 1:
                return at + 1
            behind = before
        least = begin + size - 1
        size += size
    return n


@kernel
def most_ids(context: int, text: int) -> int:
    """How many ids a str has at most, or 0 where that is not known yet."""
    bytes_a_character = choose(is_ascii(context, text), 1, most_utf8_bytes(kind_of(context, text)))
    return length_of(text) * bytes_a_character


@kernel
def is_longest(context: int, text: int) -> bool:
    """Whether an object is a long str, and longer than any before; from now on it is one of these."""
    if state_of(context, text) < 0 or length_of(text) <= load_i64(context + LONGEST):
        return False
    store_64(context + LONGEST, length_of(text))
    return True


@kernel
def _more_room(context: int, out: int, n_ids: int, n_bytes: int) -> int:
    """Memory for the ids of n_bytes of text, the first of which OUT holds and this memory from now on; 0 where none."""
    target = allocate_large(OUT_REGION, 4 * n_bytes + PAD_BYTES)
    if target != 0:
        copy_memory(target, out, 4 * n_ids)
    return target


@kernel
def _encode_parts(context: int, text: int, out: int, keep: int, look: int) -> tuple[int, int]:
    """As `encode_text`, for a long text; NOT_UTF8 where it holds a surrogate."""
    kind, n = kind_of(context, text), length_of(text)
    room = most_utf8_bytes(kind) * n
    if out == 0:
        out, room = load_i64(context + OUT), load_i64(context + OUT_LIMIT)
    total, begin = 0, 0
    while begin < n:
        end = _end_of_part(context, kind, text, begin, n)
        address = utf8_of_part(context, kind, text, begin, end)
        if address == 0:
            return NOT_UTF8, out
        n_bytes = load_i64(context + SIZE)
        held = total * keep
        if held + n_bytes > room:
            room = most_utf8_bytes(kind) * n
            out = _more_room(context, out, held, room)
            if out == 0:
                give_back_utf8(context)
                return NO_MEMORY, load_i64(context + OUT)
        count = _encode(context, address, n_bytes, out + 4 * held, keep, look)
        give_back_utf8(context)
        if count < 0:
            return count, out
        total += count
        begin = end
    return total, out


@kernel
def encode_text(context: int, text: int, out: int, in_parts: bool, keep: int, look: int) -> tuple[int, int]:
    """The number of ids of a str or a reason why there are none, and where they are, for `give_back`.

    They are written to `out`, where there is room for whatever a text as long may give, or where that is 0 to memory
    of the context's. With `keep` 0 ids are only counted; with `look` 1 a text that may hold a special token gives
    MAY_BE_SPECIAL. RAISED: an exception is set. With `in_parts` the text is cut if that is possible. For a long text
    the interpreter lock is released meanwhile and the context marked as in use.
    """
    if in_parts and load_i64(context + CUTS) != 0 and kind_of(context, text) != 0:
        store_64(context + BUSY, 1)
        state = save_thread()
        count, found = _encode_parts(context, text, out, keep, look)
        restore_thread(state)
        store_64(context + BUSY, 0)
        if count != NOT_UTF8:
            return count, found
        if out == 0:
            give_back(context, found)
    address = utf8(context, text)
    if address == 0:
        return RAISED, load_i64(context + OUT)
    n_bytes = load_i64(context + SIZE)
    if out == 0:
        out = room_for(context, n_bytes)
    if out == 0:
        give_back_utf8(context)
        return NO_MEMORY, load_i64(context + OUT)
    if n_bytes < RELEASE_FROM_BYTES:
        count = _encode(context, address, n_bytes, out, keep, look)
    else:
        store_64(context + BUSY, 1)
        state = save_thread()
        count = _encode(context, address, n_bytes, out, keep, look)
        restore_thread(state)
        store_64(context + BUSY, 0)
    give_back_utf8(context)
    return count, out
