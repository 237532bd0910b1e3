"""Whether a text holds a special token: a search for what all begin with, 64 places at once, then for the rest."""

from __future__ import annotations

from impls.compiled.kernels.hashing import same_bytes
from impls.compiled.kernels.memory import inlined, kernel, load_i64, load_u8, lowest_bit
from impls.compiled.kernels.vectors import WIDTH, equal_pairs
from impls.compiled.layout import N_SPECIAL_RESTS, NEEDLE, NEEDLE_BYTES, SPECIAL_RESTS


@inlined
def _order(a: int, b: int, n_bytes: int) -> int:
    """Below 0, 0 or above: how two runs of bytes are ordered."""
    for i in range(n_bytes):
        difference = load_u8(a + i) - load_u8(b + i)
        if difference != 0:
            return difference
    return 0


@kernel
def _goes_on(context: int, text: int, n_bytes: int) -> bool:
    """Whether the rest of a special text stands here, or begins and n_bytes are too few to tell.

    None of the rests begins with another, so all that are ordered before the one that stands here differ from the text
    in a byte, and so do those behind it.
    """
    rests = load_i64(context + SPECIAL_RESTS)
    low, high = 0, load_i64(context + N_SPECIAL_RESTS)
    while low < high:
        middle = (low + high) >> 1
        row = rests + 16 * middle
        order = _order(text, rests + load_i64(row), min(load_i64(row + 8), n_bytes))
        if order == 0:
            return True
        if order < 0:
            high = middle
        else:
            low = middle + 1
    return False


@inlined
def _begins(context: int, text: int, n_more: int, needle: int, size: int) -> bool:
    """Whether a special text may begin here, n_more bytes behind what they all begin with."""
    return same_bytes(text, needle, size) and _goes_on(context, text + size, n_more)


@kernel
def may_hold_special(context: int, text: int, n_bytes: int) -> bool:
    """Whether a special text occurs, or may begin at the end; always where they share no beginning."""
    size = load_i64(context + NEEDLE_BYTES)
    if size <= 0:
        return size < 0
    needle = load_i64(context + NEEDLE)
    # The second byte is compared as well; a needle of one byte is compared with itself.
    second = min(size - 1, 1)
    a, b = load_u8(needle), load_u8(needle + second)
    at, last = 0, n_bytes - size
    while at + WIDTH < n_bytes:
        found = equal_pairs(text + at, text + at + second, a, b)
        while found != 0:
            place = at + lowest_bit(found)
            found &= found - 1
            if place <= last and _begins(context, text + place, last - place, needle, size):
                return True
        at += WIDTH
    return _occurs_behind(context, text, at, last, needle, size, a)


@inlined
def _occurs_behind(context: int, text: int, at: int, last: int, needle: int, size: int, first: int) -> bool:
    while at <= last:
        if load_u8(text + at) == first and _begins(context, text + at, last - at, needle, size):
            return True
        at += 1
    return False
