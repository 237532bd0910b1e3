"""BPE-dropout: merges are left out at random (Provilkov, Emelianenko and Voita 2020); see `impls.core.dropout`.

Candidates are in a binary heap, ordered by rank, then position. Each candidate that is popped draws a random number;
those left out are kept at the other end of the heap's memory until a merge is made, and are then pushed again. A merge
adds at most two candidates, so there are never more than three per byte. Memory: 40 bytes per byte of the longest
piece.
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
    wrapping_add,
    wrapping_multiply,
)
from impls.compiled.layout import (
    DROPOUT_PARAMETERS,
    NO_MEMORY,
    NONE,
    ContextRecord,
)
from impls.compiled.merge.derive import token_of
from impls.compiled.merge.pairs import merged

# Offsets of a call's parameters, int64 each. BY_BYTES and those after it serve to find a token by its bytes (merge rule
# `concatenation`). RESULTS: address of the symbol (int32) that each merge makes, by rank; 0 if the rank is the symbol.
THRESHOLD, START, FIRST_PIECE, RESULTS, BY_BYTES, BLOB, STARTS, TABLE, SHIFT = range(0, 8 * DROPOUT_PARAMETERS, 8)

GAMMA, MIX_1, MIX_2 = -7046029254386353131, -4658895280553007687, -7723592293110705685
"""The constants 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9 and 0x94D049BB133111EB as int64."""

# A position of the piece is four int32: its symbol (GONE once merged into the one before), the positions of its two
# neighbours, and the rank of the pair it begins.
PLACE_BYTES = 16
FOLLOWING, PREVIOUS, RANK = 4, 8, 12
GONE = -1
CANDIDATES_PER_BYTE = 3
REGION = 5


@inlined
def _mix(word: int) -> int:
    word = wrapping_multiply(word ^ shift_right(word, 30), MIX_1)
    word = wrapping_multiply(word ^ shift_right(word, 27), MIX_2)
    return word ^ shift_right(word, 31)


@kernel
def _push(heap: int, size: int, candidate: int) -> None:
    """Add a candidate to a heap of `size` candidates."""
    i = size
    while i > 0:
        parent = (i - 1) >> 1
        above = load_i64(heap + 8 * parent)
        if above <= candidate:
            break
        store_64(heap + 8 * i, above)
        i = parent
    store_64(heap + 8 * i, candidate)


@kernel
def _remove_first(heap: int, size: int) -> None:
    """Remove the smallest candidate from a heap of `size` candidates."""
    last = load_i64(heap + 8 * (size - 1))
    n = size - 1
    i = 0
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        below = load_i64(heap + 8 * child)
        if child + 1 < n and load_i64(heap + 8 * child + 8) < below:
            child += 1
            below = load_i64(heap + 8 * child)
        if last <= below:
            break
        store_64(heap + 8 * i, below)
        i = child
    store_64(heap + 8 * i, last)


@kernel
def _rank_at(context: ContextRecord, parameters: int, piece: int, n_bytes: int, places: int, i: int) -> int:
    """Return the rank of the pair whose left symbol is at position `i`, or NONE."""
    at = places + PLACE_BYTES * i
    right = load_i32(at + FOLLOWING)
    if right >= n_bytes:
        return NONE
    if load_i64(parameters + BY_BYTES) != 0:
        end = load_i32(places + PLACE_BYTES * right + FOLLOWING)
        blob, starts = load_i64(parameters + BLOB), load_i64(parameters + STARTS)
        return token_of(blob, starts, load_i64(parameters + TABLE), load_i64(parameters + SHIFT), piece + i, end - i)
    return merged(context, load_i32(at), load_i32(places + PLACE_BYTES * right))


@kernel
def _offer(
    context: ContextRecord, parameters: int, piece: int, n_bytes: int, places: int, heap: int, size: int, i: int
) -> int:
    """Rank the pair whose left symbol is at position `i` and push it as a candidate; return the size of the heap."""
    rank = _rank_at(context, parameters, piece, n_bytes, places, i)
    store_32(places + PLACE_BYTES * i + RANK, rank)
    if rank == NONE:
        return size
    _push(heap, size, (rank << 32) | i)
    return size + 1


@kernel
def _merge_at(places: int, n_bytes: int, i: int, symbol: int) -> None:
    at = places + PLACE_BYTES * i
    absorbed = places + PLACE_BYTES * load_i32(at + FOLLOWING)
    following = load_i32(absorbed + FOLLOWING)
    store_32(absorbed, GONE)
    store_32(absorbed + RANK, NONE)
    store_32(at, symbol)
    store_32(at + FOLLOWING, following)
    if following < n_bytes:
        store_32(places + PLACE_BYTES * following + PREVIOUS, i)


@kernel
def _merge_piece(
    context: ContextRecord, parameters: int, piece: int, n_bytes: int, places: int, heap: int, coins: int
) -> None:
    """Merge the symbols at `places` until every candidate is left out; `coins` is the piece's random state.

    `n_bytes` is the number of positions: one for each byte of a piece, or for each symbol of a row.
    """
    threshold, results = load_i64(parameters + THRESHOLD), load_i64(parameters + RESULTS)
    size = 0
    for i in range(n_bytes):
        size = _offer(context, parameters, piece, n_bytes, places, heap, size, i)
    bottom = heap + 8 * CANDIDATES_PER_BYTE * n_bytes
    left_out = bottom
    while size > 0:
        candidate = load_i64(heap)
        _remove_first(heap, size)
        size -= 1
        i, rank = candidate & 0xFFFFFFFF, candidate >> 32
        if load_i32(places + PLACE_BYTES * i + RANK) != rank:
            continue
        coin = shift_right(_mix(coins), 11)
        coins = wrapping_add(coins, GAMMA)
        if coin < threshold:
            left_out -= 8
            store_64(left_out, candidate)
            continue
        symbol = rank
        if results != 0:
            symbol = load_i32(results + 4 * rank)
        _merge_at(places, n_bytes, i, symbol)
        while left_out < bottom:
            candidate = load_i64(left_out)
            left_out += 8
            _push(heap, size, candidate)
            size += 1
        size = _offer(context, parameters, piece, n_bytes, places, heap, size, i)
        previous = load_i32(places + PLACE_BYTES * i + PREVIOUS)
        if previous >= 0:
            size = _offer(context, parameters, piece, n_bytes, places, heap, size, previous)


@kernel
def _one_piece(
    context: ContextRecord, parameters: int, piece: int, n_bytes: int, number: int, memory: int, out: int
) -> int:
    """Write the ids (int32) of piece `number` of the text to `out`; return how many."""
    byte_symbols = context.byte_symbols
    for i in range(n_bytes):
        _put(memory, i, load_i32(byte_symbols + 4 * load_u8(piece + i)))
    coins = _mix(wrapping_add(load_i64(parameters + START), wrapping_multiply(number, GAMMA)))
    _merge_piece(context, parameters, piece, n_bytes, memory, memory + PLACE_BYTES * n_bytes, coins)
    return _write_ids(context, memory, n_bytes, out)


@inlined
def _put(places: int, i: int, symbol: int) -> None:
    at = places + PLACE_BYTES * i
    store_32(at, symbol)
    store_32(at + FOLLOWING, i + 1)
    store_32(at + PREVIOUS, i - 1)


@kernel
def _write_ids(context: ContextRecord, places: int, n: int, out: int) -> int:
    ids = context.ids
    count, i = 0, 0
    while i < n:
        symbol = load_i32(places + PLACE_BYTES * i)
        if ids != 0:
            symbol = load_i32(ids + 4 * symbol)
        store_32(out + 4 * count, symbol)
        count += 1
        i = load_i32(places + PLACE_BYTES * i + FOLLOWING)
    return count


@kernel
def longest_of(ends: int, n: int) -> int:
    """Return the size of the longest of the `n` consecutive stretches that end at `ends` (int32)."""
    longest, begin = 0, 0
    for i in range(n):
        end = load_i32(ends + 4 * i)
        longest = max(longest, end - begin)
        begin = end
    return longest


@kernel
def merge_rows(context: ContextRecord, parameters: int, symbols: int, ends: int, n_rows: int, out: int) -> int:
    """Merge rows of symbols (int32), each as if it were a piece; write and return as `encode_with_dropout` does."""
    memory = allocate(REGION, (PLACE_BYTES + 8 * CANDIDATES_PER_BYTE) * longest_of(ends, n_rows) + 64)
    if memory == 0:
        return NO_MEMORY
    total, begin = 0, 0
    for row in range(n_rows):
        end = load_i32(ends + 4 * row)
        n = end - begin
        for i in range(n):
            _put(memory, i, load_i32(symbols + 4 * (begin + i)))
        if n > 1:
            _merge_piece(context, parameters, 0, n, memory, memory + PLACE_BYTES * n, 0)
        total += _write_ids(context, memory, n, out + 4 * total)
        begin = end
    release_memory(memory)
    return total


@kernel
def encode_with_dropout(context: ContextRecord, parameters: int, text: int, ends: int, n_pieces: int, out: int) -> int:
    """Write the ids (int32) of a text whose n_pieces pieces end at `ends` (int32); return how many, or NO_MEMORY."""
    memory = allocate(REGION, (PLACE_BYTES + 8 * CANDIDATES_PER_BYTE) * longest_of(ends, n_pieces) + 64)
    if memory == 0:
        return NO_MEMORY
    first = load_i64(parameters + FIRST_PIECE)
    total, begin = 0, 0
    for i in range(n_pieces):
        end = load_i32(ends + 4 * i)
        total += _one_piece(context, parameters, text + begin, end - begin, first + i, memory, out + 4 * total)
        begin = end
    release_memory(memory)
    return total
