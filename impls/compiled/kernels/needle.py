"""Whether a text may hold a special token: a search for what all of them begin with, 64 places at once."""

from __future__ import annotations

from impls.compiled.kernels.hashing import same_bytes
from impls.compiled.kernels.memory import inlined, kernel, load_i64, load_u8, lowest_bit
from impls.compiled.kernels.vectors import WIDTH, equal_pairs
from impls.compiled.layout import NEEDLE, NEEDLE_BYTES


@kernel
def may_hold_special(context: int, text: int, n_bytes: int) -> bool:
    """Whether the beginning that the special texts share occurs; always where they share none."""
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
            if place <= last and same_bytes(text + place, needle, size):
                return True
        at += WIDTH
    return _occurs_behind(text, at, last, needle, size, a)


@inlined
def _occurs_behind(text: int, at: int, last: int, needle: int, size: int, first: int) -> bool:
    while at <= last:
        if load_u8(text + at) == first and same_bytes(text + at, needle, size):
            return True
        at += 1
    return False
