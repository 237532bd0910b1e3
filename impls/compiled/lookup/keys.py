"""Computes keys and slots of short pieces, several at once, in portable vector code; LLVM picks the instructions."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from impls.compiled.codegen.memory import inlined, operation, procedure, reachable
from impls.compiled.codegen.pointers import address_of
from impls.compiled.codegen.vectors import constant, lanes, load, splat, store
from impls.compiled.layout import Key
from impls.compiled.lookup.hashing import K1, K2, K3
from impls.compiled.typed_memory import I64s, Rows, U8s

KEYS = 8
"""Number of keys whose slots are computed at once."""
_i64 = ir.IntType(64)
_key = ir.VectorType(_i64, 2)
_words = ir.VectorType(_i64, KEYS)
_SHIFT_OF_ENTRIES = 5
"""log2 of `cache.SHORT_ENTRY`."""


def _emit_key(builder: Any, piece: Any, mask: Any, length: Any, key: Any) -> None:
    text, mask, length = (load(builder, _key, address) for address in (piece, mask, length))
    store(builder, builder.or_(builder.and_(text, mask), length), key)


def _emit_slots(builder: Any, keys: Any, table: Any, shift: Any, slots: Any) -> Any:
    first, second = (load(builder, _words, builder.add(keys, _i64(k * 8 * KEYS))) for k in range(2))
    low, high = (lanes(builder, first, second, range(k, 2 * KEYS, 2)) for k in range(2))
    k1, k2, k3 = (constant(_words, k) for k in (K1, K2, K3))
    h = builder.xor(builder.mul(low, k1), builder.mul(high, k2))
    h = builder.mul(builder.xor(h, builder.lshr(h, constant(_words, 32))), k3)
    numbers = builder.lshr(h, splat(builder, _words, shift))
    offsets = builder.shl(numbers, constant(_words, _SHIFT_OF_ENTRIES))
    store(builder, builder.add(offsets, splat(builder, _words, table)), slots)
    empty = builder.icmp_unsigned("==", high, constant(_words, 0))
    return builder.zext(builder.bitcast(empty, ir.IntType(KEYS)), _i64)


_raw_write_key = procedure(4, _emit_key)
_raw_write_slots = operation(4, _emit_slots)


@inlined
def write_key(piece: U8s, mask: Key, length: Key, key: Key) -> None:
    """Write the key of a piece: its first 16 bytes, and-ed with `mask`, or-ed with `length`."""
    if reachable(address_of(piece), 16) and reachable(address_of(key), 16):
        _raw_write_key(address_of(piece), address_of(mask), address_of(length), address_of(key))


@inlined
def write_slots(keys: Rows[Key], table: int, shift: int, slots: I64s) -> int:
    """Write the addresses of the first slots of KEYS keys, as `cache.short_slot` computes them.

    Returns a bit for each key whose second word is 0, which the key of a piece of up to 15 bytes never has.
    """
    if reachable(address_of(keys), 16 * KEYS) and reachable(address_of(slots), 8 * KEYS):
        return _raw_write_slots(address_of(keys), table, shift, address_of(slots))
    return 0
