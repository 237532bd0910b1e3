"""Whether a text holds a special token: a search for what they begin with, 64 places at once, then for the rest."""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel, load_i64, load_u8, lowest_bit
from impls.compiled.layout import N_SPECIALS, SPECIAL_ROW_BYTES, SPECIALS, SUFFIX_BYTES
from impls.compiled.lookup.hashing import same_bytes
from impls.compiled.pretokenize.byte_masks import WIDTH, equal_pairs


@inlined
def _order(a: int, b: int, n_bytes: int) -> int:
    """Below 0, 0 or above: how two runs of bytes are ordered."""
    for i in range(n_bytes):
        difference = load_u8(a + i) - load_u8(b + i)
        if difference != 0:
            return difference
    return 0


@kernel
def _goes_on(text: int, n_bytes: int, rests: int, n_rests: int) -> bool:
    """Whether the rest of a special text stands here, or begins and n_bytes are too few to tell.

    None of the rests begins with another, so all that are ordered before the one that stands here differ from the text
    in a byte, and so do those behind it.
    """
    low, high = 0, n_rests
    while low < high:
        middle = (low + high) >> 1
        rest = rests + SUFFIX_BYTES * middle
        order = _order(text, rests + load_i64(rest), min(load_i64(rest + 8), n_bytes))
        if order == 0:
            return True
        if order < 0:
            high = middle
        else:
            low = middle + 1
    return False


@inlined
def _begins(text: int, n_more: int, table: int, row: int) -> bool:
    """Whether a special text of that row may begin here, where n_more bytes follow on the beginning."""
    size = load_i64(row + 8)
    if not same_bytes(text, table + load_i64(row), size):
        return False
    return _goes_on(text + size, n_more, table + load_i64(row + 16), load_i64(row + 24))


@kernel
def _may_hold(text: int, n_bytes: int, table: int, row: int) -> bool:
    """Whether a special text of that row occurs, or may begin at the end."""
    needle, size = table + load_i64(row), load_i64(row + 8)
    # The second byte is compared as well; a beginning of one byte is compared with itself.
    second = min(size - 1, 1)
    a, b = load_u8(needle), load_u8(needle + second)
    at, last = 0, n_bytes - size
    while at + WIDTH < n_bytes:
        found = equal_pairs(text + at, text + at + second, a, b)
        while found != 0:
            place = at + lowest_bit(found)
            found &= found - 1
            if place <= last and _begins(text + place, last - place, table, row):
                return True
        at += WIDTH
    while at <= last:
        if load_u8(text + at) == a and _begins(text + at, last - at, table, row):
            return True
        at += 1
    return False


@kernel
def may_hold_special(context: int, text: int, n_bytes: int) -> bool:
    """Whether a special text occurs, or may begin at the end; always where they have too many beginnings."""
    table, n_rows = load_i64(context + SPECIALS), load_i64(context + N_SPECIALS)
    for i in range(n_rows):
        if _may_hold(text, n_bytes, table, table + SPECIAL_ROW_BYTES * i):
            return True
    return n_rows < 0
