"""Searches a text for special tokens: their prefixes at 64 offsets at once, then their suffixes by binary search."""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel, load_i64, load_u8, lowest_bit
from impls.compiled.layout import SPECIAL_ROW_BYTES, SUFFIX_BYTES, ContextRecord
from impls.compiled.lookup.hashing import same_bytes
from impls.compiled.pretokenize.byte_masks import WIDTH, equal_pairs


@inlined
def _order(a: int, b: int, n_bytes: int) -> int:
    """Compare the n_bytes at `a` and at `b` in byte order; return a number below, equal to or above 0."""
    for i in range(n_bytes):
        difference = load_u8(a + i) - load_u8(b + i)
        if difference != 0:
            return difference
    return 0


@kernel
def _has_suffix(text: int, n_bytes: int, suffixes: int, n_suffixes: int) -> bool:
    """Return whether one of the sorted suffixes is at `text`, or may be there if the text ends within it.

    No suffix is a prefix of another, so every other suffix differs from the text in some byte, and a binary search
    finds the one that does not differ.
    """
    low, high = 0, n_suffixes
    while low < high:
        middle = (low + high) >> 1
        suffix = suffixes + SUFFIX_BYTES * middle
        order = _order(text, suffixes + load_i64(suffix), min(load_i64(suffix + 8), n_bytes))
        if order == 0:
            return True
        if order < 0:
            high = middle
        else:
            low = middle + 1
    return False


@inlined
def _may_begin(text: int, n_more: int, table: int, row: int) -> bool:
    """Return whether a special token of this row may begin at `text`, which has n_more bytes after the prefix."""
    size = load_i64(row + 8)
    if not same_bytes(text, table + load_i64(row), size):
        return False
    return _has_suffix(text + size, n_more, table + load_i64(row + 16), load_i64(row + 24))


@kernel
def _may_hold(text: int, n_bytes: int, table: int, row: int) -> bool:
    """Return whether a special token of this row occurs in a text, or may begin near its end and be cut off."""
    prefix, size = table + load_i64(row), load_i64(row + 8)
    # The first two bytes are compared; a prefix of one byte compares it twice.
    second = min(size - 1, 1)
    a, b = load_u8(prefix), load_u8(prefix + second)
    at, last = 0, n_bytes - size
    while at + WIDTH < n_bytes:
        found = equal_pairs(text + at, text + at + second, a, b)
        while found != 0:
            place = at + lowest_bit(found)
            found &= found - 1
            if place <= last and _may_begin(text + place, last - place, table, row):
                return True
        at += WIDTH
    while at <= last:
        if load_u8(text + at) == a and _may_begin(text + at, last - at, table, row):
            return True
        at += 1
    return False


@kernel
def may_hold_special(context: ContextRecord, text: int, n_bytes: int) -> bool:
    """Return whether a special token occurs, or may be cut off at the end; True if there are too many prefixes."""
    table, n_rows = context.specials, context.n_specials
    for i in range(n_rows):
        if _may_hold(text, n_bytes, table, table + SPECIAL_ROW_BYTES * i):
            return True
    return n_rows < 0


@kernel
def may_begin_special(context: ContextRecord, text: int, n_bytes: int) -> bool:
    """Return whether a special token may begin in a text, also if more text follows: some token's first byte occurs."""
    table, n_rows = context.specials, context.n_specials
    for i in range(n_rows):
        first = load_u8(table + load_i64(table + SPECIAL_ROW_BYTES * i))
        for at in range(n_bytes):
            if load_u8(text + at) == first:
                return True
    return n_rows < 0
