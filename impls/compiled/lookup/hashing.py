"""Hashes keys and pieces, and makes the two-word key of a short piece.

Multiplicative hashing (Knuth 1973, TAOCP 3 §6.4) with odd constants; slots are the top bits of a product.
"""

from __future__ import annotations

from impls.compiled.language.memory import (
    external,
    inlined,
    kernel,
    reachable,
    shift_left,
    shift_right,
    wrapping_add,
    wrapping_multiply,
)
from impls.compiled.language.pointers import address_of, word_at
from impls.compiled.language.typed_memory import Rows, U8s
from impls.compiled.layout import Key

K1 = -7046029254386353131
K2 = -4417276706812531889
K3 = 1609587929392839161


_compare = external("memcmp", 3)


@inlined
def mix(low: int, high: int) -> int:
    """Return the hash of a two-word key; its top bits are the slot."""
    h = wrapping_multiply(low, K1) ^ wrapping_multiply(high, K2)
    return wrapping_multiply(h ^ shift_right(h, 32), K3)


@inlined
def key_of(masks: Rows[Key], piece: U8s, n_bytes: int) -> tuple[int, int]:
    """Return the two words of the key of a piece of up to 15 bytes: its bytes, and its length in the top byte.

    `masks` are KEY_MASKS. Reads 16 bytes.
    """
    high = (word_at(piece, 8) & masks[n_bytes].high) | shift_left(n_bytes, 56)
    return word_at(piece, 0) & masks[n_bytes].low, high


@kernel
def hash_piece(piece: U8s, n_bytes: int) -> int:
    """Return the hash of a piece of any length; reads no byte after the piece."""
    h = wrapping_multiply(n_bytes, K3)
    i = 0
    while i + 8 <= n_bytes:
        h = wrapping_multiply(h ^ word_at(piece, i), K1)
        h ^= shift_right(h, 29)
        i += 8
    tail = 0
    if n_bytes >= 8:
        tail = word_at(piece, n_bytes - 8)  # it overlaps the words before
    else:
        while i < n_bytes:
            tail = shift_left(tail, 8) | piece[i]
            i += 1
    h = wrapping_multiply(wrapping_add(h ^ tail, K2), K2)
    return wrapping_multiply(h ^ shift_right(h, 32), K3)


@inlined
def same_bytes(a: U8s, b: U8s, n_bytes: int) -> bool:
    """Return whether the n_bytes at `a` and at `b` are equal."""
    if reachable(address_of(a), n_bytes) and reachable(address_of(b), n_bytes):
        # The C function returns 32 bits: the others are arbitrary.
        return shift_left(_compare(address_of(a), address_of(b), n_bytes), 32) == 0
    return False
