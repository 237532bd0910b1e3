"""Byte pair encoding of a piece of any length, in time linear in its length: a queue per rank.

Ranks are small integers, so the priority queue is an array of lists, one per rank, and a bitmap of those that may not
be empty. With monotone ranks the bitmap is walked once; a model whose merges rank out of order moves the cursor back.
Equal ranks merge leftmost first: a list is in the order of positions. A new position mostly belongs after the last one
added, so the search for its place begins there.

    a b a b c       merges a+b (rank 0), ab+c (rank 1); places 0 to 4
    queue of 0: 0, 2        queue of 1: empty
    ab . ab . c     both are merged; the second queues itself under rank 1
    ab . abc . .

A piece larger than a window is merged window by window, each small enough for the processor's cache. That is exact by
this argument. Take the symbols a text merges to, and any two neighbours: merging their bytes alone gives these two,
since no merge in the text crossed their boundaries. Conversely, if all neighbours in a sequence of symbols are such
pairs, the text merges to that sequence: before the first merge across any boundary everything between the boundaries
happens as it does in each pair alone, and there no merge across happens (of equal ranks the leftmost comes first in
both). Windows overlap: the symbols of one are used up to a symbol that both have, from there on those of the other; so
any two neighbours come from one window. If two windows have no symbol in common, the piece is merged whole. A window
of the same bytes as the one before is not merged again. Memory: 24 bytes per byte of two windows, or of the whole
piece.
"""

from __future__ import annotations

from impls.compiled.language.memory import allocate, kernel, lowest_bit, release_memory, shift_left, shift_right
from impls.compiled.language.pointers import from_item, rows_of
from impls.compiled.language.typed_memory import I32s, Record, Rows, U8s, i32
from impls.compiled.layout import NO_MEMORY, NONE, ContextRecord
from impls.compiled.lookup.hashing import same_bytes
from impls.compiled.merge.pairs import merged
from impls.compiled.merge.spelling import initial_symbols


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
WINDOW_BYTES = 4096
OVERLAP_BYTES = 512
"""Maximum overlap: a window begins at the first symbol that starts within this distance of the previous one's end."""


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
        symbol = symbols[i]
        places[i].symbol = symbol
        places[i].following = i + 1
        places[i].previous = i - 1
        rank = merged(context, symbol, right)
        if rank != NONE:
            _enqueue_first(context, places, i, rank)
        else:
            places[i].rank = NONE
        right = symbol
    return n_places


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
def _merge(context: ContextRecord, piece: U8s, n_bytes: int, symbols: I32s, places: Rows[Place]) -> int:
    """Merge a piece; return the number of places. `symbols` is working space for an int32 per byte."""
    n_places = _fill(context, piece, n_bytes, symbols, places)
    _merge_all(context, places, n_places)
    return n_places


@kernel
def _write(places: Rows[Place], i: int, end: int, symbols: I32s, n: int) -> int:
    """Write the symbols from place `i` up to place `end`, after `n` others; return how many there are now."""
    while i < end:
        symbols[n] = places[i].symbol
        n += 1
        i = places[i].following
    return n


@kernel
def _in_common(before: Rows[Place], i: int, n_places: int, later: Rows[Place], n_later: int) -> int:
    """Return the first place of a later window whose symbol is also in the window before it, or -1.

    The later window begins at place `i` of the one before.
    """
    shift, j = i, 0
    while i < n_places and j < n_later:
        if i == j + shift and before[i].symbol == later[j].symbol:
            return j
        if i <= j + shift:
            i = before[i].following
        else:
            j = later[j].following
    return -1


@kernel
def _merge_in_windows(context: ContextRecord, piece: U8s, n_bytes: int, places: Rows[Place], symbols: I32s) -> int:
    """Write the symbols of a long piece by overlapping windows; return how many, or -1 if two share no symbol.

    `places` has room for two windows.
    """
    later = from_item(places, WINDOW_BYTES)
    n, start, size, begin = 0, 0, min(WINDOW_BYTES, n_bytes), 0
    _merge(context, piece, size, symbols, places)
    while start + size < n_bytes:
        cut = begin
        while cut < size - OVERLAP_BYTES:
            cut = places[cut].following
        n = _write(places, begin, cut, symbols, n)
        n_later = min(WINDOW_BYTES, n_bytes - start - cut)
        # Repetitive text: the same bytes merge to the same symbols.
        again = n_later == size and same_bytes(from_item(piece, start), from_item(piece, start + cut), size)
        if not again:
            # No more symbols were written than bytes read.
            _merge(context, from_item(piece, start + cut), n_later, from_item(symbols, start + cut), later)
            places, later = later, places
        before = places if again else later
        begin = _in_common(before, cut, size, places, n_later)
        if begin < 0:
            return -1
        n = _write(before, cut, cut + begin, symbols, n)
        start, size = start + cut, n_later
    return _write(places, begin, size, symbols, n)


@kernel
def merge_long(context: ContextRecord, piece: U8s, n_bytes: int, symbols: I32s) -> int:
    """Write the symbols of a piece; return how many, or NO_MEMORY."""
    if n_bytes > WINDOW_BYTES and context.spelling_pages == 0:
        memory = allocate(REGION, 2 * PLACE_BYTES * WINDOW_BYTES)
        if memory == 0:
            return NO_MEMORY
        count = _merge_in_windows(context, piece, n_bytes, places_at(memory), symbols)
        release_memory(memory)
        if count >= 0:
            return count
    return _merge_whole(context, piece, n_bytes, symbols)


@kernel
def _merge_whole(context: ContextRecord, piece: U8s, n_bytes: int, symbols: I32s) -> int:
    memory = allocate(REGION, PLACE_BYTES * n_bytes + 64)
    if memory == 0:
        return NO_MEMORY
    places = places_at(memory)
    n_places = _merge(context, piece, n_bytes, symbols, places)
    count = _write(places, 0, n_places, symbols, 0)
    release_memory(memory)
    return count
