"""Writes the records of pieces, by which they are looked up, for a whole block before the first lookup.

A record is the key of a piece (two words) and the address of its first slot, which is prefetched. Keys are computed one
after the other, without a branch that depends on the text, then slots eight at a time. A piece of 16 bytes or more has
a key of zeros until its own record is written: the first word of that is MEDIUM_KEY or the piece's hash, which is even;
the second is -1, which no short key has. The slot is 0 for a piece too long for any cache. The cached bytes of long
pieces are in a separate store: their slots are listed, so that the bytes too can be prefetched before the first lookup.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    choose,
    inlined,
    kernel,
    load_i32,
    load_i64,
    lowest_bit,
    outlined,
    prefetch,
    shift_right,
    store_8,
    store_64,
)
from impls.compiled.layout import (
    KEY_LENGTHS,
    LISTED_AT,
    LONGER_AT,
    MOST_LISTED,
    RECORDS_AT,
    SLOTS_AT,
    ContextRecord,
)
from impls.compiled.lookup.cache import medium_slot
from impls.compiled.lookup.cache_long import LONGEST_LONG, long_hash, long_slot
from impls.compiled.lookup.hashing import smaller
from impls.compiled.lookup.keys import KEYS, write_key, write_slots

MEDIUM_KEY = 1
LONGEST_SHORT, LONGEST_MEDIUM = 15, 31


@inlined
def _write(key: int, slot: int, low: int, high: int, entry: int) -> None:
    store_64(key, low)
    store_64(key + 8, high)
    store_64(slot, entry)


@outlined
def _longer(context: ContextRecord, piece: int, length: int, key: int, slot: int) -> None:
    """Write the record of a piece of 16 bytes or more."""
    if length <= LONGEST_MEDIUM:
        entry = medium_slot(context, piece, length)
        prefetch(entry)
        _write(key, slot, MEDIUM_KEY, -1, entry)
        return
    if length > LONGEST_LONG:
        _write(key, slot, 0, -1, 0)
        return
    h = long_hash(piece, length)
    entry = long_slot(context, h)
    prefetch(entry)
    _write(key, slot, h, -1, entry)
    listed = context.work + LISTED_AT
    n_listed = load_i64(listed)
    if n_listed < MOST_LISTED:
        store_64(listed + 8 + 8 * n_listed, entry)
        store_64(listed, n_listed + 1)


@outlined
def prefetch_listed(context: ContextRecord) -> None:
    """Prefetch the cached bytes of the long pieces whose slots are listed, and empty the list."""
    listed = context.work + LISTED_AT
    for i in range(load_i64(listed)):
        slot = load_i64(listed + 8 + 8 * i)
        place = choose(load_i64(slot + 16) != 0, load_i64(slot + 8), slot)
        prefetch(place)
        prefetch(place + 64)
    store_64(listed, 0)


@outlined
def _write_keys(masks: int, text: int, start: int, ends: int, n_pieces: int, key: int) -> None:
    """Write the keys of pieces: zeros for those of more than 15 bytes."""
    begin = start
    for i in range(n_pieces):
        end = load_i32(ends + 4 * i)
        row = masks + 16 * smaller(end - begin, LONGEST_SHORT + 1)
        write_key(text + begin, row, row + KEY_LENGTHS, key + 16 * i)
        begin = end


@outlined
def _write_slots(keys: int, n_pieces: int, cache: int, shift: int, slots: int, longer: int) -> None:
    """Write and prefetch the slots of keys, and set a bit in `longer` for each piece of more than 15 bytes."""
    for i in range(0, n_pieces, KEYS):
        slot = slots + 8 * i
        store_8(longer + (i >> 3), write_slots(keys + 16 * i, cache, shift, slot))
        for k in range(0, 8 * KEYS, 8):
            prefetch(load_i64(slot + k))


@kernel
def record_pieces(context: ContextRecord, text: int, start: int, ends: int, n_pieces: int) -> None:
    """Write the records of n_pieces pieces, the first of which starts at `start`; reads 32 bytes from each start on."""
    work, masks = context.work, context.key_masks
    keys, slots, longer = work + RECORDS_AT, work + SLOTS_AT, work + LONGER_AT
    _write_keys(masks, text, start, ends, n_pieces, keys)
    _write_slots(keys, n_pieces, context.pieces.entries, context.pieces.shift, slots, longer)
    for first in range(0, n_pieces, 64):
        bits = load_i64(longer + (first >> 3)) & shift_right(-1, 64 - min(64, n_pieces - first))
        while bits != 0:
            i = first + lowest_bit(bits)
            bits &= bits - 1
            begin = start
            if i > 0:
                begin = load_i32(ends + 4 * i - 4)
            length = load_i32(ends + 4 * i) - begin
            _longer(context, text + begin, length, keys + 16 * i, slots + 8 * i)
