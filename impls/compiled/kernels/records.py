"""Records of pieces: what a piece is looked up by, made for many pieces before the first is looked up.

A record is the key of a piece (two words) and the address of its first slot, which is prefetched. The first word of
the record of a longer piece is MEDIUM_KEY or its hash, which is even; its second word is -1, which no short key has.
Of a piece too long for any cache the slot is 0. The bytes of long pieces lie elsewhere: their slots are listed, so
that these can be prefetched too, before the first piece is looked up.
"""

from __future__ import annotations

from impls.compiled.kernels.cache import SHORT_ENTRY, medium_slot
from impls.compiled.kernels.cache_long import LONGEST_LONG, long_hash, long_slot
from impls.compiled.kernels.hashing import key_high, key_high_by_byte, key_low, key_low_by_byte, mix
from impls.compiled.kernels.memory import (
    choose,
    inlined,
    kernel,
    load_i32,
    load_i64,
    outlined,
    prefetch,
    shift_right,
    store_64,
)
from impls.compiled.layout import CACHE, CACHE_SHIFT, KEY_MASKS, LISTED_AT, MOST_LISTED, WORK

RECORD_BYTES = 24
MEDIUM_KEY = 1
LONGEST_SHORT, LONGEST_MEDIUM = 15, 31
WIDEST_READ = 32
"""Bytes a record may read from the beginning of its piece on."""


@inlined
def _write(record: int, low: int, high: int, entry: int) -> None:
    prefetch(entry)
    store_64(record, low)
    store_64(record + 8, high)
    store_64(record + 16, entry)


@outlined
def _longer(context: int, piece: int, length: int, readable: int, record: int) -> None:
    """The record of a piece of 16 bytes or more, `readable` bytes before the end of what may be read."""
    if length <= LONGEST_MEDIUM and readable >= WIDEST_READ:
        _write(record, MEDIUM_KEY, -1, medium_slot(context, piece, length))
        return
    if length > LONGEST_LONG:
        store_64(record, 0)
        store_64(record + 8, -1)
        store_64(record + 16, 0)
        return
    h = long_hash(piece, length)
    slot = long_slot(context, h)
    _write(record, h, -1, slot)
    listed = load_i64(context + WORK) + LISTED_AT
    n_listed = load_i64(listed)
    if n_listed < MOST_LISTED:
        store_64(listed + 8 + 8 * n_listed, slot)
        store_64(listed, n_listed + 1)


@outlined
def prefetch_listed(context: int) -> None:
    """Prefetches the bytes of the long pieces whose slots are listed, and empties the list."""
    listed = load_i64(context + WORK) + LISTED_AT
    for i in range(load_i64(listed)):
        slot = load_i64(listed + 8 + 8 * i)
        place = choose(load_i64(slot + 16) != 0, load_i64(slot + 8), slot)
        prefetch(place)
        prefetch(place + 64)
    store_64(listed, 0)


@inlined
def record_wide(context: int, masks: int, cache: int, cache_shift: int, piece: int, length: int, record: int) -> None:
    """Writes the record of a piece from whose beginning WIDEST_READ bytes may be read.

    `masks`, `cache`, `cache_shift`: what the slots KEY_MASKS, CACHE and CACHE_SHIFT hold, read once for many pieces.
    """
    if length <= LONGEST_SHORT:
        low, high = key_low(masks, piece, length), key_high(masks, piece, length)
        _write(record, low, high, cache + SHORT_ENTRY * shift_right(mix(low, high), cache_shift))
    else:
        _longer(context, piece, length, WIDEST_READ, record)


@kernel
def _record_at_end(context: int, piece: int, length: int, readable: int, record: int) -> None:
    if length <= LONGEST_SHORT:
        low, high = key_low_by_byte(piece, length), key_high_by_byte(piece, length)
        slot = shift_right(mix(low, high), load_i64(context + CACHE_SHIFT))
        _write(record, low, high, load_i64(context + CACHE) + SHORT_ENTRY * slot)
    else:
        _longer(context, piece, length, readable, record)


@kernel
def record_pieces(context: int, text: int, readable: int, start: int, ends: int, n_pieces: int, record: int) -> None:
    """Writes the records of pieces, the first of which begins at `start`; `readable` bytes of the text may be read."""
    masks, cache = load_i64(context + KEY_MASKS), load_i64(context + CACHE)
    cache_shift = load_i64(context + CACHE_SHIFT)
    begin = start
    for i in range(n_pieces):
        end = load_i32(ends + 4 * i)
        if begin + WIDEST_READ <= readable:
            record_wide(context, masks, cache, cache_shift, text + begin, end - begin, record)
        else:
            _record_at_end(context, text + begin, end - begin, readable - begin, record)
        record += RECORD_BYTES
        begin = end
