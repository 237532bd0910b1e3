"""Searches a text for special tokens: their prefixes at 64 offsets at once, then their suffixes by binary search."""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel, lowest_bit
from impls.compiled.codegen.pointers import address_of, from_item, rows_of, u8s
from impls.compiled.layout import ContextRecord
from impls.compiled.lookup.hashing import same_bytes
from impls.compiled.pretokenize.byte_masks import WIDTH, equal_pairs
from impls.compiled.pretokenize.layout import SpecialRow, SuffixRow
from impls.compiled.typed_memory import Rows, U8s

suffixes_at = rows_of(SuffixRow)


@inlined
def _order(a: U8s, b: U8s, n_bytes: int) -> int:
    """Compare the first n_bytes of `a` and `b` in byte order; return a number below, equal to or above 0."""
    for i in range(n_bytes):
        difference = a[i] - b[i]
        if difference != 0:
            return difference
    return 0


@inlined
def _bytes_from(table: Rows[SpecialRow], offset: int) -> U8s:
    return u8s(address_of(table) + offset)


@kernel
def _has_suffix(text: U8s, n_bytes: int, table: Rows[SpecialRow], row: SpecialRow) -> bool:
    """Return whether one of a row's sorted suffixes is at `text`, or may be there if the text ends within it.

    No suffix is a prefix of another, so every other suffix differs from the text in some byte, and a binary search
    finds the one that does not differ.
    """
    suffixes, low, high = suffixes_at(address_of(table) + row.suffixes), 0, row.n_suffixes
    while low < high:
        middle = (low + high) >> 1
        suffix = suffixes[middle]
        order = _order(text, _bytes_from(table, suffix.offset), min(suffix.n_bytes, n_bytes))
        if order == 0:
            return True
        if order < 0:
            high = middle
        else:
            low = middle + 1
    return False


@inlined
def _may_begin(text: U8s, n_more: int, table: Rows[SpecialRow], row: SpecialRow) -> bool:
    """Return whether a special token of this row may begin at `text`, which has n_more bytes after the prefix."""
    has_prefix = same_bytes(text, _bytes_from(table, row.offset), row.n_bytes)
    return has_prefix and _has_suffix(from_item(text, row.n_bytes), n_more, table, row)


@kernel
def _may_hold(text: U8s, n_bytes: int, table: Rows[SpecialRow], row: SpecialRow) -> bool:
    """Return whether a special token of this row occurs in a text, or may begin near its end and be cut off."""
    prefix, size = _bytes_from(table, row.offset), row.n_bytes
    # The first two bytes are compared; a prefix of one byte compares it twice.
    second = min(size - 1, 1)
    a, b = prefix[0], prefix[second]
    at, last = 0, n_bytes - size
    while at + WIDTH < n_bytes:
        matches = equal_pairs(from_item(text, at), from_item(text, at + second), a, b)
        while matches != 0:
            place = at + lowest_bit(matches)
            matches &= matches - 1
            if place <= last and _may_begin(from_item(text, place), last - place, table, row):
                return True
        at += WIDTH
    while at <= last:
        if text[at] == a and _may_begin(from_item(text, at), last - at, table, row):
            return True
        at += 1
    return False


@kernel
def may_hold_special(context: ContextRecord, text: U8s, n_bytes: int) -> bool:
    """Return whether a special token occurs, or may be cut off at the end; True if there are too many prefixes."""
    table, n_rows = context.specials, context.n_specials
    for i in range(n_rows):
        if _may_hold(text, n_bytes, table, table[i]):
            return True
    return n_rows < 0
