"""Writes the records of pieces, by which they are looked up, for a whole block before the first lookup.

A record is the key of a piece (two words) and the address of its first slot, which is prefetched. Keys are computed one
after the other, without a branch that depends on the text, then slots eight at a time. A piece of 16 bytes or more has
a key of zeros until its own record is written: the first word of that is the piece's hash; the second is -1, which no
short key has. The slot is 0 for a piece too long for any cache. The cached bytes of long pieces are in a separate
store: their slots are listed, so that the bytes too can be prefetched before the first lookup.

Computes keys and slots of short pieces, several at once, in portable vector code; LLVM picks the instructions.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from impls.compiled.codegen.memory import (
    inlined,
    kernel,
    lowest_bit,
    operation,
    outlined,
    prefetch,
    procedure,
    reachable,
    shift_right,
)
from impls.compiled.codegen.pointers import address_of, from_item, i64s
from impls.compiled.codegen.vectors import constant, lanes, load, splat, store
from impls.compiled.layout import KEY_LENGTHS, MOST_LISTED, ContextRecord, Key
from impls.compiled.lookup.cache import LONGEST_LONG, long_at, long_slot
from impls.compiled.lookup.hashing import K1, K2, K3, hash_piece, smaller
from impls.compiled.typed_memory import I32s, I64s, Rows, U8s

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


LONGEST_SHORT = 15


@inlined
def _write(context: ContextRecord, i: int, low: int, slot: int) -> None:
    """Write the record of a longer piece."""
    context.keys[i].low = low
    context.keys[i].high = -1
    context.slots[i] = slot


@outlined
def _longer(context: ContextRecord, piece: U8s, n_bytes: int, i: int) -> None:
    """Write the record of piece `i`, of 16 bytes or more."""
    if n_bytes > LONGEST_LONG:
        _write(context, i, 0, 0)
        return
    h = hash_piece(piece, n_bytes)
    slot = address_of(long_slot(context, h))
    prefetch(slot)
    _write(context, i, h, slot)
    if context.n_listed < MOST_LISTED:
        context.listed[context.n_listed] = slot
        context.n_listed = context.n_listed + 1


@outlined
def prefetch_listed(context: ContextRecord) -> None:
    """Prefetch the cached bytes of the long pieces whose slots are listed, and empty the list."""
    for i in range(context.n_listed):
        # In an empty slot the place is 0: there is no harm in prefetching that.
        place = address_of(context.long_store) + long_at(context.listed[i]).place
        prefetch(place)
        prefetch(place + 64)
    context.n_listed = 0


@outlined
def _write_keys(masks: Rows[Key], text: U8s, start: int, ends: I32s, n_pieces: int, keys: Rows[Key]) -> None:
    """Write the keys of pieces: zeros for those of more than 15 bytes."""
    begin = start
    for i in range(n_pieces):
        end = ends[i]
        row = smaller(end - begin, LONGEST_SHORT + 1)
        write_key(from_item(text, begin), masks[row], masks[KEY_LENGTHS + row], keys[i])
        begin = end


@outlined
def _write_slots(keys: Rows[Key], n_pieces: int, entries: int, shift: int, slots: I64s, longer: U8s) -> None:
    """Write and prefetch the slots of keys, and set a bit in `longer` for each piece of more than 15 bytes."""
    for i in range(0, n_pieces, KEYS):
        longer[i >> 3] = write_slots(from_item(keys, i), entries, shift, from_item(slots, i))
        for k in range(KEYS):
            prefetch(slots[i + k])


@kernel
def record_pieces(context: ContextRecord, text: U8s, start: int, ends: I32s, n_pieces: int) -> None:
    """Write the records of n_pieces pieces, the first of which starts at `start`; reads 16 bytes from each start on."""
    _write_keys(context.key_masks, text, start, ends, n_pieces, context.keys)
    _write_slots(context.keys, n_pieces, context.pieces.entries, context.pieces.shift, context.slots, context.longer)
    longer = i64s(address_of(context.longer))
    for first in range(0, n_pieces, 64):
        bits = longer[first >> 6] & shift_right(-1, 64 - min(64, n_pieces - first))
        while bits != 0:
            i = first + lowest_bit(bits)
            bits &= bits - 1
            begin = start
            if i > 0:
                begin = ends[i - 1]
            _longer(context, from_item(text, begin), ends[i] - begin, i)
