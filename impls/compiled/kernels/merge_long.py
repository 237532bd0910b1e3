"""Byte pair encoding of a piece of any length, in time linear in it: a queue per rank.

Ranks are small integers, so the priority queue is an array of lists, one per rank, and a bitmap of those that may
hold something. With monotone ranks the bitmap is walked once; a model whose merges rank out of order moves the
cursor back. Equal ranks merge leftmost first: overlapping pairs of one rank form a run (`aaaa`), and a run is taken
from its start. Memory: 24 bytes per byte of the piece.
"""

from __future__ import annotations

from impls.compiled.kernels.memory import (
    allocate,
    kernel,
    load_i32,
    load_i64,
    load_u8,
    lowest_bit,
    release_memory,
    shift_left,
    shift_right,
    store_32,
    store_64,
)
from impls.compiled.kernels.pairs import merged
from impls.compiled.kernels.spelling import spell
from impls.compiled.layout import (
    BUCKET_SHIFT,
    BYTE_SYMBOLS,
    DISPLACEMENTS,
    HEAD_BITS,
    HEADS,
    N_SYMBOLS,
    NO_MEMORY,
    NONE,
    PAIR_SHIFT,
    PAIRS,
    SPELLING_PAGES,
)

# One place of the piece, six int32: symbol, neighbours, rank of the pair it begins, neighbours in that rank's queue.
PLACE_BYTES = 24
FOLLOWING, PREVIOUS, RANK, LATER, EARLIER = 4, 8, 12, 16, 20
REGION = 1


@kernel
def _pair_rank(context: int, left: int, right: int) -> int:
    return merged(
        load_i64(context + PAIRS),
        load_i64(context + PAIR_SHIFT),
        load_i64(context + DISPLACEMENTS),
        load_i64(context + BUCKET_SHIFT),
        left,
        right,
    )


@kernel
def _enqueue(context: int, places: int, i: int, rank: int) -> None:
    """Place `i` now begins a pair of `rank`, which is not NONE."""
    at = places + PLACE_BYTES * i
    head = load_i64(context + HEADS) + 4 * rank
    first = load_i32(head)
    store_32(at + RANK, rank)
    store_32(at + LATER, first)
    store_32(at + EARLIER, -1)
    if first >= 0:
        store_32(places + PLACE_BYTES * first + EARLIER, i)
    store_32(head, i)
    word = load_i64(context + HEAD_BITS) + 8 * (rank >> 6)
    store_64(word, load_i64(word) | shift_left(1, rank & 63))


@kernel
def _dequeue(context: int, places: int, i: int) -> None:
    """Place `i` no longer begins the pair it is queued for."""
    at = places + PLACE_BYTES * i
    rank, later, earlier = load_i32(at + RANK), load_i32(at + LATER), load_i32(at + EARLIER)
    if rank == NONE:
        return
    if earlier < 0:
        store_32(load_i64(context + HEADS) + 4 * rank, later)
    else:
        store_32(places + PLACE_BYTES * earlier + LATER, later)
    if later >= 0:
        store_32(places + PLACE_BYTES * later + EARLIER, earlier)
    store_32(at + RANK, NONE)


@kernel
def _fill(context: int, piece: int, symbols: int, n_places: int, places: int) -> None:
    """Bytes, or `symbols` if not 0, become places; each pair is queued, from the right, so queues begin leftmost."""
    byte_symbols = load_i64(context + BYTE_SYMBOLS)
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
            _enqueue(context, places, i, rank)
        else:
            store_32(at + RANK, NONE)
        right = symbol
        i -= 1


@kernel
def _merge_at(context: int, places: int, n_places: int, i: int) -> int:
    """Merges the pair that begins at place `i`; returns the lowest rank that came about."""
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
            _enqueue(context, places, i, lowest)
    if previous >= 0:
        _dequeue(context, places, previous)
        rank = _pair_rank(context, load_i32(places + PLACE_BYTES * previous), symbol)
        if rank != NONE:
            _enqueue(context, places, previous, rank)
            lowest = min(lowest, rank)
    return lowest


@kernel
def _merge_run(context: int, places: int, n_places: int, rank: int) -> int:
    """Merges one run of pairs of `rank`, from its start; returns the lowest rank to go on with."""
    i = load_i32(load_i64(context + HEADS) + 4 * rank)
    previous = load_i32(places + PLACE_BYTES * i + PREVIOUS)
    while previous >= 0 and load_i32(places + PLACE_BYTES * previous + RANK) == rank:
        i = previous
        previous = load_i32(places + PLACE_BYTES * i + PREVIOUS)
    while i < n_places and load_i32(places + PLACE_BYTES * i + RANK) == rank:
        lowest = _merge_at(context, places, n_places, i)
        if lowest < rank:
            return lowest
        i = load_i32(places + PLACE_BYTES * i + FOLLOWING)
    return rank


@kernel
def _merge_all(context: int, places: int, n_places: int) -> None:
    heads, bits = load_i64(context + HEADS), load_i64(context + HEAD_BITS)
    n_words = (load_i64(context + N_SYMBOLS) + 63) >> 6
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
def merge_long(context: int, piece: int, n_bytes: int, out: int) -> int:
    """Writes the symbols (int32) of a piece to `out`; returns how many, or NO_MEMORY."""
    places = allocate(REGION, PLACE_BYTES * n_bytes + 64)
    if places == 0:
        return NO_MEMORY
    n_places, symbols = n_bytes, 0
    if load_i64(context + SPELLING_PAGES) != 0:
        n_places, symbols = spell(context, piece, n_bytes, out, n_bytes + 4), out
    _fill(context, piece, symbols, n_places, places)
    _merge_all(context, places, n_places)
    count = 0
    i = 0
    while i < n_places:
        store_32(out + 4 * count, load_i32(places + PLACE_BYTES * i))
        count += 1
        i = load_i32(places + PLACE_BYTES * i + FOLLOWING)
    release_memory(places)
    return count
