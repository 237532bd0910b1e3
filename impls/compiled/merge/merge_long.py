"""Byte pair encoding of a piece of any length, in time linear in its length: a queue per rank.

Ranks are small integers, so the priority queue is an array of lists, one per rank, and a bitmap of those that may not
be empty. With monotone ranks the bitmap is walked once; a model whose merges rank out of order moves the cursor back.
Equal ranks merge leftmost first: a list is in the order of positions. A new position mostly belongs after the last one
added, so the search for its place begins there.

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

from impls.compiled.codegen.allocation import allocate, release_memory
from impls.compiled.codegen.memory import (
    kernel,
    load_i32,
    load_i64,
    load_u8,
    lowest_bit,
    shift_left,
    shift_right,
    store_32,
    store_64,
)
from impls.compiled.layout import (
    NO_MEMORY,
    NONE,
    ContextRecord,
)
from impls.compiled.lookup.hashing import same_bytes
from impls.compiled.merge.pairs import merged
from impls.compiled.sentencepiece.spelling import call_spell

# A position of the piece is six int32: symbol, neighbours, rank of the pair it begins, neighbours in that rank's queue.
PLACE_BYTES = 24
FOLLOWING, PREVIOUS, RANK, LATER, EARLIER = 4, 8, 12, 16, 20
REGION = 1
WINDOW_BYTES = 4096
OVERLAP_BYTES = 512
"""Maximum overlap: a window begins at the first symbol that starts within this distance of the previous one's end."""


@kernel
def _pair_rank(context: ContextRecord, left: int, right: int) -> int:
    return merged(context, left, right)


@kernel
def _enqueue(context: ContextRecord, places: int, n_places: int, i: int, rank: int) -> None:
    """Queue position `i`, at which a pair of `rank` (not NONE) begins."""
    first = load_i32(context.heads + 4 * rank)
    latest = context.latest + 4 * rank
    if first < 0 or i < first:
        _enqueue_first(context, places, i, rank)
        store_32(latest, i)
        return
    # The position queued last may be stale, or of another piece.
    before = load_i32(latest)
    if before > i or before >= n_places or load_i32(places + PLACE_BYTES * before + RANK) != rank:
        before = first
    after = load_i32(places + PLACE_BYTES * before + LATER)
    while after >= 0 and after < i:
        before = after
        after = load_i32(places + PLACE_BYTES * before + LATER)
    at = places + PLACE_BYTES * i
    store_32(at + RANK, rank)
    store_32(at + LATER, after)
    store_32(at + EARLIER, before)
    store_32(places + PLACE_BYTES * before + LATER, i)
    if after >= 0:
        store_32(places + PLACE_BYTES * after + EARLIER, i)
    store_32(latest, i)


@kernel
def _enqueue_first(context: ContextRecord, places: int, i: int, rank: int) -> None:
    """Queue position `i` as `_enqueue` does, but as the first of its list."""
    at = places + PLACE_BYTES * i
    head = context.heads + 4 * rank
    first = load_i32(head)
    store_32(at + RANK, rank)
    store_32(at + LATER, first)
    store_32(at + EARLIER, -1)
    if first >= 0:
        store_32(places + PLACE_BYTES * first + EARLIER, i)
    store_32(head, i)
    word = context.head_bits + 8 * (rank >> 6)
    store_64(word, load_i64(word) | shift_left(1, rank & 63))


@kernel
def _dequeue(context: ContextRecord, places: int, i: int) -> None:
    """Remove position `i` from the queue of its pair."""
    at = places + PLACE_BYTES * i
    rank, later, earlier = load_i32(at + RANK), load_i32(at + LATER), load_i32(at + EARLIER)
    if rank == NONE:
        return
    if earlier < 0:
        store_32(context.heads + 4 * rank, later)
    else:
        store_32(places + PLACE_BYTES * earlier + LATER, later)
    if later >= 0:
        store_32(places + PLACE_BYTES * later + EARLIER, earlier)
    store_32(at + RANK, NONE)


@kernel
def _fill(context: ContextRecord, piece: int, symbols: int, n_places: int, places: int) -> None:
    """Fill the positions from the piece's bytes, or from `symbols` if not 0, and queue each pair.

    Works from right to left, so that each queue starts with the leftmost position.
    """
    byte_symbols = context.byte_symbols
    right = NONE
    i = n_places - 1
    while i >= 0:
        at = places + PLACE_BYTES * i
        if symbols != 0:
            symbol = load_i32(symbols + 4 * i)
        else:
            symbol = load_i32(byte_symbols + 4 * load_u8(piece + i))
        store_32(at, symbol)
        store_32(at + FOLLOWING, i + 1)
        store_32(at + PREVIOUS, i - 1)
        rank = _pair_rank(context, symbol, right)
        if rank != NONE:
            _enqueue_first(context, places, i, rank)
        else:
            store_32(at + RANK, NONE)
        right = symbol
        i -= 1


@kernel
def _merge_at(context: ContextRecord, places: int, n_places: int, i: int) -> int:
    """Merge the pair whose left symbol is at position `i`; return the lowest rank of a new pair."""
    at = places + PLACE_BYTES * i
    symbol = load_i32(at + RANK)
    absorbed = load_i32(at + FOLLOWING)
    previous = load_i32(at + PREVIOUS)
    following = load_i32(places + PLACE_BYTES * absorbed + FOLLOWING)
    _dequeue(context, places, i)
    _dequeue(context, places, absorbed)
    store_32(at, symbol)
    store_32(at + FOLLOWING, following)
    lowest = NONE
    if following < n_places:
        store_32(places + PLACE_BYTES * following + PREVIOUS, i)
        lowest = _pair_rank(context, symbol, load_i32(places + PLACE_BYTES * following))
        if lowest != NONE:
            _enqueue(context, places, n_places, i, lowest)
    if previous >= 0:
        _dequeue(context, places, previous)
        rank = _pair_rank(context, load_i32(places + PLACE_BYTES * previous), symbol)
        if rank != NONE:
            _enqueue(context, places, n_places, previous, rank)
            lowest = min(lowest, rank)
    return lowest


@kernel
def _merge_run(context: ContextRecord, places: int, n_places: int, rank: int) -> int:
    """Merge the pairs of `rank`, leftmost first; return the lowest rank to continue with."""
    i = load_i32(context.heads + 4 * rank)
    while i < n_places and load_i32(places + PLACE_BYTES * i + RANK) == rank:
        lowest = _merge_at(context, places, n_places, i)
        if lowest <= rank:
            return lowest
        i = load_i32(places + PLACE_BYTES * i + FOLLOWING)
    return rank


@kernel
def _merge_all(context: ContextRecord, places: int, n_places: int) -> None:
    heads, bits = context.heads, context.head_bits
    n_words = (context.n_symbols + 63) >> 6
    at = 0
    while at < n_words:
        word = load_i64(bits + 8 * at)
        if word == 0:
            at += 1
            continue
        rank = at * 64 + lowest_bit(word)
        if load_i32(heads + 4 * rank) < 0:
            store_64(bits + 8 * at, word & (word - 1))
            continue
        at = min(at, shift_right(_merge_run(context, places, n_places, rank), 6))


@kernel
def _merge_window(context: ContextRecord, piece: int, n_bytes: int, places: int) -> None:
    _fill(context, piece, 0, n_bytes, places)
    _merge_all(context, places, n_bytes)


@kernel
def _write(places: int, i: int, end: int, out: int) -> int:
    """Write the symbols from position `i` up to position `end`; return the end of `out`."""
    while i < end:
        at = places + PLACE_BYTES * i
        store_32(out, load_i32(at))
        out += 4
        i = load_i32(at + FOLLOWING)
    return out


@kernel
def _first_from(places: int, i: int, least: int) -> int:
    """Return the first position from `i` on that holds a symbol and is at least `least`."""
    while i < least:
        i = load_i32(places + PLACE_BYTES * i + FOLLOWING)
    return i


@kernel
def _in_common(places: int, i: int, n_places: int, later: int, n_later: int) -> int:
    """Return the first position of a later window whose symbol is also in the previous window, or -1.

    The later window begins at position `i` of the previous one.
    """
    shift, j = i, 0
    while i < n_places and j < n_later:
        at, at_later = places + PLACE_BYTES * i, later + PLACE_BYTES * j
        if i == j + shift and load_i32(at) == load_i32(at_later):
            return j
        if i <= j + shift:
            i = load_i32(at + FOLLOWING)
        else:
            j = load_i32(at_later + FOLLOWING)
    return -1


@kernel
def _merge_in_windows(context: ContextRecord, piece: int, n_bytes: int, places: int, out: int) -> int:
    """Write the symbols of a long piece by overlapping windows; return how many, or -1 if two share no symbol.

    `places` has room for two windows.
    """
    later = places + PLACE_BYTES * WINDOW_BYTES
    at, start, size, begin = out, 0, min(WINDOW_BYTES, n_bytes), 0
    _merge_window(context, piece, size, places)
    while start + size < n_bytes:
        cut = _first_from(places, begin, size - OVERLAP_BYTES)
        at = _write(places, begin, cut, at)
        n_later = min(WINDOW_BYTES, n_bytes - start - cut)
        # Repetitive text: the same bytes merge to the same symbols.
        again = n_later == size and same_bytes(piece + start, piece + start + cut, size)
        if not again:
            _merge_window(context, piece + start + cut, n_later, later)
            places, later = later, places
        before = places if again else later
        begin = _in_common(before, cut, size, places, n_later)
        if begin < 0:
            return -1
        at = _write(before, cut, cut + begin, at)
        start, size = start + cut, n_later
    return (_write(places, begin, size, at) - out) >> 2


@kernel
def merge_long(context: ContextRecord, piece: int, n_bytes: int, out: int) -> int:
    """Write the symbols (int32) of a piece to `out`; return how many, or NO_MEMORY."""
    if n_bytes > WINDOW_BYTES and context.spelling_pages == 0:
        places = allocate(REGION, 2 * PLACE_BYTES * WINDOW_BYTES)
        if places == 0:
            return NO_MEMORY
        count = _merge_in_windows(context, piece, n_bytes, places, out)
        release_memory(places)
        if count >= 0:
            return count
    return _merge_whole(context, piece, n_bytes, out)


@kernel
def _merge_whole(context: ContextRecord, piece: int, n_bytes: int, out: int) -> int:
    places = allocate(REGION, PLACE_BYTES * n_bytes + 64)
    if places == 0:
        return NO_MEMORY
    n_places, symbols = n_bytes, 0
    if context.spelling_pages != 0:
        n_places, symbols = call_spell(context, piece, n_bytes, out, n_bytes + 4), out
    _fill(context, piece, symbols, n_places, places)
    _merge_all(context, places, n_places)
    count = (_write(places, 0, n_places, out) - out) >> 2
    release_memory(places)
    return count
