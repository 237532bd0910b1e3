"""PickyBPE: replays the merges and removals of tokens that training made on a piece, in the order of training.

For each byte offset at which a symbol begins, the next event that changes the symbol is a leaf of a tree whose inner
nodes are the lower of two (Knuth 1973, "The Art of Computer Programming" 3, section 5.4.1: tree of losers): the root is
the event that happens next. The symbols that an event leaves are next changed only by later events. Whole pieces are
kept in the caches of the context, which for such a model holds nothing else. Memory: 32 to 48 bytes per byte of the
longest piece.
"""

from __future__ import annotations

from impls.compiled.codegen.allocation import allocate, release_memory
from impls.compiled.codegen.memory import (
    inlined,
    kernel,
    load_i32,
    load_i64,
    load_u8,
    shift_right,
    store_32,
    store_64,
)
from impls.compiled.layout import (
    BLOCK_BYTES,
    HANDLE_BITS,
    NO_MEMORY,
    NONE,
    RECORDS_AT,
    SLOTS_AT,
    ContextRecord,
    EventsRecord,
)
from impls.compiled.lookup.growth import make_room
from impls.compiled.lookup.hashing import smaller
from impls.compiled.lookup.look_up import keep_ids, known_ids
from impls.compiled.lookup.records import record_pieces
from impls.compiled.merge.dropout import FOLLOWING, PLACE_BYTES, PREVIOUS, longest_of
from impls.compiled.merge.pairs import joined

NOTHING = NONE << 32
REGION = 6


@inlined
def _after(events: EventsRecord, event: int, now: int) -> int:
    """Return the first event after `now` in the list of one pair's or symbol's events, searched from `event` on."""
    while event <= now:
        event = load_i32(events.following + 4 * event)
    return event


@kernel
def _set(tree: int, leaf: int, value: int) -> None:
    store_64(tree + 8 * leaf, value)
    while leaf > 1:
        lower = smaller(load_i64(tree + 8 * leaf), load_i64(tree + 8 * (leaf ^ 1)))
        leaf >>= 1
        store_64(tree + 8 * leaf, lower)


@kernel
def _next_event(events: EventsRecord, places: int, n_bytes: int, i: int, now: int) -> int:
    """Return the next event of the symbol at offset `i`, or of it and the following symbol, as event << 32 | i."""
    symbol, right = load_i32(places + PLACE_BYTES * i), load_i32(places + PLACE_BYTES * i + FOLLOWING)
    event = _after(events, load_i32(events.removals + 4 * symbol), now)
    if right < n_bytes:
        handle = load_i32(events.handles + 4 * symbol)
        made = joined(events.buckets, events.pairs, handle, load_i32(places + PLACE_BYTES * right))
        event = smaller(event, _after(events, shift_right(made, HANDLE_BITS), now))
    return event << 32 | i


@kernel
def _replay(events: EventsRecord, piece: int, n_bytes: int, places: int, tree: int, size: int) -> None:
    """Replay all events on the bytes of a piece; `size` is the number of leaves of the tree."""
    for i in range(n_bytes):
        at = places + PLACE_BYTES * i
        store_32(at, load_u8(piece + i))
        store_32(at + FOLLOWING, i + 1)
        store_32(at + PREVIOUS, i - 1)
    for i in range(size):
        store_64(tree + 8 * (size + i), _next_event(events, places, n_bytes, i, -1) if i < n_bytes else NOTHING)
    for i in range(size - 1, 0, -1):
        store_64(tree + 8 * i, smaller(load_i64(tree + 16 * i), load_i64(tree + 16 * i + 8)))
    while load_i64(tree + 8) < NOTHING:
        event, start = load_i64(tree + 8) >> 32, load_i64(tree + 8) & 0xFFFFFFFF
        absorbed = load_i32(places + PLACE_BYTES * start + FOLLOWING)
        previous = load_i32(places + PLACE_BYTES * start + PREVIOUS)
        changed = start if previous < 0 else previous
        first, last = load_i32(events.starts + 4 * event), load_i32(events.starts + 4 * event + 4)
        if last - first == 1:
            # A merge; a removal leaves two symbols or more.
            _set(tree, size + absorbed, NOTHING)
        i = start
        for k in range(first, last):
            symbol, at = load_i32(events.symbols + 4 * k), places + PLACE_BYTES * i
            store_32(at, symbol)
            store_32(at + PREVIOUS, previous)
            previous = i
            i += load_i32(events.lengths + 4 * symbol)
            store_32(at + FOLLOWING, i)
        if i < n_bytes:
            store_32(places + PLACE_BYTES * i + PREVIOUS, previous)
        while changed < i:
            _set(tree, size + changed, _next_event(events, places, n_bytes, changed, event))
            changed = load_i32(places + PLACE_BYTES * changed + FOLLOWING)


@kernel
def _replayed_ids(events: EventsRecord, piece: int, n_bytes: int, memory: int, out: int) -> int:
    """Write the ids (int32) of a piece; return how many."""
    size = 2
    while size < n_bytes:
        size *= 2
    _replay(events, piece, n_bytes, memory, memory + PLACE_BYTES * n_bytes, size)
    count, i = 0, 0
    while i < n_bytes:
        at = memory + PLACE_BYTES * i
        store_32(out + 4 * count, load_i32(events.ids + 4 * load_i32(at)))
        count += 1
        i = load_i32(at + FOLLOWING)
    return count


@kernel
def encode_with_events(
    context: ContextRecord, events: EventsRecord, text: int, n_bytes: int, ends: int, n_pieces: int, out: int
) -> int:
    """Write the ids (int32) of a text whose n_pieces pieces end at `ends` (int32); return how many, or NO_MEMORY."""
    memory = allocate(REGION, (PLACE_BYTES + 32) * longest_of(ends, n_pieces) + 64)
    if memory == 0:
        return NO_MEMORY
    context.readable_end = text + n_bytes
    at, begin, done = out, 0, 0
    while done < n_pieces:
        block = min(n_pieces - done, BLOCK_BYTES)
        make_room(context)
        record_pieces(context, text, begin, ends + 4 * done, block)
        key, slot = context.work + RECORDS_AT, context.work + SLOTS_AT
        for i in range(block):
            end = load_i32(ends + 4 * (done + i))
            piece, length = text + begin, end - begin
            low, high, entry = load_i64(key + 16 * i), load_i64(key + 16 * i + 8), load_i64(slot + 8 * i)
            count = known_ids(context, piece, length, low, high, entry, at)
            if count == 0:
                count = _replayed_ids(events, piece, length, memory, at)
                keep_ids(context, piece, length, low, high, entry, at, count)
            at += 4 * count
            begin = end
        done += block
    release_memory(memory)
    return (at - out) >> 2
