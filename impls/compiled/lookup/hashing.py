"""Hashes keys and pieces, and makes the two-word key of a short piece.

Multiplicative hashing (Knuth 1973, TAOCP 3 §6.4) with odd constants; slots are the top bits of a product.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    choose,
    inlined,
    kernel,
    load_i64,
    load_u8,
    shift_left,
    shift_right,
    wrapping_add,
    wrapping_multiply,
)

K1 = -7046029254386353131
K2 = -4417276706812531889
K3 = 1609587929392839161


@inlined
def mix(low: int, high: int) -> int:
    """Return the hash of a two-word key; its top bits are the slot."""
    h = wrapping_multiply(low, K1) ^ wrapping_multiply(high, K2)
    return wrapping_multiply(h ^ shift_right(h, 32), K3)


@inlined
def key_low(masks: int, piece: int, n_bytes: int) -> int:
    """Return the first word of the key of a piece of up to 15 bytes; `masks` is the address of KEY_MASKS."""
    return load_i64(piece) & load_i64(masks + 16 * n_bytes)


@inlined
def key_high(masks: int, piece: int, n_bytes: int) -> int:
    """Return the second word of the key: bytes 8 to 14, and the length in the top byte. Reads 16 bytes of the text."""
    return (load_i64(piece + 8) & load_i64(masks + 16 * n_bytes + 8)) | shift_left(n_bytes, 56)


@kernel
def hash_piece(piece: int, n_bytes: int) -> int:
    """Return the hash of a piece of any length; reads no byte after the piece."""
    h = wrapping_multiply(n_bytes, K3)
    i = 0
    while i + 8 <= n_bytes:
        h = wrapping_multiply(h ^ load_i64(piece + i), K1)
        h ^= shift_right(h, 29)
        i += 8
    tail = 0
    while i < n_bytes:
        tail = shift_left(tail, 8) | load_u8(piece + i)
        i += 1
    h = wrapping_multiply(wrapping_add(h ^ tail, K2), K2)
    return wrapping_multiply(h ^ shift_right(h, 32), K3)


@kernel
def same_bytes(a: int, b: int, n_bytes: int) -> bool:
    """Return whether the n_bytes at `a` and at `b` are equal."""
    i = 0
    while i + 8 <= n_bytes:
        if load_i64(a + i) != load_i64(b + i):
            return False
        i += 8
    while i < n_bytes:
        if load_u8(a + i) != load_u8(b + i):
            return False
        i += 1
    return True


@inlined
def smaller(a: int, b: int) -> int:
    """Return the smaller of two numbers, without a branch."""
    return choose(a < b, a, b)
