"""Keys and slots of short pieces, several at once. Portable vector code; LLVM picks the instructions."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from impls.compiled.codegen.memory import inlined, operation, procedure, reachable
from impls.compiled.lookup.hashing import K1, K2, K3

KEYS = 8
"""Number of slots computed at once."""
_i32, _i64 = ir.IntType(32), ir.IntType(64)
_key = ir.VectorType(_i64, 2)
_words = ir.VectorType(_i64, KEYS)
_SHIFT_OF_ENTRIES = 5
"""log2 of `cache.SHORT_ENTRY`."""


def _all(value: int) -> Any:
    return ir.Constant(_words, [value] * KEYS)


def _splat(builder: Any, value: Any) -> Any:
    one = builder.insert_element(ir.Constant(_words, ir.Undefined), value, _i32(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_i32, KEYS), [0] * KEYS))


def _load(builder: Any, kind: Any, address: Any) -> Any:
    return builder.load(builder.inttoptr(address, kind.as_pointer()), align=1)


def _store(builder: Any, value: Any, kind: Any, address: Any) -> None:
    builder.store(value, builder.inttoptr(address, kind.as_pointer()), align=1)


def _emit_key(builder: Any, piece: Any, mask: Any, length: Any, key: Any) -> None:
    text, mask, length = (_load(builder, _key, address) for address in (piece, mask, length))
    _store(builder, builder.or_(builder.and_(text, mask), length), _key, key)


def _emit_slots(builder: Any, keys: Any, table: Any, shift: Any, slots: Any) -> Any:
    halves = [_load(builder, _words, builder.add(keys, _i64(k * 8 * KEYS))) for k in range(2)]
    low, high = (
        builder.shuffle_vector(*halves, ir.Constant(ir.VectorType(_i32, KEYS), list(range(k, 2 * KEYS, 2))))
        for k in range(2)
    )
    h = builder.xor(builder.mul(low, _all(K1)), builder.mul(high, _all(K2)))
    h = builder.mul(builder.xor(h, builder.lshr(h, _all(32))), _all(K3))
    offsets = builder.shl(builder.lshr(h, _splat(builder, shift)), _all(_SHIFT_OF_ENTRIES))
    _store(builder, builder.add(offsets, _splat(builder, table)), _words, slots)
    return builder.zext(builder.bitcast(builder.icmp_unsigned("==", high, _all(0)), ir.IntType(KEYS)), _i64)


_raw_write_key = procedure(4, _emit_key)
_raw_write_slots = operation(4, _emit_slots)


@inlined
def write_key(piece: int, mask: int, length: int, key: int) -> None:
    """Write the key of a piece to `key`: 16 bytes, and-ed with those at `mask`, or-ed with those at `length`."""
    if reachable(piece, 16) and reachable(key, 16):
        _raw_write_key(piece, mask, length, key)


@inlined
def write_slots(keys: int, table: int, shift: int, slots: int) -> int:
    """Write the addresses of the first slots of KEYS keys, as `cache.short_slot` computes them.

    Returns a bit for each key whose second word is 0, which no piece of up to 15 bytes has.
    """
    if reachable(keys, 16 * KEYS) and reachable(slots, 8 * KEYS):
        return _raw_write_slots(keys, table, shift, slots)
    return 0
