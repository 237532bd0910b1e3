"""Writes the records of pieces, by which they are looked up, for a whole block before the first lookup.

A record is the key of a piece (two words) and the address of its first slot, which is prefetched. Keys are computed one
after the other, without a branch that depends on the text, then slots eight at a time. A piece of 16 bytes or more has
a key of zeros until its own record is written: the first word of that is MEDIUM_KEY or the piece's hash, which is even;
the second is -1, which no short key has. The slot is 0 for a piece too long for any cache. The cached bytes of long
pieces are in a separate store: their slots are listed, so that the bytes too can be prefetched before the first lookup.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel, lowest_bit, outlined, prefetch, shift_right
from impls.compiled.codegen.pointers import address_of, from_item, i64s, record_at
from impls.compiled.layout import KEY_LENGTHS, MOST_LISTED, ContextRecord, Key, LongEntry
from impls.compiled.lookup.cache import medium_slot
from impls.compiled.lookup.cache_long import LONGEST_LONG, long_hash, long_slot
from impls.compiled.lookup.hashing import smaller
from impls.compiled.lookup.keys import KEYS, write_key, write_slots
from impls.compiled.typed_memory import I32s, I64s, Rows, U8s

MEDIUM_KEY = 1
LONGEST_SHORT, LONGEST_MEDIUM = 15, 31

_long_at = record_at(LongEntry)


@inlined
def _write(context: ContextRecord, i: int, low: int, slot: int) -> None:
    """Write the record of a longer piece."""
    context.keys[i].low = low
    context.keys[i].high = -1
    context.slots[i] = slot


@outlined
def _longer(context: ContextRecord, piece: U8s, n_bytes: int, i: int) -> None:
    """Write the record of piece `i`, of 16 bytes or more."""
    if n_bytes <= LONGEST_MEDIUM:
        slot = address_of(medium_slot(context, piece, n_bytes))
        prefetch(slot)
        _write(context, i, MEDIUM_KEY, slot)
        return
    if n_bytes > LONGEST_LONG:
        _write(context, i, 0, 0)
        return
    h = long_hash(piece, n_bytes)
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
        place = address_of(context.long_store) + _long_at(context.listed[i]).place
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
    """Write the records of n_pieces pieces, the first of which starts at `start`; reads 32 bytes from each start on."""
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
