"""Searches a text for special tokens: their prefixes at 64 offsets at once, then the tokens by binary search."""

from __future__ import annotations

from impls.compiled.language.memory import inlined, kernel, lowest_bit, shift_left, wrapping_add, wrapping_multiply
from impls.compiled.language.pointers import from_item, word_at
from impls.compiled.language.typed_memory import U8s
from impls.compiled.layout import ContextRecord
from impls.compiled.pretokenize.byte_masks import WIDTH, equal_pairs
from impls.compiled.pretokenize.layout import SpecialRow

_ONES = 0x0101010101010101
"""A word of eight bytes 1."""


@inlined
def _order(a: U8s, b: U8s, n_bytes: int) -> int:
    """Compare the first n_bytes of `a` and `b` in byte order; return a number below, equal to or above 0."""
    for i in range(n_bytes):
        difference = a[i] - b[i]
        if difference != 0:
            return difference
    return 0


@inlined
def _holds_byte(word: int, byte: int) -> bool:
    """Return whether one of the 8 bytes of a word is this one."""
    # Subtracting 1 from each byte sets the highest bit of a zero, which it had not.
    zero_if_equal = word ^ wrapping_multiply(byte, _ONES)
    return wrapping_add(zero_if_equal, -_ONES) & ~zero_if_equal & shift_left(_ONES, 7) != 0


@kernel
def _may_begin(context: ContextRecord, text: U8s, n_bytes: int, row: SpecialRow) -> bool:
    """Return whether one of a row's sorted tokens is at `text`, or may be there if the text ends within it.

    No token is a prefix of another, so every other token differs from the text in some byte, and a binary search finds
    the one that does not differ.
    """
    low, high = row.first, row.first + row.n_tokens
    while low < high:
        middle = (low + high) >> 1
        token = context.special_tokens[middle]
        order = _order(text, from_item(context.special_bytes, token.offset), min(token.n_bytes, n_bytes))
        if order == 0:
            return True
        if order < 0:
            high = middle
        else:
            low = middle + 1
    return False


@kernel
def _may_hold(context: ContextRecord, text: U8s, n_bytes: int, row: SpecialRow) -> bool:
    """Return whether a special token of this row occurs in a text, or may begin near its end and be cut off."""
    prefix, size = from_item(context.special_bytes, context.special_tokens[row.first].offset), row.n_bytes
    # The first two bytes are compared; a prefix of one byte compares it twice.
    second = min(size - 1, 1)
    a, b = prefix[0], prefix[second]
    at, last = 0, n_bytes - size
    while at + WIDTH < n_bytes:
        matches = equal_pairs(from_item(text, at), from_item(text, at + second), a, b)
        while matches != 0:
            place = at + lowest_bit(matches)
            matches &= matches - 1
            if place <= last and _may_begin(context, from_item(text, place), n_bytes - place, row):
                return True
        at += WIDTH
    # Most texts are shorter than that: eight bytes without the first one are passed over at once.
    while at <= last:
        if at + 8 <= n_bytes and not _holds_byte(word_at(text, at), a):
            at += 8
        elif text[at] == a and _may_begin(context, from_item(text, at), n_bytes - at, row):
            return True
        else:
            at += 1
    return False


@kernel
def may_hold_special(context: ContextRecord, text: U8s, n_bytes: int) -> bool:
    """Return whether a special token occurs, or may be cut off at the end; True if there are too many prefixes."""
    for i in range(context.n_specials):
        if _may_hold(context, text, n_bytes, context.specials[i]):
            return True
    return context.n_specials < 0
