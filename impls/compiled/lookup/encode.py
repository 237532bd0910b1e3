"""Encodes text to ids, block by block: split a block, compute and prefetch every piece's key and slot, look them up.

`out` must have room for one int32 per byte of text, and for PAD_BYTES more: ids are written four at a time. A piece
that is not in its first slot is searched further on, or merged and inserted.

A record is the key of a piece (two words, see `cache`) and the address of its first slot, which is prefetched. Keys are
computed one after the other, without a branch that depends on the text, then slots eight at a time. A piece of 16 bytes
or more has a key of zeros until its own record is written, and for good if it is too long for the cache.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from impls.compiled.language.memory import (
    constant,
    copy_memory,
    inlined,
    kernel,
    lanes,
    load,
    lowest_bit,
    operation,
    outlined,
    prefetch,
    procedure,
    reachable,
    shift_right,
    splat,
    store,
)
from impls.compiled.language.pointers import address_of, from_item, i64s, set_word, u8s
from impls.compiled.language.typed_memory import I32s, I64s, Rows, U8s
from impls.compiled.layout import (
    BLOCK_BYTES,
    KEY_LENGTHS,
    MOST_TEXT_BYTES,
    NO_MEMORY,
    PAD_BYTES,
    TAIL_BYTES,
    UNCOVERED,
    ContextRecord,
    Key,
)
from impls.compiled.lookup.cache import (
    LONGEST,
    LONGEST_SHORT,
    entry_at,
    exchange,
    find,
    first_slot,
    holds,
    keep,
    make_room,
    write_ids,
)
from impls.compiled.lookup.hashing import K1, K2, K3, hash_piece
from impls.compiled.merge.segments import is_cut, unknown_ids
from impls.compiled.pretokenize.bitparallel_patterns import windows_block
from impls.compiled.pretokenize.layout import CL100K, GIVEN_ENDS, STAGES_IN_TURN, WHOLE_TEXT
from impls.compiled.pretokenize.scan import scan_block
from impls.compiled.pretokenize.stages import stages_block

KEYS = 8
"""Number of keys whose slots are computed at once."""
_i64 = ir.IntType(64)
_key = ir.VectorType(_i64, 2)
_words = ir.VectorType(_i64, KEYS)
_SHIFT_OF_ENTRIES = 5
"""log2 of `cache.ENTRY_BYTES`."""


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
    """Write the addresses of the first slots of KEYS keys, as `cache.first_slot` computes them.

    Returns a bit for each key whose second word is 0, which the key of a piece of up to 15 bytes never has.
    """
    if reachable(address_of(keys), 16 * KEYS) and reachable(address_of(slots), 8 * KEYS):
        return _raw_write_slots(address_of(keys), table, shift, address_of(slots))
    return 0


@outlined
def _longer(context: ContextRecord, piece: U8s, n_bytes: int, i: int) -> None:
    """Write the record of piece `i`, of 16 bytes or more, unless it is too long for the cache."""
    if n_bytes <= LONGEST:
        low = hash_piece(piece, n_bytes)
        context.keys[i].low, context.keys[i].high = low, -n_bytes
        slot = address_of(first_slot(context, low, -n_bytes))
        prefetch(slot)
        context.slots[i] = slot


@outlined
def _write_keys(masks: Rows[Key], text: U8s, start: int, ends: I32s, n_pieces: int, keys: Rows[Key]) -> None:
    """Write the keys of pieces: zeros for those of more than 15 bytes."""
    begin = start
    for i in range(n_pieces):
        end = ends[i]
        row = min(end - begin, LONGEST_SHORT + 1)
        write_key(from_item(text, begin), masks[row], masks[KEY_LENGTHS + row], keys[i])
        begin = end


@outlined
def _write_slots(keys: Rows[Key], n_pieces: int, entries: int, shift: int, slots: I64s, longer: U8s) -> None:
    """Write and prefetch the slots of keys, and set a bit in `longer` for each piece of more than 15 bytes."""
    for i in range(0, n_pieces, KEYS):
        longer[i >> 3] = write_slots(from_item(keys, i), entries, shift, from_item(slots, i))
        for k in range(KEYS):
            prefetch(slots[i + k])


@outlined
def record_pieces(context: ContextRecord, text: U8s, start: int, ends: I32s, n_pieces: int) -> None:
    """Write the records of n_pieces pieces, the first of which starts at `start`; reads 16 bytes from each start on."""
    _write_keys(context.key_masks, text, start, ends, n_pieces, context.keys)
    entries, shift = address_of(context.entries), context.entries_shift
    _write_slots(context.keys, n_pieces, entries, shift, context.slots, context.longer)
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


@outlined
def _given_block(context: ContextRecord, limit: int) -> int:
    """Copy the ends of pieces of a text that is split already, as `scan.scan_block` finds them."""
    ends, given, n = context.ends, context.given_ends, 0
    while n == 0 or ends[n - 1] < limit:
        ends[n] = given[n]
        n += 1
    context.given_ends = from_item(given, n)
    context.after = ends[n - 1]
    return n


@kernel
def split_block(context: ContextRecord, text: U8s, n_bytes: int, readable: int, start: int, limit: int) -> int:
    """Write the ends of the pieces from `start` on to the context; return how many, or UNCOVERED.

    `readable` bytes from `text` on may be read: at least TAIL_BYTES from `start` on, or PAD_BYTES past the text. The
    end of the last piece is stored as AFTER.
    """
    splitter = context.splitter
    if splitter >= CL100K:
        return windows_block(context, text, n_bytes, readable, start, limit, splitter)
    if splitter == WHOLE_TEXT:
        context.ends[0] = n_bytes
        context.after = n_bytes
        return 1
    if splitter == GIVEN_ENDS:
        return _given_block(context, limit)
    if splitter == STAGES_IN_TURN:
        return stages_block(context, text, n_bytes, start, limit)
    return scan_block(context, text, n_bytes, start, limit)


@outlined
def _other_piece(context: ContextRecord, piece: U8s, n_bytes: int, low: int, high: int, slot: int, out: I32s) -> int:
    """Write the ids of a piece that is longer, or not in its first slot; return how many, or NO_MEMORY.

    (low, high, slot) is the piece's record. A hit moves to the first slot: the vocabulary was inserted first, in an
    order that says nothing about the text. A miss is inserted, except a longer piece that is cut into segments, which
    is cheap to encode again.
    """
    if high != 0:
        entry = find(context, low, high, entry_at(slot))
        if entry.high != 0 and (high > 0 or holds(context, entry, piece, n_bytes)):
            count = write_ids(context, entry, out)
            exchange(entry_at(slot), entry)
            return count
    count = unknown_ids(context, piece, n_bytes, out)
    if count > 0 and (high > 0 or (high < 0 and not is_cut(context, piece, n_bytes))):
        keep(context, low, high, piece, n_bytes, out, count)
    return count


@outlined
def look_up_block(context: ContextRecord, text: U8s, start: int, ends: I32s, n_pieces: int, out: I32s) -> int:
    """Write the ids of a block's recorded pieces, the first from `start` on; return how many, or NO_MEMORY."""
    keys, slots, at = context.keys, context.slots, out
    for i in range(n_pieces):
        low, high, slot = keys[i].low, keys[i].high, slots[i]
        # Nearly all pieces are in their first slot: this is the hot path, and the call below is kept out of it.
        if high > 0 and entry_at(slot).high == high and entry_at(slot).low == low:
            at = from_item(at, write_ids(context, entry_at(slot), at))
        else:
            begin = start
            if i > 0:
                begin = ends[i - 1]
            piece, n_bytes = from_item(text, begin), ends[i] - begin
            count = _other_piece(context, piece, n_bytes, low, high, slot, at)
            if count < 0:
                return NO_MEMORY
            at = from_item(at, count)
    return (address_of(at) - address_of(out)) >> 2


@kernel
def _padded_tail(context: ContextRecord, text: U8s, n_bytes: int, position: int) -> U8s:
    """Copy a text from `position` on to the working space, followed by PAD_BYTES zeros.

    Returns where the whole text would begin, so that offsets into the text remain valid.
    """
    tail, n_left = u8s(context.tail), n_bytes - position
    copy_memory(context.tail, address_of(text) + position, n_left)
    for i in range(0, PAD_BYTES, 8):
        set_word(tail, n_left + i, 0)
    return from_item(tail, -position)


@kernel
def encode(context: ContextRecord, text: U8s, n_bytes: int, out: I32s) -> int:
    """Write the ids of a text to `out`; return how many, UNCOVERED if the pattern leaves text out, or NO_MEMORY.

    A text of more than MOST_TEXT_BYTES gives NO_MEMORY.
    """
    if n_bytes > MOST_TEXT_BYTES:
        return NO_MEMORY
    readable, total, position = n_bytes, 0, 0
    while position < n_bytes:
        make_room(context)
        if readable == n_bytes and n_bytes - position <= TAIL_BYTES:
            text, readable = _padded_tail(context, text, n_bytes, position), n_bytes + PAD_BYTES
        context.readable_end = address_of(text) + readable
        limit = min(n_bytes, position + BLOCK_BYTES)
        n_pieces = split_block(context, text, n_bytes, readable, position, limit)
        if n_pieces < 0:
            return UNCOVERED
        record_pieces(context, text, position, context.ends, n_pieces)
        n = look_up_block(context, text, position, context.ends, n_pieces, from_item(out, total))
        if n < 0:
            return NO_MEMORY
        total += n
        position = context.after
    return total
