"""Byte pair encoding of a piece of any length, in time linear in its length: a queue per rank.

Ranks are small integers, so the priority queue is an array of lists, one per rank, and a bitmap of those that may not
be empty. With monotone ranks the bitmap is walked once; a model whose merges rank out of order moves the cursor back.
Equal ranks merge leftmost first: a list is in the order of positions. A new position mostly belongs after the last one
added, so the search for its place begins there.

    a b a b c       merges a+b (rank 0), ab+c (rank 1); places 0 to 4
    queue of 0: 0, 2        queue of 1: empty
    ab . ab . c     both are merged; the second queues itself under rank 1
    ab . abc . .

Memory: 24 bytes per byte of the piece.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import allocate, kernel, lowest_bit, release_memory, shift_left, shift_right
from impls.compiled.codegen.pointers import rows_of
from impls.compiled.layout import NO_MEMORY, NONE, ContextRecord
from impls.compiled.merge.pairs import merged
from impls.compiled.merge.spelling import initial_symbols
from impls.compiled.typed_memory import I32s, Record, Rows, U8s, i32


class Place(Record):
    """A position of the piece, at which a symbol begins or began."""

    symbol: i32
    following: i32  # the place of the next symbol, or the number of places
    previous: i32  # the place of the symbol before, or -1
    rank: i32  # the rank of the pair that begins here, or NONE: then it is in no queue
    later: i32  # the next place in that rank's queue, or -1
    earlier: i32  # the place before it in that rank's queue, or -1


places_at = rows_of(Place)
PLACE_BYTES = Place.dtype.itemsize
REGION = 1


@kernel
def _enqueue(context: ContextRecord, places: Rows[Place], n_places: int, i: int, rank: int) -> None:
    """Queue place `i`, at which a pair of `rank` (not NONE) begins."""
    first = context.heads[rank]
    if first < 0 or i < first:
        _enqueue_first(context, places, i, rank)
        context.latest[rank] = i
        return
    # The place queued last may be stale, or of another piece.
    before = context.latest[rank]
    if before > i or before >= n_places or places[before].rank != rank:
        before = first
    after = places[before].later
    while after >= 0 and after < i:
        before = after
        after = places[before].later
    places[i].rank = rank
    places[i].later = after
    places[i].earlier = before
    places[before].later = i
    if after >= 0:
        places[after].earlier = i
    context.latest[rank] = i


@kernel
def _enqueue_first(context: ContextRecord, places: Rows[Place], i: int, rank: int) -> None:
    """Queue place `i` as `_enqueue` does, but as the first of its list."""
    first = context.heads[rank]
    places[i].rank = rank
    places[i].later = first
    places[i].earlier = -1
    if first >= 0:
        places[first].earlier = i
    context.heads[rank] = i
    bits = context.head_bits
    bits[rank >> 6] = bits[rank >> 6] | shift_left(1, rank & 63)


@kernel
def _dequeue(context: ContextRecord, places: Rows[Place], i: int) -> None:
    """Remove place `i` from the queue of its pair."""
    rank, later, earlier = places[i].rank, places[i].later, places[i].earlier
    if rank == NONE:
        return
    if earlier < 0:
        context.heads[rank] = later
    else:
        places[earlier].later = later
    if later >= 0:
        places[later].earlier = earlier
    places[i].rank = NONE


@kernel
def _fill(context: ContextRecord, piece: U8s, n_bytes: int, symbols: I32s, places: Rows[Place]) -> int:
    """Fill the places from the piece's initial symbols, which are also written to `symbols`; return how many.

    Works from right to left, so that each queue starts with the leftmost place.
    """
    n_places = initial_symbols(context, piece, n_bytes, symbols, n_bytes + 4)
    right = NONE
    for k in range(n_places):
        i = n_places - 1 - k
        right = _fill_place(context, places, i, symbols[i], right)
    return n_places


@kernel
def _fill_place(context: ContextRecord, places: Rows[Place], i: int, symbol: int, right: int) -> int:
    """Fill place `i` with a symbol whose right neighbour is `right`; return the symbol."""
    places[i].symbol = symbol
    places[i].following = i + 1
    places[i].previous = i - 1
    rank = merged(context, symbol, right)
    if rank != NONE:
        _enqueue_first(context, places, i, rank)
    else:
        places[i].rank = NONE
    return symbol


@kernel
def _merge_at(context: ContextRecord, places: Rows[Place], n_places: int, i: int) -> int:
    """Merge the pair that begins at place `i`; return the lowest rank of a new pair."""
    symbol, absorbed, previous = places[i].rank, places[i].following, places[i].previous  # a merge's rank is its symbol
    following = places[absorbed].following
    _dequeue(context, places, i)
    _dequeue(context, places, absorbed)
    places[i].symbol = symbol
    places[i].following = following
    lowest = NONE
    if following < n_places:
        places[following].previous = i
        lowest = merged(context, symbol, places[following].symbol)
        if lowest != NONE:
            _enqueue(context, places, n_places, i, lowest)
    if previous >= 0:
        _dequeue(context, places, previous)
        rank = merged(context, places[previous].symbol, symbol)
        if rank != NONE:
            _enqueue(context, places, n_places, previous, rank)
            lowest = min(lowest, rank)
    return lowest


@kernel
def _merge_run(context: ContextRecord, places: Rows[Place], n_places: int, rank: int) -> int:
    """Merge the pairs of `rank`, leftmost first; return the lowest rank to continue with."""
    i = context.heads[rank]
    while i < n_places and places[i].rank == rank:
        lowest = _merge_at(context, places, n_places, i)
        if lowest <= rank:
            return lowest
        i = places[i].following
    return rank


@kernel
def _merge_all(context: ContextRecord, places: Rows[Place], n_places: int) -> None:
    heads, bits = context.heads, context.head_bits
    n_words = (context.n_symbols + 63) >> 6
    at = 0
    while at < n_words:
        word = bits[at]
        if word == 0:
            at += 1
            continue
        rank = at * 64 + lowest_bit(word)
        if heads[rank] < 0:
            bits[at] = word & (word - 1)
            continue
        at = min(at, shift_right(_merge_run(context, places, n_places, rank), 6))


@kernel
def merge_long(context: ContextRecord, piece: U8s, n_bytes: int, symbols: I32s) -> int:
    """Write the symbols of a piece; return how many, or NO_MEMORY."""
    memory = allocate(REGION, PLACE_BYTES * n_bytes + 64)
    if memory == 0:
        return NO_MEMORY
    places = places_at(memory)
    n_places = _fill(context, piece, n_bytes, symbols, places)
    _merge_all(context, places, n_places)
    n, i = 0, 0
    while i < n_places:
        symbols[n] = places[i].symbol
        n += 1
        i = places[i].following
    release_memory(memory)
    return n
