"""Hashes keys and pieces, and makes the two-word key of a short piece.

Multiplicative hashing (Knuth 1973, TAOCP 3 §6.4) with odd constants; slots are the top bits of a product.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    choose,
    inlined,
    kernel,
    shift_left,
    shift_right,
    wrapping_add,
    wrapping_multiply,
)
from impls.compiled.codegen.pointers import word_at
from impls.compiled.layout import Key
from impls.compiled.typed_memory import Rows, U8s

K1 = -7046029254386353131
K2 = -4417276706812531889
K3 = 1609587929392839161


@inlined
def mix(low: int, high: int) -> int:
    """Return the hash of a two-word key; its top bits are the slot."""
    h = wrapping_multiply(low, K1) ^ wrapping_multiply(high, K2)
    return wrapping_multiply(h ^ shift_right(h, 32), K3)


@inlined
def key_low(masks: Rows[Key], piece: U8s, n_bytes: int) -> int:
    """Return the first word of the key of a piece of up to 15 bytes; `masks` are KEY_MASKS."""
    return word_at(piece, 0) & masks[n_bytes].low


@inlined
def key_high(masks: Rows[Key], piece: U8s, n_bytes: int) -> int:
    """Return the second word of the key: bytes 8 to 14, and the length in the top byte. Reads 16 bytes of the text."""
    return (word_at(piece, 8) & masks[n_bytes].high) | shift_left(n_bytes, 56)


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


@kernel
def same_bytes(a: U8s, b: U8s, n_bytes: int) -> bool:
    """Return whether the n_bytes at `a` and at `b` are equal."""
    i = 0
    while i + 8 <= n_bytes:
        if word_at(a, i) != word_at(b, i):
            return False
        i += 8
    if n_bytes >= 8:
        return word_at(a, n_bytes - 8) == word_at(b, n_bytes - 8)
    while i < n_bytes:
        if a[i] != b[i]:
            return False
        i += 1
    return True


@inlined
def smaller(a: int, b: int) -> int:
    """Return the smaller of two numbers, without a branch."""
    return choose(a < b, a, b)
